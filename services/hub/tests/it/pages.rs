//! The pages about directives and agents over HTTPS, as a browser without a script asks for them.

use futures_util::future::join_all;
use http::Method;
use hub_testkit::{Reply, segment};
use serde_json::json;

use crate::mailbox::{Post, WORKER, ack, directed, drain, ids};
use crate::visitor::{Visitor, hidden};

pub(crate) const NEW: &str = "/inbox/directives/new?to=orchard%2Fworker";

/// What the form to the worker carries.
pub(crate) async fn form(visitor: &Visitor) -> (String, String) {
    hidden(&visitor.page(NEW).await)
}

async fn titles(post: &Post) -> Vec<String> {
    let listed = post.alice.get("/v1/directives").await.expect(200);
    let listed = listed["directives"].as_array().unwrap();
    let title = |listed: &serde_json::Value| listed["directive"]["title"].as_str().unwrap().to_owned();
    listed.iter().map(title).collect()
}

#[tokio::test]
async fn a_form_that_is_posted_twice_sends_once() {
    let post = Post::start().await;
    let visitor = Visitor::of(&post.alice, &post.hub).await;
    let (csrf, key) = form(&visitor).await;
    let fields = [
        ("csrf", csrf.as_str()),
        ("key", key.as_str()),
        ("title", "Stop"),
        ("body", "one\r\ntwo"),
        ("tags", "deploy, eu"),
        ("links", "https://ci.example/run the run"),
    ];
    let replies = join_all((0..6).map(|_| visitor.post(NEW, &fields))).await;
    let path = replies[0].header("location").unwrap().to_owned();
    for reply in &replies {
        assert_eq!(
            (reply.status.as_u16(), reply.header("location")),
            (303, Some(path.as_str()))
        );
    }
    assert_eq!(titles(&post).await, ["Stop"]);
    let drained = drain(&post.worker, "").await;
    for part in [
        r"one\ntwo",
        r#""tags":["deploy","eu"]"#,
        r#""uri":"https://ci.example/run""#,
    ] {
        assert!(
            drained[0].directive.contains(part),
            "{part} in {}",
            drained[0].directive
        );
    }

    // The same form with other words is no repetition: it says so, and can be sent as another.
    let other = [("csrf", csrf.as_str()), ("key", key.as_str()), ("title", "Go on")];
    let told = visitor.post(NEW, &other).await;
    assert_eq!(told.status, 409);
    assert!(told.text.contains("value=\"Go on\"") && told.text.contains("You sent this form before"));
    let (_, fresh) = hidden(&told.text);
    assert_ne!(fresh, key);
    let again = [
        ("csrf", csrf.as_str()),
        ("key", fresh.as_str()),
        ("title", "Go on"),
    ];
    assert_eq!(visitor.post(NEW, &again).await.status, 303);
    assert_eq!(titles(&post).await, ["Go on", "Stop"]);
}

#[tokio::test]
async fn what_the_hub_refuses_comes_back_with_all_that_was_typed() {
    let post = Post::start().await;
    let visitor = Visitor::of(&post.alice, &post.hub).await;
    let (csrf, key) = form(&visitor).await;
    let long = "ü".repeat(201);
    let cases = [
        (["", "x", "normal", ""], "title-error", 422),
        ([long.as_str(), "x", "normal", ""], "title-error", 400),
        (["t", "x", "loud", ""], "priority-error", 400),
        (["t", "x", "high", "soon"], "expires_in-error", 422),
    ];
    for ([title, body, priority, expires_in], error, status) in cases {
        let fields = [
            ("csrf", csrf.as_str()),
            ("key", key.as_str()),
            ("title", title),
            ("body", body),
            ("priority", priority),
            ("expires_in", expires_in),
        ];
        let told = visitor.post(NEW, &fields).await;
        assert_eq!(told.status.as_u16(), status, "{}", told.text);
        assert!(told.text.contains("<title>Not sent: "), "{}", told.text);
        for part in [
            format!("id=\"{error}\""),
            format!("value=\"{title}\""),
            format!("value=\"{expires_in}\""),
            "\nx</textarea>".to_owned(),
        ] {
            assert!(told.text.contains(&part), "{part} in {}", told.text);
        }
    }
    let large = "x".repeat(65537);
    let fields = [
        ("csrf", csrf.as_str()),
        ("key", key.as_str()),
        ("title", "t"),
        ("body", large.as_str()),
    ];
    let told = visitor.post(NEW, &fields).await;
    assert!(told.status == 422 && told.text.contains("id=\"body-error\""));

    // A full mailbox, and an agent that is gone.
    post.account
        .set_policy(json!({"rate_limit": {"inbox_depth": 1}}))
        .await;
    post.direct("First").await;
    let fields = [
        ("csrf", csrf.as_str()),
        ("key", key.as_str()),
        ("title", "Second"),
    ];
    let told = visitor.post(NEW, &fields).await;
    assert!(
        told.status == 429 && told.text.contains("mailbox is full") && told.text.contains("value=\"Second\"")
    );
    let worker = post.account.agent_path(WORKER, "");
    post.account.admin().delete(&worker).await.expect(204);
    let told = visitor.post(NEW, &fields).await;
    assert!(
        told.status == 422 && told.text.contains("no such agent") && told.text.contains("value=\"Second\"")
    );
    assert_eq!(visitor.get(NEW).await.status, 404);
}

#[tokio::test]
async fn a_form_counts_only_from_the_inbox_and_from_who_may_send() {
    let post = Post::start().await;
    let visitor = Visitor::of(&post.alice, &post.hub).await;
    let (_, key) = form(&visitor).await;
    let forged = [("csrf", "other"), ("key", key.as_str()), ("title", "Stop")];
    assert_eq!(visitor.post(NEW, &forged).await.status, 403);
    let request = visitor.api.request(Method::POST, NEW);
    let request = request
        .header("cookie", &visitor.cookie)
        .header("sec-fetch-site", "cross-site");
    assert_eq!(Reply::of(request).await.status, 403);

    let vera = post.account.human("vera", "viewer").await;
    let viewer = Visitor::of(&vera, &post.hub).await;
    let page = viewer.page(NEW).await;
    assert!(page.contains("signed in as a viewer") && !page.contains("id=\"compose\""));
    assert!(
        !viewer
            .page("/inbox/directives")
            .await
            .contains("Write to an agent")
    );
    let (csrf, _) = hidden(&format!("{page}name=\"key\" value=\"k\""));
    let fields = [("csrf", csrf.as_str()), ("key", "k"), ("title", "Stop")];
    assert_eq!(viewer.post(NEW, &fields).await.status, 403);
    assert!(titles(&post).await.is_empty());
}

#[tokio::test]
async fn pages_of_another_account_are_not_found() {
    let post = Post::start().await;
    let id = post.direct("Ours").await;
    let stranger = post.hub.account("other").await;
    let eve = Visitor::of(&stranger.human("eve", "owner").await, &post.hub).await;
    for path in [
        format!("/inbox/directives/{id}"),
        "/inbox/directives/dir_0".to_owned(),
        "/inbox/directives/%00".to_owned(),
        "/inbox/agents/orchard%2Fworker".to_owned(),
        "/inbox/agents/%00".to_owned(),
        "/inbox/agents/a/b".to_owned(),
        NEW.to_owned(),
    ] {
        assert_eq!(eve.get(&path).await.status, 404, "{path}");
    }
    for path in ["/inbox/directives", "/inbox/agents", "/inbox/directives/new"] {
        let page = eve.page(path).await;
        assert!(!page.contains("Ours") && !page.contains(WORKER), "{path}");
    }
}

#[tokio::test]
async fn any_id_of_an_agent_has_a_page() {
    let post = Post::start().await;
    let visitor = Visitor::of(&post.alice, &post.hub).await;
    for id in [
        "deploybot/dev",
        "🌳/🍎 б%2F",
        "\"><script>1</script>",
        "..a",
        "a?b&c=d",
        "a#sess_1",
    ] {
        post.account.agent(id).await;
        let path = format!("/inbox/agents/{}", segment(id));
        let page = visitor.page(&path).await;
        assert!(
            page.contains("data-page=\"agent\"") && !page.contains("<script>1"),
            "{id}"
        );
        let form = format!("/inbox/directives/new?to={}", segment(id));
        let form = visitor.page(&form).await;
        // An address ends at its first `#`: such a directive would be another agent's.
        let can_be_written_to = !id.contains('#');
        assert_eq!(form.contains("id=\"compose\""), can_be_written_to, "{id}");
        assert_eq!(page.contains("Write to it"), can_be_written_to, "{id}");
        let found = visitor.get(&format!("/inbox/agents?id={}", segment(id))).await;
        assert!(
            found.status == 200 || found.header("location") == Some(path.as_str()),
            "{id}"
        );
    }
    let (csrf, key) = form(&visitor).await;
    let fields = [("csrf", csrf.as_str()), ("key", key.as_str()), ("title", "Stop")];
    let refused = visitor.post("/inbox/directives/new?to=a%23sess_1", &fields).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    assert!(titles(&post).await.is_empty());
}

#[tokio::test]
async fn agents_and_directives_are_paged() {
    let post = Post::start().await;
    for at in 0..55 {
        post.account.agent(&format!("fleet/{at:02}")).await;
    }
    for at in 0..33 {
        directed(&post.alice, "fleet/00", &format!("number {at:02}.")).await;
    }
    let visitor = Visitor::of(&post.alice, &post.hub).await;
    for (path, first, last, next) in [
        ("/inbox/agents", "fleet/00", "orchard/worker", "Next"),
        ("/inbox/directives/new", "fleet/00", "orchard/worker", "Next"),
        (
            "/inbox/directives?agent=fleet/00",
            "number 32.",
            "number 00.",
            "Older",
        ),
    ] {
        let page = visitor.page(path).await;
        assert!(page.contains(first) && !page.contains(last), "{path}");
        let (before, _) = page.split_once(&format!("\">{next}</a>")).unwrap();
        let (_, href) = before.rsplit_once("href=\"").unwrap();
        let page = visitor.page(&href.replace("&amp;", "&")).await;
        assert!(!page.contains(first) && page.contains(last), "{path}");
    }
    let one = visitor.page("/inbox/agents/fleet%2F00").await;
    assert!(one.contains("33 queued") && one.contains("number 32.") && !one.contains("number 00."));
}

#[tokio::test]
async fn directives_are_found_by_their_state() {
    let post = Post::start().await;
    let acked = post.direct("Acked").await;
    let seen = post.direct("Seen").await;
    assert_eq!(ids(&drain(&post.worker, "").await), [acked.clone(), seen]);
    assert_eq!(ack(&post.worker, std::slice::from_ref(&acked)).await, 1);
    post.direct("Waiting").await;
    for (state, title) in [
        ("queued", "Waiting"),
        ("delivered", "Seen"),
        ("acknowledged", "Acked"),
    ] {
        let path = format!("/v1/directives?state={state}");
        let listed = post.alice.get(&path).await.expect(200);
        let listed = listed["directives"].as_array().unwrap();
        assert_eq!(listed.len(), 1, "{state}");
        assert_eq!(listed[0]["directive"]["title"], title);
    }
    let none = post.alice.get("/v1/directives?state=expired").await.expect(200);
    assert_eq!(none, json!({"directives": []}));
    post.alice
        .get("/v1/directives?state=lost")
        .await
        .expect_error(400, "validation_error");
    let narrow = post.alice.get("/v1/directives?state=delivered&limit=1").await;
    assert!(narrow.expect(200)["next_cursor"].is_null());
}
