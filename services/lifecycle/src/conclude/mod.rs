//! Resolve and cancel (§7, §8.4, §8.8): one compare-and-set; the first terminal wins.

use hub_platform::cpu;
use hub_platform::db::{self, During};
use hub_platform::nats::WakeKind;
use hub_platform::{ids, telemetry};
use hub_proto::lifecycle::{CancelMessageRequest, Outcome, ResolveMessageRequest};
use ma2h::Envelope;
use ma2h::address::Actor;
use ma2h::envelope::{MessageType, Resolution};
use ma2h::error::{ErrorCode, Problem};
use ma2h::resolve::Answer;
use ma2h::status::Status;

use crate::error::Error;
use crate::message_id;
use crate::principal::Caller;
use crate::statement::Statement;
use crate::tier::Tier;

pub(crate) const SUBJECT: Statement = Statement {
    name: "read what is resolved",
    sql: include_str!("subject.sql"),
};
pub(crate) const CONCLUDE: Statement = Statement {
    name: "conclude message",
    sql: include_str!("conclude.sql"),
};
pub(crate) const OUTCOME: Statement = Statement {
    name: "read outcome",
    sql: include_str!("outcome.sql"),
};

/// Looks at a message that is found overdue. After the first it is expired, unless the clock stepped back.
const LOOKS_MAX: usize = 3;

/// A terminal that a call wants to bring about.
struct Conclusion<'a> {
    account: &'a str,
    message_id: &'a str,
    kind: MessageType,
    resolution: Resolution,
    resolution_id: &'a str,
    actor: String,
    detail: String,
}

/// How a message stands.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) agent: String,
    pub(crate) kind: String,
    pub(crate) status: String,
    pub(crate) resolution_id: Option<String>,
    overdue: bool,
}

impl Standing {
    /// Whether it can still be answered.
    pub(crate) fn is_open(&self) -> bool {
        self.status == Status::Open.as_str()
    }
}

impl Tier {
    /// Answers an open ask or task.
    pub(crate) async fn resolve(&self, request: ResolveMessageRequest) -> Result<Outcome, Error> {
        check_ids(&request.message_id, &request.resolution_id)?;
        let resolver = Caller::of(request.resolver)?;
        let (agent, text) = self
            .subject(&request.account, &request.message_id, &resolver)
            .await?;
        let is_stranger = resolver.agent().is_some_and(|resolver| resolver != agent);
        let (actor, body) = (resolver.actor(), request.body);
        let attested = actor.to_string();
        let deciding = cpu::run(text.len(), move || decide(&text, &actor, is_stranger, &body));
        let (kind, answer) = deciding.await?;
        let conclusion = Conclusion {
            account: &request.account,
            message_id: &request.message_id,
            kind,
            resolution: answer.resolution,
            resolution_id: &request.resolution_id,
            actor: attested,
            detail: answer.detail,
        };
        self.conclude(&conclusion).await
    }

    /// Withdraws an open ask. Its submitter alone may (§9.1).
    pub(crate) async fn cancel(&self, request: CancelMessageRequest) -> Result<Outcome, Error> {
        check_ids(&request.message_id, &request.resolution_id)?;
        let standing = self
            .look(&request.account, &request.message_id, Some(&request.agent))
            .await?;
        if standing.agent != request.agent {
            return Err(Problem::not_found().into());
        }
        if standing.kind != MessageType::Ask.as_str() {
            return Err(Problem::invalid_field("type: only an ask can be cancelled").into());
        }
        let conclusion = Conclusion {
            account: &request.account,
            message_id: &request.message_id,
            kind: MessageType::Ask,
            resolution: Resolution::Cancelled,
            resolution_id: &request.resolution_id,
            actor: Actor::agent(request.agent).to_string(),
            detail: "{}".to_owned(),
        };
        self.conclude(&conclusion).await
    }

    /// Reads how a message stands. An overdue one is expired before anyone is told of it (design rule 2).
    pub(crate) async fn standing(&self, account: &str, message_id: &str) -> Result<Standing, Error> {
        self.standing_for(account, message_id, None).await
    }

    /// The same for `agent`, where an agent asks: it is told of what was erased only if that was its own.
    pub(crate) async fn standing_for(
        &self,
        account: &str,
        message_id: &str,
        agent: Option<&str>,
    ) -> Result<Standing, Error> {
        for _ in 0..LOOKS_MAX {
            let standing = self.look(account, message_id, agent).await?;
            if !standing.overdue {
                return Ok(standing);
            }
            self.expire(account, &[message_id]).await?;
        }
        Err(Problem::unavailable("the message is being expired, try again").into())
    }

    /// Brings a terminal about, or tells which one came first.
    async fn conclude(&self, conclusion: &Conclusion<'_>) -> Result<Outcome, Error> {
        let Conclusion {
            account,
            message_id,
            resolution,
            resolution_id,
            ..
        } = *conclusion;
        let status = resolution.as_str();
        let won = db::retry(|| self.compare_and_set(conclusion)).await?;
        if let Some(push_owed) = won {
            metrics::counter!(
                "hub_lifecycle_transitions_total", "kind" => conclusion.kind.as_str(), "to" => status
            )
            .increment(1);
            self.announcer
                .wake(account, WakeKind::MessageResolved, message_id, status);
            if push_owed {
                self.announcer.push_owed(account, message_id);
            }
            return Ok(outcome(message_id, status, resolution_id, true));
        }
        let standing = self.standing(account, message_id).await?;
        let Some(winner) = standing.resolution_id else {
            // Open and in time, after a statement that found it otherwise: only if the clock stepped back.
            return Err(Problem::unavailable("the message could not be resolved, try again").into());
        };
        if winner != resolution_id && ids::is_same_operation(&winner, resolution_id) {
            let message = "idempotency-key: was used for another body";
            return Err(Problem::new(ErrorCode::IdempotencyConflict, message).into());
        }
        // This very call won before and its reply was lost; or it is a cancel of what is cancelled (§8.4).
        let applied = winner == resolution_id
            || (resolution == Resolution::Cancelled && standing.status == Resolution::Cancelled.as_str());
        Ok(outcome(message_id, &standing.status, &winner, applied))
    }

    /// Whether the terminal was brought about, and then whether a push is owed.
    async fn compare_and_set(&self, conclusion: &Conclusion<'_>) -> Result<Option<bool>, db::Error> {
        let traceparent = telemetry::traceparent().unwrap_or_default();
        let row = CONCLUDE
            .row(
                &self.pool,
                &[
                    &conclusion.account,
                    &conclusion.message_id,
                    &conclusion.resolution.as_str(),
                    &conclusion.resolution_id,
                    &conclusion.actor,
                    &conclusion.detail,
                    &self.republish_after_ms(),
                    &traceparent,
                ],
            )
            .await?;
        row.map(|row| row.try_get("push_owed"))
            .transpose()
            .during(CONCLUDE.name)
    }

    /// The submitter and the envelope of a message.
    async fn subject(
        &self,
        account: &str,
        message_id: &str,
        resolver: &Caller,
    ) -> Result<(String, String), Error> {
        let Some(row) = SUBJECT.row(&self.pool, &[&account, &message_id]).await? else {
            return Err(self.missing(account, message_id, resolver.agent()).await?.into());
        };
        let agent = row.try_get("agent").during(SUBJECT.name)?;
        Ok((agent, row.try_get("envelope").during(SUBJECT.name)?))
    }

    /// `agent` is who asks, where that is an agent.
    async fn look(&self, account: &str, message_id: &str, agent: Option<&str>) -> Result<Standing, Error> {
        let Some(row) = OUTCOME.row(&self.pool, &[&account, &message_id]).await? else {
            return Err(self.missing(account, message_id, agent).await?.into());
        };
        let read = || {
            Ok::<_, tokio_postgres::Error>(Standing {
                agent: row.try_get("agent")?,
                kind: row.try_get("kind")?,
                status: row.try_get("status")?,
                resolution_id: row.try_get("resolution_id")?,
                overdue: row.try_get("overdue")?,
            })
        };
        Ok(read().during(OUTCOME.name)?)
    }
}

/// What a resolve comes to, if it wins. Whoever may not know of the message is told that there is none.
fn decide(
    envelope: &str,
    actor: &Actor,
    is_stranger: bool,
    body: &str,
) -> Result<(MessageType, Answer), Error> {
    // What was accepted can be read again; a refusal here would not be the resolver's.
    let envelope = Envelope::parse(envelope)
        .map_err(|problem| db::Error::corrupt(format!("stored envelope cannot be read: {problem}")))?;
    if is_stranger && !ma2h::resolve::may_resolve(&envelope, actor) {
        return Err(Problem::not_found().into());
    }
    let answer = ma2h::resolve::decide(&envelope, actor, body)?;
    Ok((envelope.kind, answer))
}

fn check_ids(message_id: &str, resolution_id: &str) -> Result<(), Problem> {
    message_id::check(message_id)?;
    if ids::is_minted(resolution_id, "res") {
        return Ok(());
    }
    Err(Problem::validation("resolution_id: malformed"))
}

fn outcome(message_id: &str, status: &str, resolution_id: &str, applied: bool) -> Outcome {
    Outcome {
        message_id: message_id.to_owned(),
        status: status.to_owned(),
        resolution_id: resolution_id.to_owned(),
        applied,
    }
}
