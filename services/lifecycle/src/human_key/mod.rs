//! Keys that make a human's call repeatable: the same key and body within its time is the same operation (design rule 4).

use hub_platform::db::{self, During};
use ma2h::error::{ErrorCode, Problem};
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::statement::{Statement, Values};
use crate::tier::Tier;

pub(crate) const ORIGINAL: Statement = Statement {
    name: "find key of a human",
    sql: include_str!("original.sql"),
};

pub(crate) const RESERVE: Statement = Statement {
    name: "reserve key of a human",
    sql: include_str!("reserve.sql"),
};

/// Longest key, in bytes.
const KEY_BYTES_MAX: usize = 1024;

/// A key, and what it was used for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HumanKey {
    /// SHA-256 of its bytes.
    pub(crate) hash: [u8; 32],
    /// SHA-256 of what was asked for, in its lossless form.
    pub(crate) digest: [u8; 32],
}

impl HumanKey {
    /// Reads a key, if the call has one.
    pub(crate) fn read(key: Option<&str>, digest: [u8; 32]) -> Result<Option<Self>, Problem> {
        let Some(key) = key else {
            return Ok(None);
        };
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            let message = format!("idempotency-key: expected 1 to {KEY_BYTES_MAX} bytes");
            return Err(Problem::validation(message));
        }
        let hash = Sha256::digest(key).into();
        Ok(Some(Self { hash, digest }))
    }
}

impl Tier {
    /// Waits for a call under the same key that is under way. Leaves nothing behind.
    pub(crate) async fn wait_for_key(
        &self,
        account: &str,
        human: &str,
        key: &HumanKey,
        candidate: &str,
    ) -> Result<(), db::Error> {
        let (hash, digest) = (key.hash.as_slice(), key.digest.as_slice());
        let values: Values<'_> = &[&account, &human, &hash, &digest, &candidate];
        db::retry(|| RESERVE.reserve(&self.pool, values)).await
    }

    /// The id of what an earlier call under the same key made, if there was one.
    pub(crate) async fn made_under(
        &self,
        account: &str,
        human: &str,
        key: &HumanKey,
    ) -> Result<Option<String>, Error> {
        let hash = key.hash.as_slice();
        let Some(row) = ORIGINAL.row(&self.pool, &[&account, &human, &hash]).await? else {
            return Ok(None);
        };
        let digest: &[u8] = row.try_get("digest").during(ORIGINAL.name)?;
        if digest != key.digest {
            let message = "idempotency-key: was used for another body";
            return Err(Problem::new(ErrorCode::IdempotencyConflict, message).into());
        }
        let id: Option<String> = row.try_get("made_id").during(ORIGINAL.name)?;
        Ok(Some(id.ok_or_else(Problem::gone)?))
    }
}

#[cfg(test)]
mod tests {
    use super::HumanKey;

    #[test]
    fn a_key_is_bounded_and_may_be_absent() {
        let read = |key: Option<&str>| HumanKey::read(key, [0; 32]).map(|key| key.is_some());
        assert_eq!(read(None), Ok(false));
        assert_eq!(read(Some("k")), Ok(true));
        assert!(read(Some("")).is_err());
        assert!(read(Some(&"k".repeat(1025))).is_err());
    }
}
