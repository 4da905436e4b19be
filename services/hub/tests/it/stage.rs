//! What most tests begin with: an agent that asks, a human who answers, and a callback host that listens.

use std::path::{Path, PathBuf};

use hub_testkit::{Account, Agent, CallbackSink, Human, TestHub, envelope};
use serde_json::Value;

pub(crate) const AGENT: &str = "deploybot/dev-team";
pub(crate) const SECRET_REF: &str = "env:MA2H_CALLBACK_SECRET";
pub(crate) const SECRET: &str = "a callback secret of the tests, 0123456789";

pub(crate) struct Stage {
    pub hub: TestHub,
    pub account: Account,
    pub agent: Agent,
    /// An operator.
    pub alice: Human,
    pub sink: CallbackSink,
}

impl Stage {
    pub(crate) async fn in_process() -> Self {
        Self::on(TestHub::start().await).await
    }

    /// A hub of real processes, so many of each tier.
    pub(crate) async fn processes(replicas: usize) -> Self {
        Self::on(TestHub::processes(replicas).await).await
    }

    pub(crate) async fn on(hub: TestHub) -> Self {
        let account = hub.account("acme").await;
        let agent = account.agent(AGENT).await;
        let alice = account.human("alice", "operator").await;
        let sink = CallbackSink::http().await;
        account.approve_host(AGENT, &sink.host()).await;
        account.put_secret(AGENT, SECRET_REF, SECRET).await;
        Self {
            hub,
            account,
            agent,
            alice,
            sink,
        }
    }

    /// An ask to approve or deny that alice may answer, by pull.
    pub(crate) fn confirm(&self) -> Value {
        envelope::confirm(AGENT, &self.alice.address())
    }

    /// The same, with its Response pushed to the sink.
    pub(crate) fn confirm_with_push(&self) -> Value {
        envelope::with_hmac_push(self.confirm(), &self.callback_url(), SECRET_REF)
    }

    /// The first gateway's address of a page.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.hub.base_url())
    }

    pub(crate) fn callback_url(&self) -> String {
        self.sink.url("/resume")
    }

    /// The hub's tables in which a word stands.
    pub(crate) async fn tables_with(&self, word: &str) -> Vec<String> {
        let database = self.hub.database().connect().await;
        let sql = "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_catalog.pg_tables
                   WHERE schemaname IN ('directory', 'lifecycle', 'delivery', 'presence')
                   ORDER BY name";
        let mut found = Vec::new();
        for row in database.query(sql, &[]).await.unwrap() {
            let name: String = row.get("name");
            let sql =
                format!("SELECT EXISTS (SELECT FROM {name} AS t WHERE strpos(t::text, $1) > 0) AS found");
            let row = database.query_one(&sql, &[&word]).await.unwrap();
            if row.get("found") {
                found.push(name);
            }
        }
        found
    }
}

/// The published data of the protocol, which lies beside the repository.
pub(crate) fn published(path: &str) -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/ma2h");
    let root = std::env::var_os("MA2H_PUBLISHED").map_or(beside, PathBuf::from);
    root.join(path)
}

/// What kind of place each attempt of a push came to, as the operator finds it.
pub(crate) async fn address_classes(hub: &TestHub, id: &str) -> Vec<Option<String>> {
    let database = hub.database().connect().await;
    let attempts =
        "SELECT address_class FROM lifecycle.push_attempts WHERE message_id = $1 ORDER BY generation, number";
    let rows = database.query(attempts, &[&id]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}
