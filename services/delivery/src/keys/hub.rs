//! The hub's own Ed25519 keys, one for all replicas: the one that signs now, and those that are published.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hub_platform::config;
use hub_platform::db::{self, Client, During as _, Pool, Transaction};
use ma2h::sign::SigningKey;
use rand::TryRng as _;
use rand::rngs::SysRng;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use zeroize::Zeroizing;

use crate::error::CallError;
use crate::vault::{Keyring, Place, SealError, Sealed, Table};

pub(super) const LOCK: &str = include_str!("lock_signing.sql");
pub(super) const INSERT: &str = include_str!("insert_signing.sql");
pub(super) const RETIRE: &str = include_str!("retire_signing.sql");
pub(super) const READ: &str = include_str!("read_signing.sql");
pub(super) const LIST: &str = include_str!("list_signing.sql");

/// How long a worker signs with the key it knows before it looks again, at most: far shorter than a key stays published
/// after the next one has begun.
const KNOWN_FOR_MAX: Duration = Duration::from_secs(1);

/// A key that can sign.
pub(crate) struct HubKey {
    /// The name it is published under.
    pub(crate) kid: String,
    /// The key itself.
    pub(crate) signing: SigningKey,
}

/// A key that was read, and until when it is taken for the one that signs.
struct Known {
    key: Arc<HubKey>,
    until: Instant,
}

/// What is published of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicKey {
    /// Its name.
    pub kid: String,
    /// Its 32 bytes.
    pub public_key: Vec<u8>,
    /// When it began to sign, or will.
    pub signs_from: OffsetDateTime,
    /// When it is no longer published, where the next one is known.
    pub published_until: Option<OffsetDateTime>,
}

/// Keeps the hub's keys. Clones share what is known.
#[derive(Clone)]
pub(crate) struct HubKeys {
    pool: Pool,
    keyring: Arc<Keyring>,
    lead_seconds: i64,
    overlap_seconds: i64,
    known: Arc<Mutex<Option<Known>>>,
}

impl HubKeys {
    /// Over this database, sealed by this key.
    pub(crate) fn new(pool: Pool, keyring: Arc<Keyring>, timing: &config::Keys) -> Self {
        let seconds = |seconds: u64| i64::try_from(seconds).unwrap_or(i64::MAX);
        Self {
            pool,
            keyring,
            lead_seconds: seconds(timing.signing_lead_seconds),
            overlap_seconds: seconds(timing.signing_overlap_seconds),
            known: Arc::default(),
        }
    }

    /// The key that signs now; makes it if there is none.
    pub(crate) async fn active(&self) -> Result<Arc<HubKey>, CallError> {
        if let Some(key) = self.known() {
            return Ok(key);
        }
        let known = if let Some(known) = self.read().await? {
            known
        } else {
            self.rotate().await?;
            let known = self.read().await?;
            known.ok_or_else(|| db::Error::corrupt("no signing key signs after one was made"))?
        };
        let key = known.key.clone();
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(key)
    }

    /// All that is published, newest first; makes the first key if there is none.
    pub(crate) async fn list(&self) -> Result<Vec<PublicKey>, CallError> {
        let keys = self.published().await?;
        if !keys.is_empty() {
            return Ok(keys);
        }
        self.rotate().await?;
        self.published().await
    }

    /// Makes the key that signs after the lead, or at once if it is the first; the one before stays published for the overlap
    /// from then on. Where one is still to begin, that is the rotation: false. So replicas that start at once agree on one
    /// key, and a rotation whose answer was lost can be repeated.
    pub(crate) async fn rotate(&self) -> Result<bool, CallError> {
        db::retry(|| self.rotate_once()).await
    }

    fn known(&self) -> Option<Arc<HubKey>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_ref()?;
        (Instant::now() < known.until).then(|| known.key.clone())
    }

    async fn client(&self) -> Result<Client, CallError> {
        Ok(self.pool.get().await.during("connect for the hub's keys")?)
    }

    async fn read(&self) -> Result<Option<Known>, CallError> {
        let doing = "read the hub's signing key";
        // Taken before the question is asked: what it says of the next key counts from then on.
        let asked = Instant::now();
        let client = self.client().await?;
        let statement = client.prepare_cached(READ).await.during(doing)?;
        let Some(row) = client.query_opt(&statement, &[]).await.during(doing)? else {
            return Ok(None);
        };
        let kid: String = row.try_get("kid").during(doing)?;
        let sealed = Sealed {
            kek_id: row.try_get("kek_id").during(doing)?,
            bytes: row.try_get("sealed").during(doing)?,
        };
        let secret = self.keyring.open(&place(&kid), sealed)?;
        let seed = secret.as_slice().try_into().map_err(|_| SealError::Altered)?;
        let signing = SigningKey::ed25519(seed);
        let signs_for_ms: Option<i64> = row.try_get("signs_for_ms").during(doing)?;
        let signs_for = signs_for_ms.map(|ms| Duration::from_millis(ms.unsigned_abs()));
        Ok(Some(Known {
            key: Arc::new(HubKey { kid, signing }),
            until: asked + signs_for.unwrap_or(KNOWN_FOR_MAX).min(KNOWN_FOR_MAX),
        }))
    }

    async fn published(&self) -> Result<Vec<PublicKey>, CallError> {
        let doing = "list signing keys";
        let client = self.client().await?;
        let statement = client.prepare_cached(LIST).await.during(doing)?;
        let rows = client.query(&statement, &[]).await.during(doing)?;
        let keys = rows.iter().map(|row| {
            Ok::<_, tokio_postgres::Error>(PublicKey {
                kid: row.try_get("kid")?,
                public_key: row.try_get("public_key")?,
                signs_from: row.try_get("signs_from")?,
                published_until: row.try_get("published_until")?,
            })
        });
        Ok(keys.collect::<Result<_, _>>().during(doing)?)
    }

    async fn rotate_once(&self) -> Result<bool, CallError> {
        let doing = "rotate the hub's signing key";
        let mut client = self.client().await?;
        let transaction = client.transaction().await.during(doing)?;
        let lock = transaction.prepare_cached(LOCK).await.during(doing)?;
        transaction.execute(&lock, &[]).await.during(doing)?;
        let made = self.make(&transaction).await?;
        transaction.commit().await.during(doing)?;
        if let Some(kid) = &made {
            tracing::info!(kid, "made a signing key");
        }
        Ok(made.is_some())
    }

    /// The name of a new key, unless one is still to begin.
    async fn make(&self, transaction: &Transaction<'_>) -> Result<Option<String>, CallError> {
        let mut seed = Zeroizing::new([0; 32]);
        SysRng
            .try_fill_bytes(seed.as_mut_slice())
            .map_err(|_| SealError::Unsealable)?;
        let public = SigningKey::ed25519(&seed).verifying_key().public_bytes();
        let public = public.ok_or(SealError::Unsealable)?;
        let kid = key_id(&public);
        let sealed = self.keyring.seal(&place(&kid), seed.as_slice())?;

        let doing = "make a signing key";
        let insert = transaction.prepare_cached(INSERT).await.during(doing)?;
        let kek_id = self.keyring.id();
        let inserted = transaction
            .query_opt(
                &insert,
                &[&kid, &public.as_slice(), &sealed, &kek_id, &self.lead_seconds],
            )
            .await
            .during(doing)?;
        if inserted.is_none() {
            return Ok(None);
        }
        let retire = transaction.prepare_cached(RETIRE).await.during(doing)?;
        transaction
            .execute(&retire, &[&kid, &self.overlap_seconds])
            .await
            .during(doing)?;
        Ok(Some(kid))
    }
}

fn place(kid: &str) -> Place<'_> {
    Place {
        table: Table::SigningKeys,
        account: "",
        owner: "",
        name: kid,
        version: "1",
    }
}

/// The thumbprint of the public key as a JWK (RFC 7638): whoever has the key can tell its name.
fn key_id(public: &[u8; 32]) -> String {
    let x = URL_SAFE_NO_PAD.encode(public);
    let digest = Sha256::digest(format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#));
    URL_SAFE_NO_PAD.encode(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 8037, appendix A.3.
    #[test]
    fn a_key_is_named_by_its_thumbprint() {
        let x = URL_SAFE_NO_PAD
            .decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
            .unwrap();
        assert_eq!(
            key_id(x.as_slice().try_into().unwrap()),
            "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
        );
    }
}
