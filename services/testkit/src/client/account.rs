//! An account of its own for each test that asks for one.

use serde_json::{Value, json};

use super::{Agent, Api, Human, segment};

/// An account, and the deployment admin's hand on it.
#[derive(Clone)]
pub struct Account {
    id: String,
    admin: Api,
}

impl Account {
    /// Creates an account whose id begins with `name` and is taken by no other.
    pub async fn create(admin: Api, name: &str) -> Self {
        let id = format!("{name}-{}", crate::unique());
        let body = json!({"id": id, "name": name});
        admin.post("/admin/v1/accounts", &body).await.expect(201);
        Self { id, admin }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The path of something of this account, in the administration.
    pub fn path(&self, rest: &str) -> String {
        format!("/admin/v1/accounts/{}{rest}", segment(&self.id))
    }

    /// The path of something of one of its agents, in the administration.
    pub fn agent_path(&self, agent: &str, rest: &str) -> String {
        self.path(&format!("/agents/{}{rest}", segment(agent)))
    }

    /// The deployment admin.
    pub fn admin(&self) -> &Api {
        &self.admin
    }

    /// Creates a human with a role, and a token for her.
    pub async fn human(&self, id: &str, role: &str) -> Human {
        let body = json!({"id": id, "email": format!("{id}@example.test"), "role": role});
        self.admin.post(&self.path("/humans"), &body).await.expect(201);
        let token = self.token(&format!("human:{id}")).await;
        Human::new(id, self.admin.with_token(&token))
    }

    /// Creates an agent, and a token for it.
    pub async fn agent(&self, id: &str) -> Agent {
        self.admin
            .post(&self.path("/agents"), &json!({"id": id}))
            .await
            .expect(201);
        let token = self.token(&format!("agent:{id}")).await;
        Agent::new(id, self.admin.with_token(&token))
    }

    /// Issues one more token for `human:…` or `agent:…`.
    pub async fn token(&self, subject: &str) -> String {
        let issued = self
            .admin
            .post(&self.path("/tokens"), &json!({"subject": subject}))
            .await;
        issued.expect(201);
        issued.text_at("token")
    }

    /// Changes the account's policy; `null` resets a member.
    pub async fn set_policy(&self, policy: Value) {
        self.admin
            .patch(&self.path(""), &json!({"policy": policy}))
            .await
            .expect(200);
    }

    /// Stores what a callback's reference resolves to.
    pub async fn put_secret(&self, agent: &str, reference: &str, value: &str) {
        let body = json!({"ref": reference, "value": value});
        let put = self.admin.put(&self.agent_path(agent, "/secrets"), &body).await;
        assert!(put.status.is_success(), "{}", put.text);
    }

    /// Has the bodies of an agent's `bearer` and `apikey` callbacks signed with this key.
    pub async fn put_hmac_entry_key(&self, agent: &str, secret: &str) {
        let body = json!({"alg": "hmac-sha256", "secret": secret});
        let put = self.admin.put(&self.agent_path(agent, "/entry-key"), &body).await;
        assert!(put.status.is_success(), "{}", put.text);
    }

    /// Approves a callback host, `host` or `host:port`.
    pub async fn approve_host(&self, agent: &str, host: &str) {
        let body = json!({"host": host, "method": "operator"});
        self.admin
            .post(&self.agent_path(agent, "/callback-hosts"), &body)
            .await
            .expect(201);
    }
}
