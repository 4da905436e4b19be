//! What an agent's callbacks authenticate with. It goes in and never comes out.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::delivery::{DeleteSecretRequest, ListSecretsRequest, PutSecretRequest, Secret};
use ma2h::error::Problem;
use serde_json::{Value, json};

use super::Manager;
use crate::app::App;
use crate::directory::{agents, ids};
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;
use crate::edge::params::Ids;

/// Most characters of a reference.
const REFERENCE_CHARS_MAX: usize = 256;
/// Most bytes of a secret.
pub(super) const VALUE_BYTES_MAX: usize = 4096;

/// `PUT …/agents/{agent}/secrets`
pub(super) async fn put(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, agent)): Ids<(String, String)>,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let agent = ids::of_path(agent, ids::is_agent)?;
    let reference = fields.string("ref")?;
    if !is_reference(&reference) {
        let expected = format!("ref: expected 1 to {REFERENCE_CHARS_MAX} characters, no control characters");
        return Err(Problem::invalid_field(expected).into());
    }
    let value = value("value", fields.string("value")?)?;
    fields.finish()?;
    let detail = json!({ "ref": reference });
    agents::note(
        &app.pool,
        &manager.author,
        &manager.account,
        &agent,
        "secret.put",
        &detail,
    )
    .await?;
    let request = PutSecretRequest {
        account: manager.account,
        agent,
        r#ref: reference,
        value,
    };
    let reply = app
        .ask(async || app.delivery.clone().put_secret(request.clone()).await)
        .await?;
    let secret = reply.secret.ok_or_else(Problem::internal)?;
    Ok(answer::json(StatusCode::OK, &json!({ "secret": body(&secret) })))
}

/// `GET …/agents/{agent}/secrets`
pub(super) async fn list(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, agent)): Ids<(String, String)>,
) -> Result<Response, Refusal> {
    let agent = ids::of_path(agent, ids::is_agent)?;
    agents::require(&app.pool, &manager.account, &agent).await?;
    let request = ListSecretsRequest {
        account: manager.account,
        agent,
    };
    let reply = app
        .ask(async || app.delivery.clone().list_secrets(request.clone()).await)
        .await?;
    let secrets: Vec<_> = reply.secrets.iter().map(body).collect();
    Ok(answer::json(StatusCode::OK, &json!({ "secrets": secrets })))
}

/// `DELETE …/agents/{agent}/secrets/{ref}`
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, agent, reference)): Ids<(String, String, String)>,
) -> Result<Response, Refusal> {
    let agent = ids::of_path(agent, ids::is_agent)?;
    let reference = ids::of_path(reference, is_reference)?;
    let detail = json!({ "ref": reference });
    agents::note(
        &app.pool,
        &manager.author,
        &manager.account,
        &agent,
        "secret.delete",
        &detail,
    )
    .await?;
    let request = DeleteSecretRequest {
        account: manager.account,
        agent,
        r#ref: reference,
    };
    app.ask(async || app.delivery.clone().delete_secret(request.clone()).await)
        .await?;
    Ok(answer::empty(StatusCode::NO_CONTENT))
}

fn is_reference(text: &str) -> bool {
    (1..=REFERENCE_CHARS_MAX).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

/// A secret out of a body; `member` says where.
pub(super) fn value(member: &str, text: String) -> Result<String, Problem> {
    if (1..=VALUE_BYTES_MAX).contains(&text.len()) {
        return Ok(text);
    }
    Err(Problem::invalid_field(format!(
        "{member}: expected 1 to {VALUE_BYTES_MAX} bytes"
    )))
}

fn body(secret: &Secret) -> Value {
    json!({
        "ref": secret.r#ref,
        "created_at": secret.created_at.as_ref().and_then(answer::stamp_text),
        "status": secret.status,
    })
}
