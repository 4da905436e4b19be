//! The turns of a broadcast's agents: each is had once, whoever dies, and whoever cannot have its own.

use std::collections::BTreeSet;
use std::time::Duration;

use hub_platform::db::Tier;
use hub_platform::servers::{Nats, NatsOptions};
use hub_testkit::{TestHub, eventually, eventually_within};
use serde_json::{Value, json};

use crate::broadcasts::{Fleet, after, keyed, states};
use crate::mailbox::{ack, directed, drain, ids};

const SETTLED_WITHIN: Duration = Duration::from_secs(90);

/// What cannot be written to one agent is written to the others (design rule 11), and to that one when it can be.
#[tokio::test]
async fn an_agent_that_cannot_have_its_turn_keeps_it_from_no_other() {
    let hub = TestHub::builder().set("HUB_REPUBLISH_AFTER_MS", 2000);
    let fleet = Fleet::on(hub.start().await, 5).await;
    let database = fleet.hub.database().connect().await;
    let refuse = "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                  BEGIN
                      RAISE EXCEPTION 'not to this one';
                  END $$;
                  CREATE TRIGGER refuse BEFORE INSERT ON lifecycle.directives
                      FOR EACH ROW WHEN (NEW.agent = 'fleet/0') EXECUTE FUNCTION public.refuse()";
    database.batch_execute(refuse).await.unwrap();
    let id = fleet.sent(&fleet.to_all("Hear")).await;
    let view = fleet.once(&id, "queued", 4).await;
    assert_eq!(view["states"]["pending"], 1, "{view}");
    let relent = "DROP TRIGGER refuse ON lifecycle.directives";
    database.batch_execute(relent).await.unwrap();
    fleet.once(&id, "queued", 5).await;
}

/// NATS is away, so that nobody has had a turn when the world changes.
#[tokio::test]
async fn who_cannot_be_told_when_the_turn_comes_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let options = |port| NatsOptions {
        dir: dir.path().to_owned(),
        port,
    };
    let mut nats = Nats::start(options(0)).await.unwrap();
    let hub = TestHub::builder()
        .set("HUB_NATS_URL", nats.url.expose())
        .set("HUB_REPUBLISH_AFTER_MS", 500);
    let fleet = Fleet::on(hub.start().await, 4).await;
    nats.kill().await.unwrap();

    let lasting = fleet.sent(&fleet.to_all("Lasting")).await;
    let mut quick = fleet.to_all("Quick");
    quick["expires_at"] = after(Duration::from_secs(5));
    let quick = fleet.sent(&quick).await;
    assert_eq!(fleet.view(&lasting).await["states"], states(&[("pending", 4)]));
    // One is gone, one is another of that id, one has no room.
    for gone in &fleet.agents[..2] {
        let path = fleet.account.agent_path(gone.id(), "");
        fleet.account.admin().delete(&path).await.expect(204);
    }
    let successor = fleet.account.agent(fleet.agents[1].id()).await;
    directed(&fleet.alice, fleet.agents[2].id(), "First").await;
    fleet
        .account
        .set_policy(json!({"rate_limit": {"inbox_depth": 1}}))
        .await;
    let database = fleet.hub.database().connect().await;
    eventually("the quick one's time to be over", || async {
        let sql =
            "SELECT expires_at < clock_timestamp() AS over FROM lifecycle.broadcasts WHERE broadcast_id = $1";
        let row = database.query_one(sql, &[&quick]).await.unwrap();
        row.get::<_, bool>("over").then_some(())
    })
    .await;
    nats = Nats::start(options(nats.port)).await.unwrap();

    let view = fleet.once(&lasting, "pending", 0).await;
    assert_eq!(view["states"], states(&[("queued", 1), ("undeliverable", 3)]));
    let reasons = view["unacknowledged"].as_array().unwrap().iter();
    let reasons: Vec<_> = reasons.map(|recipient| &recipient["reason"]).collect();
    let unknown = json!("unknown_destination");
    assert_eq!(
        reasons,
        [&unknown, &unknown, &json!("rate_limited"), &Value::Null]
    );
    let view = fleet.once(&quick, "pending", 0).await;
    assert_eq!(view["states"], states(&[("expired", 2), ("undeliverable", 2)]));
    assert!(drain(&successor, "").await.is_empty(), "it was for another");
    assert_eq!(drain(&fleet.agents[3], "").await.len(), 1);
    drop(nats);
}

/// NATS is away, so that those taken are under way until it is back.
#[tokio::test]
async fn so_many_are_under_way_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let options = |port| NatsOptions {
        dir: dir.path().to_owned(),
        port,
    };
    let mut nats = Nats::start(options(0)).await.unwrap();
    let hub = TestHub::builder()
        .set("HUB_NATS_URL", nats.url.expose())
        .set("HUB_REPUBLISH_AFTER_MS", 500)
        .set("HUB_BROADCAST_UNDER_WAY_MAX", 2);
    let fleet = Fleet::on(hub.start().await, 1).await;
    nats.kill().await.unwrap();

    let first = fleet.to_all("First");
    let taken = keyed(&fleet.alice, "/v1/broadcasts", "first", &first)
        .await
        .expect(202);
    fleet.sent(&fleet.to_all("Second")).await;
    let third = fleet.to_all("Third");
    let refused = fleet.alice.post("/v1/broadcasts", &third).await;
    assert!(refused.headers.contains_key("retry-after"));
    let message = refused.expect_error(429, "rate_limited");
    assert!(message.starts_with("broadcasts: 2 of this account"), "{message}");
    // What was taken is told again all the same.
    let again = keyed(&fleet.alice, "/v1/broadcasts", "first", &first)
        .await
        .expect(202);
    assert_eq!(again["broadcast"]["id"], taken["broadcast"]["id"]);
    let other = fleet.hub.account("other").await;
    let bob = other.human("bob", "operator").await;
    let agent = other.agent("other/agent").await;
    let told = json!({"to": [format!("agent:{}", agent.id())], "title": "Elsewhere"});
    bob.post("/v1/broadcasts", &told).await.expect(202);

    nats = Nats::start(options(nats.port)).await.unwrap();
    eventually("the third to be taken", || async {
        (fleet.alice.post("/v1/broadcasts", &third).await.status == 202).then_some(())
    })
    .await;
    drop(nats);
}

/// How each ended is told for as long as the broadcast is, also when its directives are gone.
#[tokio::test]
async fn a_broadcast_is_kept_until_the_last_of_its_directives_is_gone() {
    let hub = TestHub::builder().set("HUB_INBOUND_RETENTION_SECONDS", 6);
    let fleet = Fleet::on(hub.start().await, 2).await;
    let id = fleet.sent(&fleet.to_all("Stop")).await;
    fleet.once(&id, "queued", 2).await;
    let acked = ids(&drain(&fleet.agents[0], "").await);
    assert_eq!(ack(&fleet.agents[0], &acked).await, 1);
    eventually("the acknowledged directive to be gone", || async {
        let read = fleet.alice.get(&format!("/v1/directives/{}", acked[0])).await;
        (read.status == 404).then_some(())
    })
    .await;
    let view = fleet.view(&id).await;
    assert_eq!(view["states"]["acknowledged"], 1, "{view}");
    let view = fleet.once(&id, "expired", 1).await;
    assert_eq!(view["states"], states(&[("acknowledged", 1), ("expired", 1)]));
    let database = fleet.hub.database().connect().await;
    eventually("all of it to be gone", || async {
        let sql = "SELECT (SELECT count(*) FROM lifecycle.broadcasts)
                   + (SELECT count(*) FROM lifecycle.broadcast_recipients) AS rows";
        let row = database.query_one(sql, &[]).await.unwrap();
        (row.get::<_, i64>("rows") == 0).then_some(())
    })
    .await;
    fleet
        .alice
        .get(&format!("/v1/broadcasts/{id}"))
        .await
        .expect_error(404, "not_found");
}

/// Both replicas of the tier that fans out die in the middle, and NATS loses all it holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_agent_is_told_once_whoever_dies_in_the_middle() {
    const CROWD: i32 = 600;
    let dir = tempfile::tempdir().unwrap();
    let options = |port| NatsOptions {
        dir: dir.path().to_owned(),
        port,
    };
    let mut nats = Nats::start(options(0)).await.unwrap();
    let hub = TestHub::builder()
        .set("HUB_NATS_URL", nats.url.expose())
        .set("HUB_REPUBLISH_AFTER_MS", 1000)
        .set("HUB_NATS_JOB_ACK_WAIT_MS", 1000)
        .set("HUB_BROADCAST_CHUNK_MAX", 2);
    let mut fleet = Fleet::on(hub.processes(2).await, 0).await;
    fleet.crowd("crowd/", CROWD, &json!({"team": "crowd"})).await;
    let database = fleet.hub.database().connect().await;
    let told = async || {
        let sql = "SELECT count(*) AS told FROM lifecycle.broadcast_recipients WHERE state = 'sent'";
        database.query_one(sql, &[]).await.unwrap().get::<_, i64>("told")
    };
    let body = json!({"labels": {"team": "crowd"}, "title": "Stop"});
    let id = fleet.sent(&body).await;

    for number in 0..2 {
        let before = told().await;
        eventually_within(
            SETTLED_WITHIN,
            &format!("more than {before} to be told, {number} dead"),
            || async { (told().await > before + 10).then_some(()) },
        )
        .await;
        fleet.hub.tiers().kill(Tier::Lifecycle, number).await;
        let reached = told().await;
        assert!(reached < i64::from(CROWD), "all were told before anything died");
        fleet.hub.tiers().restart(Tier::Lifecycle, number);
    }
    nats.kill().await.unwrap();
    std::fs::remove_dir_all(dir.path()).unwrap();
    nats = Nats::start(options(nats.port)).await.unwrap();
    fleet.hub.await_ready().await;

    eventually_within(SETTLED_WITHIN, "all to be told", || async {
        (told().await == i64::from(CROWD)).then_some(())
    })
    .await;
    let view = fleet.once(&id, "queued", 600).await;
    assert_eq!(view["states"], states(&[("queued", 600)]));
    let sql = "SELECT directive.agent FROM lifecycle.directives AS directive
               INNER JOIN lifecycle.entries AS entry
                   ON directive.account = entry.account AND directive.directive_id = entry.entry_id";
    let rows = database.query(sql, &[]).await.unwrap();
    let agents: BTreeSet<String> = rows.iter().map(|row| row.get("agent")).collect();
    assert_eq!((rows.len(), agents.len()), (600, 600), "one each");
    drop(nats);
}
