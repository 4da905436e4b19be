//! What people send is written down in the audit, once under the id that it has, however often the call is made.

use std::time::Duration;

use hub_platform::backoff::Backoff;
use hub_platform::db::Pool;
use ma2h::error::Problem;
use serde_json::Value;
use tracing::Instrument as _;

use crate::app::App;
use crate::directory::{Author, audit};

/// Tries to write down what could not be written at once, and the pauses between them.
const TRIES_MAX: u32 = 10;
const FIRST_DELAY: Duration = Duration::from_millis(100);
const DELAY_MAX: Duration = Duration::from_secs(10);

/// Something that was sent.
pub(crate) struct Sent {
    pub(crate) account: String,
    /// `human:…`, as attested.
    pub(crate) author: String,
    /// What the audit calls it.
    pub(crate) action: &'static str,
    /// Its id.
    pub(crate) id: String,
    pub(crate) detail: Value,
}

impl Sent {
    /// Writes it down. It is on its way already: a call that failed here would be made again, and without a key send twice. So
    /// what cannot be written at once is tried again beside the call.
    pub(crate) async fn note(self, app: &App) {
        if self.write(&app.pool).await.is_ok() {
            return;
        }
        let pool = app.pool.clone();
        let again = async move { self.write_later(&pool).await };
        app.shutdown.spawn(again.in_current_span());
    }

    async fn write_later(&self, pool: &Pool) {
        let mut backoff = Backoff::new(FIRST_DELAY, DELAY_MAX);
        for _ in 0..TRIES_MAX {
            backoff.wait().await;
            if self.write(pool).await.is_ok() {
                return;
            }
        }
        let (account, action, id) = (&self.account, self.action, &self.id);
        tracing::error!(account, action, id, "the audit does not have what was sent");
    }

    async fn write(&self, pool: &Pool) -> Result<(), Problem> {
        let author = Author {
            actor: self.author.clone(),
        };
        audit::note_made(pool, &author, &self.account, self.action, &self.id, &self.detail).await
    }
}
