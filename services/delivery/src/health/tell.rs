//! Tells an account's people of each pause that the hub begins, once. What is to be told stands in the row until lifecycle
//! has accepted it; its idempotency key makes telling again the same.

use std::time::Duration;

use hub_platform::config::{Config, Peers};
use hub_platform::db::During as _;
use hub_platform::shutdown::Shutdown;
use hub_platform::{grpc, ids};
use hub_proto::lifecycle::SubmitMessageRequest;
use tokio_postgres::Row;
use tonic::Code;

use super::notice::{self, Pause};
use super::{COUNT, Health, TOLD, UNTOLD};
use crate::error::CallError;
use crate::worker::Lifecycle;

/// Pauses that one pass tells of.
const PAUSES_MAX: i64 = 100;
/// How far hosts are counted.
const HOSTS_MAX: i64 = 10_000;

/// Tells of pauses.
pub(crate) struct Teller {
    health: Health,
    lifecycle: Lifecycle,
    peers: Peers,
    interval: Duration,
}

impl Teller {
    pub(crate) fn new(config: &Config, health: Health, lifecycle: Lifecycle) -> Self {
        Self {
            health,
            lifecycle,
            peers: config.peers.clone(),
            interval: Duration::from_millis(config.lifecycle.sweep_interval_ms),
        }
    }

    /// Looks for what is to be told until shutdown.
    pub(crate) async fn run(self, shutdown: Shutdown) {
        loop {
            tokio::select! {
                () = shutdown.requested() => return,
                () = tokio::time::sleep(self.interval.mul_f64(0.75 + rand::random::<f64>() / 2.0)) => {}
            }
            if let Err(error) = self.tell().await {
                error.report();
            }
        }
    }

    async fn tell(&self) -> Result<(), CallError> {
        self.count().await?;
        for row in self.health.rows(UNTOLD, &[&PAUSES_MAX]).await? {
            let pause = read(&row).during("read a pause")?;
            if !self.submit(&pause).await {
                continue;
            }
            let (account, host, id) = (&pause.account, &pause.host, &pause.id);
            self.health.rows(TOLD, &[account, host, id]).await?;
        }
        Ok(())
    }

    /// Whether the account's people have it, or never will.
    async fn submit(&self, pause: &Pause) -> bool {
        let request = SubmitMessageRequest {
            account: pause.account.clone(),
            agent: notice::AGENT.to_owned(),
            message_id: ids::mint("msg"),
            envelope: notice::envelope(pause),
        };
        let call = || {
            let mut lifecycle = self.lifecycle.clone();
            let request = request.clone();
            async move { lifecycle.submit_message(request).await }
        };
        let (account, pause_id) = (&pause.account, &pause.id);
        match grpc::call(&self.peers, call).await {
            // Told when the budget that every submitter has starts anew.
            Ok(reply) => reply.budget_spent.is_none(),
            Err(status) => {
                let code = status.code();
                tracing::error!(account, pause_id, ?code, "pause cannot be told of");
                is_final(code)
            }
        }
    }

    async fn count(&self) -> Result<(), CallError> {
        for row in self.health.rows(COUNT, &[&HOSTS_MAX]).await? {
            for state in ["open", "paused"] {
                let hosts: i64 = row.try_get(state).during("count hosts")?;
                let hosts = u32::try_from(hosts).unwrap_or(u32::MAX);
                metrics::gauge!("hub_push_hosts", "state" => state).set(hosts);
            }
        }
        Ok(())
    }
}

/// Whether what was refused so is refused for ever: what it says, or the account that is gone. All else may pass.
fn is_final(code: Code) -> bool {
    matches!(
        code,
        Code::InvalidArgument | Code::NotFound | Code::AlreadyExists | Code::PermissionDenied
    )
}

fn read(row: &Row) -> Result<Pause, tokio_postgres::Error> {
    Ok(Pause {
        account: row.try_get("account")?,
        host: row.try_get("host")?,
        id: row.try_get("pause_id")?,
        at: row.try_get("paused_at")?,
        failing_since: row.try_get("failing_since")?,
        last_failure: row.try_get("last_failure")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_of_what_it_says_is_final() {
        assert!(is_final(Code::InvalidArgument) && is_final(Code::NotFound));
        for passing in [
            Code::Unavailable,
            Code::Internal,
            Code::DeadlineExceeded,
            Code::ResourceExhausted,
        ] {
            assert!(!is_final(passing), "{passing:?}");
        }
    }
}
