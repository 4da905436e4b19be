//! Redelivery (§8.3): a person puts pushes back on the queue, each with a new generation and a fresh budget.

use hub_platform::db::{self, During};
use hub_platform::{ids, telemetry};
use hub_proto::lifecycle::{
    ListExhaustedReply, ListExhaustedRequest, RedeliverExhaustedReply, RedeliverExhaustedRequest,
    RedeliverMessageReply, RedeliverMessageRequest,
};
use ma2h::error::{ErrorCode, Problem};
use tokio_postgres::types::Type;

use super::{BATCH_MAX, EXHAUSTED, REDELIVER, is_pushed};
use crate::error::Error;
use crate::message_id;
use crate::statement::TypedValues;
use crate::tier::{Tier, bigint};

/// Which pushes a redelivery is for.
#[derive(Clone, Copy)]
enum Scope {
    /// Those that were given up.
    Exhausted,
    /// Whatever became of them.
    Any,
}

impl Tier {
    /// Pushes one Response again, now.
    pub(crate) async fn redeliver(
        &self,
        request: RedeliverMessageRequest,
    ) -> Result<RedeliverMessageReply, Error> {
        message_id::check(&request.message_id)?;
        let (account, message_id) = (&request.account, &request.message_id);
        let message_ids = [message_id.as_str()];
        if self
            .renew(account, &request.redelivery_id, &message_ids, Scope::Any)
            .await?
            > 0
        {
            return Ok(RedeliverMessageReply {});
        }
        let message = if self.standing(account, message_id).await?.is_open() {
            "the message is open; there is no Response to push yet"
        } else {
            "no push was asked for, or it has expired with the response track"
        };
        Err(Problem::new(ErrorCode::Conflict, message).into())
    }

    /// Lists what was given up.
    pub(crate) async fn exhausted(&self, request: ListExhaustedRequest) -> Result<ListExhaustedReply, Error> {
        let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
        if !(1..=BATCH_MAX).contains(&limit) {
            return Err(Problem::validation(format!("limit: expected 1 to {BATCH_MAX}")).into());
        }
        let after = request.after.as_deref().unwrap_or_default();
        let values: TypedValues<'_> = &[
            (&request.account, Type::TEXT),
            (&request.host, Type::TEXT),
            (&after, Type::TEXT),
            (&i64::from(request.limit), Type::INT8),
        ];
        let rows = EXHAUSTED.rows_planned(&self.pool, values).await?;
        let message_ids = rows.iter().map(|row| row.try_get("message_id"));
        Ok(ListExhaustedReply {
            message_ids: message_ids.collect::<Result<_, _>>().during(EXHAUSTED.name)?,
        })
    }

    /// Pushes these again as far as they were given up.
    pub(crate) async fn redeliver_exhausted(
        &self,
        request: RedeliverExhaustedRequest,
    ) -> Result<RedeliverExhaustedReply, Error> {
        if request.message_ids.len() > BATCH_MAX {
            return Err(Problem::validation(format!("message_ids: more than {BATCH_MAX}")).into());
        }
        let message_ids = request.message_ids.iter().map(String::as_str);
        let message_ids: Vec<&str> = message_ids.filter(|id| is_pushed(id)).collect();
        let (account, redelivery_id) = (&request.account, &request.redelivery_id);
        let redelivering = self
            .renew(account, redelivery_id, &message_ids, Scope::Exhausted)
            .await?;
        Ok(RedeliverExhaustedReply {
            redelivering: u32::try_from(redelivering).unwrap_or(u32::MAX),
        })
    }

    /// How many of these are on the queue by this call.
    async fn renew(
        &self,
        account: &str,
        redelivery_id: &str,
        message_ids: &[&str],
        scope: Scope,
    ) -> Result<usize, Error> {
        if !ids::is_minted(redelivery_id, "rdl") {
            return Err(Problem::validation("redelivery_id: malformed").into());
        }
        let traceparent = telemetry::traceparent().unwrap_or_default();
        let repeatable_seconds = bigint(self.config.lifecycle.idempotency_ttl_seconds);
        let values: TypedValues<'_> = &[
            (&account, Type::TEXT),
            (&message_ids, Type::TEXT_ARRAY),
            (&redelivery_id, Type::TEXT),
            (&matches!(scope, Scope::Any), Type::BOOL),
            (&self.republish_after_ms(), Type::INT8),
            (&traceparent, Type::TEXT),
            (&repeatable_seconds, Type::INT8),
        ];
        let rows = db::retry(|| REDELIVER.rows_planned(&self.pool, values)).await?;
        for row in &rows {
            if !row.try_get::<_, bool>("is_repeated").during(REDELIVER.name)? {
                metrics::counter!("hub_lifecycle_pushes_redelivered_total").increment(1);
            }
            // A job too many is claimed by nobody.
            self.announcer
                .push_owed(account, row.try_get("message_id").during(REDELIVER.name)?);
        }
        Ok(rows.len())
    }
}
