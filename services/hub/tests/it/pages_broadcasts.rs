//! The pages about broadcasts over HTTPS, as a browser without a script asks for them.

use futures_util::future::join_all;
use http::Method;
use hub_testkit::{Reply, segment};
use serde_json::{Value, json};

use crate::broadcasts::Fleet;
use crate::mailbox::{drain, ids};
use crate::visitor::{Visitor, hidden};

/// The form for these agents.
fn form_to(agents: &[&str]) -> String {
    let terms = agents.iter().map(|agent| format!("to={}", segment(agent)));
    format!("/inbox/broadcasts/new?{}", terms.collect::<Vec<_>>().join("&"))
}

async fn sent(fleet: &Fleet) -> Vec<Value> {
    let listed = fleet.alice.get("/v1/broadcasts").await.expect(200);
    listed["broadcasts"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_form_that_is_posted_twice_sends_once() {
    let fleet = Fleet::start(3).await;
    let visitor = Visitor::of(&fleet.alice, &fleet.hub).await;
    let new = form_to(&["fleet/0", "fleet/1"]);
    let (csrf, key) = hidden(&visitor.page(&new).await);
    let fields = [
        ("csrf", csrf.as_str()),
        ("key", key.as_str()),
        ("title", "Stop"),
        ("body", "one\r\ntwo"),
        ("tags", "deploy, eu"),
        ("links", "https://ci.example/run the run"),
        ("sensitive", "yes"),
    ];
    let replies = join_all((0..6).map(|_| visitor.post(&new, &fields))).await;
    let path = replies[0].header("location").unwrap().to_owned();
    for reply in &replies {
        assert_eq!(
            (reply.status.as_u16(), reply.header("location")),
            (303, Some(path.as_str()))
        );
    }
    let listed = sent(&fleet).await;
    assert_eq!((listed.len(), &listed[0]["recipients"]), (1, &json!(2)));
    let id = listed[0]["id"].as_str().unwrap();
    assert_eq!(path, format!("/inbox/broadcasts/{id}"));
    fleet.once(id, "queued", 2).await;
    let drained = drain(&fleet.agents[0], "").await;
    let directive: Value = serde_json::from_str(&drained[0].directive).unwrap();
    assert_eq!(drained.len(), 1);
    assert_eq!(
        (&directive["body"], &directive["tags"], &directive["sensitive"]),
        (&json!("one\ntwo"), &json!(["deploy", "eu"]), &json!(true))
    );
    let link = json!({"kind": "file", "file": {"uri": "https://ci.example/run", "name": "the run"}});
    assert_eq!(directive["context"], json!([link]));
    assert!(drain(&fleet.agents[2], "").await.is_empty());

    // The same form with other words is no repetition: it says so, and can be sent as another.
    let other = [("csrf", csrf.as_str()), ("key", key.as_str()), ("title", "Go on")];
    let told = visitor.post(&new, &other).await;
    assert_eq!(told.status, 409);
    assert!(told.text.contains("value=\"Go on\"") && told.text.contains("You sent this form before"));
    let (_, fresh) = hidden(&told.text);
    assert_ne!(fresh, key);
    let again = [
        ("csrf", csrf.as_str()),
        ("key", fresh.as_str()),
        ("title", "Go on"),
    ];
    assert_eq!(visitor.post(&new, &again).await.status, 303);
    assert_eq!(sent(&fleet).await.len(), 2);
}

#[tokio::test]
async fn a_choice_that_does_not_stand_comes_back_with_what_was_chosen() {
    let fleet = Fleet::start(2).await;
    fleet.labelled("in/1", json!({"team": "infra"})).await;
    fleet
        .labelled("in/2", json!({"team": "infra", "tier": "1"}))
        .await;
    let visitor = Visitor::of(&fleet.alice, &fleet.hub).await;
    let offered = visitor.page("/inbox/broadcasts/labels").await;
    assert!(offered.contains("value=\"team:infra\">") && offered.contains("2 agents"));
    let cases = [
        ("", "Choose at least one agent"),
        ("?to=fleet%2F0&other=nobody", "There is no agent “nobody”"),
        ("?to=fleet%2F0&other=a%23sess_1", "has a # in it"),
        ("?to=fleet%2F0&to=%00", "There is no agent"),
        ("?name=&value=", "Choose at least one label"),
        ("?label=team:infra&name=tier&value=", "Write both"),
        (
            "?label=team:infra&name=team&value=web",
            "choose either “infra” or “web”",
        ),
        (
            "?label=team:infra&name=tier&value=2",
            "No agent carries team: infra, tier: 2",
        ),
    ];
    for (query, complaint) in cases {
        let told = visitor.get(&format!("/inbox/broadcasts/new{query}")).await;
        assert_eq!(told.status, 422, "{query}: {}", told.text);
        assert!(told.text.contains(complaint), "{complaint} in {}", told.text);
        assert!(!told.text.contains("id=\"compose\""), "{query}");
        if query.contains("fleet") {
            assert!(told.text.contains("value=\"fleet/0\" checked"), "{query}");
        }
        if query.contains("team") {
            assert!(told.text.contains("value=\"team:infra\" checked"), "{query}");
        }
    }
    // What is chosen stays so on the next page, and is taken back by choosing others.
    let chosen = visitor.page("/inbox/broadcasts/agents?to=zzz&to=in%2F1").await;
    assert!(chosen.contains("value=\"zzz\" checked") && chosen.contains("value=\"in/1\" checked"));
    for (query, count) in [
        ("label=team:infra", "Send to 2 agents"),
        ("label=team:infra&name=tier&value=1", "Send to 1 agent<"),
        ("to=fleet%2F0&to=fleet%2F1&other=in%2F2", "Send to 3 agents"),
    ] {
        let form = visitor.page(&format!("/inbox/broadcasts/new?{query}")).await;
        assert!(form.contains(count), "{count} in {form}");
    }
}

#[tokio::test]
async fn how_many_listen_is_said_before() {
    let fleet = Fleet::start(3).await;
    let visitor = Visitor::of(&fleet.alice, &fleet.hub).await;
    let form = form_to(&["fleet/0", "fleet/1", "fleet/2"]);
    let page = visitor.page(&form).await;
    assert!(page.contains("None of them is listening now"), "{page}");
    drain(&fleet.agents[1], "").await;
    hub_testkit::eventually("one of them to listen", || async {
        let page = visitor.page(&form).await;
        page.contains("1 of them is listening now").then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_the_hub_refuses_comes_back_with_all_that_was_typed() {
    let fleet = Fleet::start(2).await;
    let visitor = Visitor::of(&fleet.alice, &fleet.hub).await;
    let new = form_to(&["fleet/0", "fleet/1"]);
    let (csrf, key) = hidden(&visitor.page(&new).await);
    let long = "ü".repeat(201);
    let cases = [
        (["", "", ""], "title-error", 422),
        ([long.as_str(), "", ""], "title-error", 400),
        (["t", "ftp://files.example", ""], "links-error", 422),
        (["t", "https://ü b", ""], "links-error", 400),
        (["t", "", "soon"], "expires_in-error", 422),
    ];
    for ([title, links, expires_in], error, status) in cases {
        let fields = [
            ("csrf", csrf.as_str()),
            ("key", key.as_str()),
            ("title", title),
            ("links", links),
            ("tags", "kept"),
            ("expires_in", expires_in),
        ];
        let told = visitor.post(&new, &fields).await;
        assert_eq!(told.status.as_u16(), status, "{}", told.text);
        for part in [
            format!("id=\"{error}\""),
            format!("value=\"{title}\""),
            format!("\n{links}</textarea>"),
            "value=\"kept\"".to_owned(),
            "Send to 2 agents".to_owned(),
        ] {
            assert!(told.text.contains(&part), "{part} in {}", told.text);
        }
    }
    let path = fleet.account.agent_path("fleet/1", "");
    fleet.account.admin().delete(&path).await.expect(204);
    let fields = [("csrf", csrf.as_str()), ("key", key.as_str()), ("title", "Stop")];
    let told = visitor.post(&new, &fields).await;
    assert_eq!(told.status, 422, "{}", told.text);
    assert!(told.text.contains("There is no agent “fleet/1”") && told.text.contains("value=\"Stop\""));
    assert!(sent(&fleet).await.is_empty());
}

#[tokio::test]
async fn only_who_may_write_does_and_nobody_reads_elsewhere() {
    let fleet = Fleet::start(1).await;
    let id = fleet.sent(&fleet.to_all("Ours")).await;
    let visitor = Visitor::of(&fleet.alice, &fleet.hub).await;
    let new = form_to(&["fleet/0"]);
    let (_, key) = hidden(&visitor.page(&new).await);
    let forged = [("csrf", "other"), ("key", key.as_str()), ("title", "Stop")];
    assert_eq!(visitor.post(&new, &forged).await.status, 403);
    let request = visitor.api.request(Method::POST, &new);
    let request = request
        .header("cookie", &visitor.cookie)
        .header("sec-fetch-site", "cross-site");
    assert_eq!(Reply::of(request).await.status, 403);

    let vera = fleet.account.human("vera", "viewer").await;
    let viewer = Visitor::of(&vera, &fleet.hub).await;
    for path in [
        new.as_str(),
        "/inbox/broadcasts/agents",
        "/inbox/broadcasts/labels",
    ] {
        let page = viewer.page(path).await;
        assert!(
            page.contains("signed in as a viewer")
                && !page.contains("id=\"compose\"")
                && !page.contains("id=\"choose\""),
            "{path}"
        );
    }
    let list = viewer.page("/inbox/broadcasts").await;
    assert!(list.contains("Ours") && !list.contains("Write to several"));
    assert!(
        viewer
            .page(&format!("/inbox/broadcasts/{id}"))
            .await
            .contains("fleet/0")
    );
    let (csrf, _) = hidden(&format!("{list}name=\"key\" value=\"k\""));
    let fields = [("csrf", csrf.as_str()), ("key", "k"), ("title", "Stop")];
    assert_eq!(viewer.post(&new, &fields).await.status, 403);
    assert_eq!(sent(&fleet).await.len(), 1);

    let stranger = fleet.hub.account("other").await;
    let eve = Visitor::of(&stranger.human("eve", "owner").await, &fleet.hub).await;
    for path in [
        format!("/inbox/broadcasts/{id}"),
        "/inbox/broadcasts/bro_0".to_owned(),
    ] {
        assert_eq!(eve.get(&path).await.status, 404, "{path}");
    }
    let refused = eve.get(&new).await;
    assert!(refused.status == 422 && refused.text.contains("There is no agent"));
    assert!(!eve.page("/inbox/broadcasts").await.contains("Ours"));
}

#[tokio::test]
async fn a_large_broadcast_is_shown_in_pages_and_by_state() {
    let fleet = Fleet::start(2).await;
    fleet.crowd("many/", 120, &json!({"team": "many"})).await;
    fleet.labelled("a/first", json!({"team": "many"})).await;
    let body = json!({"labels": {"team": "many"}, "title": "To many"});
    let id = fleet.sent(&body).await;
    fleet.once(&id, "queued", 121).await;
    let visitor = Visitor::of(&fleet.alice, &fleet.hub).await;
    let path = format!("/inbox/broadcasts/{id}");
    let page = visitor.page(&path).await;
    assert!(page.contains("0 of 121 acknowledged it.") && page.contains("team: many"));
    let mut seen = rows(&page);
    let mut next = next_page(&page);
    while let Some(href) = next {
        let page = visitor.page(&href).await;
        seen += rows(&page);
        next = next_page(&page);
    }
    assert_eq!(seen, 121);

    let id = fleet.sent(&fleet.to_all("To two")).await;
    fleet.once(&id, "queued", 2).await;
    let drained = ids(&drain(&fleet.agents[0], "").await);
    let acked = json!({"ids": drained, "note": "<b>on it</b>"});
    fleet.agents[0].post("/v1/inbox/ack", &acked).await.expect(200);
    let path = format!("/inbox/broadcasts/{id}");
    let page = visitor.page(&path).await;
    assert!(page.contains("1 of 2 acknowledged it.") && page.contains("“&lt;b&gt;on it&lt;/b&gt;”"));
    assert_eq!(rows(&page), 2);
    for (state, agent) in [("acknowledged", "fleet/0"), ("queued", "fleet/1")] {
        let page = visitor.page(&format!("{path}?state={state}")).await;
        assert!(
            rows(&page) == 1 && page.contains(&format!("data-key=\"{agent}\"")),
            "{state}"
        );
    }
    let none = visitor.page(&format!("{path}?state=expired")).await;
    assert!(rows(&none) == 0 && none.contains("None of them is there now"));
    let list = visitor.page("/inbox/broadcasts").await;
    assert!(list.contains("to 121 agents") && list.find("To two") < list.find("To many"));
}

fn rows(page: &str) -> usize {
    page.matches("data-row>").count()
}

fn next_page(page: &str) -> Option<String> {
    let (before, _) = page.split_once("\">Next</a>")?;
    let (_, href) = before.rsplit_once("href=\"")?;
    Some(href.replace("&amp;", "&"))
}
