//! The gRPC surface: administration of what leaves for an agent. Secrets go in and never come out.

use hub_proto::delivery::delivery_server::Delivery;
use hub_proto::delivery::{
    CallbackHost, DeleteCallbackHostReply, DeleteCallbackHostRequest, DeleteSecretReply, DeleteSecretRequest,
    EntryKey, GetEntryKeyRequest, ListCallbackHostsReply, ListCallbackHostsRequest, ListSecretsReply,
    ListSecretsRequest, ListSigningKeysReply, ListSigningKeysRequest, PutCallbackHostRequest,
    PutEntryKeyRequest, PutSecretReply, PutSecretRequest, Secret, SigningKey,
};
use ma2h::error::Problem;
use prost_types::Timestamp;
use time::OffsetDateTime;
use tonic::{Request, Response, Status};
use zeroize::Zeroizing;

use crate::error::CallError;
use crate::hosts::{self, HostName, Hosts};
use crate::keys::{EntryKeyInfo, EntryKeys, HubKeys};
use crate::vault::{Reference, SecretInfo, Vault, agent_owner};

/// Answers the gateway.
pub(crate) struct Service {
    pub(crate) vault: Vault,
    pub(crate) entry_keys: EntryKeys,
    pub(crate) hosts: Hosts,
    pub(crate) hub_keys: HubKeys,
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
        let secrets = self.vault.list(&account, &agent_owner(&agent)).await?;
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
        check_owner(&account, &agent)?;
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
        check_owner(&account, &agent)?;
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
        Ok(Response::new(
            self.hosts.put(&account, &agent, &host, &method).await?.into(),
        ))
    }

    async fn list_callback_hosts(
        &self,
        request: Request<ListCallbackHostsRequest>,
    ) -> Result<Response<ListCallbackHostsReply>, Status> {
        let ListCallbackHostsRequest { account, agent } = request.into_inner();
        check_owner(&account, &agent)?;
        let hosts = self.hosts.list(&account, &agent).await?;
        Ok(Response::new(ListCallbackHostsReply {
            hosts: hosts.into_iter().map(Into::into).collect(),
        }))
    }

    async fn delete_callback_host(
        &self,
        request: Request<DeleteCallbackHostRequest>,
    ) -> Result<Response<DeleteCallbackHostReply>, Status> {
        let DeleteCallbackHostRequest { account, agent, host } = request.into_inner();
        check_owner(&account, &agent)?;
        // What cannot be a host is not there either.
        let host = HostName::parse(&host).map_err(|_| CallError::Refused(Problem::not_found()))?;
        self.hosts.delete(&account, &agent, &host).await?;
        Ok(Response::new(DeleteCallbackHostReply {}))
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
}

fn reference(account: &str, agent: &str, name: &str) -> Result<Reference, CallError> {
    check_owner(account, agent)?;
    Ok(Reference::of_agent(account, agent, name)?)
}

/// The gateway knows the account and the agent; what is looked at here is only that they can be kept.
fn check_owner(account: &str, agent: &str) -> Result<(), CallError> {
    for (field, text) in [("account", account), ("agent", agent)] {
        if text.is_empty() || text.contains(char::is_control) {
            return Err(Problem::invalid_field(format!("{field}: expected an id")).into());
        }
    }
    Ok(())
}

impl From<SecretInfo> for Secret {
    fn from(secret: SecretInfo) -> Self {
        Self {
            r#ref: secret.reference,
            created_at: Some(timestamp(secret.created_at)),
            status: secret.status.as_str().to_owned(),
        }
    }
}

impl From<EntryKeyInfo> for EntryKey {
    fn from(key: EntryKeyInfo) -> Self {
        Self {
            alg: key.algorithm.as_str().to_owned(),
            created_at: key.created_at.map(timestamp),
        }
    }
}

impl From<hosts::CallbackHost> for CallbackHost {
    fn from(host: hosts::CallbackHost) -> Self {
        Self {
            host: host.host,
            method: host.method,
            status: host.status,
        }
    }
}

fn timestamp(time: OffsetDateTime) -> Timestamp {
    // Below a thousand million, so it fits.
    let nanos = i32::try_from(time.nanosecond()).unwrap_or_default();
    Timestamp {
        seconds: time.unix_timestamp(),
        nanos,
    }
}
