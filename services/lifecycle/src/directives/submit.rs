//! What a person writes, on its way into a mailbox: the key before the world (design rule 4), then the directive, in one
//! statement.

use hub_platform::cpu;
use hub_platform::db::{self, During};
use hub_platform::nats::WakeKind;
use hub_platform::{ids, telemetry};
use hub_proto::lifecycle::{Directive, GetDirectiveRequest, SubmitDirectiveReply, SubmitDirectiveRequest};
use ma2h::address::Actor;
use ma2h::directive::{Composed, Draft};
use ma2h::error::{ErrorCode, Problem};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use super::{INSERT, ORIGINAL, PREFIX};
use crate::error::Error;
use crate::mailbox;
use crate::tier::{Tier, bigint};

/// Longest key, in bytes.
const KEY_BYTES_MAX: usize = 1024;
/// Rounds of insert and look-up. A second one is needed only if a key ends between the two.
const ROUNDS_MAX: usize = 3;
/// When a person may come again whose addressee's mailbox is full.
const NO_ROOM_RETRY_SECONDS: u32 = 60;

/// What is to be written.
struct Writing {
    agent: String,
    session: Option<String>,
    author: String,
    composed: Composed,
    expires_at: Option<OffsetDateTime>,
    key_hash: Option<[u8; 32]>,
    digest: [u8; 32],
}

/// What an insert came to.
enum Inserted {
    Yes {
        /// To its addressee's webhook.
        push_owed: bool,
    },
    /// The key or the directive is there already.
    No,
    Refused(Problem),
}

impl Tier {
    /// Accepts a directive, or answers with the original of a repeated one.
    pub(crate) async fn submit_directive(
        &self,
        request: SubmitDirectiveRequest,
    ) -> Result<SubmitDirectiveReply, Error> {
        let (request, writing) = cpu::run(request.body.len(), move || {
            let writing = read(&request);
            (request, writing)
        })
        .await;
        let writing = writing?;
        for _ in 0..ROUNDS_MAX {
            match db::retry(|| self.insert_directive(&request, &writing)).await? {
                Inserted::Yes { push_owed } => {
                    self.announce_directive(&request, &writing, push_owed);
                    return self.submitted(&request, &request.directive_id, false).await;
                }
                Inserted::Refused(refusal) => {
                    let original = self.original_directive(&request, &writing).await?;
                    let id = original.ok_or(refusal)?;
                    return self.submitted(&request, &id, true).await;
                }
                Inserted::No => {}
            }
            if let Some(id) = self.original_directive(&request, &writing).await? {
                return self.submitted(&request, &id, id != request.directive_id).await;
            }
        }
        Err(Problem::unavailable("idempotency-key: in use by calls under way, try again").into())
    }

    async fn insert_directive(
        &self,
        request: &SubmitDirectiveRequest,
        writing: &Writing,
    ) -> Result<Inserted, Error> {
        if writing.session.is_some() {
            // None is registered, so that none is known.
            return Ok(Inserted::Refused(unknown_destination()));
        }
        let config = &self.config;
        let entries_max = Some(bigint(config.rate_limit.inbox_depth)).filter(|entries| *entries > 0);
        let traceparent = telemetry::traceparent().unwrap_or_default();
        let row = INSERT
            .row(
                &self.pool,
                &[
                    &request.account,
                    &request.directive_id,
                    &writing.agent,
                    &writing.author,
                    &writing.composed.before,
                    &writing.composed.after,
                    &writing.expires_at,
                    &bigint(config.inbound.retention_seconds),
                    &request.human,
                    &writing.key_hash.as_ref().map(<[u8; 32]>::as_slice),
                    &writing.digest.as_slice(),
                    &bigint(config.lifecycle.idempotency_ttl_seconds),
                    &entries_max,
                    &self.republish_after_ms(),
                    &traceparent,
                ],
            )
            .await?
            .ok_or_else(|| db::Error::corrupt("insert directive gave no row"))?;
        let flag = |name| row.try_get::<_, bool>(name).during(INSERT.name);
        let refusal = if !flag("destination_known")? {
            unknown_destination()
        } else if !flag("in_time")? {
            Problem::invalid_field("expires_at: expected a time in the future")
        } else if !flag("has_room")? {
            Problem::rate_limited(
                "rate_limit.inbox_depth: the mailbox of this agent is full",
                NO_ROOM_RETRY_SECONDS,
            )
        } else {
            let inserted: Option<&str> = row.try_get("directive").during(INSERT.name)?;
            return Ok(if inserted.is_some() {
                let push_owed = flag("push_owed")?;
                Inserted::Yes { push_owed }
            } else {
                Inserted::No
            });
        };
        Ok(Inserted::Refused(refusal))
    }

    /// The id of what this call, or one under the same key, made before.
    async fn original_directive(
        &self,
        request: &SubmitDirectiveRequest,
        writing: &Writing,
    ) -> Result<Option<String>, Error> {
        if self
            .has_directive(&request.account, &request.directive_id)
            .await?
        {
            // The very call, its reply lost on the way to the edge: nothing to compare.
            return Ok(Some(request.directive_id.clone()));
        }
        let Some(key_hash) = &writing.key_hash else {
            return Ok(None);
        };
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
            [&request.account, &request.human, &key_hash.as_slice()];
        let Some(row) = ORIGINAL.row(&self.pool, &values).await? else {
            return Ok(None);
        };
        let digest: &[u8] = row.try_get("digest").during(ORIGINAL.name)?;
        if digest != writing.digest {
            let message = "idempotency-key: was used for another body";
            return Err(Problem::new(ErrorCode::IdempotencyConflict, message).into());
        }
        let id: Option<String> = row.try_get("directive_id").during(ORIGINAL.name)?;
        Ok(Some(id.ok_or_else(Problem::gone)?))
    }

    async fn has_directive(&self, account: &str, directive_id: &str) -> Result<bool, db::Error> {
        Ok(super::READ
            .row(&self.pool, &[&account, &directive_id])
            .await?
            .is_some())
    }

    async fn submitted(
        &self,
        request: &SubmitDirectiveRequest,
        directive_id: &str,
        replayed: bool,
    ) -> Result<SubmitDirectiveReply, Error> {
        let directive: Directive = self
            .directive(GetDirectiveRequest {
                account: request.account.clone(),
                directive_id: directive_id.to_owned(),
            })
            .await?;
        Ok(SubmitDirectiveReply {
            directive: Some(directive),
            replayed,
        })
    }

    fn announce_directive(&self, request: &SubmitDirectiveRequest, writing: &Writing, push_owed: bool) {
        mailbox::count("directive", mailbox::QUEUED, 1);
        let (account, id) = (&request.account, &request.directive_id);
        self.announcer
            .wake(account, WakeKind::DirectiveUpdated, id, mailbox::QUEUED);
        self.announcer.mailbox_filled(account, &writing.agent);
        if push_owed {
            self.announcer.push_owed(account, id);
        }
    }
}

fn unknown_destination() -> Problem {
    Problem::new(ErrorCode::UnknownDestination, "to: no such agent or session")
}

/// Who writes what, under which key.
fn read(request: &SubmitDirectiveRequest) -> Result<Writing, Problem> {
    if !ids::is_minted(&request.directive_id, PREFIX) {
        return Err(Problem::validation("directive_id: malformed"));
    }
    let key = request.idempotency_key.as_deref();
    if key.is_some_and(|key| key.is_empty() || key.len() > KEY_BYTES_MAX) {
        let message = format!("idempotency-key: expected 1 to {KEY_BYTES_MAX} bytes");
        return Err(Problem::validation(message));
    }
    let draft = Draft::read(&request.body)?;
    // An address may spell U+0000, which no id of an agent holds, nor PostgreSQL's text.
    if draft.to.agent_id().contains('\0') {
        return Err(unknown_destination());
    }
    let author = Actor::Human(request.human.clone()).to_string();
    Ok(Writing {
        agent: draft.to.agent_id().to_owned(),
        session: draft.to.session().map(str::to_owned),
        composed: draft.compose(&request.directive_id, &author),
        author,
        expires_at: draft.expires_at,
        key_hash: key.map(|key| Sha256::digest(key).into()),
        digest: draft.digest,
    })
}
