//! From a broadcast to the mailboxes of its agents, a chunk for each job (design rule 5).
//!
//! A chunk is one transaction, which holds the broadcast: its directives, and that these agents had their turn. Whoever dies
//! in the middle leaves nothing, and whoever comes next does the same chunk. Each job leads to the next one.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use hub_platform::backoff::Backoff;
use hub_platform::cpu;
use hub_platform::db::{self, During, Transaction};
use hub_platform::nats::Jobs;
use hub_platform::shutdown::Shutdown;
use hub_proto::lifecycle::FanOutJob;
use ma2h::address::AgentAddress;
use ma2h::directive::{Composed, Content};
use ma2h::error::Problem;
use ma2h::json::quoted;
use time::OffsetDateTime;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::{MARK, PENDING, TAKE};
use crate::chunks;
use crate::directives::{self, Inserted, NewDirective, Refusal};
use crate::statement::TypedValues;
use crate::tier::{Tier, bigint};

/// Jobs that are taken at a time. Broadcasts take turns.
const JOBS_MAX: usize = 4;
/// What the directives of one chunk may take; one is always done.
const CHUNK_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Pauses after a chunk that failed.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(5);

/// An agent whose turn it is.
#[derive(Debug)]
struct Recipient {
    agent: String,
    directive_id: String,
    /// Whether it is still the agent that was there when the broadcast was taken.
    is_there: bool,
}

/// What an agent's turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Sent {
        /// To its webhook.
        push_owed: bool,
    },
    /// Its time was over before.
    Expired,
    Undeliverable(&'static str),
}

/// A broadcast in hand.
struct Taken {
    author: String,
    content: String,
    expires_at: Option<OffsetDateTime>,
    accepted_at: OffsetDateTime,
}

/// What a chunk came to.
struct Chunk {
    outcomes: Vec<(Recipient, Outcome)>,
    is_last: bool,
}

impl Tier {
    /// Works until shutdown. Jobs that are dropped on the way come back, here or elsewhere. One that failed is done with all the
    /// same: the relay publishes what is owed, and would add to it one each time.
    pub(crate) async fn fan_out(self: Arc<Self>, jobs: Jobs, shutdown: Shutdown) {
        let mut queue = jobs.consume::<FanOutJob>(JOBS_MAX);
        let mut backoff = Backoff::new(FIRST_DELAY, MAX_DELAY);
        loop {
            let batch = tokio::select! {
                biased;
                () = shutdown.requested() => return,
                batch = queue.next() => batch,
            };
            for delivery in batch {
                if shutdown.is_triggered() {
                    return;
                }
                match self.fan_out_chunk(&delivery.job).await {
                    Ok(is_more_owed) => {
                        backoff.reset();
                        if is_more_owed {
                            // What is lost of it the relay makes up.
                            jobs.publish(std::slice::from_ref(&delivery.job)).await;
                        }
                        delivery.ack().await;
                    }
                    Err(error) => {
                        db::report(&error);
                        delivery.ack().await;
                        tokio::select! {
                            () = shutdown.requested() => return,
                            () = backoff.wait() => {}
                        }
                    }
                }
            }
        }
    }

    /// Does one chunk; says whether another one is owed. After one that failed as a whole each agent has its turn by itself: who
    /// cannot have it keeps it from no other (design rule 11).
    async fn fan_out_chunk(&self, job: &FanOutJob) -> Result<bool, db::Error> {
        let whole = chunks::Chunk {
            rows: i64::from(self.config.broadcast.chunk_max),
            skipped: 0,
        };
        match self.have_turns(job, whole).await {
            Ok(done) => Ok(done.is_some_and(|chunk| !chunk.is_last)),
            Err(error) if error.is_unavailable() => Err(error),
            Err(error) => {
                chunks::singly(whole.rows, |one| self.have_turn(job, one)).await?;
                Err(error)
            }
        }
    }

    /// How many had their turn: one, or none where all had.
    async fn have_turn(&self, job: &FanOutJob, one: chunks::Chunk) -> Result<i64, db::Error> {
        let done = self.have_turns(job, one).await?;
        let turns = done.map_or(0, |chunk| chunk.outcomes.len());
        Ok(i64::try_from(turns).unwrap_or(i64::MAX))
    }

    /// Does a chunk and tells of it.
    async fn have_turns(&self, job: &FanOutJob, size: chunks::Chunk) -> Result<Option<Chunk>, db::Error> {
        let Some(chunk) = db::retry(|| self.do_chunk(job, size)).await? else {
            return Ok(None);
        };
        for (recipient, outcome) in &chunk.outcomes {
            let to = outcome.state();
            metrics::counter!("hub_lifecycle_broadcast_recipients_total", "to" => to).increment(1);
            if let Outcome::Sent { push_owed } = *outcome {
                let Recipient {
                    agent, directive_id, ..
                } = recipient;
                self.announce_directive(&job.account, directive_id, agent, push_owed);
            }
        }
        Ok(Some(chunk))
    }

    /// None where nothing is left to do, or somebody else does it.
    async fn do_chunk(&self, job: &FanOutJob, size: chunks::Chunk) -> Result<Option<Chunk>, db::Error> {
        let mut client = TAKE.connection(&self.pool).await?;
        let transaction = client.transaction().await.during(TAKE.name)?;
        let Some(taken) = take(&transaction, job).await? else {
            return Ok(None);
        };
        let recipients_max = recipients_max(size.rows, taken.content.len());
        let place = (size.skipped, recipients_max);
        let recipients = pending(&transaction, job, taken.accepted_at, place).await?;
        let is_last = size.skipped == 0 && recipients.len() < recipients_max;
        let (author, expires_at) = (taken.author.clone(), taken.expires_at);
        let bytes = taken.content.len().saturating_mul(recipients.len());
        let composed = cpu::run(bytes, move || compose(&taken, recipients)).await;
        let composed = composed.map_err(|problem| db::Error::corrupt(problem.message))?;

        // Prepared once; then all are on their way without waiting for each other's answers.
        let sql = directives::INSERT.sql;
        transaction
            .prepare_cached(sql)
            .await
            .during(directives::INSERT.name)?;
        let turns = composed.iter().map(|(recipient, composed)| {
            let new = NewDirective {
                account: &job.account,
                directive_id: &recipient.directive_id,
                agent: &recipient.agent,
                author: &author,
                composed,
                expires_at,
                key: None,
            };
            let transaction = &transaction;
            async move {
                if !recipient.is_there {
                    return Ok(Outcome::of(Inserted::Refused(Refusal::UnknownDestination)));
                }
                let inserted = directives::insert(transaction, self, &new).await?;
                Ok::<_, db::Error>(Outcome::of(inserted))
            }
        });
        let outcomes = try_join_all(turns).await?;
        let recipients = composed.into_iter().map(|(recipient, _)| recipient);
        let chunk = Chunk {
            outcomes: recipients.zip(outcomes).collect(),
            is_last,
        };
        self.mark(&transaction, job, &chunk).await?;
        transaction.commit().await.during(MARK.name)?;
        Ok(Some(chunk))
    }

    async fn mark(
        &self,
        transaction: &Transaction<'_>,
        job: &FanOutJob,
        chunk: &Chunk,
    ) -> Result<(), db::Error> {
        let outcomes = &chunk.outcomes;
        let agents: Vec<_> = outcomes.iter().map(|(recipient, _)| &*recipient.agent).collect();
        let states: Vec<_> = outcomes.iter().map(|(_, outcome)| outcome.state()).collect();
        let reasons: Vec<_> = outcomes.iter().map(|(_, outcome)| outcome.reason()).collect();
        let values: TypedValues<'_> = &[
            (&job.account, Type::TEXT),
            (&job.broadcast_id, Type::TEXT),
            (&agents, Type::TEXT_ARRAY),
            (&states, Type::TEXT_ARRAY),
            (&reasons, Type::TEXT_ARRAY),
            (&chunk.is_last, Type::BOOL),
            (&self.republish_after_ms(), Type::INT8),
            (&bigint(self.config.inbound.retention_seconds), Type::INT8),
        ];
        let marked = transaction.query_typed(MARK.sql, values).await;
        marked.map(drop).during(MARK.name)
    }
}

async fn take(transaction: &Transaction<'_>, job: &FanOutJob) -> Result<Option<Taken>, db::Error> {
    let prepared = transaction.prepare_cached(TAKE.sql).await.during(TAKE.name)?;
    let row = transaction
        .query_opt(&prepared, &[&job.account, &job.broadcast_id])
        .await
        .during(TAKE.name)?;
    let read = |row: Row| {
        Ok::<_, tokio_postgres::Error>(Taken {
            author: row.try_get("author")?,
            content: row.try_get("content")?,
            expires_at: row.try_get("expires_at")?,
            accepted_at: row.try_get("accepted_at")?,
        })
    };
    row.map(read).transpose().during(TAKE.name)
}

async fn pending(
    transaction: &Transaction<'_>,
    job: &FanOutJob,
    accepted_at: OffsetDateTime,
    (skipped, recipients_max): (i64, usize),
) -> Result<Vec<Recipient>, db::Error> {
    let rows_max = i64::try_from(recipients_max).unwrap_or(i64::MAX);
    let prepared = transaction
        .prepare_cached(PENDING.sql)
        .await
        .during(PENDING.name)?;
    let rows = transaction
        .query(
            &prepared,
            &[&job.account, &job.broadcast_id, &accepted_at, &rows_max, &skipped],
        )
        .await
        .during(PENDING.name)?;
    let read = |row: &Row| {
        Ok::<_, tokio_postgres::Error>(Recipient {
            agent: row.try_get("agent")?,
            directive_id: row.try_get("directive_id")?,
            is_there: row.try_get("is_there")?,
        })
    };
    rows.iter()
        .map(read)
        .collect::<Result<_, _>>()
        .during(PENDING.name)
}

/// The directive of each.
fn compose(taken: &Taken, recipients: Vec<Recipient>) -> Result<Vec<(Recipient, Composed)>, Problem> {
    let content = Content::read(&taken.content)?;
    let composed = recipients.into_iter().map(|recipient| {
        let to = quoted(&AgentAddress::new(&recipient.agent, None)?.to_string());
        let composed = content.compose(&recipient.directive_id, &taken.author, &to);
        Ok::<_, Problem>((recipient, composed))
    });
    composed.collect()
}

/// How many agents have their turn in one chunk.
fn recipients_max(chunk_max: i64, content_bytes: usize) -> usize {
    let chunk_max = usize::try_from(chunk_max).unwrap_or(usize::MAX);
    chunk_max.min(CHUNK_BYTES_MAX / content_bytes.max(1)).max(1)
}

impl Outcome {
    fn of(inserted: Inserted) -> Self {
        match inserted {
            Inserted::Yes { push_owed } => Self::Sent { push_owed },
            // It is this very one.
            Inserted::No => Self::Sent { push_owed: false },
            Inserted::Refused(Refusal::NotInTime) => Self::Expired,
            Inserted::Refused(Refusal::UnknownDestination) => Self::Undeliverable("unknown_destination"),
            Inserted::Refused(Refusal::NoRoom) => Self::Undeliverable("rate_limited"),
        }
    }

    fn state(self) -> &'static str {
        match self {
            Self::Sent { .. } => "sent",
            Self::Expired => "expired",
            Self::Undeliverable(_) => "undeliverable",
        }
    }

    fn reason(self) -> Option<&'static str> {
        match self {
            Self::Undeliverable(reason) => Some(reason),
            Self::Sent { .. } | Self::Expired => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_BYTES_MAX, Inserted, Outcome, Refusal, recipients_max};

    #[test]
    fn a_chunk_is_smaller_where_there_is_more_to_say() {
        let cases = [
            (200, 0, 200),
            (200, 1000, 200),
            (200, CHUNK_BYTES_MAX / 10, 10),
            (200, CHUNK_BYTES_MAX * 2, 1),
            (1, 1000, 1),
        ];
        for (chunk_max, content_bytes, expected) in cases {
            assert_eq!(
                recipients_max(chunk_max, content_bytes),
                expected,
                "{content_bytes}"
            );
        }
    }

    #[test]
    fn what_can_have_no_directive_says_why() {
        let cases = [
            (Inserted::Yes { push_owed: true }, ("sent", None)),
            (Inserted::No, ("sent", None)),
            (Inserted::Refused(Refusal::NotInTime), ("expired", None)),
            (
                Inserted::Refused(Refusal::UnknownDestination),
                ("undeliverable", Some("unknown_destination")),
            ),
            (
                Inserted::Refused(Refusal::NoRoom),
                ("undeliverable", Some("rate_limited")),
            ),
        ];
        for (inserted, expected) in cases {
            let outcome = Outcome::of(inserted);
            assert_eq!((outcome.state(), outcome.reason()), expected, "{inserted:?}");
        }
    }
}
