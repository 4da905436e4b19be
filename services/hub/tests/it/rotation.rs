//! Rotation of what signs and seals, while the hub serves.

use std::process::{Output, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hub_platform::config::Config;
use hub_testkit::processes::program;
use hub_testkit::{Received, TestHub, envelope, eventually};
use ma2h::sign::{VerifyingKey, verify_push};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::mailbox::{ENTRY_SECRET, WORKER, directed, drain, ids};
use crate::stage::{AGENT, SECRET, SECRET_REF, Stage};

const WINDOW_SECONDS: i64 = 120;
const TOKEN_REF: &str = "env:MA2H_TOKEN";
const OLD_KEY: &str = "0a0b0c0d0a0b0c0d0a0b0c0d0a0b0c0d0a0b0c0d0a0b0c0d0a0b0c0d0a0b0c0d";
const NEW_KEY: &str = "1a1b1c1d1a1b1c1d1a1b1c1d1a1b1c1d1a1b1c1d1a1b1c1d1a1b1c1d1a1b1c1d";

#[tokio::test]
async fn a_secret_put_anew_signs_at_once_and_the_old_one_retires() {
    let hub = TestHub::builder()
        .set("HUB_KEYS_SECRET_OVERLAP_SECONDS", 3)
        .set("HUB_KEYS_SWEEP_INTERVAL_MS", 50);
    let stage = Stage::on(hub.start().await).await;
    assert!(is_signed_with(&pushed(&stage).await, SECRET));
    let next = "the next callback secret, 0123456789";
    stage.account.put_secret(AGENT, SECRET_REF, next).await;
    let statuses = statuses(&stage).await;
    assert_eq!(statuses, ["active", "retiring"]);
    assert!(is_signed_with(&pushed(&stage).await, next));

    eventually("the retired secret to be dropped", || async {
        let database = stage.hub.database().connect().await;
        let count = "SELECT count(*) FROM delivery.secrets";
        let kept: i64 = database.query_one(count, &[]).await.unwrap().get(0);
        (kept == 1).then_some(())
    })
    .await;
    assert_eq!(self::statuses(&stage).await, ["active"]);
    assert!(is_signed_with(&pushed(&stage).await, next));
}

#[tokio::test]
async fn a_signing_key_is_published_before_it_signs_and_after() {
    let hub = TestHub::builder()
        .set("HUB_KEYS_SIGNING_LEAD_SECONDS", 2)
        .set("HUB_KEYS_SIGNING_OVERLAP_SECONDS", 4)
        .set("HUB_KEYS_SWEEP_INTERVAL_MS", 50);
    let stage = Stage::on(hub.start().await).await;
    stage.account.put_secret(AGENT, TOKEN_REF, "a token").await;
    let first = pushed_by_hub(&stage).await;
    let first_kid = kid(&first);

    let output = command(stage.hub.config(), &["keys", "rotate-signing-key"]).await;
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(
        !lines[0].contains("published until") && lines[1].contains("published until"),
        "{said}"
    );
    assert!(lines[1].starts_with(&first_kid), "{said}");
    let next_kid = lines[0].split(' ').next().unwrap().to_owned();
    // Whoever reads the keys now knows the next one before anything is signed with it.
    let early = keys(&stage).await;
    assert!(early.iter().any(|(kid, _)| *kid == next_kid));

    let second = eventually("the next key to sign", || async {
        let push = pushed_by_hub(&stage).await;
        (kid(&push) == next_kid).then_some(push)
    })
    .await;
    verify_by(&second, &stage, &early);
    verify_by(&first, &stage, &keys(&stage).await);
    eventually("the first key to be dropped", || async {
        let kids: Vec<String> = self::keys(&stage).await.into_iter().map(|(kid, _)| kid).collect();
        (kids == [next_kid.clone()]).then_some(())
    })
    .await;
    let database = stage.hub.database().connect().await;
    let count = "SELECT count(*) FROM delivery.signing_keys";
    let kept: i64 = database.query_one(count, &[]).await.unwrap().get(0);
    assert_eq!(kept, 1);
}

/// The command is killed in the middle of it, between two values, and run again.
#[tokio::test]
async fn the_key_encryption_key_is_changed_while_the_hub_serves() {
    let hub = TestHub::builder()
        .set("HUB_KEY_ENCRYPTION_KEY", OLD_KEY)
        .set("HUB_KEY_ENCRYPTION_KEYS_ACCEPTED", NEW_KEY);
    let stage = Stage::on(hub.start().await).await;
    for number in 0..20 {
        stage
            .account
            .put_secret(AGENT, &format!("env:S{number:02}"), "another secret")
            .await;
    }
    stage.account.put_secret(AGENT, TOKEN_REF, "a token").await;
    let hub_kid = kid(&pushed_by_hub(&stage).await);
    let worker = stage.account.agent(WORKER).await;
    stage.account.put_hmac_entry_key(WORKER, ENTRY_SECRET).await;
    let settings = settings(stage.hub.config(), NEW_KEY, OLD_KEY);

    // One row in the middle is held, so that the command is surely killed before its end.
    let mut database = stage.hub.database().connect().await;
    let held = database.transaction().await.unwrap();
    let hold = "SELECT FROM delivery.secrets WHERE ref = 'env:S10' FOR UPDATE";
    held.execute(hold, &[]).await.unwrap();
    let mut running = start(&settings, &["keys", "rotate-kek", "--batch-max", "1"]);
    let all = under_old_key(&stage).await;
    eventually("the command to come to the row that is held", || async {
        let database = stage.hub.database().connect().await;
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let waiting: i64 = database.query_one(waits, &[]).await.unwrap().get(0);
        (waiting > 0).then_some(())
    })
    .await;
    running.kill().await.unwrap();
    held.rollback().await.unwrap();
    drop(database);
    let rest = under_old_key(&stage).await;
    assert!(0 < rest && rest < all, "{rest} of {all} are left");
    assert!(is_signed_with(&pushed(&stage).await, SECRET), "half of the way");

    let output = finished(start(&settings, &["keys", "rotate-kek", "--batch-max", "7"])).await;
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("nothing is left under another key"), "{said}");
    assert_eq!(under_old_key(&stage).await, 0);
    assert!(is_signed_with(&pushed(&stage).await, SECRET));

    // Without the old key: another hub on the same database.
    let config = stage.hub.config();
    let after = TestHub::builder()
        .set("HUB_DATABASE_URL", config.database.url.expose())
        .set("HUB_NATS_PREFIX", &config.nats.prefix)
        .set("HUB_ADMIN_TOKEN", stage.hub.admin().token().unwrap())
        .set("HUB_KEY_ENCRYPTION_KEY", NEW_KEY);
    let Stage {
        hub,
        account,
        agent,
        alice,
        sink,
    } = stage;
    hub.stop().await;
    let hub = after.start().await;
    let (agent, alice) = (agent.on(hub.base_url()), alice.on(hub.base_url()));
    let worker = worker.on(hub.base_url());
    let stage = Stage {
        hub,
        account,
        agent,
        alice,
        sink,
    };
    assert!(is_signed_with(&pushed(&stage).await, SECRET));
    assert_eq!(kid(&pushed_by_hub(&stage).await), hub_kid);
    let directive = directed(&stage.alice, WORKER, "Signed with what was sealed anew").await;
    let drained = drain(&worker, "").await;
    assert_eq!(ids(&drained), [directive]);
    drained[0].verify("hmac-sha256", ENTRY_SECRET).unwrap();
}

/// A push to the sink, and the ask's answer in it.
async fn pushed(stage: &Stage) -> Received {
    push_of(stage, &json!({"scheme": "hmac", "secret_ref": SECRET_REF})).await
}

/// The same, signed with the hub's own key.
async fn pushed_by_hub(stage: &Stage) -> Received {
    push_of(stage, &json!({"scheme": "bearer", "token_ref": TOKEN_REF})).await
}

async fn push_of(stage: &Stage, auth: &Value) -> Received {
    let mut ask = envelope::with_hmac_push(stage.confirm(), &stage.callback_url(), SECRET_REF);
    ask["request"]["callback"]["auth"] = auth.clone();
    let id = stage.agent.submitted(&ask).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    let is_its = |push: &Received| push.json()["in_reply_to"] == id.as_str();
    stage.sink.await_request("the push", is_its).await
}

fn is_signed_with(push: &Received, secret: &str) -> bool {
    let url = format!("http://{}{}", push.header("host").unwrap(), push.path);
    let key = VerifyingKey::hmac(secret.as_bytes()).unwrap();
    let now = push.at.unix_timestamp();
    verify_push(
        push.header("ma2h-signature").unwrap(),
        push.text(),
        &url,
        &key,
        now,
        WINDOW_SECONDS,
    )
    .is_ok()
}

fn verify_by(push: &Received, stage: &Stage, keys: &[(String, VerifyingKey)]) {
    let (_, key) = keys
        .iter()
        .find(|(known, _)| *known == kid(push))
        .expect("the key is published");
    let signature = push.header("ma2h-signature").unwrap();
    let now = push.at.unix_timestamp();
    verify_push(
        signature,
        push.text(),
        &stage.callback_url(),
        key,
        now,
        WINDOW_SECONDS,
    )
    .unwrap();
}

fn kid(push: &Received) -> String {
    push.header("ma2h-key-id")
        .expect("the hub's own key signed")
        .to_owned()
}

/// What is published, as a stranger reads it.
async fn keys(stage: &Stage) -> Vec<(String, VerifyingKey)> {
    let reply = stage.hub.anonymous().get("/.well-known/ma2h/keys").await;
    assert!(
        reply
            .header("cache-control")
            .is_some_and(|value| value.contains("max-age="))
    );
    let keys = reply.expect(200)["keys"].as_array().unwrap().clone();
    let read = |key: &Value| {
        let public = URL_SAFE_NO_PAD.decode(key["x"].as_str().unwrap()).unwrap();
        let public = VerifyingKey::ed25519(public.as_slice().try_into().unwrap()).unwrap();
        (key["kid"].as_str().unwrap().to_owned(), public)
    };
    keys.iter().map(read).collect()
}

async fn statuses(stage: &Stage) -> Vec<String> {
    let path = stage.account.agent_path(AGENT, "/secrets");
    let secrets = stage.account.admin().get(&path).await.expect(200);
    let secrets = secrets["secrets"].as_array().unwrap().clone();
    let status = |secret: &Value| secret["status"].as_str().unwrap().to_owned();
    secrets.iter().map(status).collect()
}

/// Values in the tables that are sealed under the key that most of them were sealed under first.
async fn under_old_key(stage: &Stage) -> i64 {
    let database = stage.hub.database().connect().await;
    let sql = "SELECT count(*) FROM (
                   SELECT kek_id FROM delivery.secrets
                   UNION ALL SELECT kek_id FROM delivery.entry_keys
                   UNION ALL SELECT kek_id FROM delivery.signing_keys
               ) AS kept WHERE kek_id = $1";
    database.query_one(sql, &[&key_id(OLD_KEY)]).await.unwrap().get(0)
}

/// As the hub names a key-encryption key.
fn key_id(hexadecimal: &str) -> String {
    let bytes = (0..64)
        .step_by(2)
        .map(|at| u8::from_str_radix(&hexadecimal[at..at + 2], 16).unwrap());
    let key: Vec<u8> = b"ma2h-hub key-encryption key\0"
        .iter()
        .copied()
        .chain(bytes)
        .collect();
    let mut id = ma2h::digest::sha256_hex(&key);
    id.truncate(16);
    id
}

/// The variables of a hub with these key-encryption keys.
fn settings(config: &Config, current: &str, accepted: &str) -> Vec<(String, String)> {
    let mut settings = config.to_env();
    for (variable, value) in &mut settings {
        match variable.as_str() {
            "HUB_KEY_ENCRYPTION_KEY" => current.clone_into(value),
            "HUB_KEY_ENCRYPTION_KEYS_ACCEPTED" => accepted.clone_into(value),
            _ => {}
        }
    }
    settings
}

async fn command(config: &Config, arguments: &[&str]) -> Output {
    finished(start(&config.to_env(), arguments)).await
}

fn start(settings: &[(String, String)], arguments: &[&str]) -> Child {
    Command::new(program())
        .args(arguments)
        // The variables of the test run are none of the hub's.
        .env_clear()
        .envs(settings.iter().cloned())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

async fn finished(running: Child) -> Output {
    let output = running.wait_with_output().await.unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
