//! How an attempt went, and what that means for its push (§8.3).

use hub_proto::lifecycle::{PushResult, Settlement};

use crate::guard::{Failure, Reply};
use crate::health::{HostKey, Sign};

/// A push that was taken in hand and is done with.
pub(super) struct Ended {
    pub(super) settlement: Settlement,
    /// What is to be recorded of its host.
    pub(super) sign: Option<(HostKey, Sign)>,
}

/// Why an attempt got no status: a closed set, kept with the attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// The URL's host is not, or no longer, registered for its owner (§9.4).
    HostNotVerified,
    /// It is registered, and yet to be verified: it may be soon.
    HostPending,
    /// Nothing stands behind the reference.
    CredentialMissing,
    /// What stands behind it cannot be sent in a header.
    CredentialUnusable,
    /// A key cannot be opened: the hub's trouble, not the agent's.
    KeyUnreadable,
    /// What is pushed cannot be read back to be signed.
    PayloadUnreadable,
    /// The call itself.
    Call(Failure),
}

impl Fault {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::HostNotVerified => "host_not_verified",
            Self::HostPending => "host_pending",
            Self::CredentialMissing => "credential_missing",
            Self::CredentialUnusable => "credential_unusable",
            Self::KeyUnreadable => "key_unreadable",
            Self::PayloadUnreadable => "payload_unreadable",
            Self::Call(failure) => failure.as_str(),
        }
    }

    fn is_refusal(self) -> bool {
        match self {
            Self::HostNotVerified | Self::CredentialMissing | Self::CredentialUnusable => true,
            Self::HostPending | Self::KeyUnreadable | Self::PayloadUnreadable => false,
            Self::Call(failure) => failure.is_refusal(),
        }
    }
}

/// How an attempt went.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    /// The other side answered.
    Answered(Reply),
    /// It did not, or was not asked.
    Failed(Fault),
    /// Put back, untried.
    Deferred,
}

impl Outcome {
    /// 2xx is delivery; what was refused, by either side, is not tried again; the rest is.
    pub(super) fn result(self) -> PushResult {
        match self {
            Self::Answered(reply) => match reply.status {
                200..=299 => PushResult::Delivered,
                300..=499 => PushResult::Refused,
                _ => PushResult::Failed,
            },
            Self::Failed(fault) if fault.is_refusal() => PushResult::Refused,
            Self::Failed(_) => PushResult::Failed,
            Self::Deferred => PushResult::Deferred,
        }
    }

    /// The same for a metric's label.
    pub(super) fn label(self) -> &'static str {
        match self.result() {
            PushResult::Delivered => "delivered",
            PushResult::Refused => "refused",
            PushResult::Deferred => "deferred",
            PushResult::Failed | PushResult::Unspecified => "failed",
        }
    }

    /// What it tells of the push's host: none where the host was not asked.
    pub(super) fn sign(self, is_probe: bool) -> Option<Sign> {
        let failed = |what: String| Some(Sign::Failed { what, is_probe });
        match self {
            Self::Answered(reply) if self.result() == PushResult::Failed => {
                failed(format!("status {}", reply.status))
            }
            Self::Answered(_) => Some(Sign::Answered),
            Self::Failed(Fault::HostNotVerified) => Some(Sign::NotCalled),
            Self::Failed(Fault::Call(failure)) => failed(failure.as_str().to_owned()),
            Self::Failed(_) | Self::Deferred => None,
        }
    }

    pub(super) fn status(self) -> Option<u16> {
        match self {
            Self::Answered(reply) => Some(reply.status),
            Self::Failed(_) | Self::Deferred => None,
        }
    }

    pub(super) fn fault(self) -> Option<Fault> {
        match self {
            Self::Failed(fault) => Some(fault),
            Self::Answered(_) | Self::Deferred => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_one_meaning() {
        let check = |status: u16, result: PushResult| {
            let reply = Reply {
                status,
                retry_after: None,
            };
            assert_eq!(Outcome::Answered(reply).result(), result, "{status}");
        };
        for status in [200, 201, 204, 299] {
            check(status, PushResult::Delivered);
        }
        for status in [300, 301, 302, 304, 307, 308, 400, 401, 404, 408, 410, 429, 499] {
            check(status, PushResult::Refused);
        }
        for status in [101, 500, 502, 503, 504, 599, 600, 999] {
            check(status, PushResult::Failed);
        }
    }

    #[test]
    fn what_an_attempt_tells_of_its_host() {
        let answered = |status| {
            Outcome::Answered(Reply {
                status,
                retry_after: None,
            })
        };
        for status in [204, 302, 400, 404, 429] {
            assert!(
                matches!(answered(status).sign(false), Some(Sign::Answered)),
                "{status}"
            );
        }
        let failing = [
            answered(500),
            answered(503),
            Outcome::Failed(Fault::Call(Failure::Timeout)),
            Outcome::Failed(Fault::Call(Failure::RefusedAddress)),
        ];
        for outcome in failing {
            let sign = outcome.sign(true);
            assert!(
                matches!(sign, Some(Sign::Failed { is_probe: true, .. })),
                "{outcome:?}"
            );
        }
        for outcome in [
            Outcome::Deferred,
            Outcome::Failed(Fault::CredentialMissing),
            Outcome::Failed(Fault::HostPending),
        ] {
            assert!(outcome.sign(false).is_none(), "{outcome:?}");
        }
    }

    #[test]
    fn only_what_cannot_go_better_is_final() {
        let check = |fault: Fault, result: PushResult| {
            assert_eq!(Outcome::Failed(fault).result(), result, "{fault:?}");
        };
        for fault in [
            Fault::HostNotVerified,
            Fault::CredentialMissing,
            Fault::CredentialUnusable,
        ] {
            check(fault, PushResult::Refused);
        }
        for failure in [Failure::InvalidUrl, Failure::RefusedAddress] {
            check(Fault::Call(failure), PushResult::Refused);
        }
        for failure in [
            Failure::Dns,
            Failure::Connect,
            Failure::Tls,
            Failure::Timeout,
            Failure::Protocol,
        ] {
            check(Fault::Call(failure), PushResult::Failed);
        }
        check(Fault::HostPending, PushResult::Failed);
        check(Fault::KeyUnreadable, PushResult::Failed);
        check(Fault::PayloadUnreadable, PushResult::Failed);
        assert_eq!(Outcome::Deferred.result(), PushResult::Deferred);
    }
}
