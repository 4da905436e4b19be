//! Who may administer the account that a path names.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use ma2h::error::Problem;

use crate::app::App;
use crate::auth::Caller;
use crate::directory::{Author, ids};
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
        let params = RawPathParams::from_request_parts(parts, app)
            .await
            .map_err(|_| Problem::not_found())?;
        let account = params
            .iter()
            .find(|(name, _)| *name == "account")
            .map(|(_, account)| account.to_owned());
        let account = account
            .filter(|account| ids::is_name(account))
            .ok_or_else(Problem::not_found)?;
        authorise(&principal, &account)?;
        Ok(Self {
            account,
            author: Author {
                actor: principal.actor(),
            },
        })
    }
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
