//! Submit (§8.1): the rate, then the idempotency key before the world (design rule 4), then the message, all in one
//! statement.

mod extract;
mod keys;
mod limits;

use std::time::Instant;

use hub_platform::cpu;
use hub_platform::db::{self, During};
use hub_platform::nats::WakeKind;
use hub_proto::lifecycle::{BudgetSpent, SubmitMessageReply, SubmitMessageRequest};
use ma2h::Envelope;
use ma2h::error::{ErrorCode, Problem};
use ma2h::json;

use crate::error::Error;
use crate::statement::Statement;
use crate::tier::{Tier, bigint};

use extract::Extract;
use keys::IdempotencyKey;
pub(crate) use keys::{tag_key, word_keys};
pub(crate) use limits::CHARGE;
use limits::Limits;

pub(crate) const INSERT: Statement = Statement {
    name: "insert message",
    sql: concat!(include_str!("budget.sql"), ",\n", include_str!("insert.sql")),
};
pub(crate) const ORIGINAL: Statement = Statement {
    name: "find key",
    sql: include_str!("original.sql"),
};
pub(crate) const REPEATED: Statement = Statement {
    name: "find repeated submit",
    sql: include_str!("repeated.sql"),
};
pub(crate) const RESERVE: Statement = Statement {
    name: "reserve key",
    sql: include_str!("reserve.sql"),
};
pub(crate) const RESERVE_ID: Statement = Statement {
    name: "reserve message",
    sql: include_str!("reserve_id.sql"),
};

/// Rounds of insert and look-up. A second one is needed only if a key ends between the two.
const ROUNDS_MAX: usize = 3;

/// One submit, read.
struct Submit<'a> {
    request: &'a SubmitMessageRequest,
    envelope: &'a Envelope,
    key: Option<IdempotencyKey>,
    /// Whether an answer may be pushed in the open: development only.
    http_allowed: bool,
}

impl Submit<'_> {
    /// Whether it names an agent as its destination.
    fn is_addressed(&self) -> bool {
        self.envelope.to.is_some()
    }
}

/// What an insert came to.
enum Inserted {
    Yes,
    /// The key or the message is there already.
    No,
    Refused(Problem),
    Spent(BudgetSpent),
}

/// The message a submit turns out to repeat.
struct Original {
    message_id: String,
    status: String,
    overdue: bool,
    digest: Option<Vec<u8>>,
}

impl Tier {
    /// Accepts an envelope, or answers with the original of a repeated one.
    pub(crate) async fn submit(&self, request: SubmitMessageRequest) -> Result<SubmitMessageReply, Error> {
        let (request, read) = cpu::run(request.envelope.len(), move || {
            let read = read(&request);
            (request, read)
        })
        .await;
        let (envelope, key) = read?;
        let submit = Submit {
            request: &request,
            envelope: &envelope,
            key,
            http_allowed: self.config.security.development,
        };
        match Extract::of(&submit) {
            Ok(extract) => self.submit_fit(&submit, &extract).await,
            Err(refusal) => match self.charge(&submit).await? {
                Some(spent) => Ok(refused_by(spent)),
                None => self.refuse(&submit, refusal).await,
            },
        }
    }

    /// Submits what only the clock, a row or the key can still refuse.
    async fn submit_fit(
        &self,
        submit: &Submit<'_>,
        extract: &Extract<'_>,
    ) -> Result<SubmitMessageReply, Error> {
        for _ in 0..ROUNDS_MAX {
            match db::retry(|| self.insert(submit, extract)).await? {
                Inserted::Yes => return Ok(self.accepted(submit, extract)),
                Inserted::Refused(refusal) => return self.refuse(submit, refusal).await,
                Inserted::Spent(spent) => return Ok(refused_by(spent)),
                Inserted::No => {}
            }
            if let Some(original) = self.original(submit).await? {
                return self.replay(submit, original).await;
            }
        }
        Err(Problem::unavailable("idempotency_key: in use by calls under way, try again").into())
    }

    async fn insert(&self, submit: &Submit<'_>, extract: &Extract<'_>) -> Result<Inserted, Error> {
        let ttl_seconds = bigint(self.config.lifecycle.idempotency_ttl_seconds);
        let limits = Limits::of(&self.config.rate_limit);
        let key = submit.key.as_ref();
        let (account, agent) = (&submit.request.account, &submit.request.agent);
        // A notify takes no place.
        let begun_at = Instant::now();
        let known_room = (extract.kind != "notify")
            .then(|| self.rooms.take(account, agent, begun_at))
            .flatten();
        let row = INSERT
            .row(
                &self.pool,
                &[
                    account,
                    &submit.request.message_id,
                    agent,
                    &submit.is_addressed(),
                    &limits.per_minute,
                    &limits.addressed_per_minute,
                    &extract.run_id,
                    &extract.kind,
                    &extract.mode,
                    &extract.priority,
                    &submit.envelope.sensitive,
                    &extract.title,
                    &extract.tags,
                    &extract.project,
                    &extract.version,
                    &extract.callback_url,
                    &extract.callback_scheme,
                    &extract.credential_ref,
                    &extract.callback_host,
                    &extract.expiry_actor,
                    &extract.expiry_defaulted,
                    &extract.expiry_detail,
                    &extract.search_keys,
                    &submit.request.envelope,
                    &submit.envelope.expires_at,
                    &extract.status,
                    &key.map(|key| key.hash.as_slice()),
                    &key.map(|key| key.digest.as_slice()),
                    &ttl_seconds,
                    &limits.waiting_max,
                    &extract.sole_resolver,
                    &known_room,
                ],
            )
            .await?
            .ok_or_else(|| db::Error::corrupt("insert message gave no row"))?;
        let number = |name| row.try_get::<_, Option<i64>>(name).during(INSERT.name);
        if let (Some(waiting_max), Some(room)) = (number("waiting_max")?, number("room")?) {
            self.rooms
                .counted(account, agent, waiting_max, room, begun_at, Instant::now());
        }
        let flag = |name| row.try_get::<_, bool>(name).during(INSERT.name);
        if flag("inserted")? {
            return Ok(Inserted::Yes);
        }
        if let Some(spent) = limits::spent(&row).during(INSERT.name)? {
            return Ok(Inserted::Spent(spent));
        }
        if !flag("in_time")? {
            return Ok(Inserted::Refused(Problem::invalid_field(
                "expires_at: expected a time in the future",
            )));
        }
        if !flag("host_verified")? {
            let block = submit.envelope.kind.block().unwrap_or_default();
            let message = format!("{block}.callback.url: the host is not verified for this agent");
            return Ok(Inserted::Refused(Problem::invalid_field(message)));
        }
        if !flag("has_room")? {
            return Ok(Inserted::Refused(limits::no_room()));
        }
        Ok(Inserted::No)
    }

    fn accepted(&self, submit: &Submit<'_>, extract: &Extract<'_>) -> SubmitMessageReply {
        let request = submit.request;
        metrics::counter!("hub_lifecycle_transitions_total", "kind" => extract.kind, "to" => extract.status)
            .increment(1);
        self.announcer.wake(
            &request.account,
            WakeKind::MessageCreated,
            &request.message_id,
            extract.status,
        );
        let (message_id, status) = (request.message_id.clone(), extract.status.to_owned());
        SubmitMessageReply {
            message_id,
            status,
            ..Default::default()
        }
    }

    /// Refuses a first submit. A repeated one gets its original all the same, whatever has changed since.
    async fn refuse(&self, submit: &Submit<'_>, refusal: Problem) -> Result<SubmitMessageReply, Error> {
        db::retry(|| self.wait_for(submit)).await?;
        if let Some(original) = self.original(submit).await? {
            return self.replay(submit, original).await;
        }
        metrics::counter!("hub_lifecycle_submits_refused_total").increment(1);
        Err(refusal.into())
    }

    /// Waits for this very submit, or one with the same key, if it is under way. Leaves nothing behind.
    async fn wait_for(&self, submit: &Submit<'_>) -> Result<(), db::Error> {
        let request = submit.request;
        let (account, agent, message_id) = (&request.account, &request.agent, &request.message_id);
        let Some(key) = &submit.key else {
            return RESERVE_ID
                .reserve(&self.pool, &[account, message_id, agent])
                .await;
        };
        let (hash, digest) = (key.hash.as_slice(), key.digest.as_slice());
        RESERVE
            .reserve(&self.pool, &[account, agent, &hash, message_id, &digest])
            .await
    }

    async fn original(&self, submit: &Submit<'_>) -> Result<Option<Original>, db::Error> {
        let request = submit.request;
        let (account, agent, message_id) = (&request.account, &request.agent, &request.message_id);
        let (statement, row) = if let Some(key) = &submit.key {
            (
                &ORIGINAL,
                ORIGINAL
                    .row(&self.pool, &[account, agent, &key.hash.as_slice()])
                    .await?,
            )
        } else {
            (
                &REPEATED,
                REPEATED.row(&self.pool, &[account, agent, message_id]).await?,
            )
        };
        let Some(row) = row else {
            return Ok(None);
        };
        let read = || {
            Ok::<_, tokio_postgres::Error>(Original {
                message_id: row.try_get("message_id")?,
                status: row.try_get("status")?,
                overdue: row.try_get("overdue")?,
                digest: if submit.key.is_some() {
                    Some(row.try_get("digest")?)
                } else {
                    None
                },
            })
        };
        read().map(Some).during(statement.name)
    }

    /// Answers with the original and how it stands now (§8.1).
    async fn replay(&self, submit: &Submit<'_>, original: Original) -> Result<SubmitMessageReply, Error> {
        let request = submit.request;
        // The very call, its reply lost on the way to the edge: nothing to compare.
        let replayed = original.message_id != request.message_id;
        let digest = submit.key.as_ref().map(|key| key.digest.as_slice());
        if replayed && original.digest.as_deref() != digest {
            let message = "idempotency_key: was used for another payload";
            return Err(Problem::new(ErrorCode::IdempotencyConflict, message).into());
        }
        let mut status = original.status;
        if original.overdue {
            status = self
                .standing(&request.account, &original.message_id)
                .await?
                .status;
        }
        metrics::counter!("hub_lifecycle_submits_replayed_total").increment(1);
        Ok(SubmitMessageReply {
            message_id: original.message_id,
            status,
            replayed,
            budget_spent: None,
        })
    }
}

fn refused_by(spent: BudgetSpent) -> SubmitMessageReply {
    metrics::counter!("hub_lifecycle_submits_over_budget_total").increment(1);
    SubmitMessageReply {
        budget_spent: Some(spent),
        ..Default::default()
    }
}

/// Who sends what, under which key: the envelope is gone through once.
fn read(request: &SubmitMessageRequest) -> Result<(Envelope, Option<IdempotencyKey>), Problem> {
    let node = json::parse_input(&request.envelope)?;
    let envelope = Envelope::read(&node)?;
    check_sender(request, &envelope)?;
    let key = IdempotencyKey::of(&envelope, &node)?;
    Ok((envelope, key))
}

fn check_sender(request: &SubmitMessageRequest, envelope: &Envelope) -> Result<(), Problem> {
    if !crate::message_id::is_wellformed(&request.message_id) {
        return Err(Problem::validation("message_id: malformed"));
    }
    if envelope.agent_id != request.agent {
        let message = "agent.id: is not the agent of the credential";
        return Err(Problem::new(ErrorCode::AgentIdMismatch, message));
    }
    Ok(())
}
