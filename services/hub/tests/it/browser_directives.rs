//! Directives and agents in a real Chromium, by mouse and by keyboard.

use hub_testkit::{Browser, TestHub, segment};
use serde_json::json;

use crate::browser::{ENTER, overflow, signed_in};
use crate::mailbox::{Post, WORKER, directed, drain, ids};
use crate::stage::{AGENT, Stage};

#[tokio::test]
async fn a_person_tells_an_agent_something_and_follows_it() {
    let post = Post::start().await;
    let browser = signed_in(&post.hub, &post.alice, Browser::start(1280, 900).await).await;
    browser.click("nav.places a[href='/inbox/directives']").await;
    browser.await_text("Nothing here yet").await;
    browser.click("main a[href='/inbox/directives/new']").await;
    browser.click("a[data-row]").await;
    browser.find("[data-presence=unknown]").await;
    // It is heard from while she writes: nothing of what she typed goes.
    browser.fill("#title", "Stop the deploy").await;
    browser.fill("#body", "Until **noon**.").await;
    drain(&post.worker, "").await;
    browser.find("[data-presence=online]").await;
    browser.await_text("It should get this right away").await;
    let typed = browser
        .script("return document.getElementById('title').value")
        .await;
    assert_eq!(typed, "Stop the deploy");
    browser.click("#priority option[value=urgent]").await;
    browser.fill("#expires_in", "2").await;
    browser.click("#compose button[type=submit]").await;

    browser
        .find("main[data-page=directive][data-status=queued]")
        .await;
    browser.find(".prose strong").await;
    browser.await_text("expires in 2 h").await;
    let drained = drain(&post.worker, "").await;
    browser.find("main[data-status=delivered]").await;
    let acked = json!({"ids": ids(&drained), "note": "stopping <b>now</b>"});
    post.worker.post("/v1/inbox/ack", &acked).await.expect(200);
    browser.find("main[data-status=acknowledged]").await;
    browser.await_text("stopping <b>now</b>").await;
    browser.click("[data-back]").await;
    browser.find("[data-state=acknowledged]").await;
    browser.await_text("“stopping <b>now</b>”").await;
}

#[tokio::test]
async fn the_keyboard_is_enough_to_write() {
    let post = Post::start().await;
    let id = post.direct("Older").await;
    let browser = signed_in(&post.hub, &post.alice, Browser::start(1280, 900).await).await;
    browser.open(&url(&post.hub, "/inbox/directives/new")).await;
    browser.find("a[data-row]").await;
    browser.press("j").await;
    browser.press(ENTER).await;
    // The form begins at its first field, and Enter sends it.
    browser.find("#title:focus").await;
    browser.press("By hand").await;
    browser.press(ENTER).await;
    browser.find("main[data-page=directive]").await;
    browser.await_text("By hand").await;
    browser.press("u").await;
    browser.find("main[data-page=directives]").await;
    browser.press("j").await;
    browser.press("j").await;
    browser.press(ENTER).await;
    browser.find("main[data-page=directive]").await;
    assert_eq!(browser.path().await, format!("/inbox/directives/{id}"));
}

#[tokio::test]
async fn it_works_without_javascript_and_keeps_what_was_typed() {
    let post = Post::start().await;
    let browser = signed_in(&post.hub, &post.alice, Browser::without_javascript().await).await;
    browser.open(&url(&post.hub, "/inbox/agents")).await;
    browser.click("a[data-row]").await;
    browser.click("a[href^='/inbox/directives/new']").await;
    browser.fill("#title", "Quietly").await;
    browser.fill("#body", "kept").await;
    browser.fill("#expires_in", "soon").await;
    browser.click("#compose button[type=submit]").await;
    browser.find("#expires_in-error").await;
    let text = post.alice.get("/v1/directives").await.expect(200);
    assert_eq!(text["directives"], json!([]));
    browser.find("#expires_in").await.clear().await.unwrap();
    browser.click("#compose button[type=submit]").await;
    browser.find("main[data-page=directive]").await;
    browser.await_text("Quietly").await;
    browser.await_text("kept").await;
}

#[tokio::test]
async fn lists_keep_themselves_current() {
    let post = Post::on(TestHub::processes(2).await).await;
    let other = &post.hub.base_urls()[1];
    let browser = signed_in(&post.hub, &post.alice, Browser::start(1280, 900).await).await;
    browser.open(&url(&post.hub, "/inbox/agents")).await;
    browser.find("[data-presence=unknown]").await;
    directed(&post.alice.on(other), WORKER, "From elsewhere").await;
    browser.await_text("1 queued").await;
    drain(&post.worker.on(other), "").await;
    browser.find("[data-presence=online]").await;
    browser.await_text("1 not acknowledged").await;
    browser.open(&url(&post.hub, "/inbox/directives")).await;
    browser.find("[data-state=delivered]").await;
    directed(&post.alice.on(other), WORKER, "And another").await;
    browser.await_text("And another").await;
}

#[tokio::test]
async fn a_pending_ask_says_whether_its_agent_waits() {
    let hub = TestHub::builder()
        .set("HUB_PRESENCE_FRESHNESS_SECONDS", 3)
        .set("HUB_STREAM_MAX_HOLD_SECONDS", 2);
    let stage = Stage::on(hub.start().await).await;
    let id = stage.agent.submitted(&stage.confirm()).await;
    let browser = signed_in(&stage.hub, &stage.alice, Browser::start(390, 844).await).await;
    browser.open(&stage.url(&format!("/inbox/{id}"))).await;
    browser.await_text("will read the answer on its next run").await;
    stage.agent.wait(&id, 1).await;
    browser.await_text("The agent is waiting now").await;
    assert_eq!(overflow(&browser).await, 0, "it scrolls sideways on a phone");
    // It fell silent, and nobody said so. The page looks again by itself, if not at once.
    browser.find("[data-presence=offline]").await;
    stage.alice.answer(&id, "approve").await.expect(200);
    browser.find("#outcome-title").await;
    stage.agent.message(&id).await.expect(200);
    let note = json!({"note": "going <i>on</i>"});
    let path = format!("/v1/messages/{id}/ack");
    stage.agent.post(&path, &note).await.expect(200);
    browser
        .await_text("The agent confirmed that it has the answer")
        .await;
    browser.await_text("going <i>on</i>").await;
}

#[tokio::test]
async fn what_is_written_is_never_markup() {
    let post = Post::start().await;
    let hurt = "<img src=x onerror=\"window.hurt=1\"><script>window.hurt=1</script>";
    let agent = format!("🌳/#{hurt}");
    post.account.agent(&agent).await;
    let plain = format!("🌳/{hurt}");
    let reader = post.account.agent(&plain).await;
    let directive = json!({
        "to": format!("agent:{plain}"), "title": hurt, "tags": [hurt], "priority": "urgent",
        "body": format!("{hurt}\n\n[x](javascript:window.hurt=1) ![i](https://evil.example/pixel.png)"),
        "context": [{"kind": "text", "text": hurt}, {"kind": "data", "data": {"k": hurt}}],
    });
    let written = post.alice.post("/v1/directives", &directive).await.expect(201);
    let id = written["directive"]["id"].as_str().unwrap();
    drain(&reader, "").await;
    let acked = json!({"ids": [id], "note": hurt});
    reader.post("/v1/inbox/ack", &acked).await.expect(200);
    let browser = signed_in(&post.hub, &post.alice, Browser::start(390, 844).await).await;
    for path in [
        "/inbox/directives".to_owned(),
        format!("/inbox/directives/{id}"),
        "/inbox/agents".to_owned(),
        format!("/inbox/agents/{}", segment(&plain)),
        format!("/inbox/agents/{}", segment(&agent)),
        format!("/inbox/directives/new?to={}", segment(&plain)),
        format!("/inbox/directives?agent={}", segment(&plain)),
    ] {
        browser.open(&url(&post.hub, &path)).await;
        browser.find("main[data-page]").await;
        let harmless = "return [window.hurt,
            document.querySelectorAll('main img, main script, main [onerror], main a[href^=javascript]').length]";
        assert_eq!(browser.script(harmless).await, json!([null, 0]), "{path}");
        assert_eq!(overflow(&browser).await, 0, "{path} scrolls sideways on a phone");
    }
    // By its links, too.
    browser.open(&url(&post.hub, "/inbox/agents")).await;
    let row = format!("a[data-row][href$='{}']", segment(&plain));
    browser.click(&row).await;
    browser.find("main[data-page=agent]").await;
    browser.click(".row a[data-row]").await;
    browser.find("main[data-page=directive]").await;
}

#[tokio::test]
async fn a_viewer_reads_and_is_told_why_she_does_not_write() {
    let stage = Stage::in_process().await;
    let vera = stage.account.human("vera", "viewer").await;
    let browser = signed_in(&stage.hub, &vera, Browser::start(390, 844).await).await;
    browser.click("nav.places a[href='/inbox/agents']").await;
    browser.click("a[data-row]").await;
    browser.await_text("signed in as a viewer").await;
    let links = "return document.querySelectorAll('a[href*=\"directives/new\"]').length";
    assert_eq!(browser.script(links).await, 0);
    let form = format!("/inbox/directives/new?to={}", segment(AGENT));
    browser.open(&stage.url(&form)).await;
    browser.await_text("signed in as a viewer").await;
    assert_eq!(
        browser
            .script("return document.querySelectorAll('#compose').length")
            .await,
        0
    );
}

fn url(hub: &TestHub, path: &str) -> String {
    format!("{}{path}", hub.base_url())
}
