//! `POST /v1/messages/{id}/redeliver` and `POST /v1/redeliver`: a person has pushed again what was given up (§8.3).

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use hub_proto::lifecycle::{ListExhaustedRequest, RedeliverExhaustedRequest, RedeliverMessageRequest};
use ma2h::callback::host_text;
use ma2h::error::Problem;
use serde::Deserialize;
use serde_json::json;

use super::{message_id, stands};
use crate::app::App;
use crate::auth::Caller;
use crate::directory::{Author, audit};
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::headers::idempotency_key;
use crate::edge::operation::{self, NO_BODY};
use crate::edge::params::{Ids, Params};
use crate::principal::{Human, Principal, Role};

/// The only state of which all are pushed again.
const EXHAUSTED: &str = "exhausted";
/// What ids of redeliveries begin with.
const REDELIVERY: &str = "rdl";
/// Messages that are put back with one call of lifecycle.
const CHUNK_MESSAGES: u32 = 500;

/// `?state=exhausted&host=`
#[derive(Debug, Deserialize)]
pub(super) struct AllParams {
    state: Option<String>,
    host: Option<String>,
}

/// One message's Response, whatever became of its push. Takes no body; whatever is sent is not read.
pub(super) async fn one(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Ids(id): Ids<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let operator = principal.human(Role::Operator)?;
    let id = message_id(&id)?;
    let key = idempotency_key(&headers)?;
    let redelivery_id = redelivery_id(operator, key.as_deref(), &["redeliver", &id]);
    redeliver(&app, &principal, &id, redelivery_id).await?;
    Ok(answer::json(
        StatusCode::ACCEPTED,
        &json!({ "id": id, "state": "due" }),
    ))
}

/// Has one message's Response pushed again after this attempt: once, whoever asks for it and how often.
pub(crate) async fn redeliver_after(
    app: &App,
    principal: &Principal,
    id: &str,
    attempt: &str,
) -> Result<(), Problem> {
    let account = principal.account().unwrap_or_default();
    let redelivery_id = operation::named(REDELIVERY, &[account, "redeliver after", id, attempt], &NO_BODY);
    redeliver(app, principal, id, redelivery_id).await
}

async fn redeliver(app: &App, principal: &Principal, id: &str, redelivery_id: String) -> Result<(), Problem> {
    let operator = principal.human(Role::Operator)?;
    // What is not there is told before anything is written down.
    stands(app, principal, id).await?;
    note(app, operator, id).await?;
    let request = RedeliverMessageRequest {
        account: operator.account.clone(),
        message_id: id.to_owned(),
        // Chosen here, so that a reply that is lost can be asked for again (rule 3).
        redelivery_id,
    };
    app.ask(async || app.lifecycle.clone().redeliver_message(request.clone()).await)
        .await?;
    Ok(())
}

/// All that were given up, of one host or of all.
pub(super) async fn all(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Params(params): Params<AllParams>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let operator = principal.human(Role::Operator)?;
    let key = idempotency_key(&headers)?;
    if params.state.is_some_and(|state| state != EXHAUSTED) {
        return Err(Problem::validation("state: expected exhausted").into());
    }
    let host = params
        .host
        .filter(|host| !host.is_empty())
        .map(|host| host_text(&host).map_err(|refused| Problem::validation(refused.message)))
        .transpose()?;
    note(&app, operator, host.as_deref().unwrap_or("all hosts")).await?;
    let asked = ["redeliver all", host.as_deref().unwrap_or_default()];
    let redelivery_id = redelivery_id(operator, key.as_deref(), &asked);
    let put_back = redeliver_all(&app, &operator.account, host, &redelivery_id).await?;
    Ok(answer::json(
        StatusCode::ACCEPTED,
        &json!({ "redelivering": put_back.count, "more": put_back.more }),
    ))
}

/// What a call put back on the queue.
struct PutBack {
    count: u64,
    /// Whether it left some to another call.
    more: bool,
}

/// Chunk after chunk in the order of the messages, each once: what is given up again meanwhile is not met again. So many at
/// most, so that the call ends; what it has put back is no longer given up, and another call goes on with the rest.
async fn redeliver_all(
    app: &App,
    account: &str,
    host: Option<String>,
    redelivery_id: &str,
) -> Result<PutBack, Problem> {
    let count_max = u64::from(app.config.callback.redeliver_max);
    let (mut count, mut after) = (0, None);
    loop {
        let left = count_max.saturating_sub(count);
        let exhausted = ListExhaustedRequest {
            account: account.to_owned(),
            host: host.clone(),
            after,
            // One at the end, to see whether there are more.
            limit: u32::try_from(left).unwrap_or(u32::MAX).clamp(1, CHUNK_MESSAGES),
        };
        let chunk = app
            .ask(async || app.lifecycle.clone().list_exhausted(exhausted.clone()).await)
            .await?
            .message_ids;
        let Some(last) = chunk.last().cloned() else {
            return Ok(PutBack { count, more: false });
        };
        if left == 0 {
            return Ok(PutBack { count, more: true });
        }
        let request = RedeliverExhaustedRequest {
            account: account.to_owned(),
            redelivery_id: redelivery_id.to_owned(),
            message_ids: chunk,
        };
        let reply = app
            .ask(async || app.lifecycle.clone().redeliver_exhausted(request.clone()).await)
            .await?;
        count += u64::from(reply.redelivering);
        after = Some(last);
    }
}

/// The same key puts no push back twice.
fn redelivery_id(operator: &Human, key: Option<&str>, asked: &[&str]) -> String {
    operation::id(REDELIVERY, key.map(|key| (operator, key)), asked, &NO_BODY)
}

async fn note(app: &App, operator: &Human, target: &str) -> Result<(), Problem> {
    let author = Author {
        actor: format!("human:{}", operator.id),
    };
    audit::note(
        &app.pool,
        &author,
        &operator.account,
        "push.redeliver",
        target,
        None,
    )
    .await
}
