//! `/inbox/agents`: who there is, who listens, and what waits for whom.

mod list;
mod one;

use hub_proto::lifecycle::Waiting;
use ma2h::error::Problem;
use maud::{Markup, html};

use crate::app::App;
use crate::directory::agents::{self, Agent};
use crate::directory::ids::is_agent;
use crate::mailbox;

use super::presence::{self, Presence};
use super::session::Session;

pub(super) use list::{choose, list, meta, page};
pub(super) use one::show;

/// An agent, and what is true of it now.
pub(super) struct Known {
    pub(super) id: String,
    /// Text to text.
    pub(super) labels: Vec<(String, String)>,
    pub(super) presence: Presence,
    pub(super) waiting: Waiting,
}

/// One agent of the person's account, or 404.
pub(super) async fn find(app: &App, session: &Session, id: &str) -> Result<Known, Problem> {
    let account = &session.human.account;
    if !is_agent(id) {
        return Err(Problem::not_found());
    }
    let agent = agents::find(&app.pool, account, id).await?;
    let mut known = know(app, session, vec![agent]).await?;
    known.pop().ok_or_else(Problem::internal)
}

/// Adds to agents what other tiers know of them.
async fn know(app: &App, session: &Session, agents: Vec<Agent>) -> Result<Vec<Known>, Problem> {
    let reader = session.principal();
    let ids = || agents.iter().map(|agent| agent.id.clone()).collect();
    let (presences, waiting) = tokio::join!(
        presence::of(app, session, ids()),
        mailbox::waiting(app, &reader, ids()),
    );
    let known = agents.into_iter().zip(presences).zip(waiting?);
    Ok(known
        .map(|((agent, presence), waiting)| Known {
            labels: labels(&agent),
            id: agent.id,
            presence,
            waiting,
        })
        .collect())
}

fn labels(agent: &Agent) -> Vec<(String, String)> {
    let labels = agent.labels.as_object().into_iter().flatten();
    labels
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect()
}

/// Whether a directive can name it: in an address, what follows a `#` is a session (§4).
pub(super) fn is_addressable(id: &str) -> bool {
    !id.contains('#')
}

/// Tells why nobody can write to it, where that is so.
pub(super) fn why_not(id: &str) -> Markup {
    html! {
        @if !is_addressable(id) {
            p class="notice" { "Its id has a # in it, so that no directive can be addressed to it." }
        }
    }
}

/// What waits in its mailbox; nothing where nothing does.
pub(super) fn waiting(waiting: &Waiting) -> Markup {
    let parts = [
        (waiting.queued, "queued"),
        (waiting.delivered, "not acknowledged"),
    ];
    let said: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    html! {
        @if waiting.has_more { "More than " }
        (said.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use hub_proto::lifecycle::Waiting;

    use super::{is_addressable, waiting};

    #[test]
    fn counts_what_waits() {
        let said = |queued, delivered, has_more| {
            let of = Waiting {
                agent: "a".to_owned(),
                queued,
                delivered,
                has_more,
            };
            waiting(&of).into_string()
        };
        assert_eq!(said(0, 0, false), "");
        assert_eq!(said(3, 0, false), "3 queued");
        assert_eq!(said(3, 1, false), "3 queued, 1 not acknowledged");
        assert_eq!(said(100, 0, true), "More than 100 queued");
    }

    #[test]
    fn an_address_ends_at_its_first_hash() {
        assert!(is_addressable("deploybot/dev") && !is_addressable("deploybot#sess_1"));
    }
}
