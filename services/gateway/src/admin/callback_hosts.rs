//! The hosts an agent may be called back at (§9.4).

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::delivery::{
    CallbackHost, DeleteCallbackHostRequest, ListCallbackHostsRequest, PutCallbackHostRequest,
};
use ma2h::callback::host_text;
use ma2h::error::Problem;
use serde_json::{Value, json};

use super::Manager;
use crate::app::App;
use crate::directory::{agents, ids};
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;
use crate::edge::params::Ids;

/// Most bytes of a host and its port.
const HOST_BYTES_MAX: usize = 260;

/// `POST …/agents/{agent}/callback-hosts`
pub(super) async fn create(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, agent)): Ids<(String, String)>,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let agent = ids::of_path(agent, ids::is_agent)?;
    let host = host(&fields.string("host")?)?;
    let method = fields.string("method")?;
    fields.finish()?;
    if method != "operator" {
        return Err(Problem::invalid_field("method: expected operator, the only one offered").into());
    }
    let detail = json!({ "host": host, "method": method });
    agents::note(
        &app.pool,
        &manager.author,
        &manager.account,
        &agent,
        "callback_host.put",
        &detail,
    )
    .await?;
    let request = PutCallbackHostRequest {
        account: manager.account,
        agent,
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

/// `GET …/agents/{agent}/callback-hosts`
pub(super) async fn list(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, agent)): Ids<(String, String)>,
) -> Result<Response, Refusal> {
    let agent = ids::of_path(agent, ids::is_agent)?;
    agents::require(&app.pool, &manager.account, &agent).await?;
    let request = ListCallbackHostsRequest {
        account: manager.account,
        agent,
    };
    let reply = app
        .ask(async || app.delivery.clone().list_callback_hosts(request.clone()).await)
        .await?;
    let hosts: Vec<_> = reply.hosts.iter().map(body).collect();
    Ok(answer::json(StatusCode::OK, &json!({ "callback_hosts": hosts })))
}

/// `DELETE …/agents/{agent}/callback-hosts/{host}`
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, agent, given)): Ids<(String, String, String)>,
) -> Result<Response, Refusal> {
    let agent = ids::of_path(agent, ids::is_agent)?;
    let host = host(&given).map_err(|_| Problem::not_found())?;
    let detail = json!({ "host": host });
    agents::note(
        &app.pool,
        &manager.author,
        &manager.account,
        &agent,
        "callback_host.delete",
        &detail,
    )
    .await?;
    let request = DeleteCallbackHostRequest {
        account: manager.account,
        agent,
        host,
    };
    app.ask(async || app.delivery.clone().delete_callback_host(request.clone()).await)
        .await?;
    Ok(answer::empty(StatusCode::NO_CONTENT))
}

/// As a callback's URL is compared with it.
fn host(text: &str) -> Result<String, Problem> {
    if text.len() > HOST_BYTES_MAX {
        return Err(Problem::invalid_field(format!(
            "host: expected at most {HOST_BYTES_MAX} bytes"
        )));
    }
    host_text(text)
}

fn body(host: &CallbackHost) -> Value {
    json!({ "host": host.host, "method": host.method, "status": host.status })
}
