//! Who acts, and whom an `allowed_resolvers` entry means (§9.1).

use std::fmt;
use std::str::FromStr;

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
        Actor::Agent { id: id.into(), session: None }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Actor::Human(id) => write!(f, "human:{id}"),
            Actor::Agent { id, session: None } => write!(f, "agent:{id}"),
            Actor::Agent { id, session: Some(session) } => write!(f, "agent:{id}#{session}"),
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
        let (kind, id) = text.split_once(':').filter(|(_, id)| !id.is_empty()).ok_or_else(malformed)?;
        match kind {
            "human" => Ok(Actor::Human(id.to_owned())),
            "system" => Ok(Actor::System(id.to_owned())),
            "agent" => Ok(match split_session(id) {
                Some((id, session)) => Actor::Agent { id: id.to_owned(), session: Some(session.to_owned()) },
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
