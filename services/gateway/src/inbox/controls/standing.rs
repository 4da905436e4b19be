//! Whether the signed-in person may answer, and if not, why.

use ma2h::address::Actor;
use ma2h::envelope::Envelope;
use ma2h::resolve::may_resolve;

use crate::principal::{Human, Role};

use super::super::names;

/// Where a person stands to a message.
#[derive(Debug, PartialEq)]
pub(in super::super) enum Standing {
    /// May answer.
    May,
    /// Only reads, whatever the message says.
    Viewer,
    /// Is not among those who may answer: these are.
    NotListed(Vec<String>),
}

impl Standing {
    /// Of this person to this message.
    pub(in super::super) fn of(envelope: &Envelope, human: &Human) -> Self {
        if !may_resolve(envelope, &Actor::Human(human.id.clone())) {
            return Self::NotListed(envelope.allowed_resolvers.clone().unwrap_or_default());
        }
        if human.role < Role::Operator {
            return Self::Viewer;
        }
        Self::May
    }

    /// Whether the control is to work.
    pub(in super::super) fn may(&self) -> bool {
        *self == Self::May
    }

    /// Why it does not.
    pub(super) fn reason(&self) -> Option<String> {
        match self {
            Self::May => None,
            Self::Viewer => {
                Some("You are signed in as a viewer: you can read this, but not answer it.".to_owned())
            }
            Self::NotListed(listed) if listed.is_empty() => {
                Some("The agent named nobody who may answer this, so only the agent itself can.".to_owned())
            }
            Self::NotListed(listed) => {
                let listed: Vec<String> = listed
                    .iter()
                    .map(|entry| format!("“{}”", names::actor(entry)))
                    .collect();
                Some(format!(
                    "You cannot answer this: the agent left it to {}.",
                    names::either(&listed)
                ))
            }
        }
    }
}
