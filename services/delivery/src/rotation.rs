//! What an operator does to the keys from the command line, as the delivery tier and beside those that serve.

use std::sync::Arc;

use hub_platform::config::Config;
use hub_platform::db::{self, Tier};

use crate::error::Error;
use crate::keys::HubKeys;
pub use crate::keys::PublicKey;
use crate::reseal::Resealer;
pub use crate::reseal::{Left, Progress};
use crate::vault::Keyring;

/// Rotates keys.
pub struct Rotation {
    resealer: Resealer,
    hub_keys: HubKeys,
}

impl Rotation {
    /// Of the configured database and keys; at most so many values are sealed anew at once.
    pub fn new(config: &Config, batch_max: u32) -> Result<Self, Error> {
        let pool = db::connect(&config.database, Tier::Delivery)?;
        let keyring = Arc::new(Keyring::of(&config.security)?);
        Ok(Self {
            hub_keys: HubKeys::new(pool.clone(), keyring.clone(), &config.keys),
            resealer: Resealer::new(pool, keyring, batch_max),
        })
    }

    /// The key-encryption key that seals.
    pub fn kek_id(&self) -> &str {
        self.resealer.kek_id()
    }

    /// Seals anew under the current key all that is sealed under an accepted one; `progress` hears of each batch. Ended at
    /// any point, it is run again.
    pub async fn reseal(&self, progress: impl FnMut(Progress)) -> Result<(), Error> {
        Ok(self.resealer.run(progress).await?)
    }

    /// What is not sealed under the current key.
    pub async fn left(&self) -> Result<Vec<Left>, Error> {
        Ok(self.resealer.left().await?)
    }

    /// Makes the next signing key, unless one is still to begin; whether it did, and all that are published.
    pub async fn rotate_signing_key(&self) -> Result<(bool, Vec<PublicKey>), Error> {
        let made = self.hub_keys.rotate().await?;
        Ok((made, self.hub_keys.list().await?))
    }
}
