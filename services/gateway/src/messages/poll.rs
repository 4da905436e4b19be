//! A read that waits: until something happened to the message, or it expires, or the time is up.

use std::time::Duration;

use hub_proto::lifecycle::GetMessageReply;
use ma2h::error::Problem;
use ma2h::status::Status;
use time::OffsetDateTime;
use tokio::time::{Instant, sleep, sleep_until};

use super::read::{self, Content, Read};
use crate::app::App;
use crate::auth::Authenticated;
use crate::auth::held::HoldKind;
use crate::edge::errors::Refusal;
use crate::principal::Principal;

/// A look at expiry comes a little late rather than a little early.
const EXPIRY_SLACK: Duration = Duration::from_millis(20);
/// Pause between looks at a message that by our clock should have expired.
const OVERDUE_PAUSE: Duration = Duration::from_millis(500);

/// What a waiting read asks for.
pub(super) struct Wait {
    pub(super) time: Duration,
    pub(super) since: Option<OffsetDateTime>,
}

/// Registers first and looks then, so that nothing falls between (rule 6). A waiter holds no connection to the database and
/// nothing of the message: that is read when there is something to answer. What no wake-up told of is found by
/// [`super::beat`], for all that wait here.
pub(super) async fn poll(
    app: &App,
    caller: &Authenticated,
    message_id: &str,
    wait: Wait,
) -> Result<Read, Refusal> {
    let reader = &caller.principal;
    let (account, _) = reader.of_account()?;
    let deadline = Instant::now() + wait.time;
    let hold = app.held.take(caller, HoldKind::Poll)?;
    let mut watch = app.wakes.watch_message(account, message_id);
    if let Principal::Agent(agent) = reader {
        app.touches.touch(agent);
    }
    loop {
        let look = || read::look(app, reader, message_id, wait.since, Content::LeftOut);
        let head = patiently(app, || async {
            let _turn = hold.turn(app.turn_until(deadline)).await?;
            Ok(look().await?)
        });
        let head = head.await?;
        if !is_open(&head) || Instant::now() >= deadline {
            break;
        }
        tokio::select! {
            () = watch.changed() => {}
            () = sleep_until(next_look(&head).map_or(deadline, |next| next.min(deadline))) => {}
            ending = hold.ended() => return Err(ending.into()),
            // The client gets what is true, and asks the next replica.
            () = app.shutdown.requested() => break,
        }
    }
    let whole = patiently(app, || async {
        let _turn = hold.turn(app.turn_until(deadline)).await?;
        read::whole(app, reader, message_id, wait.since).await
    });
    whole.await
}

/// Asks again, once and a moment later, where lifecycle is away: who waits for a minute need not be sent off because a tier
/// restarts in it.
async fn patiently<T, F, Fut>(app: &App, ask: F) -> Result<T, Refusal>
where
    F: Fn() -> Fut,
    Fut: Future<Output = Result<T, Refusal>>,
{
    match ask().await {
        Err(refusal) if refusal.is_unavailable() && !app.shutdown.is_triggered() => {
            // All that wait here met it together; they shall not come back together.
            let beat = Duration::from_millis(app.config.gateway.beat_interval_ms);
            sleep(beat.mul_f64(0.25 + rand::random::<f64>() / 2.0)).await;
            ask().await
        }
        answered => answered,
    }
}

/// Not modified may be open: nothing is said of the status then.
fn is_open(reply: &GetMessageReply) -> bool {
    let status = reply.message.as_ref().map(|message| message.status.as_str());
    reply.not_modified || status == Some(Status::Open.as_str())
}

/// At expiry, if there is one.
fn next_look(reply: &GetMessageReply) -> Option<Instant> {
    let expires_at = reply.message.as_ref()?.expires_at.as_ref();
    let left = hub_proto::time_of(expires_at?)? - OffsetDateTime::now_utc();
    // Where our clock runs ahead of PostgreSQL's, nothing is left and it has not expired.
    let left = Duration::try_from(left).map_or(OVERDUE_PAUSE, |left| left + EXPIRY_SLACK);
    Instant::now().checked_add(left)
}

/// How long a caller is ready to wait, capped.
pub(crate) fn wait_seconds(text: Option<&str>, max_seconds: u64) -> Result<Duration, Problem> {
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
