//! How an agent's mailbox entries, and its `bearer` and `apikey` callbacks, are signed.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::delivery::{EntryKey, GetEntryKeyRequest, PutEntryKeyRequest};
use ma2h::error::Problem;
use serde_json::{Value, json};

use super::Manager;
use super::secrets::value;
use crate::app::App;
use crate::directory::{agents, ids};
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;
use crate::edge::params::Ids;

/// `PUT …/agents/{agent}/entry-key`
pub(super) async fn put(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, agent)): Ids<(String, String)>,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let agent = ids::of_path(agent, ids::is_agent)?;
    let alg = fields.string("alg")?;
    let secret = fields.optional_string("secret")?;
    fields.finish()?;
    let secret = match (alg.as_str(), secret) {
        ("hmac-sha256", Some(secret)) => Some(value("secret", secret)?),
        ("hmac-sha256", None) => {
            return Err(Problem::invalid_field("secret: required for hmac-sha256").into());
        }
        ("ed25519", None) => None,
        ("ed25519", Some(_)) => {
            return Err(Problem::invalid_field("secret: ed25519 signs with the hub's own key").into());
        }
        _ => return Err(Problem::invalid_field("alg: expected hmac-sha256 or ed25519").into()),
    };
    let detail = json!({ "alg": alg });
    agents::note(
        &app.pool,
        &manager.author,
        &manager.account,
        &agent,
        "entry_key.put",
        &detail,
    )
    .await?;
    let request = PutEntryKeyRequest {
        account: manager.account,
        agent,
        alg,
        secret,
    };
    let key = app
        .ask(async || app.delivery.clone().put_entry_key(request.clone()).await)
        .await?;
    Ok(answer::json(StatusCode::OK, &body(&key)))
}

/// `GET …/agents/{agent}/entry-key`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, agent)): Ids<(String, String)>,
) -> Result<Response, Refusal> {
    let agent = ids::of_path(agent, ids::is_agent)?;
    agents::require(&app.pool, &manager.account, &agent).await?;
    let request = GetEntryKeyRequest {
        account: manager.account,
        agent,
    };
    let key = app
        .ask(async || app.delivery.clone().get_entry_key(request.clone()).await)
        .await?;
    Ok(answer::json(StatusCode::OK, &body(&key)))
}

fn body(key: &EntryKey) -> Value {
    let mut body = json!({ "alg": key.alg });
    if let Some(created_at) = key.created_at.as_ref().and_then(answer::stamp_text) {
        body["created_at"] = Value::String(created_at);
    }
    body
}
