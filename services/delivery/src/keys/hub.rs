//! The hub's own Ed25519 key, made when it is first needed, one for all replicas.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hub_platform::db::{self, Client, During as _, Pool};
use ma2h::sign::SigningKey;
use rand::TryRng as _;
use rand::rngs::SysRng;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::error::CallError;
use crate::vault::{KeyEncryptionKey, Place, SealError, Sealed, Table};

pub(super) const INSERT: &str = include_str!("insert_signing.sql");
pub(super) const READ_ACTIVE: &str = include_str!("read_active_signing.sql");
pub(super) const LIST: &str = include_str!("list_signing.sql");

/// How long a worker signs with the key it knows before it looks whether that is still the active one. Far shorter
/// than a retired key stays published.
const KNOWN_FOR: Duration = Duration::from_secs(10);

/// A key that can sign.
pub struct HubKey {
    /// The name it is published under.
    pub kid: String,
    /// The key itself.
    pub signing: SigningKey,
}

/// A key that was read, and when.
struct Known {
    key: Arc<HubKey>,
    since: Instant,
}

/// What is published of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicKey {
    /// Its name.
    pub kid: String,
    /// Its 32 bytes.
    pub public_key: Vec<u8>,
}

/// Keeps the hub's keys. Clones share what is known.
#[derive(Clone)]
pub struct HubKeys {
    pool: Pool,
    kek: Arc<KeyEncryptionKey>,
    known: Arc<Mutex<Option<Known>>>,
}

impl HubKeys {
    /// Over this database, sealed by this key.
    pub fn new(pool: Pool, kek: Arc<KeyEncryptionKey>) -> Self {
        Self {
            pool,
            kek,
            known: Arc::default(),
        }
    }

    /// The key that signs now; makes it if there is none.
    pub async fn active(&self) -> Result<Arc<HubKey>, CallError> {
        if let Some(key) = self.known() {
            return Ok(key);
        }
        let client = self.client().await?;
        let key = match self.read_active(&client).await? {
            Some(key) => key,
            None => self.make(&client).await?,
        };
        let key = Arc::new(key);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(Known {
            key: key.clone(),
            since: Instant::now(),
        });
        Ok(key)
    }

    /// All that is published, newest first; makes the first key if there is none.
    pub async fn list(&self) -> Result<Vec<PublicKey>, CallError> {
        let client = self.client().await?;
        let keys = list(&client).await?;
        if !keys.is_empty() {
            return Ok(keys);
        }
        self.make(&client).await?;
        Ok(list(&client).await?)
    }

    fn known(&self) -> Option<Arc<HubKey>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_ref()?;
        (known.since.elapsed() < KNOWN_FOR).then(|| known.key.clone())
    }

    async fn client(&self) -> Result<Client, CallError> {
        Ok(self.pool.get().await.during("connect for the hub's keys")?)
    }

    async fn read_active(&self, client: &Client) -> Result<Option<HubKey>, CallError> {
        let doing = "read the hub's signing key";
        let statement = client.prepare_cached(READ_ACTIVE).await.during(doing)?;
        let Some(row) = client.query_opt(&statement, &[]).await.during(doing)? else {
            return Ok(None);
        };
        let kid: String = row.try_get("kid").during(doing)?;
        let bytes: &[u8] = row.try_get("sealed").during(doing)?;
        let kek_id: &str = row.try_get("kek_id").during(doing)?;
        let secret = self.kek.open(&place(&kid), Sealed { kek_id, bytes })?;
        let seed = secret.as_slice().try_into().map_err(|_| SealError::Altered)?;
        Ok(Some(HubKey {
            kid,
            signing: SigningKey::ed25519(seed),
        }))
    }

    /// Offers a new key and reads which one won: replicas that start at once agree on one.
    async fn make(&self, client: &Client) -> Result<HubKey, CallError> {
        let mut seed = Zeroizing::new([0; 32]);
        SysRng
            .try_fill_bytes(seed.as_mut_slice())
            .map_err(|_| SealError::Unsealable)?;
        let public = SigningKey::ed25519(&seed).verifying_key().public_bytes();
        let public = public.ok_or(SealError::Unsealable)?;
        let kid = key_id(&public);
        let sealed = self.kek.seal(&place(&kid), seed.as_slice())?;
        let kek_id = self.kek.id();

        let statement = client
            .prepare_cached(INSERT)
            .await
            .during("prepare to make a signing key")?;
        let inserted = client
            .execute(&statement, &[&kid, &public.as_slice(), &sealed, &kek_id])
            .await
            .during("make a signing key")?;
        if inserted == 1 {
            tracing::info!(kid, "made the hub's signing key");
        }
        let key = self.read_active(client).await?;
        Ok(key.ok_or_else(|| db::Error::corrupt("no signing key is active after one was made"))?)
    }
}

async fn list(client: &Client) -> Result<Vec<PublicKey>, db::Error> {
    let statement = client
        .prepare_cached(LIST)
        .await
        .during("prepare to list signing keys")?;
    let rows = client.query(&statement, &[]).await.during("list signing keys")?;
    let keys = rows.iter().map(|row| {
        Ok(PublicKey {
            kid: row.try_get("kid")?,
            public_key: row.try_get("public_key")?,
        })
    });
    keys.collect::<Result<_, tokio_postgres::Error>>()
        .during("read signing keys")
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
