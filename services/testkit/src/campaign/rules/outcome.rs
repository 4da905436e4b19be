//! A message has one outcome, and everybody is told that one.

use serde_json::Value;

use super::{Cases, Violation, violation};
use crate::campaign::evidence::Message;
use crate::campaign::history::{Call, Deed, OPEN, Told};

/// Every answer, read and push that names an outcome names the one in the database.
pub(super) fn there_is_one_outcome(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    const RULE: &str = "two outcomes";
    for (message, calls) in cases.messages() {
        let mut response: Option<Value> = None;
        for call in calls {
            if let Some(what) = contradiction(message, call) {
                found.push(violation(RULE, &message.id, format!("{what}: {call}")));
            }
            if let Told::Seen {
                response: Some(seen), ..
            } = &call.told
            {
                compare(message, &mut response, seen, found);
            }
        }
        for arrival in cases.arrivals(&message.id) {
            compare(message, &mut response, &arrival.body, found);
        }
    }
    for arrival in &cases.evidence.arrivals {
        if !cases.evidence.messages.contains_key(&arrival.id) {
            found.push(violation("a push of no message", &arrival.id, &arrival.body));
        }
    }
}

fn contradiction(message: &Message, call: &Call) -> Option<&'static str> {
    let status = call.told.status()?;
    if status != OPEN && status != message.status {
        return Some("another status");
    }
    let resolution_id = match &call.told {
        Told::Ended { resolution_id, .. } => resolution_id.as_deref(),
        _ => None,
    };
    (resolution_id.is_some() && resolution_id != message.resolution_id.as_deref())
        .then_some("another resolution")
}

/// Holds a Response against the row and against the first that was seen. `state` is the agent's own: people do not see
/// it, and it comes back as it was sent.
fn compare(message: &Message, first: &mut Option<Value>, seen: &Value, found: &mut Vec<Violation>) {
    let mut seen = seen.clone();
    let state = seen.as_object_mut().and_then(|response| response.remove("state"));
    if state.is_some_and(|state| state["of"] != message.name.as_str()) {
        found.push(violation("another message's state", &message.id, &seen));
    }
    let is_of_row = seen["resolution_id"].as_str() == message.resolution_id.as_deref()
        && seen["resolution"] == message.status.as_str()
        && seen["in_reply_to"] == message.id.as_str();
    let is_as_first = is_of_row && *first.get_or_insert_with(|| seen.clone()) == seen;
    if !is_as_first {
        found.push(violation("two outcomes", &message.id, &seen));
    }
}

/// Whose answer stands in the database was not told that another came first; and who was told to have ended the message
/// did.
pub(super) fn who_won_was_told(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for (message, calls) in cases.messages() {
        for call in calls {
            let won = match &call.deed {
                Deed::Resolve { token, .. } => message.detail.contains(token.as_str()),
                Deed::Cancel { .. } => message.status == "cancelled",
                _ => continue,
            };
            let what = match &call.told {
                Told::TooLate { .. } | Told::Refused { .. } if won => "won and was told otherwise",
                Told::Ended { .. } if !won => "was told to have won",
                _ => continue,
            };
            found.push(violation(
                "a resolver was told an untruth",
                &message.id,
                format!("{what}: {call}"),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::campaign::history::{Deed, Told};
    use crate::campaign::rules::samples::{ID, Sample, broken};

    #[test]
    fn a_hub_that_is_right_breaks_no_rule() {
        for sample in [Sample::open(), Sample::answered(), Sample::expired()] {
            assert_eq!(broken(&sample), Vec::<&str>::new());
        }
    }

    #[test]
    fn another_status_in_a_refusal_is_a_second_outcome() {
        let mut sample = Sample::answered();
        let status = "declined".to_owned();
        sample.call(9, Deed::Cancel { id: ID.to_owned() }, Told::TooLate { status });
        assert_eq!(broken(&sample), ["two outcomes"]);
    }

    #[test]
    fn another_resolution_is_a_second_outcome_wherever_it_shows() {
        let mut read = Sample::answered();
        read.seen(9, |response| response["resolution_id"] = json!("res_other"));
        assert_eq!(broken(&read), ["two outcomes"]);

        let mut pushed = Sample::answered();
        pushed.push_again(|arrival| arrival.body["resolution_id"] = json!("res_other"));
        assert_eq!(broken(&pushed), ["two outcomes"]);
    }

    #[test]
    fn a_response_that_changes_is_a_second_outcome() {
        let mut sample = Sample::answered();
        sample.seen(9, |response| response["response"]["value"] = json!("deny"));
        assert_eq!(broken(&sample), ["two outcomes"]);
    }

    #[test]
    fn the_state_of_another_message_is_found() {
        let mut sample = Sample::answered();
        sample.push_again(|arrival| arrival.body["state"] = json!({"of": "another"}));
        assert_eq!(broken(&sample), ["another message's state"]);
    }

    #[test]
    fn a_push_of_nothing_is_found() {
        let mut sample = Sample::answered();
        sample.push_again(|arrival| arrival.id = "unknown".to_owned());
        assert_eq!(broken(&sample), ["a push of no message"]);
    }

    #[test]
    fn who_won_and_who_did_not_is_told_so() {
        let mut told_late = Sample::answered();
        let status = "answered".to_owned();
        told_late.call(9, Sample::resolve(), Told::TooLate { status });
        assert_eq!(broken(&told_late), ["a resolver was told an untruth"]);

        let mut told_won = Sample::answered();
        let (id, token) = (ID.to_owned(), "another word".to_owned());
        let ended = told_won.ended();
        told_won.call(9, Deed::Resolve { id, token }, ended);
        assert_eq!(broken(&told_won), ["a resolver was told an untruth"]);
    }
}
