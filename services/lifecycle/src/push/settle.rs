//! Settlements: what came of claimed pushes, and what comes next for each.

use std::collections::HashMap;

use hub_platform::db::{self, During};
use hub_platform::ids;
use hub_platform::nats::WakeKind;
use hub_proto::lifecycle::{PushResult, SettlePushesReply, SettlePushesRequest, Settlement};
use ma2h::error::Problem;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::decide::{Ended, Verdict, decide};
use super::{BATCH_MAX, CLAIMED, SETTLE, is_pushed};
use crate::column::storable;
use crate::error::Error;
use crate::mailbox::{self, DIRECTIVE};
use crate::read::DELIVERED;
use crate::statement::TypedValues;
use crate::tier::{Tier, bigint};

/// Outcomes, column by column, as the statement takes them.
#[derive(Debug, Default)]
struct Outcomes<'a> {
    accounts: Vec<&'a str>,
    message_ids: Vec<&'a str>,
    generations: Vec<i32>,
    numbers: Vec<i32>,
    kinds: Vec<&'static str>,
    pauses_ms: Vec<i64>,
    statuses: Vec<Option<i32>>,
    errors: Vec<Option<String>>,
    durations_ms: Vec<i32>,
    probes: Vec<bool>,
    address_classes: Vec<Option<String>>,
}

/// What is known of a push under a claim.
#[derive(Clone, Copy, Debug, Default)]
struct Claimed {
    elapsed_ms: u64,
    probes: u32,
    deferrals: u32,
}

impl<'a> Outcomes<'a> {
    fn add(&mut self, settlement: &'a Settlement, verdict: Verdict) {
        self.accounts.push(&settlement.account);
        self.message_ids.push(&settlement.message_id);
        self.generations.push(integer(settlement.generation));
        self.numbers.push(integer(settlement.number));
        self.kinds.push(verdict.as_str());
        self.pauses_ms.push(bigint(verdict.pause_ms()));
        self.statuses.push(
            settlement
                .status
                .map(integer)
                .filter(|status| (100..1000).contains(status)),
        );
        self.errors.push(kept(settlement.error.as_deref()));
        self.durations_ms.push(integer(settlement.duration_ms));
        self.probes.push(settlement.probe);
        self.address_classes
            .push(kept(settlement.address_class.as_deref()));
    }
}

impl Tier {
    /// Settles claimed pushes. Where the claim has passed to another, nothing but a delivery changes anything.
    pub(crate) async fn settle_pushes(
        &self,
        request: SettlePushesRequest,
    ) -> Result<SettlePushesReply, Error> {
        check(&request)?;
        let settlements: Vec<&Settlement> = request.settlements.iter().collect();
        let settled = match self.settle(&request.claim_id, &settlements).await {
            Err(Error::Database(error)) if !error.is_unavailable() && settlements.len() > 1 => {
                db::report(&error);
                self.settle_singly(&request.claim_id, &settlements).await?
            }
            settled => settled?,
        };
        Ok(SettlePushesReply { settled })
    }

    /// After a batch that failed as a whole: what can be settled is, and what cannot is left to its lease.
    async fn settle_singly(&self, claim_id: &str, settlements: &[&Settlement]) -> Result<u32, Error> {
        let mut settled = 0;
        for settlement in settlements {
            match self.settle(claim_id, &[settlement]).await {
                Ok(count) => settled += count,
                Err(Error::Database(error)) if !error.is_unavailable() => {
                    let Settlement {
                        account, message_id, ..
                    } = settlement;
                    tracing::error!(%error, account, message_id, "push cannot be settled");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(settled)
    }

    async fn settle(&self, claim_id: &str, settlements: &[&Settlement]) -> Result<u32, Error> {
        let outcomes = self.decide(claim_id, settlements).await?;
        let values: TypedValues<'_> = &[
            (&claim_id, Type::TEXT),
            (&outcomes.accounts, Type::TEXT_ARRAY),
            (&outcomes.message_ids, Type::TEXT_ARRAY),
            (&outcomes.generations, Type::INT4_ARRAY),
            (&outcomes.numbers, Type::INT4_ARRAY),
            (&outcomes.kinds, Type::TEXT_ARRAY),
            (&outcomes.pauses_ms, Type::INT8_ARRAY),
            (&outcomes.statuses, Type::INT4_ARRAY),
            (&outcomes.errors, Type::TEXT_ARRAY),
            (&outcomes.durations_ms, Type::INT4_ARRAY),
            (&outcomes.probes, Type::BOOL_ARRAY),
            (&outcomes.address_classes, Type::TEXT_ARRAY),
        ];
        let rows = db::retry(|| SETTLE.rows_planned(&self.pool, values)).await?;
        for row in &rows {
            self.announce_settled(row).during(SETTLE.name)?;
        }
        Ok(u32::try_from(rows.len()).unwrap_or(u32::MAX))
    }

    /// What comes of those that the claim still holds, and of what was delivered under it.
    async fn decide<'a>(
        &self,
        claim_id: &str,
        settlements: &[&'a Settlement],
    ) -> Result<Outcomes<'a>, Error> {
        let settlements = settlements.iter().filter(|s| is_pushed(&s.message_id));
        let settlements: Vec<&'a Settlement> = settlements.copied().collect();
        let (accounts, message_ids): (Vec<&str>, Vec<&str>) = settlements
            .iter()
            .map(|s| (s.account.as_str(), s.message_id.as_str()))
            .unzip();
        let values: TypedValues<'_> = &[
            (&claim_id, Type::TEXT),
            (&accounts, Type::TEXT_ARRAY),
            (&message_ids, Type::TEXT_ARRAY),
        ];
        let rows = CLAIMED.rows_planned(&self.pool, values).await?;
        let claimed = claimed(&rows).during(CLAIMED.name)?;
        let mut outcomes = Outcomes::default();
        for settlement in settlements {
            let key = (settlement.account.as_str(), settlement.message_id.as_str());
            let claimed = match claimed.get(&key) {
                Some(claimed) => *claimed,
                // Evidence, whoever has the claim by now; the statement says whether it still changes anything.
                None if settlement.result() == PushResult::Delivered => Claimed::default(),
                None => continue,
            };
            let ended = Ended {
                result: settlement.result(),
                number: settlement.number.saturating_sub(claimed.probes),
                is_probe: settlement.probe,
                deferrals: claimed.deferrals,
                elapsed_ms: claimed.elapsed_ms,
                retry_after_ms: settlement.retry_after_ms,
            };
            let verdict = decide(&self.policy, &ended, rand::random())
                .ok_or_else(|| Problem::validation("settlements.result: required"))?;
            outcomes.add(settlement, verdict);
        }
        Ok(outcomes)
    }

    fn announce_settled(&self, row: &Row) -> Result<(), tokio_postgres::Error> {
        let outcome = match row.try_get("kind")? {
            "delivered" => "delivered",
            "refused" => "refused",
            "retry" => "retry",
            "exhausted" => "exhausted",
            _ => "deferred",
        };
        let pushed = match row.try_get("pushed")? {
            "directive" => DIRECTIVE,
            "ack" => "ack",
            _ => "response",
        };
        metrics::counter!("hub_lifecycle_pushes_settled_total", "kind" => pushed, "outcome" => outcome)
            .increment(1);
        if row.try_get("stamped")? {
            let (account, message_id) = (row.try_get("account")?, row.try_get("message_id")?);
            if pushed == DIRECTIVE {
                self.announce_track(account, DIRECTIVE, message_id, mailbox::DELIVERED);
            } else {
                self.announcer
                    .wake(account, WakeKind::DeliveryUpdated, message_id, DELIVERED);
            }
        } else if pushed == "response" && matches!(outcome, "refused" | "exhausted") {
            let (account, message_id) = (row.try_get("account")?, row.try_get("message_id")?);
            self.announcer
                .wake(account, WakeKind::DeliveryUpdated, message_id, outcome);
        }
        Ok(())
    }
}

fn check(request: &SettlePushesRequest) -> Result<(), Problem> {
    if !ids::is_minted(&request.claim_id, "clm") {
        return Err(Problem::validation("claim_id: malformed"));
    }
    if request.settlements.len() > BATCH_MAX {
        return Err(Problem::validation(format!("settlements: more than {BATCH_MAX}")));
    }
    Ok(())
}

/// What is known of each push under the claim.
fn claimed(rows: &[Row]) -> Result<HashMap<(&str, &str), Claimed>, tokio_postgres::Error> {
    // The table's checks keep these from being negative.
    let count = |row: &Row, name| {
        row.try_get::<_, i32>(name)
            .map(|count| u32::try_from(count).unwrap_or_default())
    };
    let read = |row: &Row| {
        let elapsed_ms: i64 = row.try_get("elapsed_ms")?;
        Ok::<_, tokio_postgres::Error>(Claimed {
            elapsed_ms: u64::try_from(elapsed_ms).unwrap_or_default(),
            probes: count(row, "probes")?,
            deferrals: count(row, "deferrals")?,
        })
    };
    rows.iter()
        .map(|row| Ok(((row.try_get("account")?, row.try_get("message_id")?), read(row)?)))
        .collect()
}

/// A word of delivery's as PostgreSQL takes it.
fn kept(word: Option<&str>) -> Option<String> {
    word.map(|word| storable(word).into_owned())
}

/// A count as PostgreSQL takes it. One beyond belongs to no row.
fn integer(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
