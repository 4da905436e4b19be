//! The name a secret goes by: `env:MA2H_CALLBACK_SECRET`. It is a name and nothing else: nothing is ever read from
//! the environment, a file or another vault by it.

use ma2h::error::Problem;
use ma2h::secret;
use tokio_postgres::types::ToSql;

use super::{Place, Table};

/// A reference of one owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reference {
    account: String,
    owner: String,
    name: String,
}

impl Reference {
    /// A reference of an agent, or of the account itself where that is empty, if `name` can be one.
    pub(crate) fn of(account: &str, agent: &str, name: &str) -> Result<Self, Problem> {
        secret::check_reference(name)?;
        Ok(Self {
            account: account.to_owned(),
            owner: owner(agent),
            name: name.to_owned(),
        })
    }

    /// The name alone.
    pub(crate) fn name(&self) -> &str {
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

/// How an agent, or the account itself where that is empty, is written as the owner of a secret.
pub(crate) fn owner(agent: &str) -> String {
    match agent {
        "" => "account".to_owned(),
        agent => format!("agent:{agent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::owner;

    #[test]
    fn no_agent_is_written_as_the_account() {
        assert_eq!(owner(""), "account");
        assert_eq!(owner("account"), "agent:account");
    }
}
