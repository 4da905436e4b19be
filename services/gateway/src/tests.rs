//! The routes without the services behind them: everything that is decided before a tier is asked.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt;
use hub_platform::config::Config;
use hub_platform::shutdown::Shutdown;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::app::App;
use crate::auth::secret;
use crate::principal::{Agent, Credential, Human, Principal, Role};
use crate::routes;

const ADMIN: &str = "ma2h_admin_test";
const AGENT: &str = "ma2h_agent_test";
const OWNER: &str = "ma2h_human_owner";
const VIEWER: &str = "ma2h_human_viewer";

/// A gateway whose peers are nowhere.
struct Gateway {
    app: Arc<App>,
    routes: Router,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

impl Gateway {
    fn new() -> Self {
        let variables = [
            ("HUB_DATABASE_URL", "postgres://nobody@127.0.0.1:1/none"),
            ("HUB_ADMIN_TOKEN", ADMIN),
            ("HUB_MAX_ENVELOPE_BYTES", "65536"),
            ("HUB_MAX_BODY_BYTES", "1024"),
            ("HUB_PEERS_CALL_TIMEOUT_MS", "50"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let config = Arc::new(Config::load(variables).unwrap());
        let app = App::new(config, "https://hub.example".to_owned(), None, Shutdown::new()).unwrap();
        let app = Arc::new(app);
        Self {
            routes: routes(app.clone()),
            app,
        }
    }

    /// Remembers who these tokens are, as if they had been read a moment ago.
    fn remember(&self) {
        let account = "acme".to_owned();
        for (token, role) in [(OWNER, Role::Owner), (VIEWER, Role::Viewer)] {
            let credential = Credential::Token(secret::digest(token));
            let human = Human {
                account: account.clone(),
                id: "alice".to_owned(),
                role,
                credential,
            };
            self.app
                .principals
                .put(self.app.principals.ticket(), credential, &Principal::Human(human));
        }
        let credential = Credential::Token(secret::digest(AGENT));
        let agent = Agent {
            account,
            id: "deploybot/dev-team".to_owned(),
            credential,
        };
        self.app
            .principals
            .put(self.app.principals.ticket(), credential, &Principal::Agent(agent));
    }

    async fn call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        self.remember();
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self
            .routes
            .clone()
            .oneshot(request.body(body.into()).unwrap())
            .await
            .unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body = if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes).unwrap()
        };
        Answer {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }

    async fn get(&self, path: &str, token: &str) -> Answer {
        self.call(
            "GET",
            path,
            &[("authorization", &format!("Bearer {token}"))],
            Body::empty(),
        )
        .await
    }

    async fn send(&self, method: &str, path: &str, token: &str, body: impl Into<Body>) -> Answer {
        let headers = [("x-api-key", token), ("content-type", "application/json")];
        self.call(method, path, &headers, body).await
    }
}

impl Answer {
    /// Status, and the code and text of a refusal.
    fn refusal(&self) -> (u16, &str, &str) {
        let error = &self.body["error"];
        (
            self.status.as_u16(),
            error["code"].as_str().unwrap_or_default(),
            error["message"].as_str().unwrap_or_default(),
        )
    }

    #[track_caller]
    fn is(&self, status: u16, code: &str) {
        assert_eq!(
            (status, code),
            (self.refusal().0, self.refusal().1),
            "{}",
            self.body
        );
    }
}

fn notify() -> Value {
    json!({
        "ma2h_version": "0.6",
        "type": "notify",
        "created_at": "2026-01-01T00:00:00Z",
        "agent": {"id": "deploybot/dev-team", "run_id": "run-1", "runtime": "test"},
        "title": "Digest",
        "body": "Three builds.",
    })
}

fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut envelope = notify();
    change(&mut envelope);
    envelope.to_string()
}

#[tokio::test]
async fn an_unknown_route_and_a_wrong_method_are_told_in_our_shape() {
    let gateway = Gateway::new();
    for path in [
        "/",
        "/v1",
        "/v2/messages",
        "/v1/messages/msg_1/unknown",
        "/admin/v1/accounts/acme/colours",
    ] {
        gateway.get(path, ADMIN).await.is(404, "not_found");
    }
    let answer = gateway.send("PUT", "/v1/messages", AGENT, "").await;
    answer.is(405, "method_not_allowed");
    let allow = answer.headers[header::ALLOW].to_str().unwrap();
    assert!(allow.contains("POST") && allow.contains("GET"), "{allow}");
    let answer = gateway.send("GET", "/admin/v1/accounts", ADMIN, "").await;
    answer.is(405, "method_not_allowed");
    assert_eq!(answer.headers[header::ALLOW], "POST");
    gateway
        .send("PUT", "/admin/v1/accounts/acme/humans", ADMIN, "")
        .await
        .is(405, "method_not_allowed");
}

#[tokio::test]
async fn every_answer_carries_its_headers() {
    let gateway = Gateway::new();
    let answer = gateway
        .call("GET", "/healthz", &[("x-request-id", "abc-1")], Body::empty())
        .await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.headers["x-request-id"], "abc-1");
    for path in ["/healthz", "/nowhere", "/v1/messages", "/.well-known/ma2h"] {
        let answer = gateway
            .call("GET", path, &[("x-request-id", "no token")], Body::empty())
            .await;
        assert!(
            answer.headers["x-request-id"]
                .to_str()
                .unwrap()
                .starts_with("req_"),
            "{path}"
        );
        assert_eq!(answer.headers[header::CONTENT_TYPE], "application/json", "{path}");
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store", "{path}");
    }
}

#[tokio::test]
async fn without_a_valid_credential_nothing_is_told() {
    let gateway = Gateway::new();
    let paths = [
        ("GET", "/v1/messages"),
        ("POST", "/v1/messages"),
        ("GET", "/v1/stream"),
        ("GET", "/v1/agents"),
    ];
    for (method, path) in paths {
        let answer = gateway.call(method, path, &[], Body::empty()).await;
        answer.is(401, "unauthenticated");
        assert_eq!(answer.headers[header::WWW_AUTHENTICATE], "Bearer");
    }
    gateway
        .get("/admin/v1/accounts/acme", "ma2h_admin_wrong")
        .await
        .is(401, "unauthenticated");
    gateway
        .get("/v1/messages", &"x".repeat(600))
        .await
        .is(401, "unauthenticated");
}

#[tokio::test]
async fn a_tier_or_database_that_is_away_is_unavailable() {
    let gateway = Gateway::new();
    let answer = gateway.get("/v1/messages", "ma2h_agent_unknown").await;
    answer.is(503, "unavailable");
    assert!(answer.headers.contains_key(header::RETRY_AFTER));
    gateway
        .send("POST", "/v1/messages", AGENT, notify().to_string())
        .await
        .is(503, "unavailable");
    let answer = gateway.get("/readyz", "").await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(
        answer.body["down"],
        json!(["postgres", "lifecycle", "delivery", "presence"])
    );
}

#[tokio::test]
async fn a_body_must_be_json() {
    let gateway = Gateway::new();
    let headers = [("x-api-key", AGENT), ("content-type", "text/plain")];
    gateway
        .call("POST", "/v1/messages", &headers, "{}")
        .await
        .is(415, "unsupported_media_type");
    gateway
        .call("POST", "/v1/messages", &headers[..1], "{}")
        .await
        .is(415, "unsupported_media_type");
    let twice = r#"{"ma2h_version": "0.6", "ma2h_version": "0.6"}"#;
    let malformed: [&[u8]; 6] = [b"", b"{", b"[1,]", b"{} {}", b"\"\xff\"", twice.as_bytes()];
    for body in malformed {
        gateway
            .send("POST", "/v1/messages", AGENT, body.to_vec())
            .await
            .is(400, "validation_error");
        gateway
            .send("POST", "/admin/v1/accounts", ADMIN, body.to_vec())
            .await
            .is(400, "validation_error");
    }
}

#[tokio::test]
async fn a_submit_is_checked_in_order_and_names_the_field() {
    let gateway = Gateway::new();
    let too_large = changed(|envelope| envelope["state"] = json!("x".repeat(70_000)));
    let cases = [
        (
            changed(|envelope| drop(envelope.as_object_mut().unwrap().remove("ma2h_version"))),
            400,
            "validation_error",
        ),
        (
            changed(|envelope| envelope["ma2h_version"] = json!("1.0")),
            400,
            "version_not_supported",
        ),
        (
            changed(|envelope| envelope["ma2h_version"] = json!("0.06")),
            400,
            "validation_error",
        ),
        (
            changed(|envelope| envelope["title"] = json!(5)),
            400,
            "validation_error",
        ),
        (
            changed(|envelope| envelope["agent"]["id"] = json!("other")),
            403,
            "agent_id_mismatch",
        ),
        (
            changed(|envelope| envelope["body"] = json!("x".repeat(1025))),
            422,
            "invalid_field",
        ),
        (too_large, 413, "payload_too_large"),
    ];
    for (body, status, code) in cases {
        gateway
            .send("POST", "/v1/messages", AGENT, body)
            .await
            .is(status, code);
    }
    let answer = gateway
        .send(
            "POST",
            "/v1/messages",
            AGENT,
            changed(|envelope| envelope["title"] = json!(5)),
        )
        .await;
    assert!(answer.refusal().2.starts_with("title"), "{}", answer.body);
    gateway
        .send("POST", "/v1/messages", OWNER, notify().to_string())
        .await
        .is(403, "not_authorized");
}

#[tokio::test]
async fn a_body_without_length_is_bounded_as_well() {
    let gateway = Gateway::new();
    let chunks = futures_util::stream::iter((0..80).map(|_| Ok::<_, std::io::Error>("x".repeat(1024))));
    let answer = gateway
        .send("POST", "/v1/messages", AGENT, Body::from_stream(chunks))
        .await;
    answer.is(413, "payload_too_large");
}

#[tokio::test]
async fn roles_and_accounts_are_kept_apart() {
    let gateway = Gateway::new();
    gateway
        .send("POST", "/admin/v1/accounts", OWNER, r#"{"id":"other"}"#)
        .await
        .is(403, "not_authorized");
    gateway
        .get("/admin/v1/accounts/other", OWNER)
        .await
        .is(404, "not_found");
    gateway
        .get("/admin/v1/accounts/acme", VIEWER)
        .await
        .is(403, "not_authorized");
    gateway
        .get("/admin/v1/accounts/acme", AGENT)
        .await
        .is(403, "not_authorized");
    gateway
        .get("/admin/v1/accounts/Acme", ADMIN)
        .await
        .is(404, "not_found");
    gateway.get("/v1/messages", ADMIN).await.is(403, "not_authorized");
    gateway.get("/v1/stream", AGENT).await.is(403, "not_authorized");
    gateway.get("/v1/agents", AGENT).await.is(403, "not_authorized");
    let body = r#"{"resolution":"declined"}"#;
    gateway
        .send("POST", "/v1/messages/msg_1/resolve", VIEWER, body)
        .await
        .is(403, "not_authorized");
    gateway
        .send("POST", "/v1/messages/msg_1/cancel", OWNER, "")
        .await
        .is(403, "not_authorized");
}

#[tokio::test]
async fn what_cannot_be_an_id_names_nothing() {
    let gateway = Gateway::new();
    for path in [
        "/v1/messages/msg_%00",
        "/v1/messages/other_1",
        "/v1/messages/%ff",
        "/v1/agents/a%0Ab/presence",
    ] {
        gateway.get(path, OWNER).await.is(404, "not_found");
    }
    gateway
        .send("DELETE", "/admin/v1/accounts/acme/tokens/tok_%00", OWNER, "")
        .await
        .is(404, "not_found");
}

#[tokio::test]
async fn an_agent_id_with_a_slash_is_one_segment() {
    let gateway = Gateway::new();
    // The route is found and asks presence, which is away.
    gateway
        .get("/v1/agents/deploybot%2Fdev-team/presence", OWNER)
        .await
        .is(503, "unavailable");
    gateway
        .get("/v1/agents/deploybot/dev-team/presence", OWNER)
        .await
        .is(404, "not_found");
    let body = r#"{"ref":"env:A"}"#;
    let path = "/admin/v1/accounts/acme/agents/deploybot%2Fdev-team/secrets";
    gateway
        .send("PUT", path, OWNER, body)
        .await
        .is(400, "validation_error");
}

#[tokio::test]
async fn administration_names_what_does_not_fit() {
    let gateway = Gateway::new();
    let cases = [
        ("POST", "/admin/v1/accounts", r#"{"id":"Acme"}"#, 422, "id: "),
        (
            "POST",
            "/admin/v1/accounts",
            r#"{"id":"acme","colour":1}"#,
            400,
            "colour: unknown member",
        ),
        ("POST", "/admin/v1/accounts", "{}", 400, "id: required"),
        (
            "PATCH",
            "/admin/v1/accounts/acme",
            r#"{"name":null}"#,
            422,
            "name: ",
        ),
        (
            "POST",
            "/admin/v1/accounts/acme/humans",
            r#"{"id":"bob","role":"king"}"#,
            422,
            "role: ",
        ),
        (
            "POST",
            "/admin/v1/accounts/acme/humans",
            r#"{"id":"bob","role":"owner","email":"x"}"#,
            422,
            "email: ",
        ),
        (
            "POST",
            "/admin/v1/accounts/acme/agents",
            r#"{"id":"a\n"}"#,
            422,
            "id: ",
        ),
        (
            "POST",
            "/admin/v1/accounts/acme/agents",
            r#"{"id":"a","labels":{"x":1}}"#,
            422,
            "labels.x: ",
        ),
        (
            "POST",
            "/admin/v1/accounts/acme/tokens",
            r#"{"subject":"bob"}"#,
            422,
            "subject: ",
        ),
        (
            "POST",
            "/admin/v1/accounts/acme/tokens",
            r#"{"subject":"human:bob","expires_at":"2001-01-01T00:00:00Z"}"#,
            422,
            "expires_at: ",
        ),
        (
            "PUT",
            "/admin/v1/accounts/acme/agents/a/entry-key",
            r#"{"alg":"rsa"}"#,
            422,
            "alg: ",
        ),
        (
            "PUT",
            "/admin/v1/accounts/acme/agents/a/entry-key",
            r#"{"alg":"hmac-sha256"}"#,
            422,
            "secret: ",
        ),
        (
            "POST",
            "/admin/v1/accounts/acme/agents/a/callback-hosts",
            r#"{"host":"https://a.example/","method":"operator"}"#,
            422,
            "host: ",
        ),
        (
            "POST",
            "/admin/v1/accounts/acme/agents/a/callback-hosts",
            r#"{"host":"a.example","method":"dns-txt"}"#,
            422,
            "method: ",
        ),
        (
            "PUT",
            "/admin/v1/accounts/acme/agents/a/secrets",
            r#"{"ref":"","value":"x"}"#,
            422,
            "ref: ",
        ),
    ];
    for (method, path, body, status, message) in cases {
        let answer = gateway.send(method, path, ADMIN, body).await;
        assert_eq!(answer.status.as_u16(), status, "{path} {body}: {}", answer.body);
        assert!(
            answer.refusal().2.starts_with(message),
            "{path} {body}: {}",
            answer.body
        );
    }
}

#[tokio::test]
async fn parameters_are_checked() {
    let gateway = Gateway::new();
    for query in ["wait=soon", "wait=-1", "since=yesterday"] {
        let path = format!("/v1/messages/msg_1?{query}");
        gateway.get(&path, AGENT).await.is(400, "validation_error");
    }
    for query in ["limit=0", "limit=x", "status=opened", "type=mail", "q=%00"] {
        gateway
            .get(&format!("/v1/messages?{query}"), OWNER)
            .await
            .is(400, "validation_error");
    }
}

#[tokio::test]
async fn a_stream_begins_with_resync_and_tells_what_happens() {
    let gateway = Gateway::new();
    gateway.remember();
    let request = Request::get("/v1/stream")
        .header("x-api-key", VIEWER)
        .body(Body::empty())
        .unwrap();
    let response = gateway.routes.clone().oneshot(request).await.unwrap();
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    let mut body = response.into_body();
    let mut next = async || {
        let frame = body.frame().await.unwrap().unwrap();
        String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
    };
    assert_eq!(next().await, "event: resync\ndata: {}\n\n");
    gateway.app.wakes.dispatch(&crate::wakes::Wake {
        account: "acme".to_owned(),
        event: crate::wakes::WakeKind::MessageResolved,
        id: "msg_1".to_owned(),
        state: Some("answered".to_owned()),
    });
    assert_eq!(
        next().await,
        "event: message.resolved\ndata: {\"id\":\"msg_1\",\"state\":\"answered\"}\n\n"
    );
    gateway.app.shutdown.trigger();
    assert!(body.frame().await.is_none());
}
