//! The name a secret goes by: `env:MA2H_CALLBACK_SECRET`. It is a name and nothing else: nothing is ever read from
//! the environment, a file or another vault by it.

use ma2h::error::Problem;
use tokio_postgres::types::ToSql;

use super::{Place, Table};

/// Length of a reference.
const REFERENCE_CHARS_MAX: usize = 256;

/// A reference of one owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    account: String,
    owner: String,
    name: String,
}

impl Reference {
    /// A reference of an agent, if `name` can be one.
    pub fn of_agent(account: &str, agent: &str, name: &str) -> Result<Self, Problem> {
        let length_fits = (1..=REFERENCE_CHARS_MAX).contains(&name.chars().count());
        if !length_fits || name.contains(char::is_control) {
            let message =
                format!("ref: expected 1 to {REFERENCE_CHARS_MAX} characters without control characters");
            return Err(Problem::invalid_field(message));
        }
        Ok(Self {
            account: account.to_owned(),
            owner: agent_owner(agent),
            name: name.to_owned(),
        })
    }

    /// The name alone.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns it is found by.
    pub(super) fn key(&self) -> [&(dyn ToSql + Sync); 3] {
        [&self.account, &self.owner, &self.name]
    }

    /// Where a version of it is sealed to.
    pub(super) fn place<'a>(&'a self, version: &'a str) -> Place<'a> {
        Place {
            table: Table::Secrets,
            account: &self.account,
            owner: &self.owner,
            name: &self.name,
            version,
        }
    }
}

/// How an agent is written as the owner of a secret.
pub(crate) fn agent_owner(agent: &str) -> String {
    format!("agent:{agent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_a_short_printable_name() {
        let check = |name: &str, accepted: bool| {
            assert_eq!(
                Reference::of_agent("acme", "a", name).is_ok(),
                accepted,
                "{name:?}"
            );
        };
        check("env:MA2H_CALLBACK_SECRET", true);
        check("vault://team/пароль", true);
        check(&"r".repeat(256), true);
        check(&"r".repeat(257), false);
        check("", false);
        check("env:\0", false);
        check("line\nbreak", false);
    }
}
