//! `GET /v1/directives`: newest first.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::lifecycle::{ListDirectivesReply, ListDirectivesRequest};
use ma2h::error::Problem;
use ma2h::json::quoted;
use serde::Deserialize;

use super::track;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::page;
use crate::edge::params::Params;
use crate::principal::{Principal, Role};

/// Where a track can be (§14.2), in the order it gets there.
pub(crate) const STATES: [&str; 5] = ["queued", "delivered", "acknowledged", "bounced", "expired"];

/// What a list is narrowed to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// The addressed agent.id.
    pub(crate) agent: Option<String>,
    /// One of [`STATES`].
    pub(crate) state: Option<String>,
    /// 1 to 200.
    pub(crate) limit: u32,
    /// `next_cursor` of the page before.
    pub(crate) cursor: Option<String>,
}

/// `?agent=&state=&limit=&cursor=`
#[derive(Debug, Deserialize)]
pub(super) struct ListParams {
    agent: Option<String>,
    state: Option<String>,
    limit: Option<String>,
    cursor: Option<String>,
}

impl ListParams {
    fn filter(self) -> Result<Filter, Problem> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        Ok(Filter {
            agent: given(self.agent),
            state: given(self.state),
            limit: page::limit(self.limit.as_deref())?,
            cursor: given(self.cursor),
        })
    }
}

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Params(params): Params<ListParams>,
) -> Result<Response, Refusal> {
    let reply = list(&app, &principal, params.filter()?).await?;
    let directives = reply
        .directives
        .iter()
        .map(|directive| track::body(directive, ""));
    let directives = directives.collect::<Result<Vec<_>, Problem>>()?.join(",");
    let next = reply
        .next_cursor
        .map(|cursor| format!(",\"next_cursor\":{}", quoted(&cursor)))
        .unwrap_or_default();
    let body = format!("{{\"directives\":[{directives}]{next}}}");
    Ok(answer::json_text(StatusCode::OK, body))
}

/// A page of directives, newest first, for a human of the account.
pub(crate) async fn list(
    app: &App,
    reader: &Principal,
    filter: Filter,
) -> Result<ListDirectivesReply, Problem> {
    let human = reader.human(Role::Viewer)?;
    let state = filter.state.as_deref();
    if state.is_some_and(|state| !STATES.contains(&state)) {
        let states = STATES.join(", ");
        return Err(Problem::validation(format!("state: expected one of {states}")));
    }
    let request = ListDirectivesRequest {
        account: human.account.clone(),
        agent: filter.agent,
        limit: filter.limit,
        cursor: filter.cursor,
        state: filter.state,
    };
    app.ask(async || app.lifecycle.clone().list_directives(request.clone()).await)
        .await
}
