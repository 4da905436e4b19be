//! Broadcasts: what a person tells many agents at once, and how she follows it.

use std::time::Duration;

use http::Method;
use hub_platform::db::Tier;
use hub_testkit::{Account, Agent, Human, Reply, TestHub, eventually};
use ma2h_hub::tiers;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::mailbox::{ack, drain};

/// An account with an operator, and agents that can be told something.
pub(crate) struct Fleet {
    pub(crate) hub: TestHub,
    pub(crate) account: Account,
    pub(crate) alice: Human,
    pub(crate) agents: Vec<Agent>,
}

impl Fleet {
    pub(crate) async fn start(agents: usize) -> Self {
        Self::on(TestHub::start().await, agents).await
    }

    pub(crate) async fn on(hub: TestHub, agents: usize) -> Self {
        let account = hub.account("fleet").await;
        let alice = account.human("alice", "operator").await;
        let mut known = Vec::new();
        for number in 0..agents {
            known.push(account.agent(&format!("fleet/{number}")).await);
        }
        Self {
            hub,
            account,
            alice,
            agents: known,
        }
    }

    /// The addresses of all its agents.
    fn addresses(&self) -> Vec<String> {
        let agents = self.agents.iter();
        agents.map(|agent| format!("agent:{}", agent.id())).collect()
    }

    pub(crate) fn to_all(&self, title: &str) -> Value {
        json!({"to": self.addresses(), "title": title})
    }

    /// A broadcast's id.
    pub(crate) async fn sent(&self, body: &Value) -> String {
        let taken = self.alice.post("/v1/broadcasts", body).await.expect(202);
        taken["broadcast"]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn view(&self, id: &str) -> Value {
        self.alice.get(&format!("/v1/broadcasts/{id}")).await.expect(200)["broadcast"].take()
    }

    /// How many are in which state, once so many are in this one.
    pub(crate) async fn once(&self, id: &str, state: &str, agents: u64) -> Value {
        eventually(&format!("{agents} agents to be {state}"), || async {
            let view = self.view(id).await;
            (view["states"][state] == agents).then_some(view)
        })
        .await
    }

    pub(crate) async fn labelled(&self, id: &str, labels: Value) {
        let body = json!({"id": id, "labels": labels});
        let admin = self.account.admin();
        admin.post(&self.account.path("/agents"), &body).await.expect(201);
    }

    /// Agents that nobody speaks for.
    pub(crate) async fn crowd(&self, prefix: &str, count: i32, labels: &Value) {
        let database = self.hub.database().connect().await;
        let sql = "INSERT INTO directory.agents (account, agent, labels)
                   SELECT $1, $2 || number, $4::text::jsonb FROM generate_series(1, $3) AS number";
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
            [&self.account.id(), &prefix, &count, &labels.to_string()];
        database.execute(sql, &values).await.unwrap();
    }
}

/// All states, those named with their numbers.
pub(crate) fn states(named: &[(&str, u64)]) -> Value {
    let all = [
        "pending",
        "queued",
        "delivered",
        "acknowledged",
        "bounced",
        "expired",
        "undeliverable",
    ];
    let count = |state: &str| {
        named
            .iter()
            .find(|(of, _)| *of == state)
            .map_or(0, |(_, count)| *count)
    };
    all.into_iter()
        .map(|state| (state.to_owned(), json!(count(state))))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

pub(crate) async fn keyed(author: &Human, path: &str, key: &str, body: &Value) -> Reply {
    let request = author.request(Method::POST, path);
    let request = request
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(body.to_string());
    Reply::of(request).await
}

pub(crate) fn after(duration: Duration) -> Value {
    json!((OffsetDateTime::now_utc() + duration).format(&Rfc3339).unwrap())
}

#[tokio::test]
async fn each_of_those_named_gets_one_directive_and_is_followed() {
    let fleet = Fleet::start(4).await;
    let spelled = r#""context":[{"kind":"data","data":{"kg":1.50}}],"title":"St\u006fp""#;
    // Named twice, told once.
    let body =
        format!(r#"{{{spelled},"to":["agent:fleet/0","agent:fleet\/1","agent:fleet/2","agent:fleet/1"]}}"#);
    let taken = fleet
        .alice
        .send_text(Method::POST, "/v1/broadcasts", body)
        .await
        .expect(202);
    let id = taken["broadcast"]["id"].as_str().unwrap();
    assert_eq!(taken["broadcast"]["recipients"], 3);
    assert_eq!(taken["broadcast"]["from"], "human:alice");
    assert_eq!(taken["broadcast"]["title"], "Stop");
    fleet.once(id, "queued", 3).await;

    let mut directives = Vec::new();
    for agent in &fleet.agents[..2] {
        let drained = drain(agent, "").await;
        let [entry] = drained.as_slice() else {
            panic!("{}: {drained:?}", agent.id())
        };
        assert!(entry.directive.contains(spelled), "{}", entry.directive);
        let directive: Value = serde_json::from_str(&entry.directive).unwrap();
        assert_eq!(directive["to"], format!("agent:{}", agent.id()));
        assert_eq!(directive["from"], "human:alice");
        directives.push(entry.id.clone());
    }
    assert!(drain(&fleet.agents[3], "").await.is_empty());
    assert_eq!(ack(&fleet.agents[0], &directives[..1]).await, 1);

    let view = fleet.view(id).await;
    assert_eq!(
        view["states"],
        states(&[("queued", 1), ("delivered", 1), ("acknowledged", 1)])
    );
    assert_eq!(view["content"]["context"][0]["data"]["kg"], 1.5);
    let behind = view["unacknowledged"].as_array().unwrap();
    let expected = json!({"agent_id": "fleet/1", "state": "delivered", "directive_id": directives[1]});
    assert_eq!(behind[0], expected);
    assert_eq!((&behind[1]["agent_id"], behind.len()), (&json!("fleet/2"), 2));
    // Each is a directive like any other.
    let read = fleet
        .alice
        .get(&format!("/v1/directives/{}", directives[0]))
        .await
        .expect(200);
    assert_eq!(read["delivery"]["state"], "acknowledged");

    let path = format!("/v1/broadcasts/{id}?limit=1");
    let first = fleet.alice.get(&path).await.expect(200);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = fleet
        .alice
        .get(&format!("{path}&cursor={cursor}"))
        .await
        .expect(200);
    assert_eq!(second["broadcast"]["unacknowledged"][0]["agent_id"], "fleet/2");
    assert_eq!(second.get("next_cursor"), None);
}

#[tokio::test]
async fn all_that_carry_the_labels_are_told() {
    let fleet = Fleet::start(0).await;
    let both = json!({"team": "infra", "tier": "1"});
    fleet.labelled("in/1", both.clone()).await;
    fleet
        .labelled("in/2", json!({"team": "infra", "tier": "1", "region": "eu"}))
        .await;
    fleet.labelled("out/1", json!({"team": "infra"})).await;
    fleet.labelled("out/2", json!({"tier": "1"})).await;
    fleet
        .labelled("out/3", json!({"team": "1", "tier": "infra"}))
        .await;
    // It has no address.
    fleet.labelled("out#4", both.clone()).await;
    let elsewhere = fleet.hub.account("elsewhere").await;
    let foreign = json!({"id": "in/1", "labels": both});
    elsewhere
        .admin()
        .post(&elsewhere.path("/agents"), &foreign)
        .await
        .expect(201);

    let body = json!({"labels": {"tier": "1", "team": "infra"}, "title": "Stop"});
    let taken = fleet.alice.post("/v1/broadcasts", &body).await.expect(202);
    assert_eq!(taken["broadcast"]["labels"], both);
    assert_eq!(taken["broadcast"]["recipients"], 2);
    let id = taken["broadcast"]["id"].as_str().unwrap();
    let view = fleet.once(id, "queued", 2).await;
    let told = view["unacknowledged"].as_array().unwrap().iter();
    let told: Vec<_> = told.map(|recipient| &recipient["agent_id"]).collect();
    assert_eq!(told, ["in/1", "in/2"]);

    for labels in [
        json!({"team": "sales"}),
        json!({"team": "in\0fra"}),
        json!({"te\0am": "infra"}),
        json!({"team": {}}),
    ] {
        let body = json!({"labels": labels, "title": "Stop"});
        let refused = fleet.alice.post("/v1/broadcasts", &body).await;
        if labels["team"].is_object() {
            refused.expect_error(400, "validation_error");
        } else {
            refused.expect_error(422, "unknown_destination");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_sent_or_seen_is_refused() {
    let hub = TestHub::builder()
        .set("HUB_BROADCAST_RECIPIENTS_MAX", 3)
        .set("HUB_BROADCAST_CONTENT_BYTES_MAX", 1_048_576);
    let fleet = Fleet::on(hub.start().await, 3).await;
    let body = fleet.to_all("Stop");
    let id = fleet.sent(&body).await;

    let mut unknown = body.clone();
    unknown["to"] = json!(["agent:fleet/0", "agent:no/one", "agent:fleet/none"]);
    let named = fleet.alice.post("/v1/broadcasts", &unknown).await;
    let named = named.expect_error(422, "unknown_destination");
    assert_eq!(named, "to: no such agent: agent:fleet/none, agent:no/one");
    unknown["to"] = json!(["agent:a\0b"]);
    let refused = fleet.alice.post("/v1/broadcasts", &unknown).await;
    refused.expect_error(422, "unknown_destination");

    fleet.crowd("crowd/", 4, &json!({"crowd": "yes"})).await;
    let too_many = [
        json!({"to": ["agent:a", "agent:b", "agent:c", "agent:d"], "title": "Stop"}),
        json!({"labels": {"crowd": "yes"}, "title": "Stop"}),
    ];
    for body in too_many {
        let refused = fleet.alice.post("/v1/broadcasts", &body).await;
        let said = refused.expect_error(422, "invalid_field");
        assert_eq!(said, "to, labels: expected at most 3 agents");
    }
    let mut large = body.clone();
    let part = json!({"kind": "text", "text": "x".repeat(200_000)});
    large["context"] = json!([part, part]);
    let refused = fleet.alice.post("/v1/broadcasts", &large).await;
    let said = refused.expect_error(422, "invalid_field");
    assert!(said.ends_with("expected at most 1048576 together"), "{said}");
    let mut late = body.clone();
    late["expires_at"] = json!("2020-01-01T00:00:00Z");
    let refused = fleet.alice.post("/v1/broadcasts", &late).await;
    assert!(
        refused
            .expect_error(422, "invalid_field")
            .starts_with("expires_at")
    );
    for (member, value) in [
        ("labels", json!({"a": "b"})),
        ("to", json!([])),
        ("to", json!(["agent:fleet/0#sess_1"])),
        ("from", json!("human:bob")),
    ] {
        let mut bad = body.clone();
        bad[member] = value;
        let refused = fleet.alice.post("/v1/broadcasts", &bad).await;
        refused.expect_error(400, "validation_error");
    }

    let viewer = fleet.account.human("vera", "viewer").await;
    for caller in [&*viewer, &*fleet.agents[0]] {
        let refused = caller.post("/v1/broadcasts", &body).await;
        refused.expect_error(403, "not_authorized");
    }
    let path = format!("/v1/broadcasts/{id}");
    viewer.get(&path).await.expect(200);
    let of_agent = fleet.agents[0].get(&path).await;
    of_agent.expect_error(403, "not_authorized");
    let stranger = fleet.hub.account("other").await.human("eve", "owner").await;
    stranger.get(&path).await.expect_error(404, "not_found");
    let listed = stranger.get("/v1/broadcasts").await.expect(200);
    assert_eq!(listed["broadcasts"], json!([]));
    for unknown in ["bro_1", "bro_", "dir_1"] {
        let read = fleet.alice.get(&format!("/v1/broadcasts/{unknown}")).await;
        read.expect_error(404, "not_found");
    }
    let misread = fleet.alice.get("/v1/broadcasts?cursor=AAAA").await;
    misread.expect_error(400, "validation_error");
}

#[tokio::test]
async fn the_same_key_and_body_are_one_broadcast() {
    let fleet = Fleet::start(2).await;
    let (body, other) = (fleet.to_all("Once"), fleet.to_all("Other"));
    let send = |key, body| keyed(&fleet.alice, "/v1/broadcasts", key, body);
    let calls = (0..8).map(|_| send("k1", &body));
    let first = futures_util::future::join_all(calls).await;
    let id = first[0].expect(202)["broadcast"]["id"].take();
    for reply in &first {
        assert_eq!(reply.expect(202)["broadcast"]["id"], id);
    }
    send("k1", &other).await.expect_error(409, "idempotency_conflict");
    // One key space for all that a person writes.
    let directive = json!({"to": "agent:fleet/0", "title": "Once"});
    keyed(&fleet.alice, "/v1/directives", "k1", &directive)
        .await
        .expect_error(409, "idempotency_conflict");
    keyed(&fleet.alice, "/v1/directives", "k2", &directive)
        .await
        .expect(201);
    send("k2", &body).await.expect_error(409, "idempotency_conflict");
    fleet.once(id.as_str().unwrap(), "queued", 2).await;

    // Answered whatever has changed: one of them is gone.
    let path = fleet.account.agent_path(fleet.agents[1].id(), "");
    fleet.account.admin().delete(&path).await.expect(204);
    let again = send("k1", &body).await.expect(202);
    assert_eq!(again["broadcast"]["id"], id);
    let anew = send("k3", &body).await;
    anew.expect_error(422, "unknown_destination");
    assert_eq!(
        drain(&fleet.agents[0], "").await.len(),
        2,
        "a directive and a broadcast"
    );

    let owner = fleet.account.human("olga", "owner").await;
    let audit = owner.get(&fleet.account.path("/audit")).await.expect(200);
    let events = audit["events"].as_array().unwrap().iter();
    let events: Vec<_> = events
        .filter(|event| event["action"] == "broadcast.send")
        .collect();
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(
        (&events[0]["target"], &events[0]["actor"], &events[0]["detail"]),
        (&id, &json!("human:alice"), &json!({"recipients": 2}))
    );
}

#[tokio::test]
async fn broadcasts_are_listed_newest_first() {
    let fleet = Fleet::start(1).await;
    let mut sent = Vec::new();
    for title in ["a", "b", "c"] {
        sent.push(fleet.sent(&fleet.to_all(title)).await);
    }
    let mut found = Vec::new();
    let mut path = "/v1/broadcasts?limit=2".to_owned();
    loop {
        let page = fleet.alice.get(&path).await.expect(200);
        for listed in page["broadcasts"].as_array().unwrap() {
            found.push(listed["id"].as_str().unwrap().to_owned());
        }
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        path = format!("/v1/broadcasts?limit=2&cursor={cursor}");
    }
    sent.reverse();
    assert_eq!(found, sent);
}

/// Of many agents those with a rare label are found by it, not by looking at all.
#[tokio::test]
async fn labels_are_looked_up_by_their_index() {
    let fleet = Fleet::start(0).await;
    fleet.crowd("many/", 20_000, &json!({"team": "many"})).await;
    fleet.crowd("few/", 3, &json!({"team": "few"})).await;
    let database = fleet.hub.database().connect().await;
    let statements = tiers::statements(Tier::Lifecycle);
    let (_, sql) = statements
        .iter()
        .find(|(name, _)| *name == "find labelled agents")
        .unwrap();
    let prepare = format!("ANALYZE directory.agents;\nPREPARE labelled AS {sql}");
    database.batch_execute(&prepare).await.unwrap();
    let account = fleet.account.id();
    let explain = format!(r#"EXPLAIN EXECUTE labelled('{account}', '{{"team":"few"}}', 10001)"#);
    let plan = database.simple_query(&explain).await.unwrap();
    let plan: Vec<_> = plan
        .iter()
        .filter_map(|line| match line {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        })
        .collect();
    let plan = plan.join("\n");
    assert!(plan.contains("agents_by_labels"), "{plan}");
    let body = json!({"labels": {"team": "few"}, "title": "Stop"});
    let id = fleet.sent(&body).await;
    fleet.once(&id, "queued", 3).await;
}
