//! A chunk of messages whose time for a look has come, by what becomes of them.

use time::OffsetDateTime;
use tokio_postgres::Row;

/// Names of messages, column by column, as the statements take them.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) accounts: Vec<String>,
    pub(super) message_ids: Vec<String>,
}

impl Names {
    pub(super) fn is_empty(&self) -> bool {
        self.message_ids.is_empty()
    }

    /// Account and message, one by one.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.accounts
            .iter()
            .zip(&self.message_ids)
            .map(|(account, message_id)| (account.as_str(), message_id.as_str()))
    }

    fn add(&mut self, row: &Row) -> Result<(), tokio_postgres::Error> {
        self.accounts.push(row.try_get("account")?);
        self.message_ids.push(row.try_get("message_id")?);
        Ok(())
    }
}

/// The chunk. What is closed is kept as well, through the grace.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) keep: Names,
    /// Of those kept: from when on.
    pub(super) kept_from: Vec<OffsetDateTime>,
    pub(super) close: Names,
    pub(super) erase: Names,
    /// How many there were to take; others may have had some in hand.
    pub(super) found: u32,
}

impl Taken {
    pub(super) fn of(rows: &[Row]) -> Result<Self, tokio_postgres::Error> {
        let mut taken = Self::default();
        for row in rows {
            let found: i64 = row.try_get("found")?;
            taken.found = u32::try_from(found).unwrap_or_default();
            let Some(verdict) = row.try_get::<_, Option<&str>>("verdict")? else {
                continue;
            };
            if verdict == "erase" {
                taken.erase.add(row)?;
                continue;
            }
            taken.keep.add(row)?;
            taken.kept_from.push(row.try_get("kept_from")?);
            if verdict == "close" {
                taken.close.add(row)?;
            }
        }
        Ok(taken)
    }

    pub(super) fn len(&self) -> u32 {
        let len = self.keep.message_ids.len() + self.erase.message_ids.len();
        u32::try_from(len).unwrap_or(u32::MAX)
    }

    /// Tells the metrics.
    pub(super) fn count(&self) {
        for (outcome, names) in [("closed", &self.close), ("erased", &self.erase)] {
            let count = u64::try_from(names.message_ids.len()).unwrap_or_default();
            metrics::counter!("hub_lifecycle_retention_total", "outcome" => outcome).increment(count);
        }
    }
}
