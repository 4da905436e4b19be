//! One attempt of one push: signed anew, sent once.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue};
use hub_platform::{cpu, telemetry};
use hub_proto::lifecycle::{Push, Settlement};
use ma2h::error::Problem;
use tokio::time::Instant;

use super::clock::HubClock;
use super::material::{Gate, Material, Prepared, Signing};
use super::metrics::{self, InFlight};
use super::outcome::{Ended, Fault, Outcome};
use super::permits::HostPermits;
use super::signed::Signed;
use crate::guard::Guard;
use crate::health::{HostKey, Sign};

const SIGNATURE: HeaderName = HeaderName::from_static("ma2h-signature");
const KEY_ID: HeaderName = HeaderName::from_static("ma2h-key-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// What an attempt is made with.
pub(super) struct Sender {
    pub(super) guard: Guard,
    pub(super) hosts: HostPermits,
    /// The longest that a call takes.
    pub(super) timeout: Duration,
}

/// What a claim gives each of its attempts.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub(super) clock: HubClock,
    /// When another worker may claim the push.
    pub(super) claim_ends: Instant,
}

/// What an attempt is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To deliver.
    Deliver,
    /// To see whether a host is back.
    Look {
        /// Whether the host is paused, so that the look counts toward no cap.
        is_paused: bool,
    },
    /// Nothing: put back.
    PutBack,
}

impl Sender {
    /// Tries a push once, and says how that went.
    pub(super) async fn attempt(&self, prepared: Prepared, purpose: Purpose, terms: Terms) -> Ended {
        let Prepared {
            push,
            host,
            gate,
            material,
        } = prepared;
        let key = HostKey {
            account: push.account.clone(),
            host,
        };
        let mut settlement = untried(&push);
        let kind = push.kind();
        settlement.probe = purpose == Purpose::Look { is_paused: true };
        let outcome = match material {
            _ if purpose == Purpose::PutBack => Outcome::Deferred,
            Ok(material) => self.send(push, &key.host, material, terms, &mut settlement).await,
            Err(fault) => Outcome::Failed(fault),
        };
        settlement.set_result(outcome.result());
        settlement.status = outcome.status().map(u32::from);
        settlement.error = outcome.fault().map(|fault| fault.as_str().to_owned());
        metrics::record(kind, outcome);
        tracing::debug!(
            outcome = outcome.label(),
            status = settlement.status,
            error = settlement.error,
            duration_ms = settlement.duration_ms,
            "push attempted"
        );
        let sign = outcome.sign(matches!(purpose, Purpose::Look { .. }));
        // Of a host that works there is nothing to forget.
        let sign = sign.filter(|sign| gate != Gate::Well || matches!(sign, Sign::Failed { .. }));
        Ended {
            settlement,
            sign: sign.map(|sign| (key, sign)),
        }
    }

    async fn send(
        &self,
        push: Push,
        host: &str,
        material: Material,
        Terms { clock, claim_ends }: Terms,
        settlement: &mut Settlement,
    ) -> Outcome {
        let Some(_permit) = self.hosts.acquire(host).await else {
            return Outcome::Deferred;
        };
        // No attempt outlives its claim: another worker would be making the next one beside it.
        if !ends_in_time(Instant::now(), self.timeout, claim_ends) {
            return Outcome::Deferred;
        }
        let _in_flight = InFlight::enter();
        let url = push.url.clone();
        // Signed after the wait for a permit, so that `t` is the time of sending.
        let Ok((headers, body)) = request(push, material, clock).await else {
            return Outcome::Failed(Fault::PayloadUnreadable);
        };
        let started = Instant::now();
        let posted = self.guard.post(&url, headers, body).await;
        metrics::record_address(posted.address);
        settlement.address_class = posted.address.map(|class| class.as_str().to_owned());
        let outcome = match posted.result {
            Ok(reply) => Outcome::Answered(reply),
            Err(failure) => Outcome::Failed(Fault::Call(failure)),
        };
        let took = started.elapsed();
        metrics::record_duration(outcome, took);
        settlement.duration_ms = u32::try_from(took.as_millis()).unwrap_or(u32::MAX);
        if let Outcome::Answered(reply) = outcome
            && reply.status >= 500
        {
            settlement.retry_after_ms = reply.retry_after.map(|asked| asked.wait_ms(clock.now()));
        }
        outcome
    }
}

/// Whether a call that begins now has ended when its claim does, whatever the other side makes of it.
fn ends_in_time(now: Instant, timeout: Duration, claim_ends: Instant) -> bool {
    now + timeout <= claim_ends
}

/// A push of which nothing is said yet.
pub(super) fn untried(push: &Push) -> Settlement {
    Settlement {
        account: push.account.clone(),
        message_id: push.message_id.clone(),
        generation: push.generation,
        number: push.number,
        ..Settlement::default()
    }
}

/// The headers and the body of an attempt, signed now.
async fn request(push: Push, material: Material, clock: HubClock) -> Result<(HeaderMap, Bytes), Problem> {
    let traceparent = telemetry::traceparent().unwrap_or_else(|| push.traceparent.clone());
    let Material { signing, credential } = material;
    let (signed, signing) = cpu::run(push.payload.len(), move || {
        (Signed::now(push, signing.key(), clock), signing)
    })
    .await;
    let Signed { body, signature } = signed?;

    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(SIGNATURE, header(&signature)?);
    if let Signing::Hub(key) = &signing {
        headers.insert(KEY_ID, header(&key.kid)?);
    }
    if let Some((name, value)) = credential {
        headers.insert(name, value);
    }
    if let Ok(traceparent) = HeaderValue::from_str(&traceparent)
        && !traceparent.is_empty()
    {
        headers.insert(TRACEPARENT, traceparent);
    }
    Ok((headers, Bytes::from(body)))
}

fn header(text: &str) -> Result<HeaderValue, Problem> {
    HeaderValue::from_str(text).map_err(|_| Problem::internal())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;
    use ma2h::sign::{SigningKey, VerifyingKey, verify_push};

    const URL: &str = "https://agent.example/ma2h?x=1";

    fn push(response: &str) -> Push {
        Push {
            url: URL.to_owned(),
            payload: response.to_owned(),
            ..Push::default()
        }
    }

    fn clock() -> HubClock {
        HubClock::from_reading(hub_proto::Timestamp {
            seconds: 1_777_888_999,
            nanos: 0,
        })
        .unwrap()
    }

    async fn check(
        response: &str,
        signing: Signing,
        credential: Option<(HeaderName, HeaderValue)>,
    ) -> HeaderMap {
        let key = signing.key().verifying_key();
        let material = Material { signing, credential };
        let (headers, body) = request(push(response), material, clock()).await.unwrap();
        assert_eq!(body, response.as_bytes(), "the body is sent as it came");
        assert_eq!(headers[CONTENT_TYPE], "application/json");
        let signature = headers[SIGNATURE].to_str().unwrap();
        let now = 1_777_888_999;
        let verify = |url: &str, key: &VerifyingKey| verify_push(signature, response, url, key, now, 120);
        assert!(verify(URL, &key).is_ok(), "{signature}");
        assert!(verify("https://agent.example/other", &key).is_err());
        assert!(verify(URL, &VerifyingKey::hmac(b"another").unwrap()).is_err());
        headers
    }

    const ASK: &str = r#"{"ma2h_version":"0.6","in_reply_to":"msg_1","resolution_id":"res_1","agent":{"id":"a","run_id":"r"},"resolution":"answered","response":{"value":"ship","actor":"human:alice","resolved_at":"2026-05-04T10:03:19.000000Z"},"state":{"n":1.0}}"#;
    const TASK: &str = r#"{"ma2h_version":"0.6","in_reply_to":"msg_1","resolution_id":"res_1","agent":{"id":"a","run_id":"r"},"resolution":"completed"}"#;

    #[tokio::test]
    async fn what_is_sent_verifies_at_the_receiver() {
        for response in [ASK, TASK] {
            let shared = Signing::Shared(SigningKey::hmac(b"secret").unwrap());
            let headers = check(response, shared, None).await;
            assert!(!headers.contains_key(KEY_ID) && !headers.contains_key("authorization"));

            let hub = keys::HubKey {
                kid: "kid-1".to_owned(),
                signing: SigningKey::ed25519(&[3; 32]),
            };
            let credential = (http::header::AUTHORIZATION, HeaderValue::from_static("Bearer t"));
            let headers = check(response, Signing::Hub(hub.into()), Some(credential)).await;
            assert_eq!(headers[KEY_ID], "kid-1");
            assert_eq!(headers["authorization"], "Bearer t");
        }
    }

    #[test]
    fn no_call_is_begun_that_could_outlive_its_claim() {
        let (now, timeout) = (Instant::now(), Duration::from_secs(15));
        assert!(ends_in_time(now, timeout, now + Duration::from_secs(16)));
        assert!(ends_in_time(now, timeout, now + timeout));
        assert!(!ends_in_time(now, timeout, now + Duration::from_secs(14)));
        assert!(!ends_in_time(now, timeout, now));
    }

    #[tokio::test]
    async fn each_attempt_has_a_jti_of_its_own() {
        let signature = || async {
            let shared = Signing::Shared(SigningKey::hmac(b"secret").unwrap());
            check(ASK, shared, None).await[SIGNATURE].clone()
        };
        assert_ne!(signature().await, signature().await);
    }

    #[tokio::test]
    async fn a_long_response_is_signed_as_well() {
        let long = ASK.replace("1.0", &format!("\"{}\"", "x".repeat(256 * 1024)));
        check(&long, Signing::Shared(SigningKey::hmac(b"secret").unwrap()), None).await;
    }
}
