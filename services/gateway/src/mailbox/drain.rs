//! `GET /v1/inbox` (§8.7): what is there, or comes while the caller waits.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::delivery::DrainedEntry;
use ma2h::error::Problem;
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};

use super::claim::{self, Taken};
use super::look::Mailbox;
use super::refuse_session;
use crate::app::App;
use crate::auth::held::{Hold, HoldKind};
use crate::auth::{Authenticated, Caller};
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::large::in_room;
use crate::edge::params::Params;
use crate::messages::poll::wait_seconds;
use crate::principal::Agent;

/// A look at what becomes visible comes a little late rather than a little early, and not at once again.
const VISIBLE_SLACK: Duration = Duration::from_millis(20);
const LOOK_PAUSE_MIN: Duration = Duration::from_millis(250);

/// `?max=&wait=&session=`
#[derive(Debug, Deserialize)]
pub(super) struct DrainParams {
    max: Option<String>,
    wait: Option<String>,
    session: Option<String>,
}

impl DrainParams {
    /// How many entries are taken at most, and how long they are waited for.
    fn read(&self, app: &App) -> Result<(u32, Duration), Problem> {
        refuse_session(self.session.as_deref())?;
        let max = entries_max(self.max.as_deref())?;
        let wait = wait_seconds(self.wait.as_deref(), app.config.gateway.wait_max_seconds)?;
        Ok((max, wait))
    }
}

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    caller: Authenticated,
    Params(params): Params<DrainParams>,
) -> Result<Response, Refusal> {
    let agent = caller.principal.agent()?;
    let (max, wait) = params.read(&app)?;
    app.touches.touch(agent);
    let taken = if wait.is_zero() {
        Some(claim::take(&app, agent, max).await?)
    } else {
        poll(&app, &caller, agent, max, wait).await?
    };
    let (entries, room) = taken.map(Taken::hand_over).unwrap_or_default();
    Ok(in_room(room, answer::json_text(StatusCode::OK, body(&entries))))
}

/// `HEAD`: refused where the drain would be; one that shows nothing takes nothing.
pub(super) async fn head(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Params(params): Params<DrainParams>,
) -> Result<Response, Refusal> {
    principal.agent()?;
    params.read(&app)?;
    Ok(answer::empty(StatusCode::OK))
}

/// What comes while the caller waits; none where nothing did. What is taken when its credential ends goes back.
async fn poll(
    app: &Arc<App>,
    caller: &Authenticated,
    agent: &Agent,
    max: u32,
    wait: Duration,
) -> Result<Option<Taken>, Refusal> {
    let deadline = Instant::now() + wait;
    let hold = app.held.take(caller, HoldKind::Poll)?;
    tokio::select! {
        taken = wait_until(deadline, app, &hold, agent, max) => taken,
        ending = hold.ended() => Err(ending.into()),
    }
}

/// Registers first and looks then, so that nothing falls between (rule 6). A waiter holds no connection to the database; what
/// no wake-up told of is found by the beat, for all that wait here.
async fn wait_until(
    deadline: Instant,
    app: &Arc<App>,
    hold: &Hold,
    agent: &Agent,
    max: u32,
) -> Result<Option<Taken>, Refusal> {
    let mut watch = app.wakes.watch_mailbox(&agent.account, &agent.id);
    let mut visible_in = app.looks.ask(Mailbox::of(agent)).await?;
    loop {
        if visible_in.is_some_and(|visible_in| visible_in.is_zero()) {
            let _turn = hold.turn(app.turn_until(deadline)).await?;
            let taken = claim::take(app, agent, max).await?;
            if !taken.entries.is_empty() {
                return Ok(Some(taken));
            }
            visible_in = taken.visible_in;
        }
        let now = Instant::now();
        if now >= deadline {
            return Ok(None);
        }
        let look_at = visible_in
            .and_then(|visible_in| now.checked_add((visible_in + VISIBLE_SLACK).max(LOOK_PAUSE_MIN)))
            .map_or(deadline, |at| at.min(deadline));
        visible_in = tokio::select! {
            () = watch.changed() => Some(Duration::ZERO),
            () = sleep_until(look_at) => app.looks.ask(Mailbox::of(agent)).await?,
            // The client gets what is true, and asks the next replica.
            () = app.shutdown.requested() => return Ok(None),
        };
    }
}

fn entries_max(text: Option<&str>) -> Result<u32, Problem> {
    match text.map(str::parse::<u64>) {
        None => Ok(u32::MAX),
        Some(Ok(max)) if max > 0 => Ok(u32::try_from(max).unwrap_or(u32::MAX)),
        Some(_) => Err(Problem::validation(
            "max: expected a number of entries, at least 1",
        )),
    }
}

/// Each item as it was signed.
fn body(entries: &[DrainedEntry]) -> String {
    let bytes: usize = entries.iter().map(|entry| entry.item.len() + 1).sum();
    let mut body = String::with_capacity(bytes + 32);
    body.push_str("{\"messages\":[");
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 {
            body.push(',');
        }
        body.push_str(&entry.item);
    }
    body.push_str("]}");
    body
}

#[cfg(test)]
mod tests {
    use hub_proto::delivery::DrainedEntry;

    use super::{body, entries_max};

    #[test]
    fn a_batch_is_a_number_of_entries() {
        let cases = [
            (None, Some(u32::MAX)),
            (Some("1"), Some(1)),
            (Some("99999999999"), Some(u32::MAX)),
            (Some("0"), None),
            (Some("-1"), None),
            (Some("many"), None),
            (Some(""), None),
        ];
        for (text, expected) in cases {
            assert_eq!(entries_max(text).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn items_are_listed_as_they_are() {
        let entry = |item: &str| DrainedEntry {
            item: item.to_owned(),
            ..DrainedEntry::default()
        };
        assert_eq!(body(&[]), r#"{"messages":[]}"#);
        assert_eq!(
            body(&[entry(r#"{"a":1.0}"#), entry("{}")]),
            r#"{"messages":[{"a":1.0},{}]}"#
        );
    }
}
