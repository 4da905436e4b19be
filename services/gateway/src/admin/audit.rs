//! Who did what, newest first.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use ma2h::timestamp;
use serde_json::{Value, json};

use super::Manager;
use crate::app::App;
use crate::directory::audit;
use crate::edge::errors::Refusal;
use crate::edge::page::PageParams;
use crate::edge::params::Params;

/// `GET …/audit`
pub(super) async fn list(
    State(app): State<Arc<App>>,
    manager: Manager,
    Params(params): Params<PageParams>,
) -> Result<Response, Refusal> {
    let page = params.page()?;
    let found = audit::list(&app.pool, &manager.account, &page).await?;
    Ok(page.answer("events", found, |event| &event.id, body))
}

fn body(event: &audit::Event) -> Value {
    let mut body = json!({
        "id": event.id,
        "at": timestamp::format(event.at),
        "actor": event.actor,
        "action": event.action,
        "target": event.target,
    });
    if let Some(detail) = &event.detail {
        body["detail"] = detail.clone();
    }
    body
}
