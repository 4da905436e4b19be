//! `GET /v1/messages`: the inbox, newest first; an agent's own submissions.

use std::str::FromStr;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::lifecycle::{ListMessagesReply, ListMessagesRequest, MessageSummary};
use ma2h::envelope::{MessageType, Priority};
use ma2h::error::Problem;
use ma2h::status::Status;
use serde::Deserialize;
use serde_json::{Value, json};

use super::delivery_body;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::page;
use crate::edge::params::Params;
use crate::principal::Principal;

/// Most characters of words that are searched for, and of an agent's id.
const TEXT_CHARS_MAX: usize = 256;
/// Most characters of a project or a tag: as many as a submit may have.
const NAME_CHARS_MAX: usize = 2_000;
/// Most bytes of lifecycle's cursor.
const CURSOR_BYTES_MAX: usize = 512;

/// What a list is narrowed to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) status: Option<Status>,
    pub(crate) kind: Option<MessageType>,
    pub(crate) priority: Option<Priority>,
    pub(crate) agent: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) tag: Option<String>,
    /// Words to find in the title.
    pub(crate) q: Option<String>,
    /// 1 to 200; 50 if not said.
    pub(crate) limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub(crate) cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ListParams {
    status: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    priority: Option<String>,
    agent: Option<String>,
    project: Option<String>,
    tag: Option<String>,
    q: Option<String>,
    limit: Option<String>,
    cursor: Option<String>,
}

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Params(params): Params<ListParams>,
) -> Result<Response, Refusal> {
    let reply = list(&app, &principal, params.filter()?).await?;
    let messages = reply.messages.iter().map(body).collect();
    Ok(answer::json(
        StatusCode::OK,
        &answer::page("messages", messages, reply.next_cursor),
    ))
}

impl ListParams {
    fn filter(self) -> Result<Filter, Problem> {
        Ok(Filter {
            status: one_of(self.status)?,
            kind: one_of(self.kind)?,
            priority: one_of(self.priority)?,
            agent: given(self.agent),
            project: given(self.project),
            tag: given(self.tag),
            q: given(self.q),
            limit: Some(page::limit(self.limit.as_deref())?),
            cursor: given(self.cursor),
        })
    }
}

/// An empty parameter, as a form sends it, counts as none.
fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// What cannot narrow anything is told, rather than answered with an empty page.
fn one_of<T: FromStr<Err = Problem>>(text: Option<String>) -> Result<Option<T>, Problem> {
    given(text).as_deref().map(str::parse).transpose()
}

/// A page of messages, newest first.
pub(crate) async fn list(
    app: &App,
    reader: &Principal,
    filter: Filter,
) -> Result<ListMessagesReply, Problem> {
    let (account, reader) = reader.of_account()?;
    filter.check()?;
    let request = ListMessagesRequest {
        account: account.to_owned(),
        reader: Some(reader),
        status: filter.status.map(|status| status.as_str().to_owned()),
        r#type: filter.kind.map(|kind| kind.as_str().to_owned()),
        priority: filter.priority.map(|priority| priority.as_str().to_owned()),
        agent: filter.agent,
        project: filter.project,
        tag: filter.tag,
        q: filter.q,
        limit: filter.limit.unwrap_or(page::LIMIT_DEFAULT),
        cursor: filter.cursor,
    };
    app.ask(async || app.lifecycle.clone().list_messages(request.clone()).await)
        .await
}

impl Filter {
    fn check(&self) -> Result<(), Problem> {
        text("agent", self.agent.as_deref(), TEXT_CHARS_MAX)?;
        text("project", self.project.as_deref(), NAME_CHARS_MAX)?;
        text("tag", self.tag.as_deref(), NAME_CHARS_MAX)?;
        text("q", self.q.as_deref(), TEXT_CHARS_MAX)?;
        text("cursor", self.cursor.as_deref(), CURSOR_BYTES_MAX)
    }
}

fn text(name: &str, given: Option<&str>, chars_max: usize) -> Result<(), Problem> {
    let is_plain = |text: &str| text.chars().count() <= chars_max && !text.contains('\0');
    if given.is_none_or(is_plain) {
        return Ok(());
    }
    Err(Problem::validation(format!(
        "{name}: expected at most {chars_max} characters, no NUL"
    )))
}

/// Ids, states and the title; never the Response.
fn body(message: &MessageSummary) -> Value {
    let mut body = json!({
        "id": message.message_id,
        "type": message.r#type,
        "status": message.status,
        "title": message.title,
        "priority": message.priority,
        "tags": message.tags,
        "agent": { "id": message.agent, "run_id": message.run_id },
        "sensitive": message.sensitive,
    });
    let texts = [
        (
            "accepted_at",
            message.accepted_at.as_ref().and_then(answer::stamp_text),
        ),
        (
            "expires_at",
            message.expires_at.as_ref().and_then(answer::stamp_text),
        ),
        (
            "resolved_at",
            message.resolved_at.as_ref().and_then(answer::stamp_text),
        ),
        ("project", message.project.clone()),
        ("mode", message.mode.clone()),
        ("actor", message.actor.clone()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            body[name] = Value::String(text);
        }
    }
    if let Some(delivery) = &message.delivery {
        body["delivery"] = delivery_body(delivery);
    }
    body
}

#[cfg(test)]
mod tests {
    use ma2h::status::Status;

    use super::{Filter, given, one_of};

    #[test]
    fn a_filter_that_cannot_match_is_refused() {
        let status = |text: &str| one_of::<Status>(Some(text.to_owned()));
        assert_eq!(status("open"), Ok(Some(Status::Open)));
        assert_eq!(status(""), Ok(None));
        assert!(status("opened").unwrap_err().message.starts_with("status: "));
        let words = |q: &str| Filter {
            q: given(Some(q.to_owned())),
            ..Filter::default()
        };
        assert!(words("").check().is_ok() && words("deploy now").check().is_ok());
        assert!(words("a\0").check().unwrap_err().message.starts_with("q: "));
    }
}
