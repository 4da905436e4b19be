//! How an ask or a task ended (§6, §7).

use std::str::FromStr;

use crate::envelope::MessageType;
use crate::error::Problem;

/// A terminal state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// An ask got its answer.
    Answered,
    /// A person refused to answer, or ignored the ask.
    Declined,
    /// An ask was withdrawn.
    Cancelled,
    /// `expires_at` passed first.
    Expired,
    /// A task was done.
    Completed,
    /// A person refused to act.
    Dismissed,
}

impl Resolution {
    /// As the wire has it; the message's terminal status too.
    pub fn as_str(self) -> &'static str {
        match self {
            Resolution::Answered => "answered",
            Resolution::Declined => "declined",
            Resolution::Cancelled => "cancelled",
            Resolution::Expired => "expired",
            Resolution::Completed => "completed",
            Resolution::Dismissed => "dismissed",
        }
    }

    /// Whether a message of this type can end so.
    pub fn fits(self, kind: MessageType) -> bool {
        match kind {
            MessageType::Notify => false,
            MessageType::Ask => !matches!(self, Resolution::Completed | Resolution::Dismissed),
            MessageType::Task => {
                matches!(
                    self,
                    Resolution::Completed | Resolution::Dismissed | Resolution::Expired
                )
            }
        }
    }
}

impl FromStr for Resolution {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Resolution, Problem> {
        match text {
            "answered" => Ok(Resolution::Answered),
            "declined" => Ok(Resolution::Declined),
            "cancelled" => Ok(Resolution::Cancelled),
            "expired" => Ok(Resolution::Expired),
            "completed" => Ok(Resolution::Completed),
            "dismissed" => Ok(Resolution::Dismissed),
            _ => Err(Problem::validation("resolution: unknown")),
        }
    }
}
