//! Who the receiver is, and what is addressed to it (§13.4).

use crate::address::AgentAddress;
use crate::error::Problem;
use crate::version::ADDRESS_MINOR_MIN;

/// An agent, and the session it has now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    agent_id: String,
    session: Option<AgentAddress>,
}

impl Identity {
    /// An agent without a session.
    pub fn new(agent_id: impl Into<String>) -> Identity {
        Identity {
            agent_id: agent_id.into(),
            session: None,
        }
    }

    /// The same agent in a session. Only one at a time is its own: what was sent to an earlier one is no longer for it.
    pub fn with_session(self, session: &str) -> Result<Identity, Problem> {
        let address = AgentAddress::new(&self.agent_id, Some(session))?;
        Ok(Identity {
            session: Some(address),
            ..self
        })
    }

    /// The `agent.id`.
    pub fn agent_id(&self) -> &str {
        &self.agent_id
    }

    /// Where its session drains, which a response and a receipt are bound to.
    pub fn session_address(&self) -> Option<String> {
        self.session.as_ref().map(AgentAddress::to_string)
    }

    /// Whether `to`, in an entry that declares version `0.minor`, means this agent: itself, or its own current session.
    /// Before 0.5 there were no sessions, and `#` was a letter of the id.
    pub fn is_addressee(&self, minor: u32, to: &str) -> bool {
        if minor < ADDRESS_MINOR_MIN {
            return to.strip_prefix("agent:") == Some(&self.agent_id);
        }
        let Ok(address) = to.parse::<AgentAddress>() else {
            return false;
        };
        match address.session() {
            None => address.agent_id() == self.agent_id,
            Some(_) => self.session.as_ref() == Some(&address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Identity;

    #[test]
    fn what_is_addressed_to_an_agent() {
        let bare = Identity::new("a");
        let in_session = Identity::new("a").with_session("sess_2").unwrap();
        // (minor, to, for the agent without a session, for the one in sess_2)
        let cases = [
            (6, "agent:a", true, true),
            (6, "agent:a#sess_2", false, true),
            (6, "agent:a#sess_1", false, false),
            (6, "agent:ab", false, false),
            (6, "agent:b#sess_2", false, false),
            (6, "human:a", false, false),
            (6, "a", false, false),
            (6, "", false, false),
            (6, "agent:a#", false, false),
            (5, "agent:a#sess_2", false, true),
            (4, "agent:a", true, true),
            (4, "agent:a#sess_2", false, false),
        ];
        for (minor, to, expected, expected_in_session) in cases {
            assert_eq!(bare.is_addressee(minor, to), expected, "{to}");
            assert_eq!(in_session.is_addressee(minor, to), expected_in_session, "{to}");
        }
    }

    #[test]
    fn an_agent_with_a_hash_is_reached_only_as_before() {
        let odd = Identity::new("a#sess_1");
        assert!(odd.is_addressee(4, "agent:a#sess_1"));
        assert!(!odd.is_addressee(5, "agent:a#sess_1"));
        assert!(odd.clone().with_session("sess_2").is_err());
        assert!(Identity::new("a").with_session("2").is_err());
        assert_eq!(odd.session_address(), None);
        assert_eq!(odd.agent_id(), "a#sess_1");
    }
}
