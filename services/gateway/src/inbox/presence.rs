//! Whether an agent is there (§15), in words for a person. It is a hint: every page is drawn without it as well.

use hub_proto::presence::AgentPresence;
use maud::{Markup, html};
use time::OffsetDateTime;

use crate::app::App;
use crate::presence;

use super::session::Session;
use super::when;

/// As far as the hub can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Heard from a moment ago.
    Online {
        last_seen: Option<OffsetDateTime>,
        /// For so many seconds that counts, unless it is heard from again.
        lapses_in_seconds: i64,
    },
    /// Heard from, but not lately.
    Offline { last_seen: Option<OffsetDateTime> },
    /// Never heard from.
    Unknown,
    /// It could not be read just now.
    Untold,
}

/// Of agents of the person's account, at most 200, in their order.
pub(super) async fn of(app: &App, session: &Session, agents: Vec<String>) -> Vec<Presence> {
    let count = agents.len();
    let now = OffsetDateTime::now_utc();
    let freshness = i64::try_from(app.config.presence.freshness_seconds).unwrap_or(i64::MAX);
    match presence::of(app, &session.human.account, agents).await {
        Ok(found) => found
            .iter()
            .map(|found| Presence::read(found, freshness, now))
            .collect(),
        Err(problem) => {
            tracing::warn!(code = problem.code.as_str(), "a page is drawn without presence");
            vec![Presence::Untold; count]
        }
    }
}

/// Of one agent.
pub(super) async fn of_one(app: &App, session: &Session, agent: &str) -> Presence {
    let found = of(app, session, vec![agent.to_owned()]).await.pop();
    found.unwrap_or(Presence::Untold)
}

impl Presence {
    fn read(found: &AgentPresence, freshness_seconds: i64, now: OffsetDateTime) -> Self {
        let last_seen = found.last_seen.as_ref().and_then(hub_proto::time_of);
        match found.state.as_str() {
            "online" => {
                let passed = last_seen.map_or(0, |last_seen| (now - last_seen).whole_seconds());
                Self::Online {
                    last_seen,
                    // A second more, so that whoever looks then finds it lapsed; bounded, whatever this clock says.
                    lapses_in_seconds: (freshness_seconds - passed).clamp(0, freshness_seconds) + 1,
                }
            }
            "offline" => Self::Offline { last_seen },
            _ => Self::Unknown,
        }
    }

    /// Whether it is there.
    pub(super) fn is_online(&self) -> bool {
        matches!(self, Self::Online { .. })
    }

    /// In two or three words, and since when. The script looks again once it has lapsed.
    pub(super) fn badge(&self, now: OffsetDateTime) -> Markup {
        let (state, sign, words) = match self {
            Self::Online { .. } => ("online", "●", "Listening"),
            Self::Offline { .. } => ("offline", "○", "Not listening"),
            Self::Unknown => ("unknown", "◌", "Never seen"),
            Self::Untold => ("untold", "?", "Presence not known just now"),
        };
        let (last_seen, lapses) = match self {
            Self::Online {
                last_seen,
                lapses_in_seconds,
            } => (*last_seen, Some(*lapses_in_seconds)),
            Self::Offline { last_seen } => (*last_seen, None),
            Self::Unknown | Self::Untold => (None, None),
        };
        html! {
            span class="presence" data-presence=(state) data-lapses=[lapses] {
                span class="presence-sign" aria-hidden="true" { (sign) } " "
                span class="presence-words" { (words) }
                @if let Some(last_seen) = last_seen { ", seen " (when::past(last_seen, now)) }
            }
        }
    }

    /// What becomes of a directive that is sent now (§15.4).
    pub(super) fn before_sending(&self) -> &'static str {
        match self {
            Self::Online { .. } => "It should get this right away.",
            Self::Offline { .. } => "It will get this on its next run.",
            Self::Unknown => "It was never here; it will get this on its first run.",
            Self::Untold => "It will get this when it looks into its mailbox.",
        }
    }

    /// Whether the agent of a pending ask or task is there for the answer (§15.4); `pushed` where it has a callback.
    pub(super) fn while_asking(&self, pushed: bool, now: OffsetDateTime) -> Markup {
        let last_seen = match self {
            Self::Untold => return html! {},
            Self::Offline { last_seen } => *last_seen,
            Self::Online { .. } | Self::Unknown => None,
        };
        let lapses = match self {
            Self::Online {
                lapses_in_seconds, ..
            } => Some(*lapses_in_seconds),
            _ => None,
        };
        html! {
            p class="presence-line" data-part="presence" data-lapses=[lapses] {
                @if lapses.is_some() {
                    span class="presence" data-presence="online" {
                        span class="presence-sign" aria-hidden="true" { "●" } " "
                        span class="presence-words" { "The agent is waiting now" }
                    }
                } @else {
                    span class="presence" data-presence="offline" {
                        span class="presence-sign" aria-hidden="true" { "○" } " "
                        span class="presence-words" { "The agent will read the answer on its next run" }
                        @if let Some(last_seen) = last_seen { ", seen " (when::past(last_seen, now)) }
                    }
                    @if pushed { "; it is also sent to its callback" }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hub_proto::presence::AgentPresence;
    use time::macros::datetime;
    use time::{Duration, OffsetDateTime};

    use super::Presence;

    const NOW: OffsetDateTime = datetime!(2026-06-04 18:00 UTC);

    fn read(state: &str, seen_ago: Option<Duration>) -> Presence {
        let found = AgentPresence {
            agent: "a".to_owned(),
            state: state.to_owned(),
            last_seen: seen_ago.map(|ago| hub_proto::stamp(NOW - ago)),
        };
        Presence::read(&found, 90, NOW)
    }

    #[test]
    fn says_for_how_long_it_holds() {
        let lapses = |seen_ago| match read("online", Some(seen_ago)) {
            Presence::Online {
                lapses_in_seconds, ..
            } => lapses_in_seconds,
            other => panic!("{other:?}"),
        };
        assert_eq!(lapses(Duration::seconds(30)), 61);
        // Of another clock.
        assert_eq!(lapses(Duration::seconds(-500)), 91);
        assert_eq!(lapses(Duration::seconds(500)), 1);
    }

    #[test]
    fn says_what_to_expect() {
        let waiting = |presence: Presence, pushed| presence.while_asking(pushed, NOW).into_string();
        let online = waiting(read("online", Some(Duration::ZERO)), true);
        assert!(
            online.contains("waiting now") && !online.contains("callback"),
            "{online}"
        );
        let offline = waiting(read("offline", Some(Duration::hours(2))), true);
        assert!(
            offline.contains("on its next run")
                && offline.contains("2 h ago")
                && offline.contains("callback"),
            "{offline}"
        );
        let unknown = waiting(read("unknown", None), false);
        assert!(
            unknown.contains("on its next run") && !unknown.contains("seen"),
            "{unknown}"
        );
        assert_eq!(waiting(Presence::Untold, true), "");
    }

    #[test]
    fn a_badge_does_not_need_colour() {
        for (state, seen, words) in [
            ("online", Some(Duration::ZERO), "● Listening, seen just now"),
            (
                "offline",
                Some(Duration::minutes(5)),
                "○ Not listening, seen 5 min ago",
            ),
            ("unknown", None, "◌ Never seen"),
        ] {
            let html = read(state, seen).badge(NOW).into_string();
            let mut text = String::new();
            for part in html.split('<') {
                text.push_str(part.split_once('>').map_or(part, |(_, text)| text));
            }
            assert_eq!(text, words);
        }
    }
}
