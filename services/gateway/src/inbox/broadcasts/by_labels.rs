//! `/inbox/broadcasts/labels`: labels are chosen, and with them all agents that carry them.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use maud::{Markup, html};

use crate::app::App;
use crate::directory::agents::{self, LabelCount};

use super::super::names;
use super::super::page;
use super::super::session::Session;
use super::super::writing::Way;
use super::audience::{Asked, LABEL, Labels, NAME, VALUE, label_text, read_label};
use super::{NEW, choosing};

/// Labels that are offered; others are typed.
const OFFERED_MAX: u32 = 30;
/// Agents whose labels are looked at.
const LOOKED_MAX: u32 = 2000;

/// `GET /inbox/broadcasts/labels`.
pub(in super::super) async fn labels(
    State(app): State<Arc<App>>,
    session: Session,
    asked: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Response {
    draw(&app, &session, &Asked::of(asked), None).await
}

/// The page, with what is wrong with the choice that was made.
pub(super) async fn draw(app: &App, session: &Session, asked: &Asked, complaint: Option<&str>) -> Response {
    let account = &session.human.account;
    let offered = match agents::labels(&app.pool, account, LOOKED_MAX, OFFERED_MAX).await {
        Ok(offered) => offered,
        Err(problem) => return page::problem(&problem, Some(session)),
    };
    let choice = Choice {
        offered: &offered,
        asked,
        complaint,
    };
    choosing(
        session,
        Way::Labels,
        "Write to agents with labels",
        complaint.is_some(),
        &choice.draw(),
    )
}

/// What the page is drawn from.
struct Choice<'a> {
    offered: &'a [LabelCount],
    asked: &'a Asked,
    complaint: Option<&'a str>,
}

impl Choice<'_> {
    fn draw(&self) -> Markup {
        let chosen = self.asked.chosen();
        html! {
            form id="choose" class="card stack choose" method="get" action=(NEW) {
                @if let Some(complaint) = self.complaint { p class="error" role="alert" { (complaint) } }
                fieldset class="options" {
                    legend { "All agents that carry each of these" }
                    @for (at, label) in self.offered.iter().enumerate() {
                        @let text = label_text(&label.name, &label.value);
                        @let count = usize::try_from(label.agents).unwrap_or_default();
                        (option(at, &label.name, &label.value, Some(count), chosen.contains(&text)))
                    }
                    @for (at, (name, value)) in self.unoffered(&chosen).iter().enumerate() {
                        (option(self.offered.len() + at, name, value, None, true))
                    }
                    @if self.offered.is_empty() {
                        p class="muted" { "No agent carries a label yet; an owner of the account gives them." }
                    }
                }
                fieldset class="other-label" {
                    legend { "Another label" }
                    (self.text(NAME, "Name"))
                    (self.text(VALUE, "Value"))
                }
                div class="actions" { button class="button primary" type="submit" { "Write to those agents" } }
            }
        }
    }

    /// Those chosen that are not among those offered.
    fn unoffered(&self, chosen: &[String]) -> Labels {
        let is_offered = |text: &String| {
            let mut offered = self.offered.iter();
            offered.any(|label| label_text(&label.name, &label.value) == *text)
        };
        let unoffered = chosen.iter().filter(|text| !is_offered(text));
        unoffered.filter_map(|text| read_label(text)).collect()
    }

    fn text(&self, name: &'static str, label: &str) -> Markup {
        html! {
            div class="field" {
                label for=(name) { (label) }
                input id=(name) name=(name) type="text" autocomplete="off" autocapitalize="none" spellcheck="false"
                    value=(self.asked.get(name).unwrap_or_default());
            }
        }
    }
}

fn option(at: usize, name: &str, value: &str, agents: Option<usize>, is_chosen: bool) -> Markup {
    let id = format!("label-{at}");
    html! {
        label class="option" for=(id) {
            input id=(id) type="checkbox" name=(LABEL) value=(label_text(name, value)) checked[is_chosen];
            span class="option-text" {
                span class="option-label" { (name) ": " (value) }
                @if let Some(agents) = agents { span class="option-description" { (names::agents(agents)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::Query;

    use super::{Asked, Choice, LabelCount};

    #[test]
    fn what_was_chosen_and_typed_stays() {
        let terms = [
            ("label", "team:infra"),
            ("label", "tier:<b>"),
            ("name", "\"><b>"),
            ("value", ""),
        ];
        let terms = terms.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let offered = [("team", "infra", 12), ("team", "web", 1)].map(|(name, value, agents)| LabelCount {
            name: name.to_owned(),
            value: value.to_owned(),
            agents,
        });
        let choice = Choice {
            offered: &offered,
            asked: &Asked::of(Ok(Query(terms.into()))),
            complaint: Some("Write both."),
        };
        let html = choice.draw().into_string();
        for part in [
            "value=\"team:infra\" checked>",
            "12 agents",
            "value=\"team:web\">",
            "1 agent<",
            "value=\"tier:&lt;b&gt;\" checked>",
            "value=\"&quot;&gt;&lt;b&gt;\"",
            "Write both.",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(!html.contains("<b>"), "{html}");
    }
}
