//! What a person writes to many, on its way in: the key before the world (design rule 4), then the broadcast with the agents
//! it is for, in one statement.

use hub_platform::db::{self, During};
use hub_platform::{cpu, ids};
use hub_proto::lifecycle::{Broadcast, SubmitBroadcastReply, SubmitBroadcastRequest};
use ma2h::address::Actor;
use ma2h::broadcast::{Audience, Draft};
use ma2h::error::Problem;
use time::OffsetDateTime;
use tokio_postgres::types::Type;

use super::audience::labels_json;
use super::{INSERT, PREFIX, READ, RESERVE, read};
use crate::directives::{self, Refusal};
use crate::error::Error;
use crate::human_key::HumanKey;
use crate::statement::{TypedValues, Values};
use crate::tier::{Tier, bigint};

/// Rounds of insert and look-up. A second one is needed only if a key ends between the two.
const ROUNDS_MAX: usize = 3;

/// When an account may come again whose broadcasts are all under way.
const NO_ROOM_RETRY_SECONDS: u32 = 10;

/// What is to be written.
struct Writing {
    author: String,
    audience: Audience,
    content: String,
    title: String,
    expires_at: Option<OffsetDateTime>,
    key: Option<HumanKey>,
}

impl Tier {
    /// Accepts a broadcast, or answers with the original of a repeated one.
    pub(crate) async fn submit_broadcast(
        &self,
        request: SubmitBroadcastRequest,
    ) -> Result<SubmitBroadcastReply, Error> {
        let (request, writing) = cpu::run(request.body.len(), move || {
            let writing = write(&request);
            (request, writing)
        })
        .await;
        let writing = writing?;
        for _ in 0..ROUNDS_MAX {
            match self.insert_broadcast(&request, &writing).await {
                Ok(true) => {
                    metrics::counter!("hub_lifecycle_broadcasts_total").increment(1);
                    self.announcer
                        .broadcast_owed(&request.account, &request.broadcast_id);
                }
                Ok(false) => {}
                Err(Error::Refused(refusal)) => {
                    // It may be told only when nothing of this call can still be taken (design rule 4).
                    self.wait_for_broadcast(&request, &writing).await?;
                    let original = self.original_broadcast(&request, &writing).await?;
                    let broadcast = original.ok_or(refusal)?;
                    let replayed = broadcast.broadcast_id != request.broadcast_id;
                    return Ok(SubmitBroadcastReply {
                        broadcast: Some(broadcast),
                        replayed,
                    });
                }
                Err(failure) => return Err(failure),
            }
            if let Some(broadcast) = self.original_broadcast(&request, &writing).await? {
                let replayed = broadcast.broadcast_id != request.broadcast_id;
                return Ok(SubmitBroadcastReply {
                    broadcast: Some(broadcast),
                    replayed,
                });
            }
        }
        Err(Problem::unavailable("idempotency-key: in use by calls under way, try again").into())
    }

    /// Says no where the key or the broadcast is there already.
    async fn insert_broadcast(
        &self,
        request: &SubmitBroadcastRequest,
        writing: &Writing,
    ) -> Result<bool, Error> {
        let (account, content) = (&request.account, &writing.content);
        let agents = self.recipients(account, &writing.audience, content.len()).await?;
        let directive_ids: Vec<_> = agents.iter().map(|_| ids::mint(directives::PREFIX)).collect();
        let labels = match &writing.audience {
            Audience::Agents(_) => None,
            Audience::Labels(labels) => Some(labels_json(labels)),
        };
        let under_way_max = i64::from(self.config.broadcast.under_way_max);
        let values: TypedValues<'_> = &[
            (account, Type::TEXT),
            (&request.broadcast_id, Type::TEXT),
            (&writing.author, Type::TEXT),
            (content, Type::TEXT),
            (&writing.title, Type::TEXT),
            (&labels, Type::TEXT),
            (&writing.expires_at, Type::TIMESTAMPTZ),
            (&agents, Type::TEXT_ARRAY),
            (&directive_ids, Type::TEXT_ARRAY),
            (&request.human, Type::TEXT),
            (&writing.key.as_ref().map(|key| key.hash.as_slice()), Type::BYTEA),
            (
                &writing.key.as_ref().map(|key| key.digest.as_slice()),
                Type::BYTEA,
            ),
            (&bigint(self.config.lifecycle.idempotency_ttl_seconds), Type::INT8),
            (&self.republish_after_ms(), Type::INT8),
            (&under_way_max, Type::INT8),
        ];
        let rows = db::retry(|| INSERT.rows_planned(&self.pool, values)).await?;
        let row = rows
            .first()
            .ok_or_else(|| db::Error::corrupt("insert broadcast gave no row"))?;
        if !row.try_get::<_, bool>("in_time").during(INSERT.name)? {
            return Err(Refusal::NotInTime.problem().into());
        }
        if !row.try_get::<_, bool>("has_room").during(INSERT.name)? {
            return Err(no_room(under_way_max).into());
        }
        Ok(row.try_get("inserted").during(INSERT.name)?)
    }

    /// Waits for this very call, or one under the same key, if it is under way.
    async fn wait_for_broadcast(
        &self,
        request: &SubmitBroadcastRequest,
        writing: &Writing,
    ) -> Result<(), db::Error> {
        let SubmitBroadcastRequest {
            account,
            human,
            broadcast_id,
            ..
        } = request;
        let Some(key) = &writing.key else {
            let values: Values<'_> = &[account, broadcast_id];
            return db::retry(|| RESERVE.reserve(&self.pool, values)).await;
        };
        self.wait_for_key(account, human, key, broadcast_id).await
    }

    /// What this call, or one under the same key, made before.
    async fn original_broadcast(
        &self,
        request: &SubmitBroadcastRequest,
        writing: &Writing,
    ) -> Result<Option<Broadcast>, Error> {
        let account = &request.account;
        // The very call, its reply lost on the way to the edge: nothing to compare.
        let known = self.known_broadcast(account, &request.broadcast_id).await?;
        let Some(key) = writing.key.as_ref().filter(|_| known.is_none()) else {
            return Ok(known);
        };
        match self.made_under(account, &request.human, key).await? {
            Some(id) => Ok(self.known_broadcast(account, &id).await?),
            None => Ok(None),
        }
    }

    async fn known_broadcast(&self, account: &str, id: &str) -> Result<Option<Broadcast>, db::Error> {
        let row = READ.row(&self.pool, &[&account, &id]).await?;
        row.as_ref().map(read::broadcast).transpose().during(READ.name)
    }
}

/// Refuses one more broadcast.
fn no_room(under_way_max: i64) -> Problem {
    Problem::rate_limited(
        format!(
            "broadcasts: {under_way_max} of this account are under way, as many as may be; wait until some have reached their agents"
        ),
        NO_ROOM_RETRY_SECONDS,
    )
}

/// Who writes what to whom, under which key.
fn write(request: &SubmitBroadcastRequest) -> Result<Writing, Problem> {
    if !ids::is_minted(&request.broadcast_id, PREFIX) {
        return Err(Problem::validation("broadcast_id: malformed"));
    }
    let draft = Draft::read(&request.body)?;
    Ok(Writing {
        author: Actor::Human(request.human.clone()).to_string(),
        content: draft.content.text(),
        title: draft.content.member("title").unwrap_or("\"\"").to_owned(),
        audience: draft.audience,
        expires_at: draft.expires_at,
        key: HumanKey::read(request.idempotency_key.as_deref(), draft.digest)?,
    })
}
