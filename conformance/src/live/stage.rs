//! What one check has to itself.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use ma2h::sign::{VerifyingKey, decode_mac};
use serde_json::{Value, json};

use super::account::{Account, Caller, Setup};
use super::api::Api;
use super::envelope;
use super::hub::Hub;
use super::receiver::{Push, Receiver};
use super::verdict::{Tried, Verdict, failed, list, skipped, text};

/// Reference and value of the secret that a check's callbacks are signed with.
pub(crate) const SECRET_REF: &str = "env:PROOF_SECRET";
pub(crate) const SECRET: &str = "a secret that only proofs have, 0123456789";
const AGENT: &str = "orchard/picker";
const HUMAN: &str = "alice";

/// Handed to every check.
pub(crate) struct Stage {
    pub(crate) hub: Arc<Hub>,
    pub(crate) setup: Arc<Setup>,
    /// To be closed when the check has ended.
    opened: Mutex<Vec<Account>>,
}

/// An account with an owner, alice, and an agent.
pub(crate) struct Scene {
    pub(crate) hub: Arc<Hub>,
    pub(crate) account: Account,
    pub(crate) alice: Caller,
    pub(crate) agent: Caller,
}

/// A scene whose agent can be called back.
pub(crate) struct CallbackScene {
    pub(crate) scene: Scene,
    pub(crate) receiver: Receiver,
    pub(crate) url: String,
}

impl std::ops::Deref for CallbackScene {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.scene
    }
}

impl Stage {
    pub(crate) fn new(hub: &Arc<Hub>, setup: &Arc<Setup>) -> Self {
        Self {
            hub: Arc::clone(hub),
            setup: Arc::clone(setup),
            opened: Mutex::default(),
        }
    }

    /// A caller without a credential.
    pub(crate) fn anonymous(&self) -> Api {
        Api::anonymous(&self.hub)
    }

    /// An account of this check.
    pub(crate) async fn account(&self) -> Tried<Account> {
        let nth = self.accounts().len();
        let account = Account::open(&self.hub, &self.setup, nth).await?;
        self.accounts().push(account.clone());
        Ok(account)
    }

    /// An account with an owner and an agent.
    pub(crate) async fn scene(&self) -> Tried<Scene> {
        let account = self.account().await?;
        Ok(Scene {
            hub: Arc::clone(&self.hub),
            alice: account.human(HUMAN, "owner").await?,
            agent: account.agent(AGENT, 0).await?,
            account,
        })
    }

    /// A scene whose agent has a callback here, with a secret.
    pub(crate) async fn callback_scene(&self) -> Tried<CallbackScene> {
        let scene = self.scene().await?;
        let receiver = self.receiver().await?;
        scene
            .account
            .approve_host(&scene.agent.id, &receiver.host())
            .await?;
        scene
            .account
            .put_secret(&scene.agent.id, SECRET_REF, SECRET)
            .await?;
        let url = receiver.url("/told?by=hub");
        Ok(CallbackScene { scene, receiver, url })
    }

    /// A callback that nobody knows of yet.
    pub(crate) async fn receiver(&self) -> Tried<Receiver> {
        Receiver::start(self.hub.callback_address, self.hub.liar.clone()).await
    }

    /// The hub's published key.
    pub(crate) async fn hub_key(&self) -> Tried<VerifyingKey> {
        let keys = self
            .anonymous()
            .get("/.well-known/ma2h/keys")
            .await?
            .expect(200)?;
        for key in list(&keys, "/keys")? {
            let bytes = key["x"].as_str().and_then(decode_mac);
            let public: Option<[u8; 32]> = bytes.and_then(|bytes| bytes.try_into().ok());
            if let Some(found) = public.as_ref().and_then(VerifyingKey::ed25519) {
                return Ok(found);
            }
        }
        failed(format!("no ed25519 key in {keys}"))
    }

    /// Ends what the check opened.
    pub(crate) async fn close(&self) {
        let opened = std::mem::take(&mut *self.accounts());
        for account in opened {
            account.close().await;
        }
    }

    fn accounts(&self) -> std::sync::MutexGuard<'_, Vec<Account>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scene {
    /// An ask that alice may approve or deny.
    pub(crate) fn confirm(&self) -> Value {
        envelope::confirm(&self.agent.id, &self.alice.address)
    }

    /// An ask in which alice may choose `pears` or `plums`.
    pub(crate) fn select(&self) -> Value {
        envelope::select(&self.agent.id, &self.alice.address)
    }

    /// An ask that alice may answer with a number of crates.
    pub(crate) fn input(&self) -> Value {
        envelope::input(&self.agent.id, &self.alice.address)
    }

    /// A task that alice may mark as done.
    pub(crate) fn task(&self) -> Value {
        envelope::task(&self.agent.id, &self.alice.address)
    }

    /// For alice's information.
    pub(crate) fn notify(&self) -> Value {
        envelope::notify(&self.agent.id)
    }

    /// An ask that alice answered with `approve`; its id.
    pub(crate) async fn approved(&self, ask: &Value) -> Tried<String> {
        let id = self.agent.submitted(ask).await?;
        self.alice.answer(&id, "approve").await?.expect(200)?;
        Ok(id)
    }

    /// The inner `response` of an ask that alice answers so.
    pub(crate) async fn answered(&self, ask: &Value, value: &str) -> Tried<Value> {
        let id = self.agent.submitted(ask).await?;
        self.alice.answer(&id, value).await?.expect(200)?;
        Ok(self.agent.read(&id).await?["response"]["response"].take())
    }

    /// Another agent of the account.
    pub(crate) async fn other_agent(&self) -> Tried<Caller> {
        self.account.agent("orchard/other", 1).await
    }
}

impl CallbackScene {
    /// The message with a callback here, signed with the secret.
    pub(crate) fn pushed(&self, mut envelope: Value) -> Value {
        envelope::block(&mut envelope)["callback"] = json!({
            "mode": "push",
            "url": self.url,
            "auth": {"scheme": "hmac", "secret_ref": SECRET_REF},
        });
        envelope
    }

    /// Verifies a push as the agent must; what it delivered.
    pub(crate) fn verified(&self, push: &Push) -> Tried<Value> {
        let key = VerifyingKey::hmac(SECRET.as_bytes());
        let key = key.map_err(|problem| Verdict::Failed(problem.to_string()))?;
        self.verified_with(push, &key)
    }

    /// The same with another key.
    pub(crate) fn verified_with(&self, push: &Push, key: &VerifyingKey) -> Tried<Value> {
        let header = push.header("ma2h-signature")?;
        let window = self.hub.replay_window_seconds();
        let verified = ma2h::sign::verify_push(header, &push.body, &self.url, key, now(), window);
        match verified {
            Ok(_) => push.json(),
            Err(error) => failed(format!("{error}: {header}: {}", push.body)),
        }
    }

    /// The path that the callback's URL has.
    pub(crate) fn path(&self) -> &str {
        let start = "http://".len() + self.receiver.host().len();
        self.url.get(start..).unwrap_or_default()
    }

    /// Waits until the hub has settled a message's push: `delivered`, `refused` or `exhausted`, and its attempts.
    pub(crate) async fn settled(&self, id: &str) -> Tried<(String, Vec<Value>)> {
        let path = format!("/v1/messages/{id}/attempts");
        loop {
            let reply = self.alice.get(&path).await?;
            if reply.status == 404 || reply.status == 405 {
                return skipped("the hub does not tell of its attempts");
            }
            let told = reply.expect(200)?;
            let state = text(&told, "/state")?;
            if ["delivered", "refused", "exhausted"].contains(&state) {
                return Ok((state.to_owned(), list(&told, "/attempts")?.to_vec()));
            }
            pause().await;
        }
    }
}

/// This machine's clock, as an agent reads it.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Between two looks at something that has no call to wait with.
pub(crate) async fn pause() {
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
}
