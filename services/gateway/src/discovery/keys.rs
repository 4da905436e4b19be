//! The hub's public signing keys as a JWK set.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hub_proto::delivery::{ListSigningKeysRequest, SigningKey};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::app::App;
use crate::edge::answer;
use crate::edge::errors::Refusal;

/// How long the set is given out without asking: anybody may ask for it, delivery shall not feel it.
const REMEMBERED_FOR: Duration = Duration::from_secs(5);

/// How long a verifier may keep the set, at most.
const KEPT_SECONDS_MAX: u64 = 300;

/// The set as it was read a moment ago.
#[derive(Default)]
pub(crate) struct Keys {
    read: Mutex<Option<(Instant, Value)>>,
}

/// `GET /.well-known/ma2h/keys`
pub(super) async fn handle(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    // Held while asking: those who come meanwhile share the answer.
    let mut read = app.keys.read.lock().await;
    if let Some((at, keys)) = &*read
        && at.elapsed() < REMEMBERED_FOR
    {
        return Ok(published(&app, keys));
    }
    let request = ListSigningKeysRequest {};
    let reply = app
        .ask(async || app.delivery.clone().list_signing_keys(request).await)
        .await?;
    let keys = json!({ "keys": reply.keys.iter().map(jwk).collect::<Vec<_>>() });
    let response = published(&app, &keys);
    *read = Some((Instant::now(), keys));
    Ok(response)
}

/// For a while the set may be kept by who asks: less long than a new key is published before it signs.
fn published(app: &App, keys: &Value) -> Response {
    let mut response = answer::json(StatusCode::OK, keys);
    let max_age = KEPT_SECONDS_MAX.min(app.config.keys.signing_lead_seconds / 2);
    if let Ok(value) = HeaderValue::from_str(&format!("public, max-age={max_age}")) {
        response.headers_mut().insert(header::CACHE_CONTROL, value);
    }
    response
}

/// RFC 8037.
fn jwk(key: &SigningKey) -> Value {
    json!({
        "kty": "OKP",
        "crv": "Ed25519",
        "alg": "EdDSA",
        "use": "sig",
        "kid": key.kid,
        "x": BASE64_URL_SAFE_NO_PAD.encode(&key.public_key),
    })
}
