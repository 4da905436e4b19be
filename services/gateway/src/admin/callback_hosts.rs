//! The hosts an agent, or the account's own client, may be called back at (§9.4).

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::delivery::{
    CallbackHost, DeleteCallbackHostRequest, ListCallbackHostsRequest, PauseCallbackHostRequest,
    PutCallbackHostRequest, ResumeCallbackHostRequest, VerifyCallbackHostRequest,
};
use ma2h::callback::{Verification, host_text};
use ma2h::error::Problem;
use serde_json::{Value, json};

use super::OwnerManager;
use crate::app::App;
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;
use crate::edge::params::LastId;

/// `POST …/callback-hosts`
pub(super) async fn create(
    State(app): State<Arc<App>>,
    manager: OwnerManager,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let host = host_text(&fields.string("host")?)?;
    let method: Verification = fields.string("method")?.parse()?;
    fields.finish()?;
    let method = method.as_str().to_owned();
    manager
        .note(
            &app,
            "callback_host.put",
            &json!({ "host": host, "method": method }),
        )
        .await?;
    let request = PutCallbackHostRequest {
        account: manager.account,
        agent: manager.agent,
        host,
        method,
    };
    let host = app
        .ask(async || app.delivery.clone().put_callback_host(request.clone()).await)
        .await?;
    Ok(answer::json(
        StatusCode::CREATED,
        &json!({ "callback_host": body(&host) }),
    ))
}

/// `GET …/callback-hosts`
pub(super) async fn list(State(app): State<Arc<App>>, manager: OwnerManager) -> Result<Response, Refusal> {
    manager.require(&app).await?;
    let hosts: Vec<_> = registered(&app, &manager).await?.iter().map(body).collect();
    Ok(answer::json(StatusCode::OK, &json!({ "callback_hosts": hosts })))
}

/// `POST …/callback-hosts/{host}/verify`. Takes no body; whatever is sent is not read.
pub(super) async fn verify(
    State(app): State<Arc<App>>,
    manager: OwnerManager,
    LastId(typed): LastId,
) -> Result<Response, Refusal> {
    let CallbackHost { host, .. } = require(&app, &manager, &typed).await?;
    manager
        .note(&app, "callback_host.verify", &json!({ "host": host }))
        .await?;
    let request = VerifyCallbackHostRequest {
        account: manager.account,
        agent: manager.agent,
        host,
    };
    let host = app
        .ask(async || app.delivery.clone().verify_callback_host(request.clone()).await)
        .await?;
    Ok(answer::json(
        StatusCode::OK,
        &json!({ "callback_host": body(&host) }),
    ))
}

/// `DELETE …/callback-hosts/{host}`. Whether it is there is looked up first: the deletion itself may be made
/// twice, where its reply was lost.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    manager: OwnerManager,
    LastId(typed): LastId,
) -> Result<Response, Refusal> {
    let CallbackHost { host, .. } = require(&app, &manager, &typed).await?;
    manager
        .note(&app, "callback_host.delete", &json!({ "host": host }))
        .await?;
    let request = DeleteCallbackHostRequest {
        account: manager.account,
        agent: manager.agent,
        host,
    };
    app.ask(async || app.delivery.clone().delete_callback_host(request.clone()).await)
        .await?;
    Ok(answer::empty(StatusCode::NO_CONTENT))
}

/// `POST …/callback-hosts/{host}/pause`. It holds for the host in the whole account.
pub(super) async fn pause(
    State(app): State<Arc<App>>,
    manager: OwnerManager,
    LastId(typed): LastId,
) -> Result<Response, Refusal> {
    let CallbackHost { host, .. } = require(&app, &manager, &typed).await?;
    manager
        .note(&app, "callback_host.pause", &json!({ "host": host }))
        .await?;
    let request = PauseCallbackHostRequest {
        account: manager.account.clone(),
        host,
        by: manager.actor().to_owned(),
    };
    app.ask(async || app.delivery.clone().pause_callback_host(request.clone()).await)
        .await?;
    stands(&app, &manager, &typed).await
}

/// `POST …/callback-hosts/{host}/resume`, whoever paused it and whether or not it is.
pub(super) async fn resume(
    State(app): State<Arc<App>>,
    manager: OwnerManager,
    LastId(typed): LastId,
) -> Result<Response, Refusal> {
    let CallbackHost { host, .. } = require(&app, &manager, &typed).await?;
    manager
        .note(&app, "callback_host.resume", &json!({ "host": host }))
        .await?;
    let request = ResumeCallbackHostRequest {
        account: manager.account.clone(),
        host,
    };
    app.ask(async || app.delivery.clone().resume_callback_host(request.clone()).await)
        .await?;
    stands(&app, &manager, &typed).await
}

/// A host as it stands now.
async fn stands(app: &App, manager: &OwnerManager, typed: &str) -> Result<Response, Refusal> {
    let host = require(app, manager, typed).await?;
    Ok(answer::json(
        StatusCode::OK,
        &json!({ "callback_host": body(&host) }),
    ))
}

/// A host that the owner has, or 404.
async fn require(app: &App, manager: &OwnerManager, typed: &str) -> Result<CallbackHost, Problem> {
    let host = host_text(typed).map_err(|_| Problem::not_found())?;
    let mut hosts = registered(app, manager).await?.into_iter();
    hosts
        .find(|known| known.host == host)
        .ok_or_else(Problem::not_found)
}

/// The hosts of an owner, who may not be there any more.
async fn registered(app: &App, manager: &OwnerManager) -> Result<Vec<CallbackHost>, Problem> {
    let request = ListCallbackHostsRequest {
        account: manager.account.clone(),
        agent: manager.agent.clone(),
    };
    let reply = app
        .ask(async || app.delivery.clone().list_callback_hosts(request.clone()).await)
        .await?;
    Ok(reply.hosts)
}

fn body(host: &CallbackHost) -> Value {
    let mut body = json!({ "host": host.host, "method": host.method, "status": host.status });
    if let Some(challenge) = &host.challenge {
        body["challenge"] = Value::String(challenge.clone());
    }
    if let Some(pause) = &host.paused {
        body["paused"] = json!({ "at": pause.at.as_ref().and_then(answer::stamp_text), "by": pause.by });
        if let Some(probe_at) = pause.probe_at.as_ref().and_then(answer::stamp_text) {
            body["paused"]["probe_at"] = Value::String(probe_at);
        }
    }
    body
}
