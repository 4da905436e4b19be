//! Secrets by reference (§9.2, §9.6): sealed at rest, rotated by a second put, opened only to sign or to be sent.

mod keyring;
mod reference;
mod seal;

use std::sync::Arc;

use hub_platform::config;
use hub_platform::db::{self, Client, During as _, Pool, Transaction};
use ma2h::error::Problem;
use ma2h::secret;
use time::OffsetDateTime;
use tokio_postgres::Row;
use zeroize::Zeroizing;

pub(crate) use keyring::Keyring;
pub(crate) use reference::Reference;
pub(crate) use reference::owner;
pub(crate) use seal::{Place, SealError, Sealed, Table};

use crate::error::CallError;

const LOCK_REFERENCE: &str = include_str!("lock_reference.sql");
const READ_ACTIVE: &str = include_str!("read_active.sql");
const DROP_RETIRING: &str = include_str!("drop_retiring.sql");
const RETIRE_ACTIVE: &str = include_str!("retire_active.sql");
const INSERT_ACTIVE: &str = include_str!("insert_active.sql");
const LIST: &str = include_str!("list.sql");
const DELETE: &str = include_str!("delete.sql");

/// The statements of this module, by name.
pub(crate) const STATEMENTS: &[(&str, &str)] = &[
    ("vault/lock_reference", LOCK_REFERENCE),
    ("vault/read_active", READ_ACTIVE),
    ("vault/drop_retiring", DROP_RETIRING),
    ("vault/retire_active", RETIRE_ACTIVE),
    ("vault/insert_active", INSERT_ACTIVE),
    ("vault/list", LIST),
    ("vault/delete", DELETE),
];

/// References one owner may have.
const REFERENCES_PER_OWNER_MAX: i64 = 256;

/// Whether a version is the one in force.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SecretStatus {
    /// New deliveries use it.
    Active,
    /// It was in force before the last rotation, and its overlap is not over.
    Retiring,
}

impl SecretStatus {
    /// As the wire has it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Retiring => "retiring",
        }
    }

    fn of_row(row: &Row) -> Result<Self, tokio_postgres::Error> {
        let active = row.try_get::<_, &str>("status")? == "active";
        Ok(if active { Self::Active } else { Self::Retiring })
    }
}

/// The public side of one version of a secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SecretInfo {
    /// The reference it stands behind.
    pub(crate) reference: String,
    /// When it was put.
    pub(crate) created_at: OffsetDateTime,
    /// Whether it is in force.
    pub(crate) status: SecretStatus,
}

/// The version of a reference that is in force.
struct ActiveVersion {
    version: i64,
    sealed: Vec<u8>,
    kek_id: String,
    created_at: OffsetDateTime,
}

/// Keeps the secrets.
#[derive(Clone)]
pub(crate) struct Vault {
    pool: Pool,
    keyring: Arc<Keyring>,
    overlap_seconds: i64,
}

impl Vault {
    /// Over this database, sealed by this key; a secret that was replaced is listed for the overlap.
    pub(crate) fn new(pool: Pool, keyring: Arc<Keyring>, timing: &config::Keys) -> Self {
        Self {
            pool,
            keyring,
            overlap_seconds: i64::try_from(timing.secret_overlap_seconds).unwrap_or(i64::MAX),
        }
    }

    /// Puts a value in force. The one before it is retiring from then on, the one before that is gone. The value in
    /// force put again changes nothing, so that a put whose answer was lost can be repeated.
    pub(crate) async fn put(&self, reference: &Reference, value: &str) -> Result<SecretInfo, CallError> {
        secret::check_value("value", value)?;
        let created_at = db::retry(|| self.put_once(reference, value)).await?;
        Ok(SecretInfo {
            reference: reference.name().to_owned(),
            created_at,
            status: SecretStatus::Active,
        })
    }

    /// What an owner has, without the values.
    pub(crate) async fn list(&self, account: &str, owner: &str) -> Result<Vec<SecretInfo>, CallError> {
        let client = self.client().await?;
        let statement = client
            .prepare_cached(LIST)
            .await
            .during("prepare to list secrets")?;
        let rows = client
            .query(&statement, &[&account, &owner])
            .await
            .during("list secrets")?;
        Ok(rows
            .iter()
            .map(info_of_row)
            .collect::<Result<_, _>>()
            .during("read secrets")?)
    }

    /// Forgets every version of a reference, whether there is one or not: a call whose answer was lost can be repeated.
    pub(crate) async fn delete(&self, reference: &Reference) -> Result<(), CallError> {
        let delete = || async {
            let client = self.client().await?;
            let statement = client
                .prepare_cached(DELETE)
                .await
                .during("prepare to delete a secret")?;
            let deleted = client.execute(&statement, &reference.key()).await;
            Ok::<_, CallError>(deleted.during("delete a secret")?)
        };
        db::retry(delete).await?;
        Ok(())
    }

    async fn client(&self) -> Result<Client, CallError> {
        Ok(self.pool.get().await.during("connect for secrets")?)
    }

    /// One transaction: when the value was put in force.
    async fn put_once(&self, reference: &Reference, value: &str) -> Result<OffsetDateTime, CallError> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.during("begin to put a secret")?;
        lock(&transaction, reference).await?;
        let active = read_active(&transaction, reference).await?;
        let created_at = match active {
            Some(active) if self.holds(reference, &active, value) => active.created_at,
            active => {
                let version = active.map_or(1, |active| active.version + 1);
                self.rotate(&transaction, reference, version, value).await?
            }
        };
        transaction.commit().await.during("commit a secret")?;
        Ok(created_at)
    }

    /// Whether the version in force is this value. One that does not open is not.
    fn holds(&self, reference: &Reference, active: &ActiveVersion, value: &str) -> bool {
        let sealed = Sealed {
            kek_id: &active.kek_id,
            bytes: &active.sealed,
        };
        let opened = self
            .keyring
            .open(&reference.place(&active.version.to_string()), sealed);
        // Whoever may put a secret may also put another: how long this takes tells nothing.
        opened.is_ok_and(|opened| opened.as_slice() == value.as_bytes())
    }

    async fn rotate(
        &self,
        transaction: &Transaction<'_>,
        reference: &Reference,
        version: i64,
        value: &str,
    ) -> Result<OffsetDateTime, CallError> {
        let sealed = self
            .keyring
            .seal(&reference.place(&version.to_string()), value.as_bytes())?;
        let [account, owner, name] = reference.key();
        let doing = "retire the secret in force";
        let drop = transaction.prepare_cached(DROP_RETIRING).await.during(doing)?;
        transaction
            .execute(&drop, &[account, owner, name])
            .await
            .during(doing)?;
        let retire = transaction.prepare_cached(RETIRE_ACTIVE).await.during(doing)?;
        transaction
            .execute(&retire, &[account, owner, name, &self.overlap_seconds])
            .await
            .during(doing)?;
        let insert = transaction
            .prepare_cached(INSERT_ACTIVE)
            .await
            .during("prepare to insert a secret")?;
        let kek_id = self.keyring.id();
        let inserted = transaction
            .query_opt(
                &insert,
                &[
                    account,
                    owner,
                    name,
                    &version,
                    &sealed,
                    &kek_id,
                    &REFERENCES_PER_OWNER_MAX,
                ],
            )
            .await
            .during("insert a secret")?;
        let Some(row) = inserted else {
            let message = format!("ref: at most {REFERENCES_PER_OWNER_MAX} secrets");
            return Err(Problem::invalid_field(message).into());
        };
        Ok(row.try_get("created_at").during("read the secret put")?)
    }
}

/// Opens the version of a secret that a worker has read.
pub(crate) fn open_version(
    keyring: &Keyring,
    reference: &Reference,
    version: i64,
    sealed: Sealed<'_>,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    keyring.open(&reference.place(&version.to_string()), sealed)
}

async fn lock(transaction: &Transaction<'_>, reference: &Reference) -> Result<(), CallError> {
    let statement = transaction
        .prepare_cached(LOCK_REFERENCE)
        .await
        .during("prepare to lock a reference")?;
    transaction
        .execute(&statement, &reference.key())
        .await
        .during("lock a reference")?;
    Ok(())
}

async fn read_active(
    transaction: &Transaction<'_>,
    reference: &Reference,
) -> Result<Option<ActiveVersion>, CallError> {
    let statement = transaction
        .prepare_cached(READ_ACTIVE)
        .await
        .during("prepare to read a secret")?;
    let row = transaction
        .query_opt(&statement, &reference.key())
        .await
        .during("read a secret")?;
    let active = row.map(|row| {
        Ok::<_, tokio_postgres::Error>(ActiveVersion {
            version: row.try_get("version")?,
            sealed: row.try_get("sealed")?,
            kek_id: row.try_get("kek_id")?,
            created_at: row.try_get("created_at")?,
        })
    });
    Ok(active.transpose().during("read a secret")?)
}

fn info_of_row(row: &Row) -> Result<SecretInfo, tokio_postgres::Error> {
    Ok(SecretInfo {
        reference: row.try_get("ref")?,
        created_at: row.try_get("created_at")?,
        status: SecretStatus::of_row(row)?,
    })
}
