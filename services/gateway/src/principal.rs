//! Who makes a call: what a credential proves, and nothing that the caller says of itself.

use std::str::FromStr;

use hub_proto::common;
use ma2h::error::{ErrorCode, Problem};

/// The rungs of a human's ladder; each may do what those below it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Reads.
    Viewer,
    /// Also resolves, sends, stops.
    Operator,
    /// Also manages the account.
    Owner,
}

impl Role {
    /// As the wire and the table write it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Owner => "owner",
        }
    }
}

impl FromStr for Role {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "viewer" => Ok(Self::Viewer),
            "operator" => Ok(Self::Operator),
            "owner" => Ok(Self::Owner),
            _ => Err(()),
        }
    }
}

/// The SHA-256 of what a caller presented: by it a held call asks again whether it still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Credential {
    /// A bearer token or API key.
    Token([u8; 32]),
    /// A browser's session cookie.
    Session([u8; 32]),
}

/// A person of one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Human {
    /// The account she belongs to.
    pub(crate) account: String,
    /// Her id, without `human:`.
    pub(crate) id: String,
    /// What she may do.
    pub(crate) role: Role,
    /// What she signed in with.
    pub(crate) credential: Credential,
}

/// One `agent.id` of one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Agent {
    /// The account it belongs to.
    pub(crate) account: String,
    /// Its `agent.id`, without `agent:`.
    pub(crate) id: String,
    /// What it authenticated with.
    pub(crate) credential: Credential,
}

/// An authenticated caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Principal {
    /// Runs the installation; belongs to no account.
    Admin,
    /// A person.
    Human(Human),
    /// An agent.
    Agent(Agent),
}

impl Principal {
    /// The account, which the deployment's admin has none of.
    pub(crate) fn account(&self) -> Option<&str> {
        match self {
            Self::Admin => None,
            Self::Human(human) => Some(&human.account),
            Self::Agent(agent) => Some(&agent.account),
        }
    }

    /// What it authenticated with; the deployment's admin is not looked up.
    pub(crate) fn credential(&self) -> Option<Credential> {
        match self {
            Self::Admin => None,
            Self::Human(human) => Some(human.credential),
            Self::Agent(agent) => Some(agent.credential),
        }
    }

    /// `human:alice`, `agent:deploybot/dev-team`, `system:admin`.
    pub(crate) fn actor(&self) -> String {
        match self {
            Self::Admin => "system:admin".to_owned(),
            Self::Human(human) => format!("human:{}", human.id),
            Self::Agent(agent) => format!("agent:{}", agent.id),
        }
    }

    /// What the tiers behind the gateway are told, with the account; the admin has no message of its own.
    pub(crate) fn of_account(&self) -> Result<(&str, common::Principal), Problem> {
        use common::principal::Who;
        match self {
            Self::Admin => Err(not_authorized(
                "the deployment admin has no messages; use an account's credential",
            )),
            Self::Human(human) => Ok((
                &human.account,
                common::Principal {
                    who: Some(Who::Human(human.id.clone())),
                },
            )),
            Self::Agent(agent) => Ok((
                &agent.account,
                common::Principal {
                    who: Some(Who::Agent(agent.id.clone())),
                },
            )),
        }
    }

    /// The human of at least this role, or 403.
    pub(crate) fn human(&self, at_least: Role) -> Result<&Human, Problem> {
        match self {
            Self::Human(human) if human.role >= at_least => Ok(human),
            Self::Human(_) => Err(not_authorized(&format!(
                "this needs the role {}",
                at_least.as_str()
            ))),
            Self::Admin | Self::Agent(_) => Err(not_authorized("this needs a human's credential")),
        }
    }

    /// The agent, or 403.
    pub(crate) fn agent(&self) -> Result<&Agent, Problem> {
        match self {
            Self::Agent(agent) => Ok(agent),
            Self::Admin | Self::Human(_) => Err(not_authorized("this needs an agent's credential")),
        }
    }
}

/// 403 `not_authorized`.
pub(crate) fn not_authorized(message: &str) -> Problem {
    Problem::new(ErrorCode::NotAuthorized, message)
}
