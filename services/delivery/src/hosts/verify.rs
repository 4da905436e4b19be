//! Looks whether a host shows the challenge it was given (§9.4).
//!
//! Whoever asks for it hears what was looked for and where, and nothing of what was there: neither a closed port nor an
//! inner address is to be told apart by it.

use std::sync::Arc;
use std::time::Duration;

use hub_platform::config::Config;
use hub_platform::db::{self, Client, During as _, Pool};
use ma2h::callback::Verification;
use ma2h::error::{ErrorCode, Problem};
use tokio::sync::Semaphore;
use tokio_postgres::Row;

use super::{CallbackHost, HostName, challenge, host_of_row};
use crate::error::CallError;
use crate::guard::{Failure, Guard};

pub(super) const BEGIN: &str = include_str!("begin_verification.sql");
pub(super) const CONFIRM: &str = include_str!("confirm.sql");

/// Of a page, what is searched for the challenge.
const PAGE_BYTES_MAX: usize = 16 * 1024;
/// When an account that has looked too often may look again.
const BUDGET_SECONDS: u32 = 60;
const HTTP_OK: u16 = 200;

/// Verifies hosts. Clones share their bound.
#[derive(Clone)]
pub(crate) struct Verifier {
    pool: Pool,
    guard: Guard,
    under_way: Arc<Semaphore>,
    per_minute: i32,
    timeout: Duration,
}

impl Verifier {
    /// Over this database, looking through this guard.
    pub(crate) fn new(config: &Config, pool: Pool, guard: Guard) -> Self {
        metrics::describe_counter!(
            "hub_delivery_host_verifications_total",
            "Looks for the challenge of a callback host, by method and outcome."
        );
        let hosts = &config.callback_hosts;
        // The caller shall hear of the end, not ask another replica in the middle.
        let timeout_ms = hosts
            .verification_timeout_ms
            .min(config.peers.attempt_timeout_ms / 5 * 4);
        Self {
            pool,
            guard,
            under_way: Arc::new(Semaphore::new(hosts.verifications_max)),
            per_minute: i32::try_from(hosts.verifications_per_minute).unwrap_or(i32::MAX),
            timeout: Duration::from_millis(timeout_ms),
        }
    }

    /// Looks for the challenge that a host is to show; one that has shown it is as it should be.
    pub(crate) async fn verify(
        &self,
        account: &str,
        agent: &str,
        host: &HostName,
    ) -> Result<CallbackHost, CallError> {
        let Ok(_turn) = self.under_way.try_acquire() else {
            return Err(Problem::unavailable("too many hosts are being verified, try again").into());
        };
        let Some((known, affordable)) = db::retry(|| self.begin(account, agent, host)).await? else {
            return Err(Problem::not_found().into());
        };
        let Some(token) = known.challenge.clone().filter(|_| known.awaits_challenge()) else {
            return Ok(known);
        };
        if !affordable {
            let message = format!("host: at most {} looks for challenges a minute", self.per_minute);
            return Err(Problem::rate_limited(message, BUDGET_SECONDS).into());
        }
        self.look(host, known.method.parse()?, &token).await?;
        let confirmed = db::retry(|| self.confirm(account, agent, host, &token)).await?;
        confirmed.ok_or_else(|| {
            let message = "host: registered anew or taken back meanwhile";
            Problem::new(ErrorCode::Conflict, message).into()
        })
    }

    async fn look(&self, host: &HostName, method: Verification, token: &str) -> Result<(), Problem> {
        let (found, looked_for) = match (method, challenge::txt_name(host)) {
            (Verification::DnsTxt, Some(name)) => (
                self.is_in_texts(&name, token).await,
                format!("no TXT record of {name} was found that is the challenge"),
            ),
            (Verification::WellKnown, _) => {
                let url = challenge::well_known_url(host);
                let found = self.is_in_page(&url, token).await;
                (
                    found,
                    format!("{url} was not found to answer 200 with the challenge on a line of its own"),
                )
            }
            (Verification::DnsTxt, None) | (Verification::Operator, _) => (Ok(false), String::new()),
        };
        record(method, found);
        if found == Ok(true) {
            return Ok(());
        }
        Err(Problem::invalid_field(format!("host: {looked_for}")))
    }

    async fn is_in_texts(&self, name: &str, token: &str) -> Result<bool, Failure> {
        let texts = self.guard.texts(name, self.timeout).await?;
        Ok(challenge::is_in_texts(&texts, token))
    }

    async fn is_in_page(&self, url: &str, token: &str) -> Result<bool, Failure> {
        let page = self.guard.get(url, PAGE_BYTES_MAX, self.timeout).await?;
        Ok(page.status == HTTP_OK && challenge::is_in_page(&page.body, token))
    }

    /// The host, and whether the account may have it looked at.
    async fn begin(
        &self,
        account: &str,
        agent: &str,
        host: &HostName,
    ) -> Result<Option<(CallbackHost, bool)>, CallError> {
        let doing = "begin to verify a host";
        let client = self.client().await?;
        let statement = client.prepare_cached(BEGIN).await.during(doing)?;
        let row = client
            .query_opt(&statement, &[&account, &agent, &host.as_str(), &self.per_minute])
            .await
            .during(doing)?;
        let read = |row: Row| {
            let affordable: bool = row.try_get("affordable")?;
            Ok::<_, tokio_postgres::Error>((host_of_row(&row)?, affordable))
        };
        Ok(row.map(read).transpose().during(doing)?)
    }

    async fn confirm(
        &self,
        account: &str,
        agent: &str,
        host: &HostName,
        token: &str,
    ) -> Result<Option<CallbackHost>, CallError> {
        let doing = "confirm a host";
        let client = self.client().await?;
        let statement = client.prepare_cached(CONFIRM).await.during(doing)?;
        let row = client
            .query_opt(&statement, &[&account, &agent, &host.as_str(), &token])
            .await
            .during(doing)?;
        Ok(row.as_ref().map(host_of_row).transpose().during(doing)?)
    }

    async fn client(&self) -> Result<Client, CallError> {
        Ok(self.pool.get().await.during("connect to verify a host")?)
    }
}

fn record(method: Verification, found: Result<bool, Failure>) {
    let outcome = match found {
        Ok(true) => "verified",
        Ok(false) => "missing",
        Err(failure) => failure.as_str(),
    };
    metrics::counter!(
        "hub_delivery_host_verifications_total",
        "method" => method.as_str(),
        "outcome" => outcome
    )
    .increment(1);
    tracing::debug!(method = method.as_str(), outcome, "looked for a challenge");
}
