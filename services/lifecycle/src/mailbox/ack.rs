//! Acknowledgements of entries: to consume is to acknowledge (§8.7.1, §14.3).

use std::collections::BTreeSet;

use hub_platform::db::{self, During};
use hub_platform::{ids, telemetry};
use hub_proto::lifecycle::{AckEntriesReply, AckEntriesRequest};
use ma2h::address::Actor;
use ma2h::error::Problem;
use ma2h::version::HUB_VERSION;
use tokio_postgres::types::Type;

use super::ACK;
use crate::acks::{ACKNOWLEDGED, PREFIX, check_note};
use crate::column::without_nul;
use crate::error::Error;
use crate::statement::TypedValues;
use crate::tier::Tier;

/// Entries of one call.
const ENTRIES_MAX: usize = 1000;
/// Longest id that can be one of ours; what is longer, or holds what no id does, names nothing.
const ID_BYTES_MAX: usize = 64;

impl Tier {
    /// Consumes entries of an agent's mailbox; what is not there is passed over.
    pub(crate) async fn ack_entries(&self, request: AckEntriesRequest) -> Result<AckEntriesReply, Error> {
        if request.entry_ids.len() > ENTRIES_MAX {
            return Err(Problem::invalid_field(format!("ids: expected at most {ENTRIES_MAX}")).into());
        }
        check_note(request.note.as_deref())?;
        let asked = request.entry_ids.iter().map(String::as_str);
        let asked: BTreeSet<&str> = asked.filter(|id| can_be_an_id(id)).collect();
        if asked.is_empty() {
            return Ok(AckEntriesReply { acked: 0 });
        }
        let (entry_ids, ack_ids): (Vec<&str>, Vec<String>) =
            asked.into_iter().map(|id| (id, ids::mint(PREFIX))).unzip();
        let traceparent = telemetry::traceparent().unwrap_or_default();
        let by = Actor::agent(&request.agent).to_string();
        let note = request.note.as_deref().map(without_nul);
        let values: TypedValues<'_> = &[
            (&request.account, Type::TEXT),
            (&request.agent, Type::TEXT),
            (&entry_ids, Type::TEXT_ARRAY),
            (&by, Type::TEXT),
            (&HUB_VERSION, Type::TEXT),
            (&note, Type::TEXT),
            (&ack_ids, Type::TEXT_ARRAY),
            (&self.republish_after_ms(), Type::INT8),
            (&traceparent, Type::TEXT),
        ];
        let rows = db::retry(|| ACK.rows_planned(&self.pool, values)).await?;
        for row in &rows {
            let entry_id: &str = row.try_get("entry_id").during(ACK.name)?;
            let kind: &str = row.try_get("kind").during(ACK.name)?;
            self.announce_track(&request.account, kind, entry_id, ACKNOWLEDGED);
            if let Some(ack_id) = row.try_get("ack_id").during(ACK.name)? {
                self.announcer.push_owed(&request.account, ack_id);
            }
        }
        metrics::counter!("hub_lifecycle_acks_total", "leg" => "mailbox")
            .increment(u64::try_from(rows.len()).unwrap_or_default());
        Ok(AckEntriesReply {
            acked: u32::try_from(rows.len()).unwrap_or(u32::MAX),
        })
    }
}

fn can_be_an_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= ID_BYTES_MAX && !id.contains('\0')
}
