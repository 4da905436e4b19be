//! Rotation of the key-encryption key: what is sealed under one that is only accepted still is sealed anew under the current
//! one, batch after batch, while the hub serves.
//!
//! Each batch is a statement of its own, and a value is written only over the seal it was read from. So it can end at any
//! point, several can run at once, and whoever runs it again goes on with what is left.

use std::sync::Arc;

use hub_platform::db::{self, Client, During as _, Pool};
use tokio_postgres::Row;

use crate::error::CallError;
use crate::vault::{Keyring, Place, Sealed, Table};

const COUNT: &str = include_str!("count.sql");

/// A table of sealed values, and the statements that read a batch of it and write it back.
struct Kept {
    table: Table,
    name: &'static str,
    read: &'static str,
    write: &'static str,
}

const KEPT: [Kept; 3] = [
    Kept {
        table: Table::Secrets,
        name: "secrets",
        read: include_str!("read_secrets.sql"),
        write: include_str!("write_secrets.sql"),
    },
    Kept {
        table: Table::EntryKeys,
        name: "entry keys",
        read: include_str!("read_entry_keys.sql"),
        write: include_str!("write_entry_keys.sql"),
    },
    Kept {
        table: Table::SigningKeys,
        name: "signing keys",
        read: include_str!("read_signing_keys.sql"),
        write: include_str!("write_signing_keys.sql"),
    },
];

/// The statements of this module, by name.
pub(crate) const STATEMENTS: &[(&str, &str)] = &[
    ("reseal/count", COUNT),
    ("reseal/read_secrets", KEPT[0].read),
    ("reseal/write_secrets", KEPT[0].write),
    ("reseal/read_entry_keys", KEPT[1].read),
    ("reseal/write_entry_keys", KEPT[1].write),
    ("reseal/read_signing_keys", KEPT[2].read),
    ("reseal/write_signing_keys", KEPT[2].write),
];

/// How far a rotation is with one table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// What the table holds.
    pub table: &'static str,
    /// How many of them were sealed anew.
    pub resealed: u64,
    /// How many did not open: altered, or moved from another row.
    pub unreadable: u64,
}

/// What is still sealed under another key than the current one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// That key.
    pub kek_id: String,
    /// How many values.
    pub sealed: i64,
}

/// Seals anew.
pub(crate) struct Resealer {
    pool: Pool,
    keyring: Arc<Keyring>,
    batch_max: i64,
}

/// A sealed value, found where it is kept.
struct Found {
    account: String,
    owner: String,
    name: String,
    version: String,
    sealed: Vec<u8>,
    kek_id: String,
}

impl Resealer {
    /// Over this database, at most so many values in a batch.
    pub(crate) fn new(pool: Pool, keyring: Arc<Keyring>, batch_max: u32) -> Self {
        Self {
            pool,
            keyring,
            batch_max: i64::from(batch_max.max(1)),
        }
    }

    /// The current key.
    pub(crate) fn kek_id(&self) -> &str {
        self.keyring.id()
    }

    /// Walks all tables once; `progress` hears of each batch that is done.
    pub(crate) async fn run(&self, mut progress: impl FnMut(Progress)) -> Result<(), CallError> {
        for kept in &KEPT {
            self.walk(kept, &mut progress).await?;
        }
        Ok(())
    }

    /// What is not sealed under the current key.
    pub(crate) async fn left(&self) -> Result<Vec<Left>, CallError> {
        let doing = "count what is sealed under other keys";
        let client = self.client().await?;
        let statement = client.prepare_cached(COUNT).await.during(doing)?;
        let rows = client
            .query(&statement, &[&self.keyring.id()])
            .await
            .during(doing)?;
        let left = rows.iter().map(|row| {
            Ok::<_, tokio_postgres::Error>(Left {
                kek_id: row.try_get("kek_id")?,
                sealed: row.try_get("sealed")?,
            })
        });
        Ok(left.collect::<Result<_, _>>().during(doing)?)
    }

    async fn walk(&self, kept: &Kept, progress: &mut impl FnMut(Progress)) -> Result<(), CallError> {
        let mut so_far = Progress {
            table: kept.name,
            resealed: 0,
            unreadable: 0,
        };
        let mut after = None;
        loop {
            let batch = self.read(kept, after.as_ref()).await?;
            if batch.is_empty() {
                return Ok(());
            }
            let (resealed, unreadable) = self.reseal(kept, &batch).await?;
            so_far.resealed += resealed;
            so_far.unreadable += unreadable;
            progress(so_far);
            after = batch.into_iter().last();
        }
    }

    async fn read(&self, kept: &Kept, after: Option<&Found>) -> Result<Vec<Found>, CallError> {
        let doing = "read sealed values";
        let old: Vec<&str> = self
            .keyring
            .ids()
            .into_iter()
            .filter(|id| *id != self.keyring.id())
            .collect();
        let [account, owner, name, version] = after.map_or(["", "", "", "0"], Found::key);
        let client = self.client().await?;
        let statement = client.prepare_cached(kept.read).await.during(doing)?;
        let rows = client
            .query(
                &statement,
                &[&account, &owner, &name, &version, &old, &self.batch_max],
            )
            .await
            .during(doing)?;
        let found = rows.iter().map(Found::of_row);
        Ok(found.collect::<Result<_, _>>().during(doing)?)
    }

    /// How many were sealed anew, and how many do not open.
    async fn reseal(&self, kept: &Kept, batch: &[Found]) -> Result<(u64, u64), CallError> {
        let mut readable = Vec::with_capacity(batch.len());
        let mut seals = Vec::with_capacity(batch.len());
        for found in batch {
            let place = found.place(kept.table);
            match self.keyring.open(&place, found.sealed()) {
                Ok(plaintext) => {
                    seals.push(self.keyring.seal(&place, &plaintext)?);
                    readable.push(found);
                }
                Err(error) => {
                    tracing::error!(table = kept.name, %error, "sealed value unusable");
                }
            }
        }
        let written = db::retry(|| self.write(kept, &readable, &seals)).await?;
        Ok((written, (batch.len() - readable.len()) as u64))
    }

    async fn write(&self, kept: &Kept, batch: &[&Found], seals: &[Vec<u8>]) -> Result<u64, CallError> {
        let doing = "write values sealed anew";
        let column = |number: usize| batch.iter().map(|found| found.key()[number]).collect::<Vec<_>>();
        let old: Vec<&[u8]> = batch.iter().map(|found| found.sealed.as_slice()).collect();
        let client = self.client().await?;
        let statement = client.prepare_cached(kept.write).await.during(doing)?;
        let written = client
            .execute(
                &statement,
                &[
                    &column(0),
                    &column(1),
                    &column(2),
                    &column(3),
                    &old,
                    &seals,
                    &self.keyring.id(),
                ],
            )
            .await;
        Ok(written.during(doing)?)
    }

    async fn client(&self) -> Result<Client, CallError> {
        Ok(self.pool.get().await.during("connect to seal anew")?)
    }
}

impl Found {
    fn of_row(row: &Row) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            account: row.try_get("account")?,
            owner: row.try_get("owner")?,
            name: row.try_get("name")?,
            version: row.try_get("version")?,
            sealed: row.try_get("sealed")?,
            kek_id: row.try_get("kek_id")?,
        })
    }

    fn key(&self) -> [&str; 4] {
        [&self.account, &self.owner, &self.name, &self.version]
    }

    fn place(&self, table: Table) -> Place<'_> {
        Place {
            table,
            account: &self.account,
            owner: &self.owner,
            name: &self.name,
            version: &self.version,
        }
    }

    fn sealed(&self) -> Sealed<'_> {
        Sealed {
            kek_id: &self.kek_id,
            bytes: &self.sealed,
        }
    }
}
