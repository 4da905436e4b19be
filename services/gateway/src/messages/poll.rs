//! A read that waits: until something happened to the message, or it expires, or the time is up.

use std::time::Duration;

use hub_proto::lifecycle::GetMessageReply;
use ma2h::error::Problem;
use time::OffsetDateTime;
use tokio::time::{Instant, sleep_until};

use super::read;
use crate::app::App;
use crate::auth;
use crate::auth::held::HoldKind;
use crate::edge::errors::Refusal;
use crate::principal::Principal;

/// The only status that something can still happen to.
const OPEN: &str = "open";
/// A look at expiry comes a little late rather than a little early.
const EXPIRY_SLACK: Duration = Duration::from_millis(20);
/// Pause between looks at a message that by our clock should have expired.
const OVERDUE_PAUSE: Duration = Duration::from_millis(500);

/// What a waiting read asks for.
pub(super) struct Wait {
    pub(super) time: Duration,
    pub(super) since: Option<OffsetDateTime>,
}

/// Registers first and looks then, so that nothing falls between (rule 6). A waiter holds no connection to the database.
pub(super) async fn poll(
    app: &App,
    reader: &Principal,
    message_id: &str,
    wait: Wait,
) -> Result<GetMessageReply, Refusal> {
    let (account, _) = reader.of_account()?;
    let deadline = Instant::now() + wait.time;
    let hold = app.held.take(reader, HoldKind::Poll)?;
    let mut watch = app.wakes.watch_message(account, message_id);
    if let Principal::Agent(agent) = reader {
        app.touches.touch(app, agent);
    }
    loop {
        let reply = read::look(app, reader, message_id, wait.since).await?;
        if !is_open(&reply) || Instant::now() >= deadline {
            return Ok(reply);
        }
        tokio::select! {
            () = watch.changed() => {}
            () = sleep_until(next_look(app, &reply).min(deadline)) => {}
            () = hold.ended() => return Err(auth::unauthenticated().into()),
            // The client gets what is true, and asks the next replica.
            () = app.shutdown.requested() => return Ok(reply),
        }
    }
}

/// Not modified may be open: nothing is said of the status then.
fn is_open(reply: &GetMessageReply) -> bool {
    reply.not_modified
        || reply
            .message
            .as_ref()
            .is_some_and(|message| message.status == OPEN)
}

/// At expiry, or at the next slow beat, whichever is sooner.
fn next_look(app: &App, reply: &GetMessageReply) -> Instant {
    let now = Instant::now();
    let beat = Duration::from_millis(app.config.gateway.beat_interval_ms);
    // Who began together shall not go on together.
    let beat = now + beat.mul_f64(0.75 + rand::random::<f64>() / 2.0);
    let expires_at = reply
        .message
        .as_ref()
        .and_then(|message| message.expires_at.as_ref());
    let Some(expires_at) = expires_at.and_then(hub_proto::time_of) else {
        return beat;
    };
    match Duration::try_from(expires_at - OffsetDateTime::now_utc()) {
        Ok(left) => beat.min(now + left + EXPIRY_SLACK),
        // Our clock runs ahead of PostgreSQL's.
        Err(_) => beat.min(now + OVERDUE_PAUSE),
    }
}

/// How long a caller is ready to wait, capped.
pub(super) fn wait_seconds(text: Option<&str>, max_seconds: u64) -> Result<Duration, Problem> {
    let Some(text) = text else {
        return Ok(Duration::ZERO);
    };
    let refused = || Problem::validation("wait: expected a number of seconds");
    let seconds: f64 = text.parse().map_err(|_| refused())?;
    if !seconds.is_finite() || seconds < 0.0 {
        return Err(refused());
    }
    let max = Duration::from_secs(max_seconds);
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(max).min(max))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::wait_seconds;

    #[test]
    fn a_wait_is_a_number_and_capped() {
        let cases = [
            (None, Some(0)),
            (Some("0"), Some(0)),
            (Some("5"), Some(5000)),
            (Some("0.25"), Some(250)),
            (Some("600"), Some(60_000)),
            (Some("1e300"), Some(60_000)),
            (Some("-1"), None),
            (Some("NaN"), None),
            (Some("inf"), None),
            (Some("soon"), None),
            (Some(""), None),
        ];
        for (text, expected_ms) in cases {
            let wait = wait_seconds(text, 60).ok();
            assert_eq!(wait, expected_ms.map(Duration::from_millis), "{text:?}");
        }
    }
}
