//! The agents of an account.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use ma2h::error::Problem;
use ma2h::timestamp;
use serde_json::{Map, Value, json};

use super::{Manager, forget};
use crate::app::App;
use crate::auth;
use crate::directory::agents::{self, Labels};
use crate::directory::ids;
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;
use crate::edge::fields::{Patched, shown};
use crate::edge::page::PageParams;
use crate::edge::params::{Ids, Params};

/// Most labels of an agent.
const LABELS_MAX: usize = 32;
/// Most characters of a label's name, and of its value.
const LABEL_CHARS_MAX: usize = 128;

/// `POST …/agents`
pub(super) async fn create(
    State(app): State<Arc<App>>,
    manager: Manager,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let id = ids::agent_of_body("id", fields.string("id")?)?;
    let given = fields.patched_object("labels")?.value().unwrap_or_default();
    fields.finish()?;
    let labels = patch_labels(Labels::new(), given)?;
    let _turn = app.turns.take().await?;
    let forget = || forget::agent(&app, &manager.account, &id);
    let agent = agents::create(&app.pool, &manager.author, &manager.account, &id, labels, forget).await?;
    Ok(answer::json(
        StatusCode::CREATED,
        &json!({ "agent": body(&agent) }),
    ))
}

/// `GET …/agents`
pub(super) async fn list(
    State(app): State<Arc<App>>,
    manager: Manager,
    Params(params): Params<PageParams>,
) -> Result<Response, Refusal> {
    let page = params.page()?;
    let found = agents::list(&app.pool, &manager.account, &page).await?;
    Ok(page.answer("agents", found, |agent| &agent.id, body))
}

/// `PATCH …/agents/{agent}`: labels are merged, null takes one away.
pub(super) async fn update(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, agent)): Ids<(String, String)>,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let id = ids::of_path(agent, ids::is_agent)?;
    let given = fields.patched_object("labels")?;
    fields.finish()?;
    let patch = |stored| match &given {
        Patched::Kept => Ok(stored),
        Patched::Reset => Ok(Labels::new()),
        Patched::Set(given) => patch_labels(stored, given.clone()),
    };
    let agent = agents::update(&app.pool, &manager.author, &manager.account, &id, patch).await?;
    Ok(answer::json(StatusCode::OK, &json!({ "agent": body(&agent) })))
}

/// `DELETE …/agents/{agent}`
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, agent)): Ids<(String, String)>,
) -> Result<Response, Refusal> {
    let id = ids::of_path(agent, ids::is_agent)?;
    agents::delete(&app.pool, &manager.author, &manager.account, &id).await?;
    auth::revoked(&app, &manager.account, &id).await;
    forget::gone(&app, &manager.account, Some(&id)).await;
    Ok(answer::empty(StatusCode::NO_CONTENT))
}

fn patch_labels(mut labels: Labels, patch: Map<String, Value>) -> Result<Labels, Problem> {
    let is_plain =
        |text: &str| text.chars().count() <= LABEL_CHARS_MAX && !text.chars().any(char::is_control);
    for (name, value) in patch {
        let place = format!("labels.{}", shown(&name));
        if name.is_empty() || !is_plain(&name) {
            return Err(Problem::invalid_field(format!(
                "{place}: expected a name of 1 to {LABEL_CHARS_MAX} characters"
            )));
        }
        match value {
            Value::Null => drop(labels.remove(&name)),
            Value::String(text) if is_plain(&text) => drop(labels.insert(name, Value::String(text))),
            _ => {
                let expected = format!("{place}: expected a string of at most {LABEL_CHARS_MAX} characters");
                return Err(Problem::invalid_field(expected));
            }
        }
    }
    if labels.len() > LABELS_MAX {
        return Err(Problem::invalid_field(format!(
            "labels: expected at most {LABELS_MAX}"
        )));
    }
    Ok(labels)
}

fn body(agent: &agents::Agent) -> Value {
    json!({
        "id": agent.id,
        "labels": agent.labels,
        "created_at": timestamp::format(agent.created_at),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::patch_labels;

    fn patched(stored: &Value, patch: &Value) -> Option<Value> {
        let (stored, patch) = (
            stored.as_object().unwrap().clone(),
            patch.as_object().unwrap().clone(),
        );
        patch_labels(stored, patch).ok().map(Value::Object)
    }

    #[test]
    fn labels_are_merged() {
        let stored = json!({"team": "infra", "tier": "1"});
        let expected = json!({"team": "web", "region": "eu"});
        assert_eq!(
            patched(&stored, &json!({"team": "web", "tier": null, "region": "eu"})),
            Some(expected)
        );
        assert_eq!(patched(&stored, &json!({"team": 1})), None);
        assert_eq!(patched(&stored, &json!({"": "x"})), None);
        assert_eq!(patched(&stored, &json!({"a\u{0}": "x"})), None);
        let many = Value::Object((0..33).map(|at| (at.to_string(), json!("x"))).collect());
        assert_eq!(patched(&json!({}), &many), None);
    }
}
