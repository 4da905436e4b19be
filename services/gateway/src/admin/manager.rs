//! Who may administer the account that a path names.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use ma2h::error::Problem;
use serde_json::Value;

use crate::app::App;
use crate::auth::Caller;
use crate::directory::{Author, accounts, agents, ids};
use crate::edge::errors::Refusal;
use crate::principal::{Principal, Role, not_authorized};

/// A caller who may administer `account`. That it exists is known of an owner's own; the statements look for the admin's.
pub(super) struct Manager {
    pub(super) account: String,
    pub(super) author: Author,
}

impl FromRequestParts<Arc<App>> for Manager {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let Caller(principal) = Caller::from_request_parts(parts, app).await?;
        let account = param(parts, app, "account", ids::is_name).await?;
        authorise(&principal, &account)?;
        Ok(Self {
            account,
            author: Author {
                actor: principal.actor(),
            },
        })
    }
}

/// A caller who may administer what an agent owns, or the account itself where a path names no agent: secrets, keys, hosts,
/// webhooks. That there is such an owner, the statements look for.
pub(super) struct OwnerManager {
    pub(super) account: String,
    /// Empty: the account itself.
    pub(super) agent: String,
    author: Author,
}

impl FromRequestParts<Arc<App>> for OwnerManager {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let Manager { account, author } = Manager::from_request_parts(parts, app).await?;
        let agent = match raw_param(parts, app, "agent").await? {
            None => String::new(),
            Some(agent) => ids::of_path(agent, ids::is_agent)?,
        };
        Ok(Self {
            account,
            agent,
            author,
        })
    }
}

impl OwnerManager {
    /// Writes down what is about to be done to what it owns, or 404.
    pub(super) async fn note(&self, app: &App, action: &str, detail: &Value) -> Result<(), Problem> {
        let (pool, author, account) = (&app.pool, &self.author, &self.account);
        match self.agent.as_str() {
            "" => accounts::note(pool, author, account, action, detail).await,
            agent => agents::note(pool, author, account, agent, action, detail).await,
        }
    }

    /// Who does it.
    pub(super) fn actor(&self) -> &str {
        &self.author.actor
    }

    /// 404 where there is no such owner.
    pub(super) async fn require(&self, app: &App) -> Result<(), Problem> {
        match self.agent.as_str() {
            "" => accounts::require(&app.pool, &self.account).await,
            agent => agents::require(&app.pool, &self.account, agent).await,
        }
    }
}

/// An id out of the path; one that breaks its grammar cannot exist.
async fn param(
    parts: &mut Parts,
    app: &Arc<App>,
    name: &str,
    is_valid: impl Fn(&str) -> bool,
) -> Result<String, Problem> {
    let value = raw_param(parts, app, name).await?;
    value
        .filter(|value| is_valid(value))
        .ok_or_else(Problem::not_found)
}

/// What stands in the path under this name, if it has one.
async fn raw_param(parts: &mut Parts, app: &Arc<App>, name: &str) -> Result<Option<String>, Problem> {
    let params = RawPathParams::from_request_parts(parts, app)
        .await
        .map_err(|_| Problem::not_found())?;
    let value = params.iter().find(|(known, _)| *known == name);
    Ok(value.map(|(_, value)| value.to_owned()))
}

/// Another account's administration is the same 404 as that of an account that does not exist.
fn authorise(principal: &Principal, account: &str) -> Result<(), Problem> {
    match principal {
        Principal::Admin => Ok(()),
        other if other.account() != Some(account) => Err(Problem::not_found()),
        other => other.human(Role::Owner).map(drop),
    }
}

/// The deployment's admin, or 403.
pub(super) fn admin(principal: &Principal) -> Result<Author, Problem> {
    match principal {
        Principal::Admin => Ok(Author {
            actor: principal.actor(),
        }),
        _ => Err(not_authorized("this needs the deployment admin's token")),
    }
}

#[cfg(test)]
mod tests {
    use ma2h::error::ErrorCode;

    use super::{Principal, Role, authorise};
    use crate::principal::{Agent, Credential, Human};

    const CREDENTIAL: Credential = Credential::Token([0; 32]);

    fn human(role: Role) -> Principal {
        Principal::Human(Human {
            account: "acme".to_owned(),
            id: "alice".to_owned(),
            role,
            credential: CREDENTIAL,
        })
    }

    fn agent() -> Principal {
        Principal::Agent(Agent {
            account: "acme".to_owned(),
            id: "bot".to_owned(),
            credential: CREDENTIAL,
        })
    }

    #[test]
    fn who_administers_which_account() {
        let cases = [
            (Principal::Admin, "acme", None),
            (Principal::Admin, "other", None),
            (human(Role::Owner), "acme", None),
            (human(Role::Owner), "other", Some(ErrorCode::NotFound)),
            (human(Role::Operator), "acme", Some(ErrorCode::NotAuthorized)),
            (human(Role::Viewer), "other", Some(ErrorCode::NotFound)),
            (agent(), "acme", Some(ErrorCode::NotAuthorized)),
            (agent(), "other", Some(ErrorCode::NotFound)),
        ];
        for (principal, account, expected) in cases {
            let refused = authorise(&principal, account).err().map(|problem| problem.code);
            assert_eq!(refused, expected, "{principal:?} in {account}");
        }
    }
}
