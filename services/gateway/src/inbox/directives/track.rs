//! How far a directive got, step by step: only what there is evidence of (§14.2).

use maud::{Markup, html};
use time::OffsetDateTime;

use super::super::presence::Presence;
use super::super::{names, when};
use super::written::Heading;

/// One step: taken, being waited for, or the end short of the goal.
struct Step {
    kind: &'static str,
    sign: &'static str,
    words: String,
    at: Option<OffsetDateTime>,
    more: Markup,
}

impl Step {
    fn taken(words: impl Into<String>, at: Option<OffsetDateTime>) -> Self {
        Self {
            kind: "taken",
            sign: "✓",
            words: words.into(),
            at,
            more: html! {},
        }
    }

    fn ahead(words: &str, more: Markup) -> Self {
        Self {
            kind: "ahead",
            sign: "…",
            words: words.to_owned(),
            at: None,
            more,
        }
    }

    fn failed(sign: &'static str, words: &str, at: Option<OffsetDateTime>, more: &str) -> Self {
        Self {
            kind: "failed",
            sign,
            words: words.to_owned(),
            at,
            more: html! { p class="hint" { (more) } },
        }
    }

    fn with(self, more: Markup) -> Self {
        Self { more, ..self }
    }
}

/// Draws the steps; `presence` is its agent's.
pub(super) fn draw(directive: &Heading, presence: &Presence, now: OffsetDateTime) -> Markup {
    html! {
        section class="card" aria-labelledby="track-title" {
            h2 id="track-title" { "How far it got" }
            ol class="track" {
                @for step in steps(directive, presence, now) {
                    li data-step=(step.kind) {
                        span class="track-sign" aria-hidden="true" { (step.sign) }
                        div {
                            p { (step.words) @if let Some(at) = step.at { span class="muted" { ", " (when::past(at, now)) } } }
                            (step.more)
                        }
                    }
                }
            }
        }
    }
}

fn steps(directive: &Heading, presence: &Presence, now: OffsetDateTime) -> Vec<Step> {
    let track = &directive.track;
    let author = names::actor(&directive.author);
    let mut steps = vec![Step::taken(format!("Written by {author}"), directive.created_at)];
    let was_delivered = track.delivered_at.is_some() || track.prior.as_deref() == Some("delivered");
    if was_delivered {
        steps.push(Step::taken("Delivered to the agent", track.delivered_at));
    }
    match track.state.as_str() {
        "queued" => steps.push(Step::ahead(
            "Waits in the agent’s mailbox",
            waits(directive, presence, now),
        )),
        "delivered" => {
            // §13.3: past its time it is given to nobody any more.
            let hint = if directive.expires_at.is_some_and(|expires_at| expires_at < now) {
                "Its time is over, so it is not shown to the agent any more; the agent can still acknowledge it."
            } else {
                "Until the agent acknowledges it, it is shown to it again."
            };
            steps.push(Step::ahead(
                "Not acknowledged yet",
                html! { p class="hint" { (hint) } },
            ));
        }
        "acknowledged" => {
            let ack = track.ack.as_ref();
            let note = ack.and_then(|ack| ack.note.as_deref());
            let at = ack.map(|ack| ack.acked_at);
            // Text of the agent: shown as that, never as markup (§14.4).
            let said = html! { @if let Some(note) = note { p class="plain-text said" { (note) } } };
            steps.push(Step::taken("Acknowledged by the agent", at).with(said));
        }
        "bounced" => {
            let more = if was_delivered {
                "The agent was given it, and never acknowledged it."
            } else {
                "The agent never saw it."
            };
            steps.push(Step::failed("✕", "Undeliverable", track.ended_at, more));
        }
        "expired" => {
            let more = "The agent did not look into its mailbox in time, and never saw it.";
            steps.push(Step::failed("◷", "Expired", track.ended_at, more));
        }
        // Of a later release.
        other => steps.push(Step::ahead(other, html! {})),
    }
    steps
}

fn waits(directive: &Heading, presence: &Presence, now: OffsetDateTime) -> Markup {
    html! {
        p class="hint" data-part="presence" { (presence.badge(now)) ". " (presence.before_sending()) }
        @if let Some(expires_at) = directive.expires_at { p class="hint expiry" { (when::deadline(expires_at, now)) } }
    }
}

#[cfg(test)]
mod tests {
    use hub_proto::Timestamp;
    use hub_proto::lifecycle::{Ack, MailboxTrack};
    use time::OffsetDateTime;
    use time::macros::datetime;

    use super::{Heading, Presence, draw};
    use crate::inbox::directives::written::tests::directive;

    fn drawn(track: MailboxTrack) -> String {
        drawn_at(track, datetime!(2026-06-04 19:00 UTC))
    }

    fn drawn_at(track: MailboxTrack, now: OffsetDateTime) -> String {
        let mut directive = directive("Stop", "");
        directive.track = Some(track);
        let heading = Heading::read(&directive).unwrap();
        draw(&heading, &Presence::Unknown, now).into_string()
    }

    fn at(state: &str, delivered: bool, prior: Option<&str>) -> MailboxTrack {
        let stamp = Timestamp {
            seconds: datetime!(2026-06-04 18:30 UTC).unix_timestamp(),
            nanos: 0,
        };
        MailboxTrack {
            state: state.to_owned(),
            delivered_at: delivered.then_some(stamp),
            prior: prior.map(str::to_owned),
            ended_at: Some(stamp),
            ack: (state == "acknowledged").then(|| Ack {
                by: "agent:a/b".to_owned(),
                acked_at: Some(stamp),
                note: Some("<b>on it</b>".to_owned()),
                ..Ack::default()
            }),
        }
    }

    #[test]
    fn what_was_given_to_the_agent_is_not_shown_again_past_its_time() {
        let delivered = || at("delivered", true, None);
        let (in_time, late) = (
            drawn_at(delivered(), datetime!(2026-06-04 19:59 UTC)),
            drawn_at(delivered(), datetime!(2026-06-04 20:01 UTC)),
        );
        assert!(in_time.contains("it is shown to it again"), "{in_time}");
        assert!(late.contains("not shown to the agent any more"), "{late}");
        assert!(late.contains("can still acknowledge it"), "{late}");
        assert!(!late.contains("shown to it again"), "{late}");
    }

    #[test]
    fn says_no_more_than_is_known() {
        let cases = [
            (
                at("queued", false, None),
                &["Waits in the agent", "Never seen", "expires in 1 h"][..],
                &["Delivered", "Acknowledged"][..],
            ),
            (
                at("delivered", true, None),
                &["Delivered to the agent", "30 min ago", "Not acknowledged yet"],
                &["Acknowledged by"],
            ),
            (
                at("acknowledged", true, None),
                &[
                    "Delivered to the agent",
                    "Acknowledged by the agent",
                    "&lt;b&gt;on it",
                ],
                &["<b>", "yet"],
            ),
            (
                at("bounced", true, Some("delivered")),
                &["Delivered to the agent", "Undeliverable", "never acknowledged"],
                &["never saw"],
            ),
            // The time of a delivery may be gone; that there was one stays true (§14.2).
            (
                at("bounced", false, Some("delivered")),
                &["Delivered to the agent", "Undeliverable"],
                &["never saw"],
            ),
            (
                at("bounced", false, Some("queued")),
                &["Undeliverable", "never saw it"],
                &["Delivered"],
            ),
            (
                at("expired", false, None),
                &["Expired", "never saw it"],
                &["Delivered"],
            ),
        ];
        for (track, said, not_said) in cases {
            let html = drawn(track);
            for words in said {
                assert!(html.contains(words), "{words} in {html}");
            }
            for words in not_said {
                assert!(!html.contains(words), "{words} not in {html}");
            }
        }
    }
}
