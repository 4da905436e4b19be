//! The address of an agent or of one of its sessions (§4).

use std::fmt;
use std::str::FromStr;

use super::split_session;
use crate::error::Problem;

/// What `to` and an attested `from` say since 0.5: `agent:<id>`, or `agent:<id>#sess_…`. The first `#` ends the id, so an
/// agent with a `#` in its id has no address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AgentAddress {
    agent_id: String,
    session: Option<String>,
}

impl AgentAddress {
    /// The address of an agent, or of its session.
    pub fn new(agent_id: &str, session: Option<&str>) -> Result<AgentAddress, Problem> {
        let text = match session {
            Some(session) => format!("agent:{agent_id}#{session}"),
            None => format!("agent:{agent_id}"),
        };
        let address: AgentAddress = text.parse()?;
        // An id that brings its own `#` reads as something else.
        if address.agent_id != agent_id {
            return Err(malformed());
        }
        Ok(address)
    }

    /// The `agent.id`.
    pub fn agent_id(&self) -> &str {
        &self.agent_id
    }

    /// The session, where one is addressed.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

impl fmt::Display for AgentAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent:{}", self.agent_id)?;
        match &self.session {
            Some(session) => write!(f, "#{session}"),
            None => Ok(()),
        }
    }
}

impl FromStr for AgentAddress {
    type Err = Problem;

    fn from_str(text: &str) -> Result<AgentAddress, Problem> {
        let address = text.strip_prefix("agent:").ok_or_else(malformed)?;
        let (agent_id, session) = match split_session(address) {
            Some((agent_id, session)) => (agent_id, Some(session.to_owned())),
            None => (address, None),
        };
        if agent_id.is_empty() || agent_id.contains('#') {
            return Err(malformed());
        }
        Ok(AgentAddress {
            agent_id: agent_id.to_owned(),
            session,
        })
    }
}

fn malformed() -> Problem {
    Problem::validation("address: expected agent:<id> or agent:<id>#sess_…, the id without #")
}

#[cfg(test)]
mod tests {
    use super::AgentAddress;
    use crate::address::Actor;
    use crate::random::Random;

    #[test]
    fn the_first_hash_ends_the_id() {
        let cases = [
            ("agent:a", Some(("a", None))),
            ("agent:deploybot/dev-team", Some(("deploybot/dev-team", None))),
            ("agent:a:b", Some(("a:b", None))),
            ("agent:a#sess_1", Some(("a", Some("sess_1")))),
            ("agent:a#sess_1#x", Some(("a", Some("sess_1#x")))),
            ("agent:a#b#sess_1", None),
            ("agent:a#b", None),
            ("agent:a#", None),
            ("agent:a#sess_", None),
            ("agent:a#Sess_1", None),
            ("agent:#sess_1", None),
            ("agent:", None),
            ("human:a", None),
            ("Agent:a", None),
            ("a", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let read = text.parse::<AgentAddress>().ok();
            let parts = read
                .as_ref()
                .map(|address| (address.agent_id(), address.session()));
            assert_eq!(parts, expected, "{text}");
            assert!(read.is_none_or(|address| address.to_string() == text));
        }
    }

    #[test]
    fn no_parts_make_another_address() {
        assert!(AgentAddress::new("a", Some("sess_1")).is_ok());
        for (agent_id, session) in [
            ("a#sess_1", None),
            ("a#b", Some("sess_1")),
            ("", None),
            ("a", Some("x")),
            ("a", Some("")),
        ] {
            assert!(
                AgentAddress::new(agent_id, session).is_err(),
                "{agent_id} {session:?}"
            );
        }
        let mut random = Random::seeded(11);
        for _ in 0..20_000 {
            let pieces = ["a", "#", "sess_", "agent:", "1", "é"];
            let text = |random: &mut Random| -> String {
                (0..random.below(5)).map(|_| pieces[random.below(6)]).collect()
            };
            let (agent_id, session) = (text(&mut random), text(&mut random));
            let session = (random.below(2) == 0).then_some(session.as_str());
            if let Ok(address) = AgentAddress::new(&agent_id, session) {
                assert_eq!(
                    (address.agent_id(), address.session()),
                    (agent_id.as_str(), session)
                );
                let written = address.to_string();
                assert_eq!(written.parse(), Ok(address));
                // An address reads as the actor it names.
                let actor = Actor::Agent {
                    id: agent_id,
                    session: session.map(str::to_owned),
                };
                assert_eq!(written.parse(), Ok(actor));
            }
        }
    }
}
