//! How many agents a broadcast would reach if it were sent now, and how many of them listen.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, stream};
use ma2h::error::Problem;
use maud::{Markup, html};
use time::OffsetDateTime;

use crate::app::App;
use crate::directory::agents;

use super::super::presence::{self, Presence};
use super::super::session::Session;
use super::super::{links, names};
use super::audience::{self, Audience};

/// Agents whose presence is looked up: each of those shown, and of many the first.
const LOOKED_MAX: usize = 2000;
/// What presence tells of at a time, and look-ups under way at a time.
const CHUNK_AGENTS: usize = 200;
const CHUNKS_IN_FLIGHT: usize = 4;
/// Agents that are named.
const SHOWN_MAX: usize = 20;
/// How soon an open form looks again.
const LOOK_AGAIN_SECONDS: u32 = 30;

/// Whom it would reach.
pub(super) struct Reach {
    /// By id, at most one more than may be.
    agents: Vec<String>,
    /// Most agents of a broadcast.
    agents_max: usize,
    /// Of the first agents.
    presences: Vec<Presence>,
    /// Chosen by their ids, but not there.
    missing: Vec<String>,
}

/// Looks it up.
pub(super) async fn of(app: &App, session: &Session, audience: &Audience) -> Result<Reach, Problem> {
    let account = &session.human.account;
    let agents_max = app.config.broadcast.recipients_max;
    let (agents, missing) = match audience {
        Audience::Agents(chosen) => {
            let chosen: Vec<String> = chosen.iter().cloned().collect();
            let known = agents::known(&app.pool, account, &chosen).await?;
            let known: BTreeSet<String> = known.into_iter().map(|agent| agent.id).collect();
            chosen.into_iter().partition(|agent| known.contains(agent))
        }
        Audience::Labels(labels) => {
            let rows_max = agents_max.saturating_add(1);
            let agents = agents::labelled(&app.pool, account, labels, rows_max).await?;
            (agents, Vec::new())
        }
    };
    let looked = agents.chunks(CHUNK_AGENTS).take(LOOKED_MAX / CHUNK_AGENTS);
    let looked: Vec<Vec<String>> = looked.map(<[String]>::to_vec).collect();
    let looks = looked.into_iter().map(|chunk| presence::of(app, session, chunk));
    let presences: Vec<Vec<Presence>> = stream::iter(looks).buffered(CHUNKS_IN_FLIGHT).collect().await;
    Ok(Reach {
        agents,
        agents_max: usize::try_from(agents_max).unwrap_or(usize::MAX),
        presences: presences.concat(),
        missing,
    })
}

impl Reach {
    /// Why it cannot be sent to them.
    pub(super) fn objection(&self, audience: &Audience) -> Option<String> {
        if let [first, others @ ..] = self.missing.as_slice() {
            return Some(match others.len() {
                0 => format!("There is no agent “{first}”."),
                more => format!("There is no agent “{first}”, nor {more} more of those you chose."),
            });
        }
        match audience {
            Audience::Labels(labels) if self.agents.is_empty() => {
                Some(format!("No agent carries {}.", audience::words(labels)))
            }
            _ if self.agents.len() > self.agents_max => Some(format!(
                "These are more than {} agents, which is the most that a broadcast reaches.",
                self.agents_max
            )),
            _ => None,
        }
    }

    /// How many, in words.
    pub(super) fn count(&self) -> String {
        names::agents(self.agents.len())
    }

    /// Draws whom it goes to. An open form keeps it current.
    pub(super) fn draw(&self, audience: &Audience, now: OffsetDateTime) -> Markup {
        html! {
            div class="card addressee" data-part="addressee" data-lapses=(LOOK_AGAIN_SECONDS) {
                p {
                    span class="muted" { "To " }
                    strong { (self.count()) }
                    @if let Audience::Labels(labels) = audience {
                        span class="muted" { " that carry " }
                        @for (name, value) in labels { span class="tag" { (name) ": " (value) } " " }
                    }
                }
                p class="hint" { (self.listening()) }
                (self.named(now))
                p class="hint" { a href=(audience.change()) { "Choose others" } }
            }
        }
    }

    /// How many of them listen (§15.4).
    fn listening(&self) -> String {
        if self.presences.contains(&Presence::Untold) {
            return "Who of them is listening is not known just now.".to_owned();
        }
        let looked = self.presences.len();
        let listening = self
            .presences
            .iter()
            .filter(|presence| presence.is_online())
            .count();
        let is_partial = looked < self.agents.len();
        match listening {
            _ if is_partial => format!(
                "{listening} of the first {looked} are listening now; the others get it on their next run."
            ),
            0 => "None of them is listening now; they get it on their next run.".to_owned(),
            all if all == looked => "Listening now: all of them should get it right away.".to_owned(),
            1 => "1 of them is listening now; the others get it on their next run.".to_owned(),
            some => format!("{some} of them are listening now; the others get it on their next run."),
        }
    }

    fn named(&self, now: OffsetDateTime) -> Markup {
        html! {
            details id="who" class="named" {
                summary { "Who they are" }
                ul {
                    @for (agent, presence) in self.agents.iter().zip(&self.presences).take(SHOWN_MAX) {
                        li { a class="agent-id" href=(links::to_agent(agent)) { (agent) } " " span class="hint" { (presence.badge(now)) } }
                    }
                }
                @if self.agents.len() > SHOWN_MAX {
                    p class="hint" { "And " (self.agents.len() - SHOWN_MAX) " more." }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::{Audience, Presence, Reach};

    fn reach(online: usize, offline: usize, unlooked: usize) -> Reach {
        let online = vec![
            Presence::Online {
                last_seen: None,
                lapses_in_seconds: 1
            };
            online
        ];
        let presences = [online, vec![Presence::Unknown; offline]].concat();
        Reach {
            agents: (0..presences.len() + unlooked)
                .map(|at| format!("a/{at}"))
                .collect(),
            agents_max: 50,
            presences,
            missing: Vec::new(),
        }
    }

    #[test]
    fn says_how_many_listen_and_no_more_than_is_known() {
        let cases = [
            (reach(0, 2, 0), "None of them"),
            (reach(1, 2, 0), "1 of them is listening"),
            (reach(2, 1, 0), "2 of them are listening"),
            (reach(2, 0, 0), "all of them"),
            (reach(2, 1, 9), "2 of the first 3"),
        ];
        for (reach, words) in cases {
            let said = reach.listening();
            assert!(said.contains(words), "{said}");
        }
        let mut untold = reach(1, 0, 0);
        untold.presences.push(Presence::Untold);
        assert!(untold.listening().contains("not known"));
    }

    #[test]
    fn says_why_it_cannot_be_sent() {
        let labels = Audience::Labels([("team".to_owned(), "<b>".to_owned())].into());
        let agents = Audience::Agents(["a/0".to_owned()].into());
        assert_eq!(
            reach(0, 0, 0).objection(&labels).as_deref(),
            Some("No agent carries team: <b>.")
        );
        assert_eq!(reach(1, 0, 0).objection(&agents), None);
        assert!(
            reach(1, 0, 50)
                .objection(&labels)
                .unwrap()
                .contains("more than 50")
        );
        let mut gone = reach(1, 0, 0);
        gone.missing = vec!["x".to_owned(), "y".to_owned()];
        assert_eq!(
            gone.objection(&agents).as_deref(),
            Some("There is no agent “x”, nor 1 more of those you chose.")
        );
        let drawn = reach(1, 24, 0)
            .draw(&labels, datetime!(2026-06-04 18:00 UTC))
            .into_string();
        assert!(
            drawn.contains("team: &lt;b&gt;") && drawn.contains("25 agents") && drawn.contains("And 5 more")
        );
    }
}
