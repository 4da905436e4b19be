//! Claims: what a drain is given, and what is taken back of it.

use hub_platform::db::{self, During};
use hub_platform::ids;
use hub_proto::lifecycle::{
    ClaimEntriesReply, ClaimEntriesRequest, Entry, UnclaimEntriesReply, UnclaimEntriesRequest,
};
use ma2h::error::Problem;
use time::OffsetDateTime;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::heads::{Lane, Walk};
use super::{CLAIM, DELIVERED, END_CLAIM, QUEUED, UNCLAIM, lanes};
use crate::error::Error;
use crate::look_back::Moment;
use crate::statement::TypedValues;
use crate::tier::{Tier, bigint};

/// What ids of claims begin with.
const CLAIM_PREFIX: &str = "clm";
/// Bytes of content of one answer (design rule 15); at least one entry is given.
const ANSWER_BYTES_MAX: i64 = 4 * 1024 * 1024;
/// Tries of one claim. The second follows on another of the same id, which was under way and has come first: what that one
/// took is told then.
const TRIES_MAX: usize = 2;

/// What one claim came to.
#[derive(Default)]
struct Claimed {
    reply: ClaimEntriesReply,
    /// Kind and id of what is delivered for the first time.
    first: Vec<(String, String)>,
    /// Whether the claim became known meanwhile, and is to be asked for again.
    contended: bool,
    /// When, by the clock of the database.
    now: Option<OffsetDateTime>,
    /// Where each lane begins now, as far as this claim saw it.
    heads: Option<Vec<OffsetDateTime>>,
}

impl Tier {
    /// Gives a drain what is there for it.
    pub(crate) async fn claim_entries(
        &self,
        request: ClaimEntriesRequest,
    ) -> Result<ClaimEntriesReply, Error> {
        check_claim_id(&request.claim_id)?;
        if request.max == 0 {
            return Err(Problem::validation("max: expected at least 1").into());
        }
        let mut claimed = Claimed::default();
        for _ in 0..TRIES_MAX {
            claimed = db::retry(|| self.claim_once(&request)).await?;
            if !claimed.contended {
                break;
            }
        }
        for (kind, entry_id) in &claimed.first {
            self.announce_track(&request.account, kind, entry_id, DELIVERED);
        }
        let entries = u64::try_from(claimed.reply.entries.len()).unwrap_or_default();
        metrics::counter!("hub_lifecycle_entries_claimed_total").increment(entries);
        Ok(claimed.reply)
    }

    async fn claim_once(&self, request: &ClaimEntriesRequest) -> Result<Claimed, db::Error> {
        let inbound = &self.config.inbound;
        let lanes = lanes(request.session.as_deref());
        let entries_max = i64::from(request.max.min(inbound.max_batch));
        let names = lanes.iter().map(|lane| Lane {
            account: request.account.clone(),
            agent: request.agent.clone(),
            name: (*lane).to_owned(),
        });
        let now = Moment::now();
        let walks: Vec<_> = names
            .map(|lane| {
                let walk = self.heads.walk(&lane, now);
                (lane, walk)
            })
            .collect();
        let (begins_at, seen_at) = Walk::columns(&walks);
        let values: TypedValues<'_> = &[
            (&request.account, Type::TEXT),
            (&request.agent, Type::TEXT),
            (&lanes, Type::TEXT_ARRAY),
            (&request.claim_id, Type::TEXT),
            (&entries_max, Type::INT8),
            (&ANSWER_BYTES_MAX, Type::INT8),
            (&bigint(inbound.visibility_timeout_seconds), Type::INT8),
            (&request.is_repeat, Type::BOOL),
            (&begins_at, Type::TIMESTAMPTZ_ARRAY),
            (&seen_at, Type::TIMESTAMPTZ_ARRAY),
            (&self.heads.late_ms(), Type::INT8),
        ];
        let rows = CLAIM
            .rows_planned(&self.pool, values)
            .await
            .inspect_err(|error| self.heads.failed(&walks, error))?;
        let mut claimed = Claimed::default();
        for row in &rows {
            read(row, &mut claimed).during(CLAIM.name)?;
        }
        if let (Some(now_there), Some(heads)) = (claimed.now, claimed.heads.take()) {
            for ((lane, walk), begins_at) in walks.into_iter().zip(heads) {
                self.heads.saw(lane, walk, begins_at, now_there);
            }
        }
        Ok(claimed)
    }

    /// Takes back what could not be handed over: those named, or all, and then the claim has ended for good.
    pub(crate) async fn unclaim_entries(
        &self,
        request: UnclaimEntriesRequest,
    ) -> Result<UnclaimEntriesReply, Error> {
        check_claim_id(&request.claim_id)?;
        let UnclaimEntriesRequest {
            account,
            agent,
            claim_id,
            entry_ids,
        } = &request;
        if entry_ids.is_empty() {
            db::retry(async || END_CLAIM.rows(&self.pool, &[account, claim_id]).await).await?;
        }
        let rows = db::retry(async || {
            UNCLAIM
                .rows(&self.pool, &[account, agent, claim_id, entry_ids])
                .await
        });
        let rows = rows.await?;
        for row in &rows {
            let (entry_id, kind, state) = unclaimed(row).during(UNCLAIM.name)?;
            // What is delivered still was so before; what has bounced was told then.
            if state == QUEUED {
                self.announce_track(account, kind, entry_id, state);
            }
        }
        if !rows.is_empty() {
            let entries = u64::try_from(rows.len()).unwrap_or_default();
            metrics::counter!("hub_lifecycle_entries_unclaimed_total").increment(entries);
            self.announcer.mailbox_filled(account, agent);
        }
        Ok(UnclaimEntriesReply {})
    }
}

fn check_claim_id(claim_id: &str) -> Result<(), Problem> {
    if ids::is_minted(claim_id, CLAIM_PREFIX) {
        return Ok(());
    }
    Err(Problem::validation("claim_id: malformed"))
}

fn read(row: &Row, claimed: &mut Claimed) -> Result<(), tokio_postgres::Error> {
    let now: OffsetDateTime = row.try_get("now")?;
    let visible_in_ms: Option<i64> = row.try_get("visible_in_ms")?;
    claimed.reply.now = Some(hub_proto::stamp(now));
    claimed.now = Some(now);
    claimed.heads = row.try_get("heads")?;
    claimed.reply.visible_in_ms = visible_in_ms.map(|ms| u64::try_from(ms).unwrap_or_default());
    claimed.contended = row.try_get("contended")?;
    let Some(entry_id) = row.try_get::<_, Option<String>>("entry_id")? else {
        return Ok(());
    };
    let kind: String = row.try_get("kind")?;
    if row.try_get("is_first")? {
        claimed.first.push((kind.clone(), entry_id.clone()));
    }
    claimed.reply.entries.push(Entry {
        kind,
        entry_id,
        payload: row.try_get("payload")?,
    });
    Ok(())
}

fn unclaimed(row: &Row) -> Result<(&str, &str, &str), tokio_postgres::Error> {
    Ok((
        row.try_get("entry_id")?,
        row.try_get("kind")?,
        row.try_get("state")?,
    ))
}
