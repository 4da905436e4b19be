//! Claims: a worker takes pushes for the length of a lease.

use hub_platform::db::{self, During};
use hub_platform::ids;
use hub_proto::lifecycle::{ClaimPushesReply, ClaimPushesRequest, HostRoom, Push, PushJob, PushKind};
use ma2h::error::Problem;
use time::OffsetDateTime;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::{BATCH_MAX, CLAIM, is_pushed, payload};
use crate::error::Error;
use crate::statement::TypedValues;
use crate::tier::{Tier, bigint};

/// Bytes of envelopes and answers behind one reply (design rule 15); at least one push is given.
const REPLY_BYTES_MAX: i64 = 4 * 1024 * 1024;
/// Hosts whose room a claim may tell.
const ROOMS_MAX: usize = 10_000;

impl Tier {
    /// Claims what of these is due, each with the number of the attempt it is claimed for.
    pub(crate) async fn claim_pushes(&self, request: ClaimPushesRequest) -> Result<ClaimPushesReply, Error> {
        check(&request)?;
        let jobs = request.jobs.iter().filter(|job| is_pushed(&job.message_id));
        let (accounts, message_ids): (Vec<_>, Vec<_>) = jobs.map(names).unzip();
        let (hosts, rooms): (Vec<_>, Vec<_>) = request.rooms.iter().map(room).unzip();
        let are_stuck: Vec<_> = request.rooms.iter().map(|room| room.is_stuck).collect();
        let room_otherwise = match request.room_otherwise {
            0 => i64::MAX,
            pushes => i64::from(pushes),
        };
        let callback = &self.config.callback;
        let (defer_first_ms, defer_ms_max) = (bigint(callback.defer_first_ms), bigint(callback.max_delay_ms));
        let attempts_max = i32::try_from(callback.max_attempts).unwrap_or(i32::MAX);
        let duration_ms_max = bigint(callback.max_duration_seconds.saturating_mul(1000));
        let lease_ms = bigint(callback.timeout_ms + self.config.lifecycle.claim_slack_ms);
        let values: TypedValues<'_> = &[
            (&request.claim_id, Type::TEXT),
            (&accounts, Type::TEXT_ARRAY),
            (&message_ids, Type::TEXT_ARRAY),
            (&lease_ms, Type::INT8),
            (&REPLY_BYTES_MAX, Type::INT8),
            (&hosts, Type::TEXT_ARRAY),
            (&rooms, Type::INT8_ARRAY),
            (&room_otherwise, Type::INT8),
            (&defer_first_ms, Type::INT8),
            (&defer_ms_max, Type::INT8),
            (&attempts_max, Type::INT4),
            (&are_stuck, Type::BOOL_ARRAY),
            (&duration_ms_max, Type::INT8),
        ];
        let rows = db::retry(|| CLAIM.rows_planned(&self.pool, values));
        let mut reply = ClaimPushesReply::default();
        for row in rows.await? {
            let now: OffsetDateTime = row.try_get("now").during(CLAIM.name)?;
            reply.now = Some(hub_proto::stamp(now));
            reply.pushes.extend(self.claimed(&row)?);
        }
        Ok(reply)
    }

    /// The push in a row, if it was claimed.
    fn claimed(&self, row: &Row) -> Result<Option<Push>, db::Error> {
        let verdict = match row.try_get("verdict").during(CLAIM.name)? {
            "claimed" => "claimed",
            "held" => "held",
            "deferred" => "deferred",
            "ended" => "ended",
            "exhausted" => "exhausted",
            _ => "crowded",
        };
        metrics::counter!("hub_lifecycle_pushes_asked_for_total", "verdict" => verdict).increment(1);
        if matches!(verdict, "held" | "deferred" | "ended" | "exhausted") {
            return Ok(None);
        }
        let account: String = row.try_get("account").during(CLAIM.name)?;
        let message_id: String = row.try_get("message_id").during(CLAIM.name)?;
        if verdict == "crowded" {
            // The worker gives its job up with this reply: the next claim takes it.
            self.announcer.push_owed(&account, &message_id);
            return Ok(None);
        }
        let payload = match payload::of(row, &message_id) {
            Ok(payload) => payload,
            // One row that cannot be read keeps no other from its push.
            Err(error) => {
                tracing::error!(%error, account, message_id, "what is pushed cannot be composed");
                return Ok(None);
            }
        };
        read(row, account, message_id, payload)
            .map(Some)
            .during(CLAIM.name)
    }
}

fn check(request: &ClaimPushesRequest) -> Result<(), Problem> {
    if !ids::is_minted(&request.claim_id, "clm") {
        return Err(Problem::validation("claim_id: malformed"));
    }
    if request.jobs.len() > BATCH_MAX {
        return Err(Problem::validation(format!("jobs: more than {BATCH_MAX}")));
    }
    if request.rooms.len() > ROOMS_MAX {
        return Err(Problem::validation(format!("rooms: more than {ROOMS_MAX}")));
    }
    Ok(())
}

fn room(room: &HostRoom) -> (&str, i64) {
    (&room.host, i64::from(room.pushes))
}

fn names(job: &PushJob) -> (&str, &str) {
    (&job.account, &job.message_id)
}

fn read(
    row: &Row,
    account: String,
    message_id: String,
    (kind, payload): (PushKind, String),
) -> Result<Push, tokio_postgres::Error> {
    // The table's checks keep these from being negative.
    let count = |name| {
        row.try_get::<_, i32>(name)
            .map(|count| u32::try_from(count).unwrap_or_default())
    };
    Ok(Push {
        account,
        message_id,
        generation: count("generation")?,
        number: count("number")?,
        agent: row.try_get("agent")?,
        url: row.try_get("url")?,
        scheme: row.try_get("scheme")?,
        credential_ref: row.try_get("credential_ref")?,
        payload,
        traceparent: row.try_get("traceparent")?,
        kind: kind.into(),
    })
}
