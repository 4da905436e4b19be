//! `ma2h-hub keys`: rotates what signs and what seals, beside a hub that serves and with its delivery tier's settings.

use anyhow::Context as _;
use clap::Subcommand;
use hub_delivery::rotation::{Left, Rotation};
use hub_platform::config::Config;
use time::format_description::well_known::Rfc3339;

/// Rounds in which what a replica of before has sealed meanwhile is met as well.
const ROUNDS_MAX: usize = 3;

/// What to rotate.
#[derive(Subcommand)]
#[expect(clippy::doc_markdown, reason = "shown as help, not as documentation")]
pub enum Action {
    /// Seal everything anew under HUB_KEY_ENCRYPTION_KEY.
    ///
    /// To change that key: give every replica of delivery the new one in HUB_KEY_ENCRYPTION_KEYS_ACCEPTED; then the new one in
    /// HUB_KEY_ENCRYPTION_KEY and the old one in HUB_KEY_ENCRYPTION_KEYS_ACCEPTED; then run this with the same settings. The
    /// hub serves all the while. This may be interrupted at any point and run again. Once it says that nothing is left,
    /// take the old key out of the settings.
    RotateKek {
        /// Values sealed anew at once.
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        batch_max: u32,
    },
    /// Make the next Ed25519 key that the hub signs with.
    ///
    /// It is published at once, signs after HUB_KEYS_SIGNING_LEAD_SECONDS, and the key before it stays published for
    /// HUB_KEYS_SIGNING_OVERLAP_SECONDS more. While it has not begun to sign, this makes no other.
    RotateSigningKey,
}

/// Does it, and says how it goes.
pub async fn run(action: Action) -> anyhow::Result<()> {
    let config = Config::from_environment()?;
    match action {
        Action::RotateKek { batch_max } => rotate_kek(&Rotation::new(&config, batch_max)?).await,
        Action::RotateSigningKey => rotate_signing_key(&Rotation::new(&config, 1)?).await,
    }
}

async fn rotate_kek(rotation: &Rotation) -> anyhow::Result<()> {
    println!("sealing under key {}", rotation.kek_id());
    let mut left = rotation.left().await?;
    for _ in 0..ROUNDS_MAX {
        if left.is_empty() {
            println!("nothing is left under another key");
            return Ok(());
        }
        let print = |progress: hub_delivery::rotation::Progress| {
            println!("{}: {} sealed anew", progress.table, progress.resealed);
            if progress.unreadable > 0 {
                println!("{}: {} do not open", progress.table, progress.unreadable);
            }
        };
        rotation.reseal(print).await?;
        left = rotation.left().await?;
    }
    anyhow::ensure!(left.is_empty(), "not all is sealed anew: {}", said(&left));
    println!("nothing is left under another key");
    Ok(())
}

fn said(left: &[Left]) -> String {
    let keys: Vec<_> = left
        .iter()
        .map(|left| format!("{} under key {}", left.sealed, left.kek_id))
        .collect();
    keys.join(", ")
}

async fn rotate_signing_key(rotation: &Rotation) -> anyhow::Result<()> {
    let (made, keys) = rotation.rotate_signing_key().await?;
    if !made {
        println!("a key is still to begin, no other was made");
    }
    for key in keys {
        let from = key.signs_from.format(&Rfc3339).context("format a time")?;
        match key.published_until {
            None => println!("{} signs from {from}", key.kid),
            Some(until) => {
                let until = until.format(&Rfc3339).context("format a time")?;
                println!("{} signs from {from}, published until {until}", key.kid);
            }
        }
    }
    Ok(())
}
