//! Callback hosts (§9.4): how each method verifies, and that what is not verified, or lies within, is never contacted.

use std::net::{IpAddr, Ipv4Addr};

use hub_testkit::dns::NameServer;
use hub_testkit::{Answer, CallbackSink, Reply, TestHub, envelope, eventually, segment};
use serde_json::{Value, json};

use crate::stage::{AGENT, SECRET, SECRET_REF, Stage, address_classes};

const NAME: &str = "agent.example";
const TXT_NAME: &str = "_ma2h-challenge.agent.example";
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[tokio::test]
async fn a_txt_record_verifies_a_host_for_the_agent_it_was_made_for() {
    let (names, stage) = with_names().await;
    let host = port_of(&stage.sink, NAME);
    let url = format!("http://{host}/resume");
    let registered = register(&stage, AGENT, &host, "dns-txt").await.expect(201);
    let challenge = challenge_of(&registered);
    assert_eq!(registered["callback_host"]["status"], "pending");
    let again = register(&stage, AGENT, &host, "dns-txt").await.expect(201);
    assert_eq!(again, registered, "a call whose answer was lost can be repeated");
    let refused = submit_to(&stage, &url).await.expect_error(422, "invalid_field");
    assert!(refused.starts_with("request.callback.url: "), "{refused}");

    let message = verify(&stage, AGENT, &host)
        .await
        .expect_error(422, "invalid_field");
    assert!(
        message.starts_with("host: ") && message.contains(TXT_NAME),
        "{message}"
    );
    // Another agent has its own challenge for the same host.
    stage.account.agent("other").await;
    let other = challenge_of(&register(&stage, "other", &host, "dns-txt").await.expect(201));
    assert_ne!(other, challenge);
    names.set_texts(TXT_NAME, &["v=spf1 -all", &challenge]);
    let verified = verify(&stage, AGENT, &host).await.expect(200);
    assert_eq!(verified["callback_host"]["status"], "verified");
    assert_eq!(verify(&stage, AGENT, &host).await.expect(200), verified);
    verify(&stage, "other", &host)
        .await
        .expect_error(422, "invalid_field");
    names.set_texts(TXT_NAME, &[&challenge, &other]);
    verify(&stage, "other", &host).await.expect(200);

    let id = submit_to(&stage, &url).await.text_at("id");
    stage.alice.answer(&id, "approve").await.expect(200);
    stage.sink.await_received(1).await;

    // By another method it has another challenge, and stays verified meanwhile: what is owed to it goes on.
    let anew = register(&stage, AGENT, &host, "well-known").await.expect(201);
    assert_eq!(anew["callback_host"]["status"], "verified");
    assert_eq!(anew["callback_host"]["method"], "well-known");
    assert_ne!(challenge_of(&anew), challenge);
    let again = register(&stage, AGENT, &host, "well-known").await.expect(201);
    assert_eq!(again, anew);
    let message = verify(&stage, AGENT, &host)
        .await
        .expect_error(422, "invalid_field");
    assert!(message.contains("/.well-known/ma2h-challenge"), "{message}");
    let id = submit_to(&stage, &url).await.text_at("id");
    stage.alice.answer(&id, "approve").await.expect(200);
    stage.sink.await_received(2).await;
    // Back to the first, whose challenge is a new one: found, it is looked for no more.
    let back = challenge_of(&register(&stage, AGENT, &host, "dns-txt").await.expect(201));
    verify(&stage, AGENT, &host)
        .await
        .expect_error(422, "invalid_field");
    names.set_texts(TXT_NAME, &[&back]);
    verify(&stage, AGENT, &host).await.expect(200);
    names.set_texts(TXT_NAME, &[]);
    verify(&stage, AGENT, &host).await.expect(200);
    let approved = register(&stage, AGENT, &host, "operator").await.expect(201);
    assert_eq!(
        approved["callback_host"],
        json!({"host": host, "method": "operator", "status": "verified"})
    );
    submit_to(&stage, &url).await.expect(202);
}

#[tokio::test]
async fn a_well_known_page_verifies_the_port_it_is_served_on() {
    let (_names, stage) = with_names().await;
    let site = CallbackSink::https().await;
    let elsewhere = CallbackSink::https().await;
    let host = site.host();
    let registered = register(&stage, AGENT, &host, "well-known").await.expect(201);
    let challenge = challenge_of(&registered);
    let not_it = [
        Answer::Status(404),
        page(404, &challenge),
        page(200, "another"),
        page(200, &format!("<p>{challenge}</p>")),
        Answer::redirect(302, elsewhere.url("/.well-known/ma2h-challenge")),
    ];
    elsewhere.always(page(200, &challenge));
    let mut messages = Vec::new();
    for answer in not_it {
        site.then([answer]);
        messages.push(
            verify(&stage, AGENT, &host)
                .await
                .expect_error(422, "invalid_field"),
        );
    }
    let looked_for = format!("https://{host}/.well-known/ma2h-challenge");
    assert!(messages[0].contains(&looked_for), "{}", messages[0]);
    assert!(
        messages.iter().all(|message| *message == messages[0]),
        "what was there is not told: {messages:?}"
    );
    site.then([page(200, &format!("another\r\n{challenge}\r\n"))]);
    let verified = verify(&stage, AGENT, &host).await.expect(200);
    assert_eq!(verified["callback_host"]["status"], "verified");
    assert!(elsewhere.received().is_empty(), "a redirect was followed");
    for request in site.received() {
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("GET", "/.well-known/ma2h-challenge")
        );
        assert!(request.header("accept-encoding").is_none() && request.header("authorization").is_none());
    }
}

#[tokio::test]
async fn looks_are_bounded_and_what_cannot_be_looked_for_is_refused() {
    let names = NameServer::start().await;
    let hub = TestHub::builder()
        .set("HUB_CALLBACK_HOSTS_DNS_SERVERS", names.address())
        .set("HUB_CALLBACK_HOSTS_VERIFICATIONS_PER_MINUTE", 2);
    let stage = Stage::on(hub.start().await).await;
    register(&stage, AGENT, NAME, "dns-txt").await.expect(201);
    for _ in 0..2 {
        verify(&stage, AGENT, NAME)
            .await
            .expect_error(422, "invalid_field");
    }
    let spent = verify(&stage, AGENT, NAME).await;
    spent.expect_error(429, "rate_limited");
    assert_eq!(spent.header("retry-after"), Some("60"));
    verify(&stage, AGENT, "unknown.example")
        .await
        .expect_error(404, "not_found");
    verify(&stage, AGENT, "..").await.expect_error(404, "not_found");
    let message = register(&stage, AGENT, "1.1.1.1", "dns-txt")
        .await
        .expect_error(422, "invalid_field");
    assert!(message.starts_with("method: "), "{message}");
}

/// A host that was taken back between submit and delivery: settled, with a reason, and never contacted.
#[tokio::test]
async fn a_host_taken_back_is_not_contacted_any_more() {
    let stage = Stage::in_process().await;
    let id = stage.agent.submitted(&stage.confirm_with_push()).await;
    let path = format!("/callback-hosts/{}", segment(&stage.sink.host()));
    let path = stage.account.agent_path(AGENT, &path);
    stage.account.admin().delete(&path).await.expect(204);
    stage
        .account
        .admin()
        .delete(&path)
        .await
        .expect_error(404, "not_found");
    submit_to(&stage, &stage.callback_url())
        .await
        .expect_error(422, "invalid_field");
    stage.alice.answer(&id, "approve").await.expect(200);
    let attempts = refused(&stage, &id).await;
    assert_eq!(attempts[0]["error"], "host_not_verified");
    assert!(stage.sink.received().is_empty());
}

/// Taken back and registered again, it is yet to be verified: what is owed to it waits, and is sent when it is.
#[tokio::test]
async fn what_is_owed_to_a_pending_host_waits_for_it() {
    let names = NameServer::start().await;
    names.set_addresses(NAME, &[LOOPBACK]);
    let hub = TestHub::builder()
        .set("HUB_CALLBACK_HOSTS_DNS_SERVERS", names.address())
        .set("HUB_CALLBACK_MAX_ATTEMPTS", 1000);
    let stage = Stage::on(hub.start().await).await;
    let host = port_of(&stage.sink, NAME);
    stage.account.approve_host(AGENT, &host).await;
    let url = format!("http://{host}/resume");
    let id = submit_to(&stage, &url).await.text_at("id");
    let path = format!("/callback-hosts/{}", segment(&host));
    let path = stage.account.agent_path(AGENT, &path);
    stage.account.admin().delete(&path).await.expect(204);
    let registered = register(&stage, AGENT, &host, "dns-txt").await.expect(201);
    stage.alice.answer(&id, "approve").await.expect(200);
    eventually("an attempt that waits", || async {
        let attempts = stage.alice.attempts(&id).await.expect(200);
        (attempts["attempts"][0]["error"] == "host_pending").then_some(())
    })
    .await;
    let attempts = stage.alice.attempts(&id).await.expect(200);
    assert_eq!(attempts["attempts"][0]["outcome"], "retry", "{attempts}");
    assert!(stage.sink.received().is_empty());

    names.set_texts(TXT_NAME, &[&challenge_of(&registered)]);
    verify(&stage, AGENT, &host).await.expect(200);
    stage.sink.await_received(1).await;
}

/// Out of development: no inner address, whether it is written or resolved to, and nothing in the open.
#[tokio::test]
async fn production_reaches_no_inner_address_and_sends_nothing_in_the_open() {
    let names = NameServer::start().await;
    let hub = TestHub::builder()
        .set("HUB_DEVELOPMENT", false)
        .set("HUB_CALLBACK_HOSTS_DNS_SERVERS", names.address())
        .start()
        .await;
    let account = hub.account("acme").await;
    let (agent, alice) = (
        account.agent(AGENT).await,
        account.human("alice", "operator").await,
    );
    account.put_secret(AGENT, SECRET_REF, SECRET).await;
    let sink = CallbackSink::https().await;
    let path = account.agent_path(AGENT, "/callback-hosts");
    for inner in [
        sink.host(),
        "169.254.169.254".to_owned(),
        "[::ffff:127.0.0.1]:8443".to_owned(),
    ] {
        let body = json!({"host": inner, "method": "operator"});
        let message = account
            .admin()
            .post(&path, &body)
            .await
            .expect_error(422, "invalid_field");
        assert!(message.starts_with("host: "), "{message}");
    }

    let host = port_of(&sink, NAME);
    names.set_addresses(NAME, &["1.1.1.1".parse().unwrap(), LOOPBACK]);
    account.approve_host(AGENT, &host).await;
    let ask =
        |url: &str| envelope::with_hmac_push(envelope::confirm(AGENT, &alice.address()), url, SECRET_REF);
    let message = agent
        .submit(&ask(&format!("http://{host}/resume")))
        .await
        .expect_error(422, "invalid_field");
    assert_eq!(message, "request.callback.url: expected an https url");
    let id = agent.submitted(&ask(&format!("https://{host}/resume"))).await;
    alice.answer(&id, "approve").await.expect(200);
    let attempts = eventually("the push to be refused", || async {
        let body = alice.attempts(&id).await.expect(200);
        (body["state"] == "refused").then(|| body["attempts"].clone())
    })
    .await;
    assert_eq!(
        (attempts[0]["error"].as_str(), attempts.as_array().map(Vec::len)),
        (Some("refused_address"), Some(1))
    );
    // What was there the operator may know, nobody of the account.
    assert_eq!(address_classes(&hub, &id).await, [Some("loopback".to_owned())]);
    assert!(!attempts.to_string().contains("loopback"), "{attempts}");

    // Nor does a look for a challenge, and it says no more than any other.
    let other = port_of(&sink, "other.example");
    names.set_addresses("other.example", &[LOOPBACK]);
    let body = json!({"host": other, "method": "well-known"});
    account.admin().post(&path, &body).await.expect(201);
    let message = account
        .admin()
        .post(&format!("{path}/{}/verify", segment(&other)), &json!({}))
        .await
        .expect_error(422, "invalid_field");
    assert!(message.contains("was not found to answer 200"), "{message}");
    assert!(sink.received().is_empty());
}

async fn with_names() -> (NameServer, Stage) {
    let names = NameServer::start().await;
    names.set_addresses(NAME, &[LOOPBACK]);
    let hub = TestHub::builder().set("HUB_CALLBACK_HOSTS_DNS_SERVERS", names.address());
    let stage = Stage::on(hub.start().await).await;
    (names, stage)
}

async fn register(stage: &Stage, agent: &str, host: &str, method: &str) -> Reply {
    let path = stage.account.agent_path(agent, "/callback-hosts");
    let body = json!({"host": host, "method": method});
    stage.account.admin().post(&path, &body).await
}

async fn verify(stage: &Stage, agent: &str, host: &str) -> Reply {
    let path = format!("/callback-hosts/{}/verify", segment(host));
    let path = stage.account.agent_path(agent, &path);
    stage.account.admin().post(&path, &json!({})).await
}

async fn submit_to(stage: &Stage, url: &str) -> Reply {
    let ask = envelope::with_hmac_push(stage.confirm(), url, SECRET_REF);
    stage.agent.submit(&ask).await
}

async fn refused(stage: &Stage, id: &str) -> Value {
    eventually("the push to be refused", || async {
        let body = stage.alice.attempts(id).await.expect(200);
        (body["state"] == "refused").then(|| body["attempts"].clone())
    })
    .await
}

fn challenge_of(registered: &Value) -> String {
    registered["callback_host"]["challenge"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The sink under another name.
fn port_of(sink: &CallbackSink, name: &str) -> String {
    let host = sink.host();
    format!("{name}:{}", host.rsplit_once(':').unwrap().1)
}

fn page(status: u16, body: &str) -> Answer {
    Answer::With {
        status,
        header: ("content-type", "text/plain".to_owned()),
        body: body.to_owned().into(),
    }
}
