//! The demo account, made over the HTTPS API as any administrator would. Doing it again changes nothing.

use anyhow::Context as _;
use serde_json::json;

use super::state::State;
use crate::admin::{Client, segment};

pub(crate) const ACCOUNT: &str = "demo";
pub(crate) const HUMAN: &str = "you";
pub(crate) const AGENT: &str = "demo/agent";
pub(crate) const ENTRY_KEY_ALG: &str = "hmac-sha256";

/// Tokens of the demo account that work.
pub(crate) struct Tokens {
    pub human: String,
    pub agent: String,
}

/// Makes what is missing of the demo account, and tokens where the kept ones no longer work.
pub(crate) async fn seed(admin: &Client, state: &mut State) -> anyhow::Result<Tokens> {
    create_principals(admin).await?;
    if !state.entry_key_set {
        let path = format!("{}/entry-key", agent_path());
        let body = json!({"alg": ENTRY_KEY_ALG, "secret": state.entry_secret});
        admin
            .put(&path, &body)
            .await?
            .created()
            .context("set the demo agent's entry key")?;
        state.entry_key_set = true;
    }
    let human = working_token(admin, &format!("human:{HUMAN}"), state.human_token.take()).await?;
    let agent = working_token(admin, &format!("agent:{AGENT}"), state.agent_token.take()).await?;
    (state.human_token, state.agent_token) = (Some(human.clone()), Some(agent.clone()));
    state.save()?;
    Ok(Tokens { human, agent })
}

async fn create_principals(admin: &Client) -> anyhow::Result<()> {
    let account = json!({"id": ACCOUNT, "name": "Demo"});
    let human = json!({"id": HUMAN, "email": "you@demo.example", "role": "owner"});
    let agent = json!({"id": AGENT});
    for (path, body) in [
        ("/admin/v1/accounts".to_owned(), account),
        (account_path("humans"), human),
        (account_path("agents"), agent),
    ] {
        admin
            .post(&path, &body)
            .await?
            .exists()
            .with_context(|| format!("create {}", body["id"]))?;
    }
    Ok(())
}

/// The kept token if the hub still takes it, or a new one.
async fn working_token(admin: &Client, subject: &str, kept: Option<String>) -> anyhow::Result<String> {
    if let Some(token) = kept
        && admin
            .with_token(&token)
            .get("/v1/messages?limit=1")
            .await?
            .status
            .is_success()
    {
        return Ok(token);
    }
    let issued = admin
        .post(&account_path("tokens"), &json!({"subject": subject}))
        .await?;
    let issued = issued
        .created()
        .with_context(|| format!("issue a token for {subject}"))?;
    let token = issued["token"].as_str().context("the hub issued no token")?;
    Ok(token.to_owned())
}

fn account_path(rest: &str) -> String {
    format!("/admin/v1/accounts/{}/{rest}", segment(ACCOUNT))
}

fn agent_path() -> String {
    account_path(&format!("agents/{}", segment(AGENT)))
}
