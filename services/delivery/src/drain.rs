//! Drains (§8.7): what lies in a mailbox, claimed for whoever asks and signed anew at each delivery (§9.7, §9.8).

use std::sync::Arc;

use hub_platform::config::Peers;
use hub_platform::grpc::{self, TracedChannel};
use hub_platform::{cpu, ids};
use hub_proto::delivery::{DrainReply, DrainRequest, DrainedEntry};
use hub_proto::lifecycle::lifecycle_client::LifecycleClient;
use hub_proto::lifecycle::{ClaimEntriesRequest, Entry, UnclaimEntriesRequest};
use ma2h::EntryKind;
use ma2h::error::Problem;
use ma2h::sign::{self, SigningKey, drained_item, sign_entry};

use crate::error::CallError;
use crate::keys::{EntryKeys, HubKey, HubKeys};
use crate::worker::clock::HubClock;

/// Drains mailboxes for the gateway.
#[derive(Clone)]
pub(crate) struct Drains {
    pub(crate) lifecycle: LifecycleClient<TracedChannel>,
    pub(crate) peers: Peers,
    pub(crate) entry_keys: EntryKeys,
    pub(crate) hub_keys: HubKeys,
}

/// What a mailbox's entries are signed with.
enum EntrySigning {
    /// The agent's secret.
    Agent(SigningKey),
    /// The hub's own key.
    Hub(Arc<HubKey>),
}

impl EntrySigning {
    fn key(&self) -> &SigningKey {
        match self {
            Self::Agent(key) => key,
            Self::Hub(key) => &key.signing,
        }
    }
}

impl Drains {
    /// Claims and signs. After an error the claim may stand: the caller un-claims it, or asks again with it.
    pub(crate) async fn drain(&self, request: DrainRequest) -> Result<DrainReply, CallError> {
        let mut claim = ClaimEntriesRequest {
            account: request.account.clone(),
            agent: request.agent.clone(),
            session: request.session.clone(),
            claim_id: request.claim_id.clone(),
            max: request.max,
            is_repeat: request.is_repeat,
        };
        let claimed = || {
            let (mut lifecycle, call) = (self.lifecycle.clone(), claim.clone());
            claim.is_repeat = true;
            async move { lifecycle.claim_entries(call).await }
        };
        let claimed = grpc::call(&self.peers, claimed).await;
        let claimed = claimed.map_err(|status| grpc::status_to_problem(&status))?;
        let visible_in_ms = claimed.visible_in_ms;
        if claimed.entries.is_empty() {
            return Ok(DrainReply {
                entries: Vec::new(),
                visible_in_ms,
            });
        }
        let clock = claimed.now.and_then(HubClock::from_reading);
        let clock = clock.ok_or_else(Problem::internal)?;
        let signing = self.signing(&request.account, &request.agent).await?;
        let address = session_address(&request);
        let bytes = claimed.entries.iter().map(|entry| entry.payload.len()).sum();
        let (entries, unfit) = cpu::run(bytes, move || {
            sign_all(claimed.entries, signing.key(), clock, &address)
        })
        .await;
        if !unfit.is_empty() {
            self.leave(request, unfit).await;
        }
        Ok(DrainReply {
            entries,
            visible_in_ms: None,
        })
    }

    async fn signing(&self, account: &str, agent: &str) -> Result<EntrySigning, CallError> {
        Ok(match self.entry_keys.signing(account, agent).await? {
            Some(key) => EntrySigning::Agent(key),
            None => EntrySigning::Hub(self.hub_keys.active().await?),
        })
    }

    /// What cannot be signed was not delivered; it keeps no other from its agent.
    async fn leave(&self, request: DrainRequest, entry_ids: Vec<String>) {
        let count = entry_ids.len();
        let unclaim = UnclaimEntriesRequest {
            account: request.account,
            agent: request.agent,
            claim_id: request.claim_id,
            entry_ids,
        };
        let unclaimed = async || self.lifecycle.clone().unclaim_entries(unclaim.clone()).await;
        if let Err(status) = grpc::call(&self.peers, unclaimed).await {
            tracing::warn!(code = ?status.code(), entries = count, "entries that cannot be signed are still claimed");
        }
    }
}

/// What a response and a receipt are bound to.
fn session_address(request: &DrainRequest) -> String {
    match &request.session {
        Some(session) => format!("agent:{}#{session}", request.agent),
        None => format!("agent:{}", request.agent),
    }
}

/// Signs each entry; the ids of those that cannot be.
fn sign_all(
    entries: Vec<Entry>,
    key: &SigningKey,
    clock: HubClock,
    session_address: &str,
) -> (Vec<DrainedEntry>, Vec<String>) {
    let t = clock.now().unix_timestamp();
    let (mut signed, mut unfit) = (Vec::with_capacity(entries.len()), Vec::new());
    for entry in entries {
        match item(&entry, key, t, session_address) {
            Ok(item) => signed.push(DrainedEntry {
                entry_id: entry.entry_id,
                item,
            }),
            Err(problem) => {
                tracing::error!(entry_id = entry.entry_id, %problem, "entry cannot be signed");
                unfit.push(entry.entry_id);
            }
        }
    }
    (signed, unfit)
}

fn item(entry: &Entry, key: &SigningKey, t: i64, session_address: &str) -> Result<String, Problem> {
    let kind = EntryKind::ALL
        .into_iter()
        .find(|kind| kind.as_str() == entry.kind)
        .ok_or_else(Problem::internal)?;
    let to_sign = sign::Entry {
        kind,
        payload: &entry.payload,
        session_address,
    };
    let signature = sign_entry(&to_sign, key, t, &ids::mint("jti"))?;
    Ok(drained_item(kind, &entry.payload, &signature))
}

#[cfg(test)]
mod tests {
    use ma2h::sign::{Entry as ToVerify, VerifyingKey, verify_entry};

    use super::*;

    const DIRECTIVE: &str = r#"{"ma2h_version":"0.6","type":"directive","id":"dir_1","from":"human:alice","to":"agent:bot","created_at":"2026-01-02T03:04:05Z","title":"Stop"}"#;

    fn entry(kind: &str, entry_id: &str, payload: &str) -> Entry {
        Entry {
            kind: kind.to_owned(),
            entry_id: entry_id.to_owned(),
            payload: payload.to_owned(),
        }
    }

    #[test]
    fn each_entry_is_signed_for_itself_and_one_that_cannot_be_keeps_no_other() {
        let clock = HubClock::from_reading(hub_proto::Timestamp {
            seconds: 1_777_888_999,
            nanos: 0,
        });
        let entries = vec![
            entry("directive", "dir_1", DIRECTIVE),
            entry("directive", "dir_2", "{"),
            entry("rumour", "rum_1", "{}"),
            entry("directive", "dir_1", DIRECTIVE),
        ];
        let key = SigningKey::hmac(b"a secret").unwrap();
        let (signed, unfit) = sign_all(entries, &key, clock.unwrap(), "agent:bot");
        assert_eq!(unfit, ["dir_2", "rum_1"]);
        let mut nonces = Vec::new();
        for DrainedEntry { entry_id, item } in &signed {
            assert_eq!(entry_id, "dir_1");
            let signature = item.strip_prefix(&format!("{{\"directive\":{DIRECTIVE},\"signature\":\""));
            let signature = signature.and_then(|rest| rest.strip_suffix("\"}")).unwrap();
            let to_verify = ToVerify {
                kind: EntryKind::Directive,
                payload: DIRECTIVE,
                session_address: "agent:bot",
            };
            let keys = [VerifyingKey::hmac(b"a secret").unwrap()];
            let header = verify_entry(signature, &to_verify, &keys, 1_777_888_999, 5).unwrap();
            nonces.push(header.jti.to_owned());
        }
        assert_eq!(nonces.len(), 2);
        assert_ne!(nonces[0], nonces[1]);
    }
}
