//! The published request examples, from submit over HTTPS to an answer by pull and by signed push, on a hub of four
//! real processes. The signature is verified by a program that shares nothing with the signer.

use std::io::Write as _;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hub_testkit::Received;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::stage::{AGENT, SECRET, SECRET_REF, Stage, published};

const TOKEN_REF: &str = "env:MA2H_RESUME_TOKEN";
const TOKEN: &str = "a bearer token of the tests";
const ENTRY_SECRET: &str = "an entry key of the tests, 0123456789";

#[tokio::test]
async fn every_example_comes_back_answered_by_pull_and_by_signed_push() {
    let stage = Stage::processes(1).await;
    stage.account.put_secret(AGENT, TOKEN_REF, TOKEN).await;
    let cases = [
        (
            "ask-dev-team-decision",
            json!({"resolution": "answered", "value": "hold", "comment": "tomorrow 🙂"}),
        ),
        (
            "ask-mode-confirm",
            json!({"resolution": "answered", "value": "approve"}),
        ),
        (
            "ask-mode-input",
            json!({"resolution": "answered", "value": {"release_note": "faster", "notify_users": true}}),
        ),
        (
            "ask-sensitive-field",
            json!({"resolution": "answered", "value": {"payment_api_key": "sk_test_1"}}),
        ),
        (
            "task-manual-action",
            json!({"resolution": "completed", "comment": "done",
            "checklist": [{"text": "Generate ≥32-char key", "done": true}]}),
        ),
    ];
    for (name, answer) in cases {
        for auth in [
            json!({"scheme": "hmac", "secret_ref": SECRET_REF}),
            json!({"scheme": "bearer", "token_ref": TOKEN_REF}),
            json!({"scheme": "apikey", "token_ref": TOKEN_REF}),
        ] {
            answered_example(&stage, name, &answer, &auth).await;
        }
    }
}

/// A notify has no answer; it is delivered when it is accepted, and can be read.
#[tokio::test]
async fn the_example_of_a_notify_is_delivered_and_can_be_read() {
    let stage = Stage::processes(1).await;
    let envelope = example("notify-daily-digest");
    let ack = stage.agent.submit(&envelope).await.expect(202);
    assert_eq!(ack["status"], "delivered");
    let id = ack["id"].as_str().unwrap();

    let read = stage.agent.message(id).await.expect(200);
    assert_eq!(read["status"], "delivered");
    assert_eq!(read["body"], envelope["body"]);
    let shown = stage.alice.message(id).await.expect(200);
    let html = shown["rendered"]["body_html"].as_str().unwrap();
    assert!(html.contains("Shipped</h"), "{html}");
    stage
        .alice
        .resolve(id, &json!({"resolution": "answered", "value": "x"}))
        .await
        .expect_error(422, "invalid_field");
}

#[tokio::test]
async fn a_tampered_a_replayed_and_a_redirected_push_fail_verification() {
    let stage = Stage::processes(1).await;
    let id = stage.agent.submitted(&stage.confirm_with_push()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    let push = stage.sink.await_received(1).await.remove(0);

    let genuine = Verification::of(&push, &stage.callback_url(), &Key::Hmac(SECRET));
    assert_eq!(genuine.verdict(), Ok(()));

    let changes: [(&str, Change); 8] = [
        ("value", |case| case.body = case.body.replace("approve", "deny")),
        ("actor", |case| {
            case.body = case.body.replace("human:alice", "human:mallo");
        }),
        ("in_reply_to", |case| {
            case.body = case.body.replace("msg_0", "msg_1");
        }),
        ("resolution", |case| {
            case.body = case.body.replace(r#""answered""#, r#""declined""#);
        }),
        ("endpoint", |case| case.callback_url.push_str("/elsewhere")),
        ("key", |case| {
            case.key = "another secret, another secret, 0123".to_owned();
        }),
        ("replay", |case| case.seen.push(case.jti())),
        ("age", |case| case.now += 121),
    ];
    for (what, change) in changes {
        let mut case = genuine.clone();
        change(&mut case);
        assert_ne!(case, genuine, "{what} changed nothing");
        assert!(
            case.verdict().is_err(),
            "a push with another {what} was taken for genuine"
        );
    }
}

/// The hub's own keys sign where an agent has none.
#[tokio::test]
async fn without_an_entry_key_a_bearer_callback_is_signed_by_the_hub() {
    let stage = Stage::in_process().await;
    stage.account.put_secret(AGENT, TOKEN_REF, TOKEN).await;
    let mut envelope = stage.confirm_with_push();
    envelope["request"]["callback"]["auth"] = json!({"scheme": "bearer", "token_ref": TOKEN_REF});
    let id = stage.agent.submitted(&envelope).await;
    stage.alice.answer(&id, "deny").await.expect(200);
    let push = stage.sink.await_received(1).await.remove(0);

    let keys = stage
        .hub
        .anonymous()
        .get("/.well-known/ma2h/keys")
        .await
        .expect(200);
    let key = keys["keys"][0]["x"].as_str().unwrap().to_owned();
    let genuine = Verification::of(&push, &stage.callback_url(), &Key::Ed25519(&key));
    assert_eq!(genuine.verdict(), Ok(()));
    let mut tampered = genuine.clone();
    tampered.body = tampered.body.replace("deny", "approve");
    assert!(tampered.verdict().is_err());
}

#[test]
fn the_independent_verifier_knows_the_published_fixtures() {
    let status = verifier().arg("--self-test").status().expect("run python3");
    assert!(status.success());
}

async fn answered_example(stage: &Stage, name: &str, answer: &Value, auth: &Value) {
    let scheme = auth["scheme"].as_str().unwrap();
    if scheme == "apikey" {
        stage.account.put_hmac_entry_key(AGENT, ENTRY_SECRET).await;
    }
    let mut envelope = example(name);
    let block = if envelope["type"] == "task" {
        "action"
    } else {
        "request"
    };
    let path = format!("/{name}/{scheme}");
    envelope[block]["callback"] = json!({"mode": "push", "url": stage.sink.url(&path), "auth": auth});
    let id = stage.agent.submitted(&envelope).await;
    assert_eq!(stage.agent.message(&id).await.expect(200)["status"], "open");

    let resolved = stage.alice.resolve(&id, answer).await.expect(200);
    let pulled = stage.agent.wait(&id, 60).await.expect(200);
    assert_eq!(pulled["status"], answer["resolution"], "{name}");
    let response = &pulled["response"];
    assert_eq!(response["resolution_id"], resolved["resolution_id"]);
    assert_eq!(response["ma2h_version"], envelope["ma2h_version"]);
    assert_eq!(response["state"], envelope["state"]);
    assert_eq!(response["response"]["actor"], "human:alice");
    assert_eq!(response["response"]["value"], answer["value"]);
    assert_eq!(response["response"]["comment"], answer["comment"]);

    let push = stage
        .sink
        .await_request(&path, |request| request.path == path)
        .await;
    assert_eq!(&push.json(), response, "{name}: push and pull differ");
    assert_credential(&push, scheme);
    let hub_key = hub_key(stage).await;
    let key = match scheme {
        "hmac" => Key::Hmac(SECRET),
        "apikey" => Key::Hmac(ENTRY_SECRET),
        _ if entry_key_is_hmac(stage).await => Key::Hmac(ENTRY_SECRET),
        _ => Key::Ed25519(&hub_key),
    };
    let verdict = Verification::of(&push, &stage.sink.url(&path), &key).verdict();
    assert_eq!(verdict, Ok(()), "{name} with {scheme}");
}

fn assert_credential(push: &Received, scheme: &str) {
    let bearer = format!("Bearer {TOKEN}");
    let (authorization, api_key) = match scheme {
        "bearer" => (Some(bearer.as_str()), None),
        "apikey" => (None, Some(TOKEN)),
        _ => (None, None),
    };
    assert_eq!(push.header("authorization"), authorization);
    assert_eq!(push.header("x-api-key"), api_key);
    assert_eq!(push.header("content-type"), Some("application/json"));
}

async fn hub_key(stage: &Stage) -> String {
    let keys = stage
        .hub
        .anonymous()
        .get("/.well-known/ma2h/keys")
        .await
        .expect(200);
    keys["keys"][0]["x"].as_str().unwrap().to_owned()
}

async fn entry_key_is_hmac(stage: &Stage) -> bool {
    let path = stage.account.agent_path(AGENT, "/entry-key");
    stage.account.admin().get(&path).await.json()["alg"] == "hmac-sha256"
}

/// A published example; what lay in the future when it was written does again.
pub(crate) fn example(name: &str) -> Value {
    let path = published(&format!("examples/{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut envelope: Value = serde_json::from_str(&text).unwrap();
    if envelope["expires_at"].is_string() {
        envelope["expires_at"] = json!("2099-01-01T00:00:00Z");
    }
    if envelope["idempotency_key"].is_string() {
        envelope["idempotency_key"] = json!(hub_testkit::unique());
    }
    envelope
}

type Change = fn(&mut Verification);

enum Key<'a> {
    Hmac(&'a str),
    /// The public key, as the JWK set gives it.
    Ed25519(&'a str),
}

/// What an agent knows when it verifies a push.
#[derive(Clone, Debug, PartialEq)]
struct Verification {
    header: String,
    body: String,
    callback_url: String,
    alg: &'static str,
    key: String,
    now: i64,
    seen: Vec<String>,
}

impl Verification {
    fn of(push: &Received, callback_url: &str, key: &Key<'_>) -> Self {
        let (alg, key) = match key {
            Key::Hmac(secret) => ("hmac-sha256", (*secret).to_owned()),
            Key::Ed25519(public) => {
                assert_eq!(URL_SAFE_NO_PAD.decode(public).unwrap().len(), 32);
                ("ed25519", (*public).to_owned())
            }
        };
        Self {
            header: push
                .header("ma2h-signature")
                .expect("a push is signed")
                .to_owned(),
            body: push.text().to_owned(),
            callback_url: callback_url.to_owned(),
            alg,
            key,
            now: OffsetDateTime::now_utc().unix_timestamp(),
            seen: Vec::new(),
        }
    }

    fn jti(&self) -> String {
        let jti = self.header.split(',').find_map(|part| part.strip_prefix("jti="));
        jti.expect("a signature names its jti").to_owned()
    }

    /// Asks the independent verifier.
    fn verdict(&self) -> Result<(), String> {
        let input = json!({
            "header": self.header, "body": self.body, "callback_url": self.callback_url,
            "alg": self.alg, "key": self.key, "now": self.now, "seen": self.seen,
        });
        let mut child = verifier()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("run python3");
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.to_string().as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let verdict: Value = serde_json::from_slice(&output.stdout).expect("the verifier answers in JSON");
        if verdict["ok"] == true {
            Ok(())
        } else {
            Err(verdict["why"].to_string())
        }
    }
}

fn verifier() -> Command {
    let mut command = Command::new("python3");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/verify.py"));
    command
}
