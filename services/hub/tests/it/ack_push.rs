//! Acknowledgements pushed to the account's own client (§14.4).

use hub_testkit::client::segment;
use hub_testkit::{Answer, CallbackSink, Received, TestHub, eventually};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::mailbox::{ack, directed, hub_key, verify};
use crate::stage::{AGENT, Stage};

const SECRET_REF: &str = "env:ACK";
const SECRET: &str = "a secret of the ack webhook's, 0123456789";

/// An account whose client is told of acknowledgements.
struct Told {
    stage: Stage,
    client: CallbackSink,
}

impl Told {
    async fn start() -> Self {
        Self::on(TestHub::start().await).await
    }

    async fn on(hub: TestHub) -> Self {
        let (stage, client) = (Stage::on(hub).await, CallbackSink::http().await);
        let (account, admin) = (&stage.account, stage.account.admin());
        let host = json!({"host": client.host(), "method": "operator"});
        admin
            .post(&account.path("/callback-hosts"), &host)
            .await
            .expect(201);
        let secret = json!({"ref": SECRET_REF, "value": SECRET});
        admin.put(&account.path("/secrets"), &secret).await.expect(200);
        let told = Self { stage, client };
        told.put(&json!({"scheme": "hmac", "secret_ref": SECRET_REF}))
            .await
            .expect(200);
        told
    }

    fn path(&self) -> String {
        self.stage.account.path("/ack-webhook")
    }

    async fn put(&self, auth: &Value) -> hub_testkit::Reply {
        let body = json!({"url": self.client.url("/acks"), "auth": auth});
        self.stage.account.admin().put(&self.path(), &body).await
    }

    /// An answer that the agent has seen and acknowledged: the message, and the acknowledgement.
    async fn acknowledged(&self) -> (String, Value) {
        let id = self.stage.agent.submitted(&self.stage.confirm()).await;
        self.stage.alice.answer(&id, "approve").await.expect(200);
        self.stage.agent.message(&id).await.expect(200);
        let said = self.ack(&id).await;
        (id, said)
    }

    async fn ack(&self, id: &str) -> Value {
        let path = format!("/v1/messages/{id}/ack");
        let body = json!({"note": "going <on>"});
        self.stage.agent.post(&path, &body).await.expect(200)
    }

    /// The push that comes in as number `number`, from 1.
    async fn push(&self, number: usize) -> Received {
        self.client.await_received(number).await.remove(number - 1)
    }
}

fn verified(push: &Received, alg: &str, key: &str) -> Result<(), String> {
    verify(&json!({
        "header": push.header("ma2h-signature").unwrap(), "body": push.text(), "ack": true,
        "alg": alg, "key": key, "now": OffsetDateTime::now_utc().unix_timestamp(),
    }))
}

#[tokio::test]
async fn an_acknowledgement_is_pushed_once_as_it_was_given() {
    let told = Told::start().await;
    let (id, said) = told.acknowledged().await;
    let push = told.push(1).await;
    assert_eq!((push.path.as_str(), &push.json()), ("/acks", &said));
    verified(&push, "hmac-sha256", SECRET).unwrap();
    // The first stands, and is told of once.
    assert_eq!(told.ack(&id).await, said);

    let directive = directed(&told.stage.alice, AGENT, "Hear").await;
    for acked in [1, 0] {
        assert_eq!(
            ack(&told.stage.agent, std::slice::from_ref(&directive)).await,
            acked
        );
    }
    let push = told.push(2).await;
    verified(&push, "hmac-sha256", SECRET).unwrap();
    let read = told
        .stage
        .alice
        .get(&format!("/v1/directives/{directive}"))
        .await
        .expect(200);
    assert_eq!(push.json(), read["delivery"]["ack"]);

    let (next, _) = told.acknowledged().await;
    assert_eq!(told.push(3).await.json()["in_reply_to"], next.as_str());
    assert_eq!(told.client.received().len(), 3);
}

#[tokio::test]
async fn the_hub_signs_where_no_secret_does() {
    let told = Told::start().await;
    // An agent's key is not the account's.
    told.stage
        .account
        .put_hmac_entry_key(AGENT, "an entry key of sixteen bytes and more")
        .await;
    let key = hub_key(&told.stage.hub).await;
    let cases = [
        ("bearer", "authorization", format!("Bearer {SECRET}")),
        ("apikey", "x-api-key", SECRET.to_owned()),
    ];
    for (number, (scheme, header, value)) in cases.iter().enumerate() {
        let auth = json!({"scheme": scheme, "token_ref": SECRET_REF});
        told.put(&auth).await.expect(200);
        told.acknowledged().await;
        let push = told.push(number + 1).await;
        assert_eq!(push.header(header), Some(value.as_str()));
        verified(&push, "ed25519", &key).unwrap();
    }
}

#[tokio::test]
async fn it_is_tried_again_with_a_new_nonce() {
    let told = Told::start().await;
    told.client.then([Answer::Status(503), Answer::Close]);
    let (_, said) = told.acknowledged().await;
    told.push(3).await;
    let pushes = told.client.received();
    let mut headers: Vec<_> = pushes
        .iter()
        .map(|push| {
            verified(push, "hmac-sha256", SECRET).unwrap();
            assert_eq!(push.json(), said);
            push.header("ma2h-signature").unwrap()
        })
        .collect();
    headers.sort_unstable();
    headers.dedup();
    assert_eq!(headers.len(), 3);
}

/// What an account owns is of no use to its agents, nor theirs to it, nor either to another account.
#[tokio::test]
async fn hosts_and_secrets_are_of_use_to_their_owner_alone() {
    let told = Told::start().await;
    let (account, admin) = (&told.stage.account, told.stage.account.admin());
    let hook = |url: String, reference: &str| {
        let auth = json!({"scheme": "hmac", "secret_ref": reference});
        json!({"url": url, "auth": auth})
    };
    let of_agent = account.agent_path(AGENT, "/webhook");
    let refused = admin
        .put(&of_agent, &hook(told.client.url("/"), crate::stage::SECRET_REF))
        .await;
    assert!(refused.expect_error(422, "invalid_field").starts_with("url: "));
    let refused = admin
        .put(&of_agent, &hook(told.stage.sink.url("/"), SECRET_REF))
        .await;
    assert!(refused.expect_error(422, "invalid_field").starts_with("auth."));
    let refused = admin
        .put(&told.path(), &hook(told.stage.sink.url("/"), SECRET_REF))
        .await;
    assert!(refused.expect_error(422, "invalid_field").starts_with("url: "));
    let refused = admin
        .put(
            &told.path(),
            &hook(told.client.url("/"), crate::stage::SECRET_REF),
        )
        .await;
    assert!(refused.expect_error(422, "invalid_field").starts_with("auth."));

    let other = told.stage.hub.account("other").await;
    let eve = other.human("eve", "owner").await;
    for rest in ["/callback-hosts", "/secrets", "/ack-webhook"] {
        eve.get(&account.path(rest)).await.expect_error(404, "not_found");
        told.stage
            .alice
            .get(&account.path(rest))
            .await
            .expect_error(403, "not_authorized");
    }
    let hers = eve
        .put(
            &other.path("/ack-webhook"),
            &hook(told.client.url("/"), SECRET_REF),
        )
        .await;
    assert!(hers.expect_error(422, "invalid_field").starts_with("url: "));
}

#[tokio::test]
async fn hosts_and_secrets_of_an_account_are_kept_as_an_agents_are() {
    let told = Told::start().await;
    let (account, admin) = (&told.stage.account, told.stage.account.admin());
    let host = told.client.host();
    let at_host = |verb: &str| account.path(&format!("/callback-hosts/{}{verb}", segment(&host)));
    let hosts = admin.get(&account.path("/callback-hosts")).await.expect(200);
    let expected = json!({"host": host, "method": "operator", "status": "verified"});
    assert_eq!(hosts["callback_hosts"], json!([expected]));
    admin.post(&at_host("/verify"), &json!({})).await.expect(200);
    let paused = admin.post(&at_host("/pause"), &json!({})).await.expect(200);
    assert_eq!(paused["callback_host"]["paused"]["by"], "system:admin");
    let (_, said) = told.acknowledged().await;
    admin.post(&at_host("/resume"), &json!({})).await.expect(200);
    assert_eq!(told.push(1).await.json(), said);

    let secrets = admin.get(&account.path("/secrets")).await.expect(200);
    assert_eq!(secrets["secrets"][0]["ref"], SECRET_REF);
    let secret = account.path(&format!("/secrets/{}", segment(SECRET_REF)));
    admin.delete(&secret).await.expect(204);
    admin.delete(&secret).await.expect_error(404, "not_found");
    admin.delete(&at_host("")).await.expect(204);
    // With its host goes the webhook, and an acknowledgement is pushed nowhere.
    admin.get(&told.path()).await.expect_error(404, "not_found");
    told.acknowledged().await;
    assert_eq!(pushes(&told).await, 1);

    let audit = admin.get(&account.path("/audit?limit=100")).await.expect(200);
    let noted: Vec<&str> = audit["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["target"] == account.id())
        .filter_map(|event| event["action"].as_str())
        .collect();
    for action in [
        "callback_host.put",
        "callback_host.pause",
        "callback_host.delete",
        "secret.put",
        "secret.delete",
        "ack_webhook.put",
    ] {
        assert!(noted.contains(&action), "{action} is not in {noted:?}");
    }
}

#[tokio::test]
async fn a_push_goes_with_what_was_acknowledged_and_with_the_webhook() {
    let told = Told::start().await;
    let admin = told.stage.account.admin();
    told.client.always(Answer::Status(503));
    let (id, _) = told.acknowledged().await;
    told.push(1).await;
    let owner = told.stage.account.human("olga", "owner").await;
    owner.delete(&format!("/v1/messages/{id}")).await.expect(204);
    assert_eq!(pushes(&told).await, 0);

    let host = segment(&told.client.host());
    let at_host = |verb: &str| {
        let account = &told.stage.account;
        account.path(&format!("/callback-hosts/{host}/{verb}"))
    };
    admin.post(&at_host("pause"), &json!({})).await.expect(200);
    told.acknowledged().await;
    assert_eq!(pushes(&told).await, 1);
    admin.delete(&told.path()).await.expect(204);
    admin.post(&at_host("resume"), &json!({})).await.expect(200);
    admin.delete(&told.path()).await.expect_error(404, "not_found");
    let database = told.stage.hub.database().connect().await;
    let sql = "SELECT count(*) FROM lifecycle.pushes WHERE account = $1 AND state = 'ended'";
    eventually("the push to end", || async {
        let row = database.query_one(sql, &[&told.stage.account.id()]).await;
        (row.unwrap().get::<_, i64>(0) == 1).then_some(())
    })
    .await;
}

/// Pushes of acknowledgements that the account has.
async fn pushes(told: &Told) -> i64 {
    let database = told.stage.hub.database().connect().await;
    let sql = "SELECT count(*) FROM lifecycle.pushes WHERE account = $1 AND kind = 'ack'";
    let row = database.query_one(sql, &[&told.stage.account.id()]).await;
    row.unwrap().get(0)
}
