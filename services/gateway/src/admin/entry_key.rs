//! How an agent's mailbox entries, and its `bearer` and `apikey` callbacks, are signed.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::delivery::{EntryKey, GetEntryKeyRequest, PutEntryKeyRequest};
use ma2h::secret::check_entry_key;
use ma2h::sign::Algorithm;
use serde_json::{Value, json};

use super::OwnerManager;
use crate::app::App;
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;

/// `PUT …/agents/{agent}/entry-key`
pub(super) async fn put(
    State(app): State<Arc<App>>,
    manager: OwnerManager,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let algorithm: Algorithm = fields.string("alg")?.parse()?;
    let secret = fields.optional_string("secret")?;
    check_entry_key(algorithm, secret.as_deref())?;
    fields.finish()?;
    let alg = algorithm.as_str().to_owned();
    manager
        .note(&app, "entry_key.put", &json!({ "alg": alg }))
        .await?;
    let request = PutEntryKeyRequest {
        account: manager.account,
        agent: manager.agent,
        alg,
        secret,
    };
    let key = app
        .ask(async || app.delivery.clone().put_entry_key(request.clone()).await)
        .await?;
    Ok(answer::json(StatusCode::OK, &body(&key)))
}

/// `GET …/agents/{agent}/entry-key`
pub(super) async fn get(State(app): State<Arc<App>>, manager: OwnerManager) -> Result<Response, Refusal> {
    manager.require(&app).await?;
    let request = GetEntryKeyRequest {
        account: manager.account,
        agent: manager.agent,
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
