//! Accounts, and who is in them: made through the administration calls, new for every check, or given.

use std::sync::Arc;

use serde_json::{Value, json};

use super::api::{Api, segment};
use super::credentials::{Given, GivenAccount};
use super::envelope;
use super::hub::Hub;
use super::verdict::{Proof, Tried, failed, skipped, text};

/// How a check comes to accounts.
pub(crate) enum Setup {
    /// With the credential of the deployment's admin.
    Admin(String),
    /// With what it was given; shared by all checks.
    Given(Given),
}

/// One account.
#[derive(Clone)]
pub(crate) struct Account {
    pub(crate) id: String,
    source: Source,
}

#[derive(Clone)]
enum Source {
    Made(Api),
    Given(Arc<Hub>, GivenAccount),
}

/// Somebody with a credential.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) api: Api,
    /// Without its kind.
    pub(crate) id: String,
    /// `agent:…` or `human:…`.
    pub(crate) address: String,
}

impl std::ops::Deref for Caller {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl Account {
    /// A new account; `nth` counts those of one check.
    pub(crate) async fn open(hub: &Arc<Hub>, setup: &Setup, nth: usize) -> Tried<Self> {
        let token = match setup {
            Setup::Admin(token) => token,
            Setup::Given(given) => {
                let Some(account) = given.accounts.get(nth) else {
                    return skipped("needs another account than those given");
                };
                return Ok(Self {
                    id: account.id.clone(),
                    source: Source::Given(Arc::clone(hub), account.clone()),
                });
            }
        };
        let admin = Api::with_token(hub, token);
        let id = format!("proof-{}", envelope::unique());
        let body = json!({"id": id, "name": "Proof"});
        admin.post("/admin/v1/accounts", &body).await?.expect(201)?;
        Ok(Self {
            id,
            source: Source::Made(admin),
        })
    }

    /// A human with a role: viewer, operator or owner.
    pub(crate) async fn human(&self, name: &str, role: &str) -> Tried<Caller> {
        let address = format!("human:{name}");
        match &self.source {
            Source::Made(_) => {
                let body = json!({"id": name, "email": format!("{name}@proof.example"), "role": role});
                self.post("/humans", &body).await?;
                self.caller(address, name).await
            }
            Source::Given(hub, account) => {
                let found = account.humans.iter().find(|human| human.role == role);
                let Some(human) = found else {
                    return skipped(format!("needs a human who is {role}"));
                };
                Ok(given(hub, "human", &human.id, &human.token))
            }
        }
    }

    /// A human who may resolve, and is not that one.
    pub(crate) async fn another_human(&self, name: &str, than: &Caller) -> Tried<Caller> {
        let Source::Given(hub, account) = &self.source else {
            return self.human(name, "owner").await;
        };
        let mut humans = account.humans.iter();
        match humans.find(|human| human.role != "viewer" && human.id != than.id) {
            Some(human) => Ok(given(hub, "human", &human.id, &human.token)),
            None => skipped("needs another human than those given"),
        }
    }

    /// An agent that no other check uses, or the `nth` of those given.
    pub(crate) async fn agent(&self, name: &str, nth: usize) -> Tried<Caller> {
        match &self.source {
            Source::Made(_) => {
                self.post("/agents", &json!({"id": name})).await?;
                self.caller(format!("agent:{name}"), name).await
            }
            Source::Given(hub, account) => {
                let Some(agent) = account.agents.get(nth) else {
                    return skipped("needs another agent than those given");
                };
                Ok(given(hub, "agent", &agent.id, &agent.token))
            }
        }
    }

    /// Somebody of this account with a new token.
    pub(crate) async fn caller(&self, address: String, id: &str) -> Tried<Caller> {
        let issued = self.post("/tokens", &json!({"subject": address})).await?;
        Ok(Caller {
            api: Api::with_token(&self.admin()?.hub, text(&issued, "/token")?),
            id: id.to_owned(),
            address,
        })
    }

    /// The caller who administers this account.
    pub(crate) fn admin(&self) -> Tried<&Api> {
        match &self.source {
            Source::Made(admin) => Ok(admin),
            Source::Given(..) => skipped("needs the administration calls"),
        }
    }

    /// A path of this account's administration.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/admin/v1/accounts/{}{rest}", segment(&self.id))
    }

    /// A path of an agent's administration.
    pub(crate) fn agent_path(&self, agent: &str, rest: &str) -> String {
        self.path(&format!("/agents/{}{rest}", segment(agent)))
    }

    async fn post(&self, rest: &str, body: &Value) -> Tried<Value> {
        self.admin()?.post(&self.path(rest), body).await?.expect(201)
    }

    /// Approves a callback host for an agent.
    pub(crate) async fn approve_host(&self, agent: &str, host: &str) -> Proof {
        let body = json!({"host": host, "method": "operator"});
        let path = self.agent_path(agent, "/callback-hosts");
        let reply = self.admin()?.post(&path, &body).await?;
        match reply.status {
            201 => Ok(()),
            400..500 => skipped(format!("the hub takes no callback host here: {}", reply.told())),
            _ => failed(reply.told()),
        }
    }

    /// Stores what a callback's reference resolves to.
    pub(crate) async fn put_secret(&self, agent: &str, reference: &str, value: &str) -> Proof {
        let body = json!({"ref": reference, "value": value});
        let path = self.agent_path(agent, "/secrets");
        let reply = self.admin()?.put(&path, &body).await?;
        if (200..300).contains(&reply.status) {
            return Ok(());
        }
        failed(format!("{}: {}", reply.asked, reply.told()))
    }

    /// Says with which key an agent's mailbox entries are signed.
    pub(crate) async fn put_entry_secret(&self, agent: &str, secret: &str) -> Proof {
        let body = json!({"alg": "hmac-sha256", "secret": secret});
        let path = self.agent_path(agent, "/entry-key");
        let reply = self.admin()?.put(&path, &body).await?;
        if (200..300).contains(&reply.status) {
            return Ok(());
        }
        failed(format!("{}: {}", reply.asked, reply.told()))
    }

    /// Changes the account's policy.
    pub(crate) async fn set_policy(&self, policy: Value) -> Proof {
        let body = json!({"policy": policy});
        let reply = self.admin()?.patch(&self.path(""), &body).await?;
        reply.expect(200).map(drop)
    }

    /// Takes the account away again, where it was made; best effort.
    pub(crate) async fn close(&self) {
        if let Source::Made(admin) = &self.source {
            // What is left behind is told apart by its name.
            let _ = admin.delete(&self.path("")).await;
        }
    }
}

fn given(hub: &Arc<Hub>, kind: &str, id: &str, token: &str) -> Caller {
    Caller {
        api: Api::with_token(hub, token),
        id: id.to_owned(),
        address: format!("{kind}:{id}"),
    }
}
