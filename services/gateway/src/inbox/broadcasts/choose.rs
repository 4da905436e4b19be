//! `/inbox/broadcasts/agents`: several agents are chosen. What is ticked stays so from page to page.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use maud::{Markup, html};
use time::OffsetDateTime;

use crate::app::App;
use crate::edge::page::PageParams;

use super::super::agents::{self, Known, is_addressable};
use super::super::page;
use super::super::session::Session;
use super::super::writing::Way;
use super::audience::{AGENTS_MAX, Asked, OTHER, TO};
use super::{AGENTS, NEW, choosing};

/// Agents on one page.
const PAGE_ROWS: u32 = 50;

/// `GET /inbox/broadcasts/agents`.
pub(in super::super) async fn agents(
    State(app): State<Arc<App>>,
    session: Session,
    asked: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Response {
    draw(&app, &session, &Asked::of(asked), None).await
}

/// The page, with what is wrong with the choice that was made.
pub(super) async fn draw(app: &App, session: &Session, asked: &Asked, complaint: Option<&str>) -> Response {
    let cursor = asked.get("cursor").map(str::to_owned);
    let wanted = PageParams::of(cursor.clone(), PAGE_ROWS);
    let (known, next_cursor) = match agents::page(app, session, &wanted).await {
        Ok(found) => found,
        Err(problem) => return page::problem(&problem, Some(session)),
    };
    let choice = Choice {
        known: &known,
        chosen: asked.agents(),
        complaint,
        is_first: cursor.is_none(),
        next_cursor: next_cursor.as_deref(),
    };
    choosing(
        session,
        Way::Several,
        "Write to several agents",
        complaint.is_some(),
        &choice.draw(OffsetDateTime::now_utc()),
    )
}

/// What the page is drawn from.
struct Choice<'a> {
    known: &'a [Known],
    chosen: BTreeSet<String>,
    complaint: Option<&'a str>,
    is_first: bool,
    next_cursor: Option<&'a str>,
}

impl Choice<'_> {
    fn draw(&self, now: OffsetDateTime) -> Markup {
        html! {
            form id="choose" class="choose" method="get" action=(AGENTS) {
                @if let Some(complaint) = self.complaint { p class="error" role="alert" { (complaint) } }
                (self.elsewhere())
                fieldset {
                    legend class="hidden" { "Agents, at most " (AGENTS_MAX) }
                    @if self.known.is_empty() {
                        p class="muted" { @if self.is_first { "There are no agents yet." } @else { "No more agents." } }
                    } @else {
                        ol class="rows card" { @for (at, agent) in self.known.iter().enumerate() { (self.row(at, agent, now)) } }
                    }
                }
                div class="field" {
                    label for=(OTHER) { "Another one" }
                    input id=(OTHER) type="text" name=(OTHER) placeholder="Id of an agent" autocomplete="off"
                        autocapitalize="none" spellcheck="false";
                }
                // The first of the buttons is what the Enter key presses.
                div class="actions sticky" {
                    button class="button primary" type="submit" formaction=(NEW) { "Write to those chosen" }
                }
                @if !self.is_first || self.next_cursor.is_some() {
                    div class="paging" {
                        @if !self.is_first { button class="button" type="submit" name="cursor" value="" { "First" } }
                        @if let Some(cursor) = self.next_cursor {
                            button class="button" type="submit" name="cursor" value=(cursor) { "More agents" }
                        }
                    }
                }
            }
        }
    }

    /// Those that were chosen but are not on this page.
    fn elsewhere(&self) -> Markup {
        let here: BTreeSet<&str> = self.known.iter().map(|agent| agent.id.as_str()).collect();
        let elsewhere: Vec<_> = self
            .chosen
            .iter()
            .filter(|id| !here.contains(id.as_str()))
            .collect();
        html! {
            @if !elsewhere.is_empty() {
                fieldset class="picked" {
                    legend { "Chosen already" }
                    @for (at, id) in elsewhere.iter().enumerate() {
                        label for=(format!("picked-{at}")) {
                            input id=(format!("picked-{at}")) type="checkbox" name=(TO) value=(id) checked;
                            span class="agent-id" { (id) }
                        }
                    }
                }
            }
        }
    }

    fn row(&self, at: usize, agent: &Known, now: OffsetDateTime) -> Markup {
        let can_be_told = is_addressable(&agent.id);
        let (id, about) = (format!("agent-{at}"), format!("about-{at}"));
        html! {
            li class="row tick" data-open[agent.presence.is_online()] {
                input id=(id) type="checkbox" name=(TO) value=(agent.id) disabled[!can_be_told]
                    checked[can_be_told && self.chosen.contains(&agent.id)] aria-describedby=(about);
                div class="row-main" {
                    p class="row-title" { label class="agent-id" for=(id) { (agent.id) } }
                    div id=(about) { (agents::meta(agent, !can_be_told, now)) }
                }
                div class="row-side" { p { (agents::waiting(&agent.waiting)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hub_proto::lifecycle::Waiting;
    use time::macros::datetime;

    use super::{Choice, Known};
    use crate::inbox::presence::Presence;

    fn known(id: &str) -> Known {
        Known {
            id: id.to_owned(),
            labels: Vec::new(),
            presence: Presence::Unknown,
            waiting: Waiting::default(),
        }
    }

    #[test]
    fn what_is_ticked_stays_so_from_page_to_page() {
        let choice = Choice {
            known: &[known("a"), known("b"), known("c#1")],
            chosen: ["b", "c#1", "\"><b>"].map(str::to_owned).into(),
            complaint: Some("<b>"),
            is_first: false,
            next_cursor: Some("x"),
        };
        let html = choice.draw(datetime!(2026-06-04 18:00 UTC)).into_string();
        for part in [
            "value=\"a\" aria",
            "value=\"b\" checked aria",
            "value=\"c#1\" disabled aria",
            "value=\"&quot;&gt;&lt;b&gt;\" checked>",
            "value=\"x\">More agents",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(!html.contains("<b>"), "{html}");
    }
}
