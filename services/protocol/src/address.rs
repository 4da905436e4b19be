//! Who acts, and whom an `allowed_resolvers` entry means (§9.1).

mod agent;

use std::fmt;
use std::str::FromStr;

pub use agent::AgentAddress;

use crate::error::Problem;

/// A Hub-attested identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A person of the account.
    Human(String),
    /// An agent, qualified by its session where it presented one.
    Agent {
        /// The `agent.id`.
        id: String,
        /// A `sess_…` id.
        session: Option<String>,
    },
    /// The hub itself.
    System(String),
}

impl Actor {
    /// The agent without a session.
    pub fn agent(id: impl Into<String>) -> Actor {
        Actor::Agent {
            id: id.into(),
            session: None,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Actor::Human(id) => write!(f, "human:{id}"),
            Actor::Agent { id, session: None } => write!(f, "agent:{id}"),
            Actor::Agent {
                id,
                session: Some(session),
            } => write!(f, "agent:{id}#{session}"),
            Actor::System(id) => write!(f, "system:{id}"),
        }
    }
}

impl FromStr for Actor {
    type Err = Problem;

    /// Reads `<type>:<id>`. In an agent's, the first `#` ends the id where a session follows it (§4); any other `#`
    /// belongs to the id.
    fn from_str(text: &str) -> Result<Actor, Problem> {
        let malformed = || Problem::validation("actor: expected human:<id>, agent:<id> or system:<id>");
        let (kind, id) = text
            .split_once(':')
            .filter(|(_, id)| !id.is_empty())
            .ok_or_else(malformed)?;
        match kind {
            "human" => Ok(Actor::Human(id.to_owned())),
            "system" => Ok(Actor::System(id.to_owned())),
            "agent" => Ok(match split_session(id) {
                Some((id, session)) => Actor::Agent {
                    id: id.to_owned(),
                    session: Some(session.to_owned()),
                },
                None => Actor::agent(id),
            }),
            _ => Err(malformed()),
        }
    }
}

/// Splits `<id>#sess_…` at its first `#`.
pub(crate) fn split_session(address: &str) -> Option<(&str, &str)> {
    let (id, session) = address.split_once('#')?;
    let is_session = session.strip_prefix("sess_").is_some_and(|rest| !rest.is_empty());
    (is_session && !id.is_empty()).then_some((id, session))
}

/// Whether an entry of the address grammar (minor 5 and above) means `actor`: a principal entry under any session, a
/// session entry under exactly that one.
pub fn resolver_matches(entry: &str, actor: &Actor) -> bool {
    let Actor::Agent { id, session } = actor else {
        return entry == actor.to_string();
    };
    let Some(address) = entry.strip_prefix("agent:") else {
        return false;
    };
    match split_session(address) {
        Some((entry_id, entry_session)) => entry_id == id && session.as_deref() == Some(entry_session),
        None => address == id,
    }
}

/// Whether an entry from before there were sessions means `actor`: what follows `agent:` is the whole id, `#` and all.
pub fn legacy_resolver_matches(entry: &str, actor: &Actor) -> bool {
    match actor {
        Actor::Agent { id, .. } => entry.strip_prefix("agent:") == Some(id),
        _ => entry == actor.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Actor, legacy_resolver_matches, resolver_matches};

    fn actor(text: &str) -> Actor {
        text.parse().unwrap()
    }

    #[test]
    fn an_actor_is_read_as_it_is_written() {
        let session = |id: &str, session: &str| Actor::Agent {
            id: id.into(),
            session: Some(session.into()),
        };
        let cases = [
            ("human:alice", Actor::Human("alice".into())),
            ("human:a:b", Actor::Human("a:b".into())),
            ("system:expiry", Actor::System("expiry".into())),
            ("agent:deploybot/dev-team", Actor::agent("deploybot/dev-team")),
            ("agent:a#sess_1", session("a", "sess_1")),
            ("agent:a#sess_1#x", session("a", "sess_1#x")),
            ("agent:a#b", Actor::agent("a#b")),
            ("agent:a#sess_", Actor::agent("a#sess_")),
            ("agent:a#b#sess_1", Actor::agent("a#b#sess_1")),
            ("agent:#sess_1", Actor::agent("#sess_1")),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<Actor>(), Ok(expected.clone()), "{text}");
            assert_eq!(expected.to_string(), text);
        }
        for text in ["", "alice", "human:", "agent:", "robot:x", "Human:alice", ":x"] {
            assert!(text.parse::<Actor>().is_err(), "{text}");
        }
    }

    #[test]
    fn whom_an_entry_means() {
        let cases = [
            ("human:alice", "human:alice", true),
            ("human:alice", "human:Alice", false),
            ("human:alice", "agent:alice", false),
            ("system:x", "system:x", true),
            ("agent:a", "agent:a", true),
            ("agent:a", "agent:a#sess_1", true),
            ("agent:a", "agent:ab", false),
            ("agent:a#sess_1", "agent:a#sess_1", true),
            ("agent:a#sess_1", "agent:a#sess_2", false),
            ("agent:a#sess_1", "agent:a", false),
            ("agent:a", "human:a", false),
            ("human:a", "agent:a", false),
            ("a", "agent:a", false),
            ("", "agent:a", false),
        ];
        for (entry, who, expected) in cases {
            assert_eq!(resolver_matches(entry, &actor(who)), expected, "{entry} {who}");
        }
    }

    #[test]
    fn an_agent_named_like_a_session_is_not_that_session() {
        let impostor = Actor::agent("a#sess_1");
        assert!(!resolver_matches("agent:a#sess_1", &impostor));
        assert!(legacy_resolver_matches("agent:a#sess_1", &impostor));
        assert!(!legacy_resolver_matches(
            "agent:a#sess_1",
            &actor("agent:a#sess_1")
        ));
        assert!(legacy_resolver_matches("agent:a", &actor("agent:a#sess_1")));
        assert!(legacy_resolver_matches("human:alice", &actor("human:alice")));
        assert!(!legacy_resolver_matches("human:alice", &actor("human:bob")));
        assert!(!legacy_resolver_matches("human:alice", &actor("agent:alice")));
    }
}
