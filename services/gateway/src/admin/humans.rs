//! The people of an account.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::lifecycle::{ListSoleResolverReply, ListSoleResolverRequest};
use ma2h::error::Problem;
use ma2h::timestamp;
use serde_json::{Value, json};

use super::Manager;
use crate::app::App;
use crate::auth;
use crate::directory::{humans, ids};
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;
use crate::edge::page::PageParams;
use crate::edge::params::{Ids, Params};
use crate::principal::Role;

/// Most characters of an e-mail address.
const EMAIL_CHARS_MAX: usize = 254;

/// `POST …/humans`
pub(super) async fn create(
    State(app): State<Arc<App>>,
    manager: Manager,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let id = ids::name_of_body("id", fields.string("id")?)?;
    let email = fields.optional_string("email")?.map(email).transpose()?;
    let role = role(&fields.string("role")?)?;
    fields.finish()?;
    let human = humans::create(
        &app.pool,
        &manager.author,
        &manager.account,
        &id,
        email.as_deref(),
        role,
    )
    .await?;
    Ok(answer::json(
        StatusCode::CREATED,
        &json!({ "human": body(&human) }),
    ))
}

/// `GET …/humans`
pub(super) async fn list(
    State(app): State<Arc<App>>,
    manager: Manager,
    Params(params): Params<PageParams>,
) -> Result<Response, Refusal> {
    let page = params.page()?;
    let found = humans::list(&app.pool, &manager.account, &page).await?;
    Ok(page.answer("humans", found, |human| &human.id, body))
}

/// `PATCH …/humans/{human}`
pub(super) async fn update(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, human)): Ids<(String, String)>,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let id = ids::of_path(human, ids::is_name)?;
    let email = fields.patched_string("email")?.try_map(email)?;
    let role = fields.optional_string("role")?.as_deref().map(role).transpose()?;
    fields.finish()?;
    let human = humans::update(&app.pool, &manager.author, &manager.account, &id, &email, role).await?;
    if role.is_some() {
        auth::revoked(&app, &manager.account, &id).await;
    }
    Ok(answer::json(StatusCode::OK, &json!({ "human": body(&human) })))
}

/// `DELETE …/humans/{human}`. The answer names the open messages that only she could answer: somebody may want to tell their
/// agents, or have a human of this id again. Where that cannot be told just now she is removed all the same.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, human)): Ids<(String, String)>,
) -> Result<Response, Refusal> {
    let id = ids::of_path(human, ids::is_name)?;
    let unanswerable = only_she_could_answer(&app, &manager.account, &id).await;
    humans::delete(&app.pool, &manager.author, &manager.account, &id).await?;
    auth::revoked(&app, &manager.account, &id).await;
    let unanswerable = match unanswerable {
        Ok(found) => json!({ "count": found.count, "ids": found.message_ids }),
        Err(_) => Value::Null,
    };
    Ok(answer::json(
        StatusCode::OK,
        &json!({ "human": { "id": id }, "unanswerable": unanswerable }),
    ))
}

async fn only_she_could_answer(
    app: &App,
    account: &str,
    human: &str,
) -> Result<ListSoleResolverReply, Problem> {
    let request = ListSoleResolverRequest {
        account: account.to_owned(),
        human: human.to_owned(),
    };
    app.ask(async || app.lifecycle.clone().list_sole_resolver(request.clone()).await)
        .await
}

fn role(text: &str) -> Result<Role, Problem> {
    text.parse()
        .map_err(|()| Problem::invalid_field("role: expected viewer, operator or owner"))
}

fn email(text: String) -> Result<String, Problem> {
    let is_plain = |char: char| !char.is_control() && !char.is_whitespace();
    let is_address = text
        .split_once('@')
        .is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty());
    if is_address && text.chars().count() <= EMAIL_CHARS_MAX && text.chars().all(is_plain) {
        return Ok(text);
    }
    Err(Problem::invalid_field("email: expected an e-mail address"))
}

fn body(human: &humans::Human) -> Value {
    json!({
        "id": human.id,
        "email": human.email,
        "role": human.role.as_str(),
        "created_at": timestamp::format(human.created_at),
    })
}
