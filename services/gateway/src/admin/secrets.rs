//! What the callbacks to an agent, or to the account's own client, authenticate with. It goes in and never comes out.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::delivery::{DeleteSecretRequest, ListSecretsRequest, PutSecretRequest, Secret};
use ma2h::error::Problem;
use ma2h::secret::{check_reference, check_value, is_reference};
use serde_json::{Value, json};

use super::OwnerManager;
use crate::app::App;
use crate::directory::ids;
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;
use crate::edge::params::LastId;

/// `PUT …/secrets`
pub(super) async fn put(
    State(app): State<Arc<App>>,
    manager: OwnerManager,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let reference = fields.string("ref")?;
    check_reference(&reference)?;
    let value = fields.string("value")?;
    check_value("value", &value)?;
    fields.finish()?;
    manager
        .note(&app, "secret.put", &json!({ "ref": reference }))
        .await?;
    let request = PutSecretRequest {
        account: manager.account,
        agent: manager.agent,
        r#ref: reference,
        value,
    };
    let reply = app
        .ask(async || app.delivery.clone().put_secret(request.clone()).await)
        .await?;
    let secret = reply.secret.ok_or_else(Problem::internal)?;
    Ok(answer::json(StatusCode::OK, &json!({ "secret": body(&secret) })))
}

/// `GET …/secrets`
pub(super) async fn list(State(app): State<Arc<App>>, manager: OwnerManager) -> Result<Response, Refusal> {
    manager.require(&app).await?;
    let secrets: Vec<_> = kept(&app, &manager).await?.iter().map(body).collect();
    Ok(answer::json(StatusCode::OK, &json!({ "secrets": secrets })))
}

/// `DELETE …/secrets/{ref}`. Whether there is one is looked up first: the deletion itself may be made twice,
/// where its reply was lost.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    manager: OwnerManager,
    LastId(reference): LastId,
) -> Result<Response, Refusal> {
    let reference = ids::of_path(reference, is_reference)?;
    let kept = kept(&app, &manager).await?;
    if !kept.iter().any(|secret| secret.r#ref == reference) {
        return Err(Problem::not_found().into());
    }
    manager
        .note(&app, "secret.delete", &json!({ "ref": reference }))
        .await?;
    let request = DeleteSecretRequest {
        account: manager.account,
        agent: manager.agent,
        r#ref: reference,
    };
    app.ask(async || app.delivery.clone().delete_secret(request.clone()).await)
        .await?;
    Ok(answer::empty(StatusCode::NO_CONTENT))
}

/// What delivery keeps of an owner, who may not be there any more.
async fn kept(app: &App, manager: &OwnerManager) -> Result<Vec<Secret>, Problem> {
    let request = ListSecretsRequest {
        account: manager.account.clone(),
        agent: manager.agent.clone(),
    };
    let reply = app
        .ask(async || app.delivery.clone().list_secrets(request.clone()).await)
        .await?;
    Ok(reply.secrets)
}

fn body(secret: &Secret) -> Value {
    json!({
        "ref": secret.r#ref,
        "created_at": secret.created_at.as_ref().and_then(answer::stamp_text),
        "status": secret.status,
    })
}
