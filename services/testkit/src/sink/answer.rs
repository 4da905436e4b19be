//! How an endpoint may behave.

use std::time::Duration;

use bytes::Bytes;

/// What the sink does with one request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Answers with a status and no body.
    Status(u16),
    /// Answers with a status, a header and a body.
    With {
        /// The status.
        status: u16,
        /// Name and value of a header.
        header: (&'static str, String),
        /// The body.
        body: Bytes,
    },
    /// Waits before it goes on to another answer.
    After(Duration, Box<Answer>),
    /// Takes the request and never answers.
    Hang,
    /// Takes the request and closes the connection.
    Close,
}

impl Answer {
    /// A redirect to somewhere else.
    pub fn redirect(status: u16, location: impl Into<String>) -> Self {
        Self::With {
            status,
            header: ("location", location.into()),
            body: Bytes::new(),
        }
    }

    /// A 503 that says when to come again.
    pub fn retry_after(seconds: u32) -> Self {
        Self::With {
            status: 503,
            header: ("retry-after", seconds.to_string()),
            body: Bytes::new(),
        }
    }

    /// The status that the other side gets in the end, if it gets one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status(status) | Self::With { status, .. } => Some(*status),
            Self::After(_, then) => then.status(),
            Self::Hang | Self::Close => None,
        }
    }

    /// This answer, `delay` later.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self::After(delay, Box::new(self))
    }
}
