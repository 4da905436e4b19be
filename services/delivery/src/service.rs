//! The gRPC surface: administration of what leaves for an agent, or an account's own client. Secrets go in and never come out.

use hub_platform::ids;
use hub_proto::delivery::delivery_server::Delivery;
use hub_proto::delivery::{
    CallbackHost, DeleteCallbackHostReply, DeleteCallbackHostRequest, DeleteSecretReply, DeleteSecretRequest,
    DeleteWebhookReply, DeleteWebhookRequest, DrainReply, DrainRequest, EntryKey, ForgetAccountReply,
    ForgetAccountRequest, ForgetAgentReply, ForgetAgentRequest, GetEntryKeyRequest, GetWebhookReply,
    GetWebhookRequest, HostPause, ListCallbackHostsReply, ListCallbackHostsRequest, ListSecretsReply,
    ListSecretsRequest, ListSigningKeysReply, ListSigningKeysRequest, PauseCallbackHostReply,
    PauseCallbackHostRequest, PutCallbackHostRequest, PutEntryKeyRequest, PutSecretReply, PutSecretRequest,
    PutWebhookReply, PutWebhookRequest, ResumeCallbackHostReply, ResumeCallbackHostRequest, Secret,
    SigningKey, VerifyCallbackHostRequest, Webhook,
};
use ma2h::callback::Callback;
use ma2h::error::Problem;
use tonic::{Request, Response, Status};
use zeroize::Zeroizing;

use crate::drain::Drains;
use crate::error::CallError;
use crate::forget::Forgetting;
use crate::guard::Guard;
use crate::health::{Health, Paused};
use crate::hosts::{self, HostName, Hosts, Verifier};
use crate::keys::{EntryKeyInfo, EntryKeys, HubKeys};
use crate::vault::{Reference, SecretInfo, Vault, owner};
use crate::webhooks::Webhooks;

/// Answers the gateway.
pub(crate) struct Service {
    pub(crate) vault: Vault,
    pub(crate) entry_keys: EntryKeys,
    pub(crate) hosts: Hosts,
    pub(crate) webhooks: Webhooks,
    pub(crate) verifier: Verifier,
    pub(crate) guard: Guard,
    pub(crate) forgetting: Forgetting,
    pub(crate) hub_keys: HubKeys,
    pub(crate) health: Health,
    pub(crate) drains: Drains,
}

#[tonic::async_trait]
impl Delivery for Service {
    async fn put_secret(
        &self,
        request: Request<PutSecretRequest>,
    ) -> Result<Response<PutSecretReply>, Status> {
        let PutSecretRequest {
            account,
            agent,
            r#ref,
            value,
        } = request.into_inner();
        let value = Zeroizing::new(value);
        let reference = reference(&account, &agent, &r#ref)?;
        let secret = self.vault.put(&reference, &value).await?;
        Ok(Response::new(PutSecretReply {
            secret: Some(secret.into()),
        }))
    }

    async fn list_secrets(
        &self,
        request: Request<ListSecretsRequest>,
    ) -> Result<Response<ListSecretsReply>, Status> {
        let ListSecretsRequest { account, agent } = request.into_inner();
        check_owner(&account, &agent)?;
        let secrets = self.vault.list(&account, &owner(&agent)).await?;
        Ok(Response::new(ListSecretsReply {
            secrets: secrets.into_iter().map(Into::into).collect(),
        }))
    }

    async fn delete_secret(
        &self,
        request: Request<DeleteSecretRequest>,
    ) -> Result<Response<DeleteSecretReply>, Status> {
        let DeleteSecretRequest {
            account,
            agent,
            r#ref,
        } = request.into_inner();
        self.vault.delete(&reference(&account, &agent, &r#ref)?).await?;
        Ok(Response::new(DeleteSecretReply {}))
    }

    async fn put_entry_key(
        &self,
        request: Request<PutEntryKeyRequest>,
    ) -> Result<Response<EntryKey>, Status> {
        let PutEntryKeyRequest {
            account,
            agent,
            alg,
            secret,
        } = request.into_inner();
        let secret = secret.map(Zeroizing::new);
        check_agent(&account, &agent)?;
        let algorithm = alg.parse().map_err(CallError::Refused)?;
        let secret = secret.as_ref().map(|secret| secret.as_str());
        let key = self.entry_keys.put(&account, &agent, algorithm, secret).await?;
        Ok(Response::new(key.into()))
    }

    async fn get_entry_key(
        &self,
        request: Request<GetEntryKeyRequest>,
    ) -> Result<Response<EntryKey>, Status> {
        let GetEntryKeyRequest { account, agent } = request.into_inner();
        check_agent(&account, &agent)?;
        Ok(Response::new(self.entry_keys.get(&account, &agent).await?.into()))
    }

    async fn put_callback_host(
        &self,
        request: Request<PutCallbackHostRequest>,
    ) -> Result<Response<CallbackHost>, Status> {
        let PutCallbackHostRequest {
            account,
            agent,
            host,
            method,
        } = request.into_inner();
        check_owner(&account, &agent)?;
        let host = HostName::parse(&host).map_err(CallError::Refused)?;
        if !self.guard.may_call(host.as_str()) {
            return Err(CallError::Refused(Problem::invalid_field(
                "host: an address that may not be called",
            ))
            .into());
        }
        let method = method.parse().map_err(CallError::Refused)?;
        Ok(Response::new(
            self.hosts.put(&account, &agent, &host, method).await?.into(),
        ))
    }

    async fn verify_callback_host(
        &self,
        request: Request<VerifyCallbackHostRequest>,
    ) -> Result<Response<CallbackHost>, Status> {
        let VerifyCallbackHostRequest { account, agent, host } = request.into_inner();
        check_owner(&account, &agent)?;
        let host = HostName::parse(&host).map_err(CallError::Refused)?;
        let verified = self.verifier.verify(&account, &agent, &host).await?;
        Ok(Response::new(verified.into()))
    }

    async fn list_callback_hosts(
        &self,
        request: Request<ListCallbackHostsRequest>,
    ) -> Result<Response<ListCallbackHostsReply>, Status> {
        let ListCallbackHostsRequest { account, agent } = request.into_inner();
        check_owner(&account, &agent)?;
        let hosts = self.hosts.list(&account, &agent).await?;
        let mut hosts: Vec<CallbackHost> = hosts.into_iter().map(Into::into).collect();
        for paused in self.health.paused(&account).await? {
            if let Some(host) = hosts.iter_mut().find(|host| host.host == paused.host) {
                host.paused = Some(paused.into());
            }
        }
        Ok(Response::new(ListCallbackHostsReply { hosts }))
    }

    async fn pause_callback_host(
        &self,
        request: Request<PauseCallbackHostRequest>,
    ) -> Result<Response<PauseCallbackHostReply>, Status> {
        let PauseCallbackHostRequest { account, host, by } = request.into_inner();
        ids::check("account", &account).map_err(CallError::from)?;
        ids::check("by", &by).map_err(CallError::from)?;
        let host = HostName::parse(&host).map_err(CallError::Refused)?;
        self.health.pause(&account, host.as_str(), &by).await?;
        Ok(Response::new(PauseCallbackHostReply {}))
    }

    async fn resume_callback_host(
        &self,
        request: Request<ResumeCallbackHostRequest>,
    ) -> Result<Response<ResumeCallbackHostReply>, Status> {
        let ResumeCallbackHostRequest { account, host } = request.into_inner();
        ids::check("account", &account).map_err(CallError::from)?;
        let host = HostName::parse(&host).map_err(CallError::Refused)?;
        self.health.resume(&account, host.as_str()).await?;
        Ok(Response::new(ResumeCallbackHostReply {}))
    }

    async fn delete_callback_host(
        &self,
        request: Request<DeleteCallbackHostRequest>,
    ) -> Result<Response<DeleteCallbackHostReply>, Status> {
        let DeleteCallbackHostRequest { account, agent, host } = request.into_inner();
        check_owner(&account, &agent)?;
        // What cannot be a host is not there either.
        if let Ok(host) = HostName::parse(&host) {
            self.hosts.delete(&account, &agent, &host).await?;
            self.health.prune(&account).await?;
        }
        Ok(Response::new(DeleteCallbackHostReply {}))
    }

    async fn put_webhook(
        &self,
        request: Request<PutWebhookRequest>,
    ) -> Result<Response<PutWebhookReply>, Status> {
        let PutWebhookRequest {
            account,
            agent,
            webhook,
        } = request.into_inner();
        check_owner(&account, &agent)?;
        let webhook = webhook.ok_or_else(|| CallError::from(Problem::validation("webhook: required")))?;
        let to = Callback {
            url: webhook.url,
            scheme: webhook.scheme.parse().map_err(CallError::Refused)?,
            credential_ref: webhook.credential_ref,
        };
        self.webhooks.put(&account, &agent, &to).await?;
        Ok(Response::new(PutWebhookReply {}))
    }

    async fn get_webhook(
        &self,
        request: Request<GetWebhookRequest>,
    ) -> Result<Response<GetWebhookReply>, Status> {
        let GetWebhookRequest { account, agent } = request.into_inner();
        check_owner(&account, &agent)?;
        let to = self.webhooks.get(&account, &agent).await?;
        Ok(Response::new(GetWebhookReply {
            webhook: to.map(|to| Webhook {
                url: to.url,
                scheme: to.scheme.as_str().to_owned(),
                credential_ref: to.credential_ref,
            }),
        }))
    }

    async fn delete_webhook(
        &self,
        request: Request<DeleteWebhookRequest>,
    ) -> Result<Response<DeleteWebhookReply>, Status> {
        let DeleteWebhookRequest { account, agent } = request.into_inner();
        check_owner(&account, &agent)?;
        self.webhooks.delete(&account, &agent).await?;
        Ok(Response::new(DeleteWebhookReply {}))
    }

    async fn forget_agent(
        &self,
        request: Request<ForgetAgentRequest>,
    ) -> Result<Response<ForgetAgentReply>, Status> {
        let ForgetAgentRequest { account, agent } = request.into_inner();
        check_agent(&account, &agent)?;
        self.forgetting.agent(&account, &agent).await?;
        self.health.prune(&account).await?;
        Ok(Response::new(ForgetAgentReply {}))
    }

    async fn forget_account(
        &self,
        request: Request<ForgetAccountRequest>,
    ) -> Result<Response<ForgetAccountReply>, Status> {
        let ForgetAccountRequest { account } = request.into_inner();
        ids::check("account", &account).map_err(CallError::from)?;
        self.forgetting.account(&account).await?;
        self.health.prune(&account).await?;
        Ok(Response::new(ForgetAccountReply {}))
    }

    async fn list_signing_keys(
        &self,
        _: Request<ListSigningKeysRequest>,
    ) -> Result<Response<ListSigningKeysReply>, Status> {
        let keys = self.hub_keys.list().await?;
        let keys = keys.into_iter().map(|key| SigningKey {
            kid: key.kid,
            public_key: key.public_key,
        });
        Ok(Response::new(ListSigningKeysReply { keys: keys.collect() }))
    }

    async fn drain(&self, request: Request<DrainRequest>) -> Result<Response<DrainReply>, Status> {
        let request = request.into_inner();
        check_agent(&request.account, &request.agent)?;
        Ok(Response::new(self.drains.drain(request).await?))
    }
}

fn reference(account: &str, agent: &str, name: &str) -> Result<Reference, CallError> {
    check_owner(account, agent)?;
    Ok(Reference::of(account, agent, name)?)
}

fn check_agent(account: &str, agent: &str) -> Result<(), CallError> {
    ids::check("account", account)?;
    Ok(ids::check("agent", agent)?)
}

/// An agent, or the account itself.
fn check_owner(account: &str, agent: &str) -> Result<(), CallError> {
    match agent {
        "" => Ok(ids::check("account", account)?),
        agent => check_agent(account, agent),
    }
}

impl From<SecretInfo> for Secret {
    fn from(secret: SecretInfo) -> Self {
        Self {
            r#ref: secret.reference,
            created_at: Some(hub_proto::stamp(secret.created_at)),
            status: secret.status.as_str().to_owned(),
        }
    }
}

impl From<EntryKeyInfo> for EntryKey {
    fn from(key: EntryKeyInfo) -> Self {
        Self {
            alg: key.algorithm.as_str().to_owned(),
            created_at: key.created_at.map(hub_proto::stamp),
        }
    }
}

impl From<hosts::CallbackHost> for CallbackHost {
    fn from(host: hosts::CallbackHost) -> Self {
        Self {
            host: host.host,
            method: host.method,
            status: host.status,
            challenge: host.challenge,
            paused: None,
        }
    }
}

impl From<Paused> for HostPause {
    fn from(paused: Paused) -> Self {
        Self {
            at: Some(hub_proto::stamp(paused.at)),
            by: paused.by,
            probe_at: paused.probe_at.map(hub_proto::stamp),
        }
    }
}
