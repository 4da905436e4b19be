//! How an agent's mailbox entries are signed, and the body of its `bearer` and `apikey` callbacks (§9.2, §9.7).

use std::str::FromStr;
use std::sync::Arc;

use hub_platform::db::{self, Client, During as _, Pool};
use hub_platform::ids;
use ma2h::error::Problem;
use time::OffsetDateTime;
use tokio_postgres::types::ToSql;
use zeroize::Zeroizing;

use crate::error::CallError;
use crate::vault::{KeyEncryptionKey, Place, SealError, Sealed, Table, VALUE_BYTES_MAX, agent_owner};

pub(super) const PUT: &str = include_str!("put_entry.sql");
pub(super) const READ: &str = include_str!("read_entry.sql");

/// How something is signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Algorithm {
    /// With a secret that the agent has as well.
    HmacSha256,
    /// With the hub's own key, whose public half is published.
    #[default]
    Ed25519,
}

impl Algorithm {
    /// As the wire has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HmacSha256 => "hmac-sha256",
            Self::Ed25519 => "ed25519",
        }
    }
}

impl FromStr for Algorithm {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match text {
            "hmac-sha256" => Ok(Self::HmacSha256),
            "ed25519" => Ok(Self::Ed25519),
            _ => Err(Problem::invalid_field("alg: expected hmac-sha256 or ed25519")),
        }
    }
}

/// The public side of an agent's entry key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EntryKeyInfo {
    /// How its entries are signed.
    pub algorithm: Algorithm,
    /// When that was said; none where it is the default.
    pub created_at: Option<OffsetDateTime>,
}

/// Keeps the entry keys.
#[derive(Clone)]
pub struct EntryKeys {
    pool: Pool,
    kek: Arc<KeyEncryptionKey>,
}

impl EntryKeys {
    /// Over this database, sealed by this key.
    pub fn new(pool: Pool, kek: Arc<KeyEncryptionKey>) -> Self {
        Self { pool, kek }
    }

    /// Says how an agent's entries are signed from now on.
    pub async fn put(
        &self,
        account: &str,
        agent: &str,
        algorithm: Algorithm,
        secret: Option<&str>,
    ) -> Result<EntryKeyInfo, CallError> {
        let version = ids::mint("key");
        let sealed = match (algorithm, secret) {
            (Algorithm::HmacSha256, Some(secret)) if (1..=VALUE_BYTES_MAX).contains(&secret.len()) => {
                let owner = agent_owner(agent);
                Some(
                    self.kek
                        .seal(&place(account, &owner, &version), secret.as_bytes())?,
                )
            }
            (Algorithm::Ed25519, None) => None,
            (Algorithm::HmacSha256, _) => {
                let message = format!("secret: hmac-sha256 expects one of 1 to {VALUE_BYTES_MAX} bytes");
                return Err(Problem::invalid_field(message).into());
            }
            (Algorithm::Ed25519, Some(_)) => {
                return Err(Problem::invalid_field("secret: ed25519 takes none").into());
            }
        };
        let kek_id = sealed.as_ref().map(|_| self.kek.id());
        let columns: [&(dyn ToSql + Sync); 6] =
            [&account, &agent, &version, &algorithm.as_str(), &sealed, &kek_id];
        let put = || async {
            let client = self.client().await?;
            let statement = client
                .prepare_cached(PUT)
                .await
                .during("prepare to put an entry key")?;
            let row = client.query_one(&statement, &columns).await;
            Ok::<_, CallError>(row.during("put an entry key")?)
        };
        let row = db::retry(put).await?;
        let created_at = row.try_get("created_at").during("read the entry key put")?;
        Ok(EntryKeyInfo {
            algorithm,
            created_at,
        })
    }

    /// How an agent's entries are signed.
    pub async fn get(&self, account: &str, agent: &str) -> Result<EntryKeyInfo, CallError> {
        let client = self.client().await?;
        let statement = client
            .prepare_cached(READ)
            .await
            .during("prepare to read an entry key")?;
        let row = client
            .query_opt(&statement, &[&account, &agent])
            .await
            .during("read an entry key")?;
        let Some(row) = row else {
            return Ok(EntryKeyInfo::default());
        };
        let algorithm: &str = row.try_get("alg").during("read an entry key")?;
        let created_at = row.try_get("created_at").during("read an entry key")?;
        Ok(EntryKeyInfo {
            algorithm: algorithm.parse()?,
            created_at,
        })
    }

    async fn client(&self) -> Result<Client, CallError> {
        Ok(self.pool.get().await.during("connect for entry keys")?)
    }
}

/// Opens the secret of an entry key that a worker has read.
pub(crate) fn open_secret(
    kek: &KeyEncryptionKey,
    account: &str,
    agent: &str,
    version: &str,
    sealed: Sealed<'_>,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    kek.open(&place(account, &agent_owner(agent), version), sealed)
}

fn place<'a>(account: &'a str, owner: &'a str, version: &'a str) -> Place<'a> {
    Place {
        table: Table::EntryKeys,
        account,
        owner,
        name: "entry-key",
        version,
    }
}
