//! Times as a person reads them. `assets/inbox.js` says the same words, to keep them true on a page that stays open.

use maud::{Markup, html};
use time::macros::format_description;
use time::{Duration, OffsetDateTime};

/// How long ago something was.
pub(super) fn ago(then: OffsetDateTime, now: OffsetDateTime) -> String {
    let passed = now - then;
    if passed < Duration::seconds(45) {
        return "just now".to_owned();
    }
    match (minutes(passed), hours(passed), days(passed)) {
        (minutes, _, _) if minutes < 60 => format!("{} min ago", minutes.max(1)),
        (_, hours, _) if hours < 24 => format!("{hours} h ago"),
        (_, _, 1) => "yesterday".to_owned(),
        (_, _, days) if days < 7 => format!("{days} days ago"),
        _ => date(then),
    }
}

/// How long something still has.
pub(super) fn left(then: OffsetDateTime, now: OffsetDateTime) -> String {
    format!("expires {}", due(then, now))
}

/// How soon something comes.
pub(super) fn due(then: OffsetDateTime, now: OffsetDateTime) -> String {
    let remaining = then - now;
    if remaining <= Duration::ZERO {
        return "now".to_owned();
    }
    match (minutes(remaining), hours(remaining), days(remaining)) {
        (0, _, _) => "in less than a minute".to_owned(),
        (minutes, _, _) if minutes < 60 => format!("in {minutes} min"),
        (_, hours, _) if hours < 48 => format!("in {hours} h"),
        (_, _, days) => format!("in {days} days"),
    }
}

/// An element that says how long ago, and the exact time on hover.
pub(super) fn past(then: OffsetDateTime, now: OffsetDateTime) -> Markup {
    element(then, &ago(then, now), "past")
}

/// An element that counts down.
pub(super) fn deadline(then: OffsetDateTime, now: OffsetDateTime) -> Markup {
    element(then, &left(then, now), "left")
}

/// An element that says how soon.
pub(super) fn soon(then: OffsetDateTime, now: OffsetDateTime) -> Markup {
    element(then, &due(then, now), "due")
}

fn element(then: OffsetDateTime, words: &str, tense: &str) -> Markup {
    html! { time datetime=(stamp(then)) title=(exact(then)) data-tense=(tense) { (words) } }
}

fn minutes(span: Duration) -> i64 {
    span.whole_minutes()
}

fn hours(span: Duration) -> i64 {
    span.whole_hours()
}

fn days(span: Duration) -> i64 {
    span.whole_days()
}

fn date(time: OffsetDateTime) -> String {
    let form = format_description!("[day padding:none] [month repr:short] [year]");
    time.format(form).unwrap_or_default()
}

fn exact(time: OffsetDateTime) -> String {
    let form = format_description!("[year]-[month]-[day] [hour]:[minute]:[second] UTC");
    time.to_offset(time::UtcOffset::UTC)
        .format(form)
        .unwrap_or_default()
}

fn stamp(time: OffsetDateTime) -> String {
    time.format(&time::format_description::well_known::Rfc3339)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use time::Duration;
    use time::macros::datetime;

    use super::{ago, due, left};

    #[test]
    fn says_how_long_ago() {
        let now = datetime!(2026-06-04 18:00 UTC);
        let cases = [
            (Duration::seconds(-5), "just now"),
            (Duration::seconds(44), "just now"),
            (Duration::seconds(59), "1 min ago"),
            (Duration::minutes(59), "59 min ago"),
            (Duration::minutes(60), "1 h ago"),
            (Duration::hours(23), "23 h ago"),
            (Duration::hours(47), "yesterday"),
            (Duration::days(2), "2 days ago"),
            (Duration::days(7), "28 May 2026"),
        ];
        for (passed, words) in cases {
            assert_eq!(ago(now - passed, now), words, "{passed}");
        }
    }

    #[test]
    fn says_how_long_is_left() {
        let now = datetime!(2026-06-04 18:00 UTC);
        let cases = [
            (Duration::seconds(-1), "expires now"),
            (Duration::seconds(59), "expires in less than a minute"),
            (Duration::minutes(1), "expires in 1 min"),
            (Duration::minutes(59), "expires in 59 min"),
            (Duration::hours(47), "expires in 47 h"),
            (Duration::hours(49), "expires in 2 days"),
        ];
        for (remaining, words) in cases {
            assert_eq!(left(now + remaining, now), words, "{remaining}");
            let words = words.strip_prefix("expires ").unwrap();
            assert_eq!(due(now + remaining, now), words, "{remaining}");
        }
    }
}
