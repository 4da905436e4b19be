//! Who makes a call, as the gateway authenticated it.

use hub_proto::common::Principal;
use hub_proto::common::principal::Who;
use ma2h::address::Actor;
use ma2h::error::Problem;

/// Whoever reads or resolves.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Caller {
    /// A person of the account, who may read all of it.
    Human(String),
    /// An agent, who may read what it submitted.
    Agent(String),
}

impl Caller {
    /// Reads it from a request.
    pub(crate) fn of(principal: Option<Principal>) -> Result<Self, Problem> {
        match principal.and_then(|principal| principal.who) {
            Some(Who::Human(id)) => Ok(Self::Human(id)),
            Some(Who::Agent(id)) => Ok(Self::Agent(id)),
            None => Err(Problem::validation("principal: required")),
        }
    }

    /// The agent whose messages the caller is limited to; none for a person.
    pub(crate) fn agent(&self) -> Option<&str> {
        match self {
            Self::Human(_) => None,
            Self::Agent(id) => Some(id),
        }
    }

    /// As the protocol attests it (§9.1).
    pub(crate) fn actor(&self) -> Actor {
        match self {
            Self::Human(id) => Actor::Human(id.clone()),
            Self::Agent(id) => Actor::agent(id),
        }
    }
}
