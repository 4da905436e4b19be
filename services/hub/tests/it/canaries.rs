//! What people and agents write, and what they prove themselves with, is in nothing that the hub writes about its work
//! (§9.6): every process at its most talkative, with everything going wrong that can.

mod written;

use std::time::Duration;

use http::Method;
use hub_platform::db::Tier;
use hub_testkit::{Answer, Api, Collector, Reply, TestHub, envelope, eventually};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::mailbox::{drain, ids};
use crate::stage::{AGENT, SECRET, SECRET_REF, Stage};
use written::{Hints, around, holds, metrics, read_logs};

/// In everything that is planted; a place follows.
const CANARY: &str = "qxcanaryqx";
const TOKEN_REF: &str = "env:CANARY_TOKEN";
const TOKEN: &str = "qxcanaryqx-token-value";
const ENTRY_SECRET: &str = "qxcanaryqx-entry-secret-0123456789";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_passes_through_is_logged_measured_traced_or_hinted_at() {
    let traces = Collector::start().await;
    let hub = TestHub::builder()
        .set("HUB_LOG", "trace")
        .set("HUB_OTLP_ENDPOINT", traces.url())
        .set("HUB_CALLBACK_MAX_ATTEMPTS", 2)
        .set("HUB_CALLBACK_TIMEOUT_MS", 500)
        .set("HUB_PEERS_CALL_TIMEOUT_MS", 4000)
        .processes(1)
        .await;
    let mut stage = Stage::on(hub).await;
    let hints = Hints::listen(&stage).await;
    stage.account.put_secret(AGENT, TOKEN_REF, TOKEN).await;
    stage.account.put_hmac_entry_key(AGENT, ENTRY_SECRET).await;

    let cookie = browse(&stage).await;
    live(&stage).await;
    direct(&stage).await;
    let pushed = push(&stage).await;
    be_refused(&stage).await;
    break_down(&mut stage).await;

    let secrets = [
        stage.agent.token().unwrap(),
        stage.alice.token().unwrap(),
        stage.hub.admin().token().unwrap(),
        &cookie,
        SECRET,
        TOKEN,
        ENTRY_SECRET,
        &"5a".repeat(32),
    ]
    .map(str::to_owned);
    for secret in &secrets {
        assert_eq!(
            stage.tables_with(secret).await,
            Vec::<String>::new(),
            "stored in the clear"
        );
    }
    assert_eq!(
        stage.tables_with(CANARY).await,
        [
            "lifecycle.acks",
            "lifecycle.directives",
            "lifecycle.envelopes",
            "lifecycle.messages"
        ]
    );

    let told = [
        ("attempts", attempts(&stage, &pushed).await, "credential_missing"),
        ("audit", audit(&stage).await, "message.delete"),
    ];
    let metrics = metrics(&mut stage).await;
    let logs = stage.hub.tiers().logs().to_owned();
    // Stopped in order, each sends its last spans.
    stage.hub.stop().await;
    let written = [
        ("logs", read_logs(&logs), "answered"),
        ("metrics", metrics, "hub_http_requests_total"),
        ("traces", traces.received(), "http request"),
        ("hints", hints.heard(), "message.created"),
    ];
    let words = || secrets.iter().map(String::as_str).chain([CANARY]);
    for (what, text, sign) in &told {
        assert_silent(what, text, sign, words());
    }
    // The audit has the names that secrets go by; what the hub writes for its operators has not.
    for (what, text, sign) in &written {
        assert_silent(what, text, sign, words().chain([SECRET_REF, TOKEN_REF]));
    }
}

/// A text that has a sign of being what it should be, and none of these words.
fn assert_silent<'a>(what: &str, text: &[u8], sign: &str, words: impl Iterator<Item = &'a str>) {
    assert!(holds(text, sign), "the {what} are not what they should be");
    for word in words {
        assert!(
            !holds(text, word),
            "{word} is in the {what}: {}",
            around(text, word)
        );
    }
}

/// Every verb and every end.
async fn live(stage: &Stage) {
    let (agent, alice) = (&stage.agent, &stage.alice);
    agent.submitted(&planted(envelope::notify(AGENT))).await;
    let answered = agent.submitted(&select(stage)).await;
    let answer =
        json!({"resolution": "answered", "value": "qxcanaryqx-value", "comment": "qxcanaryqx-comment"});
    alice.resolve(&answered, &answer).await.expect(200);
    alice
        .resolve(&answered, &answer)
        .await
        .expect_error(409, "already_terminal");
    agent.message(&answered).await.expect(200);
    let ack = json!({"note": "qxcanaryqx-acknowledged"});
    agent
        .post(&format!("/v1/messages/{answered}/ack"), &ack)
        .await
        .expect(200);
    edit(stage).await;
    alice
        .messages("?q=qxcanaryqx-title&tag=qxcanaryqx-tag")
        .await
        .expect(200);

    let mut input = planted(envelope::input(AGENT, &alice.address()));
    input["sensitive"] = json!(true);
    input["request"]["schema"]["properties"]["note"]["x-ma2h-sensitive"] = json!(true);
    let input = agent.submitted(&input).await;
    let wrong = json!({"resolution": "answered", "value": {"note": ["qxcanaryqx-wrong"]}});
    alice
        .resolve(&input, &wrong)
        .await
        .expect_error(422, "invalid_field");
    let value = json!({"note": "qxcanaryqx-note"});
    alice
        .resolve(&input, &json!({"resolution": "answered", "value": value}))
        .await
        .expect(200);

    let declined = agent.submitted(&select(stage)).await;
    let body = json!({"resolution": "declined", "comment": "qxcanaryqx-declined"});
    alice.resolve(&declined, &body).await.expect(200);
    let cancelled = agent.submitted(&select(stage)).await;
    agent.cancel(&cancelled).await.expect(200);
    let mut task = planted(envelope::task(AGENT, &alice.address()));
    task["action"]["instructions"] = json!("qxcanaryqx-instructions");
    let task = agent.submitted(&task).await;
    let body = json!({"resolution": "completed", "comment": "qxcanaryqx-done",
        "checklist": [{"text": "qxcanaryqx-item", "done": true}]});
    alice.resolve(&task, &body).await.expect(200);

    let mut expiring = select(stage);
    let soon = OffsetDateTime::now_utc() + Duration::from_millis(300);
    expiring["expires_at"] = json!(soon.format(&Rfc3339).unwrap());
    expiring["request"]["default_on_expire"] = json!("qxcanaryqx-value");
    let expiring = agent.submitted(&expiring).await;
    eventually("the expiry", || async {
        (alice.message(&expiring).await.expect(200)["status"] == "expired").then_some(())
    })
    .await;
    let owner = stage.account.human("olga", "owner").await;
    owner
        .delete(&format!("/v1/messages/{declined}"))
        .await
        .expect(204);
}

/// An answer in words of one's own.
async fn edit(stage: &Stage) {
    let mut ask = select(stage);
    ask["request"]["permissions"] = json!({"allow_edit": true});
    let id = stage.agent.submitted(&ask).await;
    stage.alice.answer(&id, "qxcanaryqx own words").await.expect(200);
    let read = stage.agent.message(&id).await.expect(200);
    assert_eq!(read["response"]["response"]["edited"], true);
}

/// A directive, drained and dealt with.
async fn direct(stage: &Stage) {
    let body = json!({
        "to": format!("agent:{AGENT}"),
        "title": "qxcanaryqx-directive",
        "body": "**qxcanaryqx-order**",
        "tags": ["qxcanaryqx-tag"],
        "context": [{"kind": "text", "text": "qxcanaryqx-part"}],
    });
    let written = stage.alice.post("/v1/directives", &body).await.expect(201);
    let id = &written["directive"]["id"];
    assert_eq!(ids(&drain(&stage.agent, "").await), [id.as_str().unwrap()]);
    let handled = json!({"ids": [id], "note": "qxcanaryqx-handled"});
    let acked = stage.agent.post("/v1/inbox/ack", &handled).await;
    assert_eq!(acked.expect(200)["acked"], 1);
    stage.alice.get("/v1/directives").await.expect(200);
    let mut unknown = body;
    unknown["qxcanaryqx-name"] = json!("qxcanaryqx-member");
    let refused = stage.alice.post("/v1/directives", &unknown).await;
    refused.expect_error(400, "validation_error");
}

/// Pushes by every scheme, to a host that says a lot, then nothing, then yes; and by a reference to nothing.
async fn push(stage: &Stage) -> Vec<String> {
    let talkative = |status| Answer::With {
        status,
        header: ("x-said", "qxcanaryqx-header".to_owned()),
        body: "qxcanaryqx-answer".into(),
    };
    stage
        .sink
        .then([talkative(500), talkative(400), Answer::Hang, Answer::Close]);
    let auths = [
        json!({"scheme": "hmac", "secret_ref": SECRET_REF}),
        json!({"scheme": "bearer", "token_ref": TOKEN_REF}),
        json!({"scheme": "apikey", "token_ref": TOKEN_REF}),
        json!({"scheme": "hmac", "secret_ref": "env:qxcanaryqx-reference"}),
    ];
    let mut pushed = Vec::new();
    for auth in auths {
        let mut ask = select(stage);
        let url = callback_url(stage);
        ask["request"]["callback"] = json!({"mode": "push", "url": url, "auth": auth});
        let id = stage.agent.submitted(&ask).await;
        stage.alice.answer(&id, "qxcanaryqx-value").await.expect(200);
        eventually("the push to end", || async {
            (stage.alice.attempts(&id).await.expect(200)["state"] != "due").then_some(())
        })
        .await;
        pushed.push(id);
    }
    pushed
}

fn callback_url(stage: &Stage) -> String {
    stage.sink.url("/qxcanaryqx-path?key=qxcanaryqx-query")
}

/// What a person is told of the attempts, without the URL that the agent gave.
async fn attempts(stage: &Stage, pushed: &[String]) -> Vec<u8> {
    let mut all = Vec::new();
    for id in pushed {
        let mut told = stage.alice.attempts(id).await.expect(200);
        for attempt in told["attempts"].as_array_mut().unwrap() {
            assert_eq!(attempt["url"].take(), callback_url(stage));
        }
        all.extend(told.to_string().into_bytes());
    }
    all
}

/// What is told of who did what.
async fn audit(stage: &Stage) -> Vec<u8> {
    let path = stage.account.path("/audit?limit=200");
    let told = stage.account.admin().get(&path).await;
    told.expect(200);
    told.text.into_bytes()
}

/// Calls that are told what is wrong with them.
async fn be_refused(stage: &Stage) {
    let (agent, alice) = (&stage.agent, &stage.alice);
    for broken in [
        r#"{"qxcanaryqx-key": 1, "qxcanaryqx-key": "qxcanaryqx-twice"}"#,
        r#"{"body": "qxcanaryqx-unfinished"#,
        r#"{"type": "qxcanaryqx-type", "body": 5}"#,
    ] {
        let refused = agent.send_text(Method::POST, "/v1/messages", broken).await;
        refused.expect_error(400, "validation_error");
    }
    let mut changed = select(stage);
    agent.submitted(&changed).await;
    changed["title"] = json!("qxcanaryqx-other");
    agent
        .submit(&changed)
        .await
        .expect_error(409, "idempotency_conflict");
    let change = |change: fn(&mut Value)| {
        let mut ask = select(stage);
        change(&mut ask);
        ask
    };
    let refused = [
        change(|ask| ask["expires_at"] = json!("2020-01-01T00:00:00Z")),
        change(|ask| ask["request"]["default_on_expire"] = json!("qxcanaryqx-no-option")),
        change(|ask| ask["request"]["options"][1]["value"] = json!("qxcanaryqx-value")),
        change(|ask| ask["to"] = json!("agent:qxcanaryqx-nobody")),
    ];
    for ask in refused {
        agent.submit(&ask).await.expect(422);
    }
    let unknown = change(|ask| ask["agent"]["runtime"] = json!("qxcanaryqx-runtime"));
    agent.submit(&unknown).await.expect_error(400, "validation_error");
    let reference = stage.account.agent_path(AGENT, "/secrets/qxcanaryqx-reference");
    let deleted = stage.account.admin().delete(&reference).await;
    deleted.expect_error(404, "not_found");
    let id = agent.submitted(&select(stage)).await;
    alice
        .answer(&id, "qxcanaryqx-unlisted")
        .await
        .expect_error(422, "invalid_field");
    alice
        .get("/v1/messages/qxcanaryqx-id")
        .await
        .expect_error(404, "not_found");
    alice
        .get("/qxcanaryqx-nowhere?token=qxcanaryqx")
        .await
        .expect_error(404, "not_found");
    let stranger = stage.hub.anonymous().with_token("ma2h_agent_qxcanaryqx");
    stranger
        .submit_anything()
        .await
        .expect_error(401, "unauthenticated");
}

/// The database refuses, and a tier is away.
async fn break_down(stage: &mut Stage) {
    let database = stage.hub.database().connect().await;
    let id = stage.agent.submitted(&select(stage)).await;
    database
        .batch_execute(
            "ALTER TABLE lifecycle.messages ADD CONSTRAINT no_canary CHECK (strpos(detail, 'qxcanaryqx') = 0) NOT VALID;
             ALTER TABLE lifecycle.envelopes ADD CONSTRAINT no_canary CHECK (strpos(title, 'qxcanaryqx') = 0) NOT VALID",
        )
        .await
        .unwrap();
    stage
        .alice
        .answer(&id, "qxcanaryqx-value")
        .await
        .expect_error(500, "internal");
    stage
        .agent
        .submit(&select(stage))
        .await
        .expect_error(500, "internal");
    database
        .batch_execute(
            "ALTER TABLE lifecycle.messages DROP CONSTRAINT no_canary;
             ALTER TABLE lifecycle.envelopes DROP CONSTRAINT no_canary",
        )
        .await
        .unwrap();
    stage.hub.tiers().kill(Tier::Lifecycle, 0).await;
    stage
        .agent
        .submit(&select(stage))
        .await
        .expect_error(503, "unavailable");
    stage.hub.tiers().restart(Tier::Lifecycle, 0);
    eventually("the tier to be back", || async {
        let reply = stage.alice.answer(&id, "qxcanaryqx-value").await;
        // 409: an answer before was taken, and nobody was told.
        [200, 409].contains(&reply.status.as_u16()).then_some(())
    })
    .await;
}

/// Signs in to the inbox and reads a message; returns the cookie's secret.
async fn browse(stage: &Stage) -> String {
    let token = stage.alice.token().unwrap();
    // As a browser would, but a redirect is looked at.
    let client = hub_testkit::certificates::client_builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let anonymous = Api::new(client, stage.hub.base_url(), None);
    let form = |path: &str, body: String| {
        anonymous
            .request(Method::POST, path)
            .header("sec-fetch-site", "same-origin")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body)
    };
    Reply::of(form("/inbox/sign-in", "token=ma2h_human_qxcanaryqx".to_owned())).await;
    let signed_in = Reply::of(form("/inbox/sign-in", format!("token={token}"))).await;
    let cookie = signed_in
        .header("set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let id = stage.agent.submitted(&select(stage)).await;
    let page = anonymous
        .request(Method::GET, &format!("/inbox/{id}"))
        .header("cookie", &cookie);
    let page = Reply::of(page).await;
    assert!(page.text.contains("qxcanaryqx-body"), "{}", page.status);
    let posted = form(
        &format!("/inbox/{id}"),
        "csrf=qxcanaryqx&comment=qxcanaryqx".to_owned(),
    );
    Reply::of(posted.header("cookie", &cookie)).await;
    cookie.split_once('=').unwrap().1.to_owned()
}

/// An ask to choose between two canaries.
fn select(stage: &Stage) -> Value {
    let mut ask = planted(envelope::select(AGENT, &stage.alice.address()));
    ask["request"]["options"][0] = json!({"value": "qxcanaryqx-value", "label": "qxcanaryqx-label"});
    ask
}

/// A canary wherever an agent may write.
fn planted(mut envelope: Value) -> Value {
    envelope["title"] = json!("qxcanaryqx-title");
    envelope["body"] = json!("**qxcanaryqx-body**");
    envelope["tags"] = json!(["qxcanaryqx-tag"]);
    envelope["state"] = json!({"sealed": "qxcanaryqx-state"});
    envelope["client_ref"] = json!("qxcanaryqx-ref");
    envelope["context"] = json!([{"kind": "text", "text": "qxcanaryqx-context"}]);
    envelope["agent"]["run_id"] = json!("qxcanaryqx-run");
    envelope["agent"]["project"] = json!("qxcanaryqx-project");
    envelope["agent"]["labels"] = json!({"qxcanaryqx-key": "qxcanaryqx-value"});
    envelope["x_unknown"] = json!({"qxcanaryqx-name": "qxcanaryqx-member"});
    envelope["idempotency_key"] = json!(format!("qxcanaryqx-{}", hub_testkit::unique()));
    envelope
}

trait SubmitAnything {
    async fn submit_anything(&self) -> Reply;
}

impl SubmitAnything for Api {
    async fn submit_anything(&self) -> Reply {
        self.post("/v1/messages", &planted(envelope::notify(AGENT))).await
    }
}
