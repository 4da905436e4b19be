//! The routes without the services behind them: everything that is decided before a tier is asked.

mod administration;
mod messages;
mod openapi;
mod wire;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use hub_platform::config::Config;
use hub_platform::shutdown::Shutdown;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::app::App;
use crate::auth::secret;
use crate::directory::credentials::Found;
use crate::principal::{Agent, Credential, Human, Principal, Role};
use crate::routes;

const ADMIN: &str = "ma2h_admin_test";
const AGENT: &str = "ma2h_agent_0123456789abcdefghijklmnopqrstuvwxyz-_ABCDE";
const OWNER: &str = "ma2h_human_0123456789abcdefghijklmnopqrstuvwxyz-_ABCDE";
const VIEWER: &str = "ma2h_human_EDCBA_-zyxwvutsrqponmlkjihgfedcba9876543210";
/// As well formed as any.
const UNKNOWN: &str = "ma2h_agent_EDCBA_-zyxwvutsrqponmlkjihgfedcba9876543210";

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
            self.app.principals.put(
                self.app.principals.ticket(),
                credential,
                Some(&found(Principal::Human(human))),
            );
        }
        let credential = Credential::Token(secret::digest(AGENT));
        let agent = Agent {
            account,
            id: "deploybot/dev-team".to_owned(),
            credential,
        };
        self.app.principals.put(
            self.app.principals.ticket(),
            credential,
            Some(&found(Principal::Agent(agent))),
        );
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

fn found(principal: Principal) -> Found {
    Found {
        principal,
        left: None,
    }
}

fn notify() -> Value {
    json!({
        "ma2h_version": "0.6",
        "type": "notify",
        "created_at": "2026-01-01T00:00:00Z",
        "agent": {"id": "deploybot/dev-team", "run_id": "run-1", "runtime": "cli"},
        "title": "Digest",
        "body": "Three builds.",
    })
}

fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut envelope = notify();
    change(&mut envelope);
    envelope.to_string()
}
