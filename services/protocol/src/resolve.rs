//! Who may end an ask or a task, and with what (§8.8, §9.1).

pub use crate::resolution::Resolution;

use crate::address::{Actor, legacy_resolver_matches, resolver_matches};
use crate::ask::{Ask, Mode};
use crate::envelope::{Envelope, MessageType};
use crate::error::{ErrorCode, Problem};
use crate::json::{self, Member, Node};
use crate::version::ADDRESS_MINOR_MIN;

/// Bytes of UTF-8 in a comment.
pub const COMMENT_BYTES_MAX: usize = 16 * 1024;
/// Bytes of JSON in a checklist.
pub const CHECKLIST_BYTES_MAX: usize = 16 * 1024;

/// The attested actor of an expiry that applied the default (§6).
pub const ACTOR_DEFAULT: &str = "system:default_on_expire";
/// The attested actor of an expiry that had none.
pub const ACTOR_EXPIRY: &str = "system:expiry";

/// What a resolve comes to, if it wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How the message ends.
    pub resolution: Resolution,
    /// What the Response's inner object takes from it: an object with `value`, `edited`, `comment`, `checklist`, each
    /// only where there is one, as the resolver wrote it.
    pub detail: String,
}

/// Decides a resolve request, in this order: its shape (400), the resolver (403), whether the resolution is one for this
/// message, whether the value answers it (422).
pub fn decide(envelope: &Envelope, resolver: &Actor, body_text: &str) -> Result<Answer, Problem> {
    let body = json::parse_input(body_text)?;
    ma2h_schema::resolve::check_shape(&body.to_value())?;
    let resolution: Resolution = body
        .get("resolution")
        .and_then(Node::as_str)
        .unwrap_or_default()
        .parse()?;
    if envelope.kind == MessageType::Notify {
        return Err(Problem::invalid_field("resolution: a notify is not resolved"));
    }
    if !may_resolve(envelope, resolver) {
        let message = format!("{resolver} is not an allowed resolver of this message");
        return Err(Problem::new(ErrorCode::NotAuthorized, message));
    }
    check_verb(envelope, resolution)?;
    check_sizes(&body)?;
    let edited = match (&envelope.ask, body.get("value")) {
        (Some(ask), Some(value)) => check_value(ask, value)?,
        _ => false,
    };
    Ok(Answer {
        resolution,
        detail: detail(&body, edited),
    })
}

/// Whether `actor` may resolve: whom the list names; without a list the addressee, or, if there is none, only the
/// submitting agent (§9.1).
pub fn may_resolve(envelope: &Envelope, actor: &Actor) -> bool {
    let matches = match envelope.version.minor() {
        ADDRESS_MINOR_MIN.. => resolver_matches,
        _ => legacy_resolver_matches,
    };
    if let Some(entries) = &envelope.allowed_resolvers {
        return entries.iter().any(|entry| matches(entry, actor));
    }
    let Actor::Agent { id, .. } = actor else {
        return false;
    };
    match &envelope.to {
        None => *id == envelope.agent_id,
        // Any session of the addressed principal, also where one was addressed.
        Some(to) => to.strip_prefix("agent:").and_then(|to| to.split('#').next()) == Some(id),
    }
}

/// The one human who may resolve, where the list names her and nobody else.
pub fn sole_human(envelope: &Envelope) -> Option<&str> {
    let (first, rest) = envelope.allowed_resolvers.as_deref()?.split_first()?;
    let human = first.strip_prefix("human:").filter(|id| !id.is_empty())?;
    rest.iter().all(|entry| entry == first).then_some(human)
}

/// What an expiry comes to: the detail, whether the default applied, and who is said to have acted.
pub fn expiry_detail(envelope: &Envelope) -> (String, bool, &'static str) {
    match envelope
        .ask
        .as_ref()
        .and_then(|ask| ask.default_on_expire_text.as_ref())
    {
        Some(value) => (format!("{{\"value\":{value}}}"), true, ACTOR_DEFAULT),
        None => ("{}".to_owned(), false, ACTOR_EXPIRY),
    }
}

fn check_verb(envelope: &Envelope, resolution: Resolution) -> Result<(), Problem> {
    let refused = |why: &str| Err(Problem::invalid_field(format!("resolution: {why}")));
    if !resolution.fits(envelope.kind) {
        return refused(match envelope.kind {
            MessageType::Task => "a task is completed or dismissed",
            _ => "an ask is answered or declined",
        });
    }
    match (&envelope.ask, resolution) {
        (Some(ask), Resolution::Answered) if !ask.allow_respond => {
            refused("this ask may not be answered (permissions.allow_respond)")
        }
        (Some(ask), Resolution::Declined) if !ask.allow_ignore => {
            refused("this ask may not be declined (permissions.allow_ignore)")
        }
        _ => Ok(()),
    }
}

fn check_sizes(body: &Node<'_>) -> Result<(), Problem> {
    let over = |name: &str, bytes_max: usize| {
        Err(Problem::invalid_field(format!(
            "{name}: longer than {bytes_max} bytes"
        )))
    };
    let comment = body.get("comment").and_then(Node::as_str).unwrap_or_default();
    if comment.len() > COMMENT_BYTES_MAX {
        return over("comment", COMMENT_BYTES_MAX);
    }
    let checklist = body.member("checklist").map_or("", |member| member.text);
    if checklist.len() > CHECKLIST_BYTES_MAX {
        return over("checklist", CHECKLIST_BYTES_MAX);
    }
    Ok(())
}

/// Whether `value` answers the ask; says whether it is a string outside the options, which is what `edited` means.
fn check_value(ask: &Ask, value: &Node<'_>) -> Result<bool, Problem> {
    if ask.mode == Mode::Input {
        let fits = ask
            .check_input(&value.to_value())
            .map_err(|why| format!("value: {why}"));
        return fits.map(|()| false).map_err(Problem::invalid_field);
    }
    let Some(value) = value.as_str() else {
        return Err(Problem::invalid_field("value: expected a string"));
    };
    match (ask.lists(value), ask.allow_edit) {
        (true, _) => Ok(false),
        (false, true) => Ok(true),
        (false, false) => Err(Problem::invalid_field(
            "value: expected one of the options' values",
        )),
    }
}

/// The resolver's own words, verbatim; `edited` is ours alone.
fn detail(body: &Node<'_>, edited: bool) -> String {
    let written = |member: &Member<'_>| format!("\"{}\":{}", member.name, member.text);
    let mut members: Vec<String> = body.member("value").map(written).into_iter().collect();
    if edited {
        members.push("\"edited\":true".to_owned());
    }
    members.extend(
        ["comment", "checklist"]
            .iter()
            .filter_map(|name| body.member(name))
            .map(written),
    );
    format!("{{{}}}", members.join(","))
}

#[cfg(test)]
mod tests;
