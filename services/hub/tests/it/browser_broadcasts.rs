//! Broadcasts in a real Chromium, by mouse and by keyboard.

use hub_testkit::{Browser, TestHub, segment};
use serde_json::json;

use crate::broadcasts::Fleet;
use crate::browser::{ENTER, overflow, signed_in};
use crate::mailbox::{drain, ids};

#[tokio::test]
async fn a_person_tells_several_and_follows_it() {
    let fleet = Fleet::on(TestHub::processes(2).await, 3).await;
    let other = &fleet.hub.base_urls()[1];
    let browser = signed_in(&fleet.hub, &fleet.alice, Browser::start(1280, 900).await).await;
    browser.click("nav.places a[href='/inbox/directives']").await;
    browser.click("nav.tabs a[href='/inbox/broadcasts']").await;
    browser.await_text("Nothing here yet").await;
    browser.click("main a[href='/inbox/broadcasts/agents']").await;
    browser.click("label[for=agent-0]").await;
    browser.click("label[for=agent-2]").await;
    browser.click("#choose button[formaction]").await;
    browser.await_text("None of them is listening now").await;
    browser.find("#title:focus").await;
    browser.fill("#title", "Stop all deploys").await;
    browser.click("#more summary").await;
    browser.fill("#tags", "deploy").await;
    browser
        .fill("#links", "https://status.example/17 What happened")
        .await;
    browser.click("#compose button[type=submit]").await;

    browser.find("main[data-page=broadcast]").await;
    browser.await_text("0 of 2 acknowledged it.").await;
    browser.await_text("What happened").await;
    // It goes on by itself, whichever gateway hears of it.
    let agent = fleet.agents[0].on(other);
    let drained = drain(&agent, "").await;
    browser.find(".row [data-state=delivered]").await;
    let acked = json!({"ids": ids(&drained), "note": "stopped <b>all</b>"});
    agent.post("/v1/inbox/ack", &acked).await.expect(200);
    browser.await_text("1 of 2 acknowledged it.").await;
    browser.await_text("“stopped <b>all</b>”").await;
    browser.click("a.chip[data-group=queued]").await;
    browser.find("a.chip[data-group=queued][aria-current]").await;
    browser.click("a[data-row]").await;
    browser.find("main[data-page=directive]").await;
    browser.await_text("Stop all deploys").await;
}

#[tokio::test]
async fn it_works_without_javascript() {
    let fleet = Fleet::start(0).await;
    for id in ["in/1", "in/2"] {
        fleet.labelled(id, json!({"team": "infra"})).await;
    }
    let browser = signed_in(&fleet.hub, &fleet.alice, Browser::without_javascript().await).await;
    browser.open(&url(&fleet.hub, "/inbox/directives/new")).await;
    browser.click("nav.tabs a[href='/inbox/broadcasts/labels']").await;
    // Nothing is chosen: it says so, and goes on from there.
    browser.click("#choose button").await;
    browser.find("#choose [role=alert]").await;
    browser.click("label[for=label-0]").await;
    browser.click("#choose button").await;
    browser.await_text("2 agents").await;
    browser.fill("#title", "Quietly").await;
    browser.fill("#expires_in", "soon").await;
    browser.click("#compose button[type=submit]").await;
    browser.find("#expires_in-error").await;
    browser.find("#expires_in").await.clear().await.unwrap();
    browser.click("#compose button[type=submit]").await;
    browser.find("main[data-page=broadcast]").await;
    browser.await_text("Quietly").await;
    browser.await_text("team: infra").await;
}

#[tokio::test]
async fn the_keyboard_is_enough_to_choose_and_write() {
    let fleet = Fleet::start(2).await;
    let browser = signed_in(&fleet.hub, &fleet.alice, Browser::start(1280, 900).await).await;
    browser.open(&url(&fleet.hub, "/inbox/broadcasts/agents")).await;
    browser.find("#agent-1").await;
    browser.script("document.getElementById('agent-0').focus()").await;
    browser.press(" ").await;
    browser.press("\u{e004}").await;
    browser.find("#agent-1:focus").await;
    browser.press(" ").await;
    browser.press(ENTER).await;
    browser.find("#title:focus").await;
    browser.press("By hand").await;
    browser.press(ENTER).await;
    browser.find("main[data-page=broadcast]").await;
    browser.await_text("of 2 acknowledged it.").await;
    browser.press("u").await;
    browser.find("main[data-page=broadcasts]").await;
    browser.press("j").await;
    browser.press(ENTER).await;
    browser.find("main[data-page=broadcast]").await;
}

/// Long names, on a phone: nothing is wider than the window, and nothing is markup.
#[tokio::test]
async fn whatever_it_is_called_it_fits_a_phone() {
    let fleet = Fleet::start(0).await;
    let hurt = "<img src=x onerror=\"window.hurt=1\">";
    let long = format!("fleet/{}", "x".repeat(250));
    let named = format!("🌳/{hurt}");
    let label = "y".repeat(120);
    for id in [&long, &named] {
        fleet.labelled(id, json!({"team": label, "odd": hurt})).await;
    }
    let body = json!({
        "labels": {"team": label}, "title": "z".repeat(200), "tags": [hurt, "t".repeat(90)], "priority": "urgent",
        "body": hurt, "context": [{"kind": "file", "file": {"uri": "https://x.example/", "name": "n".repeat(150)}}],
    });
    let id = fleet.sent(&body).await;
    let view = fleet.once(&id, "queued", 2).await;
    let directive = view["unacknowledged"][0]["directive_id"].as_str().unwrap();
    let browser = signed_in(&fleet.hub, &fleet.alice, Browser::start(390, 844).await).await;
    for path in [
        "/inbox/broadcasts".to_owned(),
        format!("/inbox/broadcasts/{id}"),
        "/inbox/broadcasts/agents".to_owned(),
        format!("/inbox/broadcasts/agents?to=gone&to={}", segment(&long)),
        "/inbox/broadcasts/labels".to_owned(),
        format!(
            "/inbox/broadcasts/new?to={}&to={}",
            segment(&long),
            segment(&named)
        ),
        format!("/inbox/broadcasts/new?label=team:{label}"),
        "/inbox/directives".to_owned(),
        "/inbox/directives/new".to_owned(),
        format!("/inbox/directives/{directive}"),
        format!("/inbox/directives/new?to={}", segment(&long)),
        "/inbox/agents".to_owned(),
        format!("/inbox/agents/{}", segment(&long)),
    ] {
        browser.open(&url(&fleet.hub, &path)).await;
        browser.find("main").await;
        let harmless = "return [window.hurt, document.querySelectorAll('main img, main [onerror]').length]";
        assert_eq!(browser.script(harmless).await, json!([null, 0]), "{path}");
        assert_eq!(overflow(&browser).await, 0, "{path} scrolls sideways on a phone");
    }
}

fn url(hub: &TestHub, path: &str) -> String {
    format!("{}{path}", hub.base_url())
}
