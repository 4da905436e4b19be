//! Claims: a worker takes pushes for the length of a lease.

use hub_platform::db::{self, During};
use hub_platform::ids;
use hub_proto::lifecycle::{ClaimPushesReply, ClaimPushesRequest, Push, PushJob};
use ma2h::error::Problem;
use time::OffsetDateTime;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::{BATCH_MAX, CLAIM};
use crate::error::Error;
use crate::statement::TypedValues;
use crate::tier::{Tier, bigint};
use crate::{message_id, response};

/// Bytes of envelopes and answers behind one reply (design rule 15); at least one push is given.
const REPLY_BYTES_MAX: i64 = 4 * 1024 * 1024;

impl Tier {
    /// Claims what of these is due, each with the number of the attempt it is claimed for.
    pub(crate) async fn claim_pushes(&self, request: ClaimPushesRequest) -> Result<ClaimPushesReply, Error> {
        check(&request)?;
        let jobs = request
            .jobs
            .iter()
            .filter(|job| message_id::is_wellformed(&job.message_id));
        let (accounts, message_ids): (Vec<_>, Vec<_>) = jobs.map(names).unzip();
        let lease_ms = bigint(self.config.callback.timeout_ms + self.config.lifecycle.claim_slack_ms);
        let values: TypedValues<'_> = &[
            (&request.claim_id, Type::TEXT),
            (&accounts, Type::TEXT_ARRAY),
            (&message_ids, Type::TEXT_ARRAY),
            (&lease_ms, Type::INT8),
            (&REPLY_BYTES_MAX, Type::INT8),
        ];
        let rows = db::retry(|| CLAIM.rows_planned(&self.pool, values));
        let mut reply = ClaimPushesReply::default();
        for row in rows.await? {
            let now: OffsetDateTime = row.try_get("now").during(CLAIM.name)?;
            reply.now = Some(hub_proto::stamp(now));
            reply.pushes.extend(self.claimed(&row)?);
        }
        let count = u64::try_from(reply.pushes.len()).unwrap_or_default();
        metrics::counter!("hub_lifecycle_pushes_claimed_total").increment(count);
        Ok(reply)
    }

    /// The push in a row, if the reply had room for it.
    fn claimed(&self, row: &Row) -> Result<Option<Push>, db::Error> {
        let account: String = row.try_get("account").during(CLAIM.name)?;
        let message_id: String = row.try_get("message_id").during(CLAIM.name)?;
        let envelope: Option<&str> = row.try_get("envelope").during(CLAIM.name)?;
        let Some(envelope) = envelope else {
            // The worker gives its job up with this reply: the next claim takes it.
            self.announcer.push_owed(&account, &message_id);
            return Ok(None);
        };
        let response = match response::of(row, &message_id, envelope) {
            Ok(response) => response,
            // One row that cannot be read keeps no other from its push.
            Err(error) => {
                tracing::error!(%error, account, message_id, "response cannot be composed");
                return Ok(None);
            }
        };
        read(row, account, message_id, response)
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
    Ok(())
}

fn names(job: &PushJob) -> (&str, &str) {
    (&job.account, &job.message_id)
}

fn read(
    row: &Row,
    account: String,
    message_id: String,
    response: String,
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
        url: row.try_get("callback_url")?,
        scheme: row.try_get("callback_scheme")?,
        credential_ref: row.try_get("credential_ref")?,
        response,
        traceparent: row.try_get("traceparent")?,
    })
}
