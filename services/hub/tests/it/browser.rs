//! The web inbox in a real Chromium, by mouse and by keyboard.

use hub_testkit::{Answer, Browser, Human, TestHub, envelope, eventually};
use serde_json::{Value, json};

use crate::examples::example;
use crate::stage::{AGENT, Stage};

pub(crate) const ENTER: &str = "\u{e007}";

#[tokio::test]
async fn every_example_is_answered_in_the_browser() {
    let stage = Stage::processes(1).await;
    let browser = signed_in(&stage.hub, &stage.alice, Browser::start(1280, 900).await).await;

    let id = shown(&stage, &browser, "ask-dev-team-decision").await;
    browser.click("label[for=choice-1]").await;
    browser.click("#comment-box summary").await;
    browser.fill("#comment", "tomorrow").await;
    let response = sent(&stage, &browser, &id, "button[value=answered]").await;
    assert_eq!(
        (&response["value"], &response["comment"]),
        (&json!("hold"), &json!("tomorrow"))
    );

    let id = shown(&stage, &browser, "ask-mode-confirm").await;
    let response = sent(&stage, &browser, &id, "button[name=choice]").await;
    assert_eq!(response["value"], "approve");

    let id = shown(&stage, &browser, "ask-mode-input").await;
    browser
        .fill("#answer [name^=field]:not([type=checkbox])", "faster")
        .await;
    browser.click("#answer [type=checkbox]").await;
    let response = sent(&stage, &browser, &id, "button[value=answered]").await;
    assert_eq!(
        response["value"],
        json!({"release_note": "faster", "notify_users": true})
    );

    let id = shown(&stage, &browser, "ask-sensitive-field").await;
    browser.fill("#answer [type=password]", "sk_live_CANARY").await;
    let response = sent(&stage, &browser, &id, "button[value=answered]").await;
    assert_eq!(response["value"], json!({"payment_api_key": "sk_live_CANARY"}));
    assert!(
        !browser.text().await.contains("CANARY"),
        "a sensitive answer is shown"
    );

    let id = shown(&stage, &browser, "task-manual-action").await;
    browser.click("#answer label.option").await;
    let response = sent(&stage, &browser, &id, "button[value=completed]").await;
    let done: Vec<&Value> = response["checklist"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["done"])
        .collect();
    assert_eq!(done, [true, false, false]);

    shown(&stage, &browser, "notify-daily-digest").await;
    browser.await_text("Extracted a shared cache helper").await;
}

#[tokio::test]
async fn the_keyboard_is_enough() {
    let stage = Stage::in_process().await;
    let [first, second] =
        [("first", stage.confirm()), ("second", stage.confirm())].map(|(title, mut ask)| {
            ask["title"] = json!(title);
            ask
        });
    stage.agent.submitted(&first).await;
    let id = stage.agent.submitted(&second).await;
    let browser = signed_in(&stage.hub, &stage.alice, Browser::start(1280, 900).await).await;
    browser.await_text("second").await;
    // The newest is the first in the list.
    browser.press("j").await;
    browser.press(ENTER).await;
    browser.find("#answer").await;
    assert_eq!(browser.path().await, format!("/inbox/{id}"));
    browser
        .script("document.querySelector('#answer button[name=choice]').focus()")
        .await;
    browser.press(ENTER).await;
    browser.find("#outcome-title").await;
    assert_eq!(stage.agent.message(&id).await.expect(200)["status"], "answered");
}

#[tokio::test]
async fn it_works_without_javascript() {
    let stage = Stage::in_process().await;
    let id = stage
        .agent
        .submitted(&envelope::input(AGENT, "human:alice"))
        .await;
    let browser = signed_in(&stage.hub, &stage.alice, Browser::without_javascript().await).await;
    browser.click(&format!("a[href='/inbox/{id}']")).await;
    browser.fill("#answer [name^=field]", "quiet").await;
    browser.click("button[value=answered]").await;
    browser.find("#outcome-title").await;
    assert_eq!(answer(&stage, &id).await["value"], json!({"note": "quiet"}));
}

#[tokio::test]
async fn an_open_page_keeps_itself_current() {
    let stage = Stage::processes(2).await;
    let browser = signed_in(&stage.hub, &stage.alice, Browser::start(1280, 900).await).await;
    let bob = stage.account.human("bob", "operator").await;
    let mut ask = stage.confirm();
    ask["title"] = json!("fresh from the fleet");
    ask["request"]["allowed_resolvers"] = json!(["human:alice", "human:bob"]);
    // Submitted and answered on the other gateway.
    let other = &stage.hub.base_urls()[1];
    let id = stage.agent.on(other).submitted(&ask).await;
    browser.await_text("fresh from the fleet").await;
    browser.open(&stage.url(&format!("/inbox/{id}"))).await;
    browser.find("#answer").await;
    bob.on(other).answer(&id, "deny").await.expect(200);
    browser.find("#outcome-title").await;
    browser.await_text("bob").await;
}

/// What comes of an answer comes at once, while the page that shows it is still on its way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_was_just_opened_shows_what_came_of_the_answer() {
    let stage = Stage::in_process().await;
    let browser = signed_in(&stage.hub, &stage.alice, Browser::start(1280, 900).await).await;
    let collected = stage.agent.submitted(&stage.confirm()).await;
    let (agent, id) = (stage.agent.clone(), collected.clone());
    let poll = tokio::spawn(async move { agent.wait(&id, 60).await.expect(200) });
    browser.open(&stage.url(&format!("/inbox/{collected}"))).await;
    browser.click("#answer button[name=choice]").await;
    browser.await_text("The agent has the answer").await;
    assert_eq!(poll.await.unwrap()["status"], "answered");

    stage.sink.always(Answer::Status(400));
    let refused = stage.agent.submitted(&stage.confirm_with_push()).await;
    browser.open(&stage.url(&format!("/inbox/{refused}"))).await;
    browser.click("#answer button[name=choice]").await;
    browser.await_text("callback refused it").await;
    browser.await_text("Send again").await;
}

#[tokio::test]
async fn who_may_not_answer_is_told_why() {
    let stage = Stage::in_process().await;
    let victor = stage.account.human("victor", "viewer").await;
    let for_victor = stage
        .agent
        .submitted(&envelope::confirm(AGENT, "human:victor"))
        .await;
    let for_alice = stage.agent.submitted(&stage.confirm()).await;
    let browser = signed_in(&stage.hub, &victor, Browser::start(390, 844).await).await;
    for (id, reason) in [
        (&for_victor, "signed in as a viewer"),
        (&for_alice, "left it to “alice”"),
    ] {
        browser.open(&stage.url(&format!("/inbox/{id}"))).await;
        browser.await_text(reason).await;
        let enabled = browser
            .script("return document.querySelectorAll('#answer button:enabled').length")
            .await;
        assert_eq!(enabled, 0, "{reason}");
    }
    assert_eq!(overflow(&browser).await, 0, "it scrolls sideways on a phone");
}

#[tokio::test]
async fn a_late_answer_is_shown_what_really_came_of_it() {
    let stage = Stage::in_process().await;
    let id = stage.agent.submitted(&stage.confirm()).await;
    let browser = signed_in(&stage.hub, &stage.alice, Browser::without_javascript().await).await;
    browser.open(&stage.url(&format!("/inbox/{id}"))).await;
    browser.find("#answer").await;
    stage.agent.cancel(&id).await.expect(200);
    browser.click("#answer button[name=choice]").await;
    browser.find("#outcome-title").await;
    browser.await_text("Withdrawn").await;
}

/// Everything an agent may write, written to hurt.
#[tokio::test]
async fn what_an_agent_writes_is_never_markup() {
    let stage = Stage::in_process().await;
    let hurt = "<img src=x onerror=\"window.hurt=1\"><script>window.hurt=1</script>";
    let ask = json!({
        "ma2h_version": "0.6", "type": "ask", "created_at": "2026-01-01T00:00:00Z",
        "agent": {"id": AGENT, "run_id": hurt, "runtime": "other", "project": hurt, "labels": {"l": hurt}},
        "title": hurt, "tags": [hurt], "idempotency_key": hurt,
        "body": format!("{hurt}\n\n[x](javascript:window.hurt=1) ![i](https://evil.example/pixel.png) <a href='javascript:window.hurt=1'>y</a>"),
        "context": [
            {"kind": "text", "text": hurt},
            {"kind": "data", "data": {"k": hurt}},
            {"kind": "file", "file": {"uri": "javascript:window.hurt=1", "name": hurt, "mime_type": hurt}},
        ],
        "request": {
            "mode": "select",
            "options": [{"value": hurt, "label": hurt, "description": hurt}],
            "permissions": {"allow_edit": true},
            "allowed_resolvers": ["human:alice"],
        },
    });
    let id = stage.agent.submitted(&ask).await;
    let browser = signed_in(&stage.hub, &stage.alice, Browser::start(1280, 900).await).await;
    browser.find("a[data-row]").await;
    let harmless =
        "return [window.hurt, document.querySelectorAll('main img, main script, main [onerror]').length,
        document.querySelectorAll('main a[href^=javascript]').length]";
    assert_eq!(browser.script(harmless).await, json!([null, 0, 0]));
    browser.open(&stage.url(&format!("/inbox/{id}"))).await;
    browser.find("#answer").await;
    assert_eq!(browser.script(harmless).await, json!([null, 0, 0]));

    browser.fill("#free", hurt).await;
    browser.click("button[value=answered]").await;
    browser.find("#outcome-title").await;
    assert_eq!(browser.script(harmless).await, json!([null, 0, 0]));
    assert_eq!(answer(&stage, &id).await["value"], hurt);
}

#[tokio::test]
async fn signing_out_ends_the_session_also_for_a_copied_cookie() {
    let stage = Stage::in_process().await;
    let browser = signed_in(&stage.hub, &stage.alice, Browser::start(1280, 900).await).await;
    let cookies = browser.page().get_all_cookies().await.unwrap();
    let cookie = cookies
        .iter()
        .find(|cookie| cookie.name() == "__Host-ma2h_session")
        .expect("the session's cookie");
    assert_eq!((cookie.http_only(), cookie.secure()), (Some(true), Some(true)));
    let copied = format!("{}={}", cookie.name(), cookie.value());
    browser.click("form[action='/inbox/sign-out'] button").await;
    browser.find("#token").await;
    let stale = stage
        .hub
        .anonymous()
        .request(http::Method::GET, "/inbox")
        .header("cookie", copied);
    let reply = hub_testkit::Reply::of(stale).await;
    assert!(
        !reply.text.contains("data-page=\"list\""),
        "a session that was signed out still opens the inbox"
    );
}

/// A browser in which a person signed in.
pub(crate) async fn signed_in(hub: &TestHub, human: &Human, browser: Browser) -> Browser {
    browser.open(&format!("{}/inbox", hub.base_url())).await;
    browser.fill("#token", human.token().unwrap()).await;
    browser.fill("#token", ENTER).await;
    browser.find("main[data-page=list]").await;
    browser
}

/// By how much a page is wider than its window.
pub(crate) async fn overflow(browser: &Browser) -> Value {
    let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    browser.script(overflow).await
}

/// Submits a published example and opens it; answers `id`.
async fn shown(stage: &Stage, browser: &Browser, name: &str) -> String {
    let mut envelope = example(name);
    if let Some(callback) = envelope.pointer_mut("/request/callback") {
        *callback = json!({"mode": "pull"});
    }
    let id = stage.agent.submitted(&envelope).await;
    browser.open(&stage.url(&format!("/inbox/{id}"))).await;
    browser.find("main[data-page=message]").await;
    id
}

/// Presses a button and gives the inner response the agent gets.
async fn sent(stage: &Stage, browser: &Browser, id: &str, button: &str) -> Value {
    browser.click(&format!("#answer {button}")).await;
    browser.find("#outcome-title").await;
    answer(stage, id).await
}

async fn answer(stage: &Stage, id: &str) -> Value {
    eventually("the answer", || async {
        let message = stage.agent.message(id).await.expect(200);
        (message["status"] != "open").then(|| message["response"]["response"].clone())
    })
    .await
}
