//! Accounts and their policy.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_platform::config::Config;
use ma2h::error::Problem;
use ma2h::timestamp;
use serde_json::{Value, json};

use super::manager::admin;
use super::{Manager, forget};
use crate::app::App;
use crate::auth::{self, Caller};
use crate::directory::{accounts, ids, policy};
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;
use crate::edge::fields::Patched;
use crate::edge::page::PageParams;
use crate::edge::params::Params;

/// Most characters of an account's name.
const NAME_CHARS_MAX: usize = 200;

/// `POST /admin/v1/accounts`
pub(super) async fn create(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let author = admin(&principal)?;
    let id = ids::name_of_body("id", fields.string("id")?)?;
    let name = name(fields.optional_string("name")?.unwrap_or_else(|| id.clone()))?;
    fields.finish()?;
    let account = accounts::create(&app.pool, &author, &id, &name).await?;
    Ok(answer::json(
        StatusCode::CREATED,
        &json!({ "account": body(&app.config, &account) }),
    ))
}

/// `GET /admin/v1/accounts`
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Params(params): Params<PageParams>,
) -> Result<Response, Refusal> {
    admin(&principal)?;
    let page = params.page()?;
    let found = accounts::list(&app.pool, &page).await?;
    Ok(page.answer(
        "accounts",
        found,
        |account| &account.id,
        |account| body(&app.config, account),
    ))
}

/// `GET /admin/v1/accounts/{account}`
pub(super) async fn get(State(app): State<Arc<App>>, manager: Manager) -> Result<Response, Refusal> {
    let account = accounts::get(&app.pool, &manager.account).await?;
    Ok(answer::json(
        StatusCode::OK,
        &json!({ "account": body(&app.config, &account) }),
    ))
}

/// `PATCH /admin/v1/accounts/{account}`
pub(super) async fn update(
    State(app): State<Arc<App>>,
    manager: Manager,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let new_name = match fields.patched_string("name")? {
        Patched::Kept => None,
        Patched::Reset => return Err(Problem::invalid_field("name: cannot be reset").into()),
        Patched::Set(text) => Some(name(text)?),
    };
    let policy_patch = fields.patched_object("policy")?;
    fields.finish()?;
    let changes = json!({ "name": new_name, "policy": policy_patch.clone().value() });
    let patch = |stored| match &policy_patch {
        Patched::Kept => Ok(stored),
        Patched::Reset => Ok(json!({})),
        Patched::Set(patch) => policy::merge(&app.config, stored, patch.clone()),
    };
    let updated = accounts::update(
        &app.pool,
        &manager.author,
        &manager.account,
        new_name.as_deref(),
        patch,
        &changes,
    );
    Ok(answer::json(
        StatusCode::OK,
        &json!({ "account": body(&app.config, &updated.await?) }),
    ))
}

/// `DELETE /admin/v1/accounts/{account}`. Its secrets, keys and hosts go with it, and so what it still owes is sent no more.
pub(super) async fn delete(State(app): State<Arc<App>>, manager: Manager) -> Result<Response, Refusal> {
    accounts::delete(&app.pool, &manager.author, &manager.account).await?;
    auth::revoked(&app, &manager.account, "").await;
    forget::gone(&app, &manager.account, None).await;
    Ok(answer::empty(StatusCode::NO_CONTENT))
}

fn name(text: String) -> Result<String, Problem> {
    let chars = text.chars().count();
    if (1..=NAME_CHARS_MAX).contains(&chars) && !text.chars().any(char::is_control) {
        return Ok(text);
    }
    Err(Problem::invalid_field(format!(
        "name: expected 1 to {NAME_CHARS_MAX} characters, no control characters"
    )))
}

fn body(config: &Config, account: &accounts::Account) -> Value {
    json!({
        "id": account.id,
        "name": account.name,
        "policy": policy::effective(config, &account.policy),
        "created_at": timestamp::format(account.created_at),
    })
}
