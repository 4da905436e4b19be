//! What pushes need to be sent: read for a whole batch at once, and as it is now. A host taken back or a secret
//! rotated since the submit counts (§9.4).

use std::sync::Arc;

use http::HeaderValue;
use http::header::{AUTHORIZATION, HeaderName};
use hub_platform::db::{self, During as _, Pool};
use hub_proto::lifecycle::Push;
use ma2h::callback::{AuthScheme, host_of};
use ma2h::sign::SigningKey;
use tokio_postgres::Row;
use zeroize::Zeroizing;

use super::outcome::Fault;
use crate::error::CallError;
use crate::guard::Failure;
use crate::keys::{self, HubKeys};
use crate::vault::{Keyring, Reference, SealError, Sealed, open_version};

pub(super) const READ: &str = include_str!("read_materials.sql");

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// All that a push needs beside itself.
pub(super) struct Material {
    /// What its body is signed with.
    pub(super) signing: Signing,
    /// The header that carries its credential, if one does.
    pub(super) credential: Option<(HeaderName, HeaderValue)>,
}

/// What of a push's host was known when its material was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// It works.
    Well,
    /// It failed lately.
    Failing,
    /// Nothing is sent to it now.
    Held,
    /// One push may look whether it is back.
    Probe,
}

/// A push with all that it takes to try it.
pub(super) struct Prepared {
    pub(super) push: Push,
    /// The host of its URL, in normal form; empty where it has none.
    pub(super) host: String,
    pub(super) gate: Gate,
    /// Its material, or why it has none.
    pub(super) material: Result<Material, Fault>,
}

/// The key that signs a body.
pub(super) enum Signing {
    /// A secret that the other side has as well.
    Shared(SigningKey),
    /// The hub's own key.
    Hub(Arc<keys::HubKey>),
}

impl Signing {
    pub(super) fn key(&self) -> &SigningKey {
        match self {
            Self::Shared(key) => key,
            Self::Hub(key) => &key.signing,
        }
    }
}

/// Reads materials.
#[derive(Clone)]
pub(super) struct Materials {
    pub(super) pool: Pool,
    pub(super) keyring: Arc<Keyring>,
    pub(super) hub_keys: HubKeys,
}

impl Materials {
    /// Prepares every push. An error means that nothing is known of any.
    pub(super) async fn prepare(&self, pushes: &[Push]) -> Result<Vec<Prepared>, CallError> {
        let hosts: Vec<_> = pushes
            .iter()
            .map(|push| host_of(&push.url).unwrap_or_default())
            .collect();
        let rows = self.read_rows(pushes, &hosts).await?;
        let mut prepared = Vec::with_capacity(pushes.len());
        for ((push, host), row) in pushes.iter().zip(hosts).zip(rows) {
            prepared.push(Prepared {
                material: self.material(push, &host, &row).await?,
                gate: gate(&row).during("read a host's health")?,
                push: push.clone(),
                host,
            });
        }
        Ok(prepared)
    }

    async fn read_rows(&self, pushes: &[Push], hosts: &[String]) -> Result<Vec<Row>, db::Error> {
        let accounts: Vec<_> = pushes.iter().map(|push| push.account.as_str()).collect();
        let agents: Vec<_> = pushes.iter().map(|push| push.agent.as_str()).collect();
        let references: Vec<_> = pushes
            .iter()
            .map(|push| searchable(&push.credential_ref))
            .collect();
        let client = self.pool.get().await.during("connect for a batch of pushes")?;
        let statement = client
            .prepare_cached(READ)
            .await
            .during("prepare to read what pushes need")?;
        let rows = client
            .query(&statement, &[&accounts, &agents, &hosts, &references])
            .await;
        let rows = rows.during("read what pushes need")?;
        if rows.len() == pushes.len() {
            Ok(rows)
        } else {
            Err(db::Error::corrupt("a push needs what is there more than once"))
        }
    }

    async fn material(
        &self,
        push: &Push,
        host: &str,
        row: &Row,
    ) -> Result<Result<Material, Fault>, CallError> {
        if host.is_empty() {
            return Ok(Err(Fault::Call(Failure::InvalidUrl)));
        }
        let doing = "read a push's materials";
        if !row.try_get::<_, bool>("host_verified").during(doing)? {
            let is_registered: bool = row.try_get("host_registered").during(doing)?;
            return Ok(Err(if is_registered {
                Fault::HostPending
            } else {
                Fault::HostNotVerified
            }));
        }
        let secret = match self.open_secret(push, row).during(doing)? {
            Ok(Some(secret)) => secret,
            Ok(None) => return Ok(Err(Fault::CredentialMissing)),
            Err(error) => return Ok(Err(unreadable(push, error))),
        };
        let Ok(scheme) = push.scheme.parse::<AuthScheme>() else {
            return Ok(Err(Fault::CredentialUnusable));
        };
        let Ok(credential) = credential_header(scheme, &secret) else {
            return Ok(Err(Fault::CredentialUnusable));
        };
        let signing = match scheme {
            AuthScheme::Hmac => shared(&secret),
            AuthScheme::Bearer | AuthScheme::ApiKey => match self.open_entry_key(push, row).during(doing)? {
                Ok(Some(key)) => shared(&key),
                Ok(None) => self.hub_key(push).await?,
                Err(error) => Err(unreadable(push, error)),
            },
        };
        Ok(signing.map(|signing| Material { signing, credential }))
    }

    async fn hub_key(&self, push: &Push) -> Result<Result<Signing, Fault>, CallError> {
        match self.hub_keys.active().await {
            Ok(key) => Ok(Ok(Signing::Hub(key))),
            // The pushes beside it may do without this key.
            Err(CallError::Seal(error)) => Ok(Err(unreadable(push, error))),
            Err(error) => Err(error),
        }
    }

    fn open_secret(&self, push: &Push, row: &Row) -> Result<Opened, tokio_postgres::Error> {
        let Some(version) = row.try_get::<_, Option<i64>>("secret_version")? else {
            return Ok(Ok(None));
        };
        let sealed = Sealed {
            kek_id: row.try_get("secret_kek_id")?,
            bytes: row.try_get("secret_sealed")?,
        };
        let Ok(reference) = Reference::of(&push.account, &push.agent, &push.credential_ref) else {
            return Ok(Ok(None));
        };
        Ok(open_version(&self.keyring, &reference, version, sealed).map(Some))
    }

    fn open_entry_key(&self, push: &Push, row: &Row) -> Result<Opened, tokio_postgres::Error> {
        let Some(bytes) = row.try_get::<_, Option<&[u8]>>("key_sealed")? else {
            return Ok(Ok(None));
        };
        let sealed = Sealed {
            kek_id: row.try_get("key_kek_id")?,
            bytes,
        };
        let version = row.try_get("key_version")?;
        Ok(keys::open_secret(&self.keyring, &push.account, &push.agent, version, sealed).map(Some))
    }
}

fn gate(row: &Row) -> Result<Gate, tokio_postgres::Error> {
    Ok(if row.try_get("may_be_probed")? {
        Gate::Probe
    } else if row.try_get("is_held")? {
        Gate::Held
    } else if row.try_get("has_failed")? {
        Gate::Failing
    } else {
        Gate::Well
    })
}

/// What was sealed, if there is something.
type Opened = Result<Option<Zeroizing<Vec<u8>>>, SealError>;

/// A reference comes from an envelope, where it may hold what the database's text cannot; none such is kept.
fn searchable(reference: &str) -> &str {
    if reference.contains('\0') { "" } else { reference }
}

fn shared(secret: &[u8]) -> Result<Signing, Fault> {
    SigningKey::hmac(secret)
        .map(Signing::Shared)
        .map_err(|_| Fault::CredentialUnusable)
}

/// The header that carries a credential; for `hmac` the signature says it all.
fn credential_header(
    scheme: AuthScheme,
    secret: &[u8],
) -> Result<Option<(HeaderName, HeaderValue)>, http::header::InvalidHeaderValue> {
    let (name, mut value) = match scheme {
        AuthScheme::Hmac => return Ok(None),
        AuthScheme::Bearer => {
            let bearer = Zeroizing::new([b"Bearer ".as_slice(), secret].concat());
            (AUTHORIZATION, HeaderValue::from_bytes(&bearer)?)
        }
        AuthScheme::ApiKey => (X_API_KEY, HeaderValue::from_bytes(secret)?),
    };
    value.set_sensitive(true);
    Ok(Some((name, value)))
}

fn unreadable(push: &Push, error: SealError) -> Fault {
    tracing::error!(message_id = push.message_id, %error, "key for a push does not open");
    Fault::KeyUnreadable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheme_has_its_header() {
        assert_eq!(credential_header(AuthScheme::Hmac, b"k").unwrap(), None);
        let (name, value) = credential_header(AuthScheme::Bearer, b"tok").unwrap().unwrap();
        assert_eq!(
            (name.as_str(), value.as_bytes()),
            ("authorization", b"Bearer tok".as_slice())
        );
        assert!(value.is_sensitive());
        let (name, value) = credential_header(AuthScheme::ApiKey, b"key").unwrap().unwrap();
        assert_eq!(
            (name.as_str(), value.as_bytes()),
            ("x-api-key", b"key".as_slice())
        );
        assert!(value.is_sensitive());
        assert!(credential_header(AuthScheme::Bearer, b"two\r\nlines").is_err());
    }
}
