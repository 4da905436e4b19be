//! How an agent's mailbox entries are signed, and the body of its `bearer` and `apikey` callbacks (§9.2, §9.7).

use std::sync::Arc;

use hub_platform::db::{self, Client, During as _, Pool};
use hub_platform::ids;
use ma2h::secret;
use ma2h::sign::{Algorithm, SigningKey};
use time::OffsetDateTime;
use tokio_postgres::types::ToSql;
use zeroize::Zeroizing;

use crate::error::CallError;
use crate::vault::{Keyring, Place, SealError, Sealed, Table, owner};

pub(super) const PUT: &str = include_str!("put_entry.sql");
pub(super) const READ: &str = include_str!("read_entry.sql");
pub(super) const READ_SEALED: &str = include_str!("read_entry_sealed.sql");

/// The public side of an agent's entry key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct EntryKeyInfo {
    /// How its entries are signed.
    pub(crate) algorithm: Algorithm,
    /// When that was said; none where it is the default.
    pub(crate) created_at: Option<OffsetDateTime>,
}

/// Keeps the entry keys.
#[derive(Clone)]
pub(crate) struct EntryKeys {
    pool: Pool,
    keyring: Arc<Keyring>,
}

impl EntryKeys {
    /// Over this database, sealed by this key.
    pub(crate) fn new(pool: Pool, keyring: Arc<Keyring>) -> Self {
        Self { pool, keyring }
    }

    /// Says how an agent's entries are signed from now on.
    pub(crate) async fn put(
        &self,
        account: &str,
        agent: &str,
        algorithm: Algorithm,
        secret: Option<&str>,
    ) -> Result<EntryKeyInfo, CallError> {
        let version = ids::mint("key");
        secret::check_entry_key(algorithm, secret)?;
        let owner = owner(agent);
        let seal = |secret: &str| {
            self.keyring
                .seal(&place(account, &owner, &version), secret.as_bytes())
        };
        let sealed = secret.map(seal).transpose()?;
        let kek_id = sealed.as_ref().map(|_| self.keyring.id());
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
    pub(crate) async fn get(&self, account: &str, agent: &str) -> Result<EntryKeyInfo, CallError> {
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

    /// What an agent's entries are signed with; none where that is the hub's own key.
    pub(crate) async fn signing(&self, account: &str, agent: &str) -> Result<Option<SigningKey>, CallError> {
        let doing = "read an entry key to sign with";
        let client = self.client().await?;
        let statement = client.prepare_cached(READ_SEALED).await.during(doing)?;
        let row = client.query_opt(&statement, &[&account, &agent]).await;
        let Some(row) = row.during(doing)? else {
            return Ok(None);
        };
        let Some(bytes) = row.try_get::<_, Option<&[u8]>>("sealed").during(doing)? else {
            return Ok(None);
        };
        let sealed = Sealed {
            kek_id: row.try_get("kek_id").during(doing)?,
            bytes,
        };
        let version = row.try_get("version").during(doing)?;
        let secret = open_secret(&self.keyring, account, agent, version, sealed)?;
        Ok(Some(SigningKey::hmac(&secret)?))
    }

    async fn client(&self) -> Result<Client, CallError> {
        Ok(self.pool.get().await.during("connect for entry keys")?)
    }
}

/// Opens the secret of an entry key that a worker has read.
pub(crate) fn open_secret(
    keyring: &Keyring,
    account: &str,
    agent: &str,
    version: &str,
    sealed: Sealed<'_>,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    keyring.open(&place(account, &owner(agent), version), sealed)
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
