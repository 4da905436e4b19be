//! How a message stands (§7).

use std::str::FromStr;

use crate::error::Problem;
use crate::resolution::Resolution;

/// The status of a message: what an ask or a task has been resolved to, or that it has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// An ask or a task that waits.
    Open,
    /// A notify, from the beginning.
    Delivered,
    /// An ask or a task that has ended so.
    Ended(Resolution),
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 8] = [
        Status::Open,
        Status::Delivered,
        Status::Ended(Resolution::Answered),
        Status::Ended(Resolution::Declined),
        Status::Ended(Resolution::Cancelled),
        Status::Ended(Resolution::Expired),
        Status::Ended(Resolution::Completed),
        Status::Ended(Resolution::Dismissed),
    ];

    /// As the wire has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Open => "open",
            Status::Delivered => "delivered",
            Status::Ended(resolution) => resolution.as_str(),
        }
    }
}

impl FromStr for Status {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Status, Problem> {
        let known = Status::ALL.into_iter().find(|status| status.as_str() == text);
        known.ok_or_else(|| {
            let names = Status::ALL.map(Status::as_str).join(", ");
            Problem::validation(format!("status: expected one of {names}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn each_status_reads_back() {
        for status in Status::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
        let refusal = "opened".parse::<Status>().unwrap_err();
        assert!(
            refusal
                .message
                .starts_with("status: expected one of open, delivered, answered"),
            "{refusal}"
        );
    }
}
