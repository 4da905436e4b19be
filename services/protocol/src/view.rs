//! What a `GET` of a message says (§8.2): the envelope's members as they were sent, and the hub's own.

use serde_json::value::RawValue;
use time::OffsetDateTime;

use crate::ack::Ack;
use crate::error::Problem;
use crate::json::{members, quoted};
use crate::timestamp;

/// Members that only the hub may say something by.
const HUB_OWNED: [&str; 6] = ["id", "status", "response", "delivery", "mailbox", "rendered"];
/// Members that are the agent's own business (§9.1, §9.3).
const AGENT_OWNED: [&str; 2] = ["state", "client_ref"];

/// The response track (§14.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// `delivered-to-agent`, `acknowledged` or `expired`.
    pub state: String,
    /// When the agent got it.
    pub delivered_at: Option<OffsetDateTime>,
    /// That the agent has it, in its own words.
    pub ack: Option<Ack>,
}

impl Delivery {
    fn to_json(&self) -> String {
        let mut members = vec![member("state", &quoted(&self.state))];
        members.extend(
            self.delivered_at
                .map(|at| member("delivered_at", &quoted(&timestamp::format(at)))),
        );
        if let Some(ack) = &self.ack {
            members.push(member(
                "acknowledged_at",
                &quoted(&timestamp::format(ack.acked_at)),
            ));
            members.push(member("ack", &ack.to_json()));
        }
        object(&members)
    }
}

/// What the submitting agent reads.
pub fn submitter_view(
    id: &str,
    status: &str,
    envelope: &str,
    response: Option<&str>,
    delivery: Option<&Delivery>,
) -> Result<String, Problem> {
    let mut view = opening(id, status);
    for (name, value) in members(envelope)? {
        if !HUB_OWNED.contains(&name.as_str()) {
            view.push(member(&name, value.get()));
        }
    }
    view.extend(response.map(|response| member("response", response)));
    view.extend(delivery.map(|delivery| member("delivery", &delivery.to_json())));
    Ok(object(&view))
}

/// What a person of the account reads: nothing of `state`, `client_ref` and the callback's configuration.
pub fn human_view(
    id: &str,
    status: &str,
    envelope: &str,
    response: Option<&str>,
    delivery: Option<&Delivery>,
    rendered_body_html: Option<&str>,
) -> Result<String, Problem> {
    let mut view = opening(id, status);
    for (name, value) in members(envelope)? {
        match name.as_str() {
            name if HUB_OWNED.contains(&name) || AGENT_OWNED.contains(&name) => {}
            "request" | "action" => view.push(member(&name, &without(value, "callback")?)),
            _ => view.push(member(&name, value.get())),
        }
    }
    if let Some(response) = response {
        view.push(member("response", &without_member(response, "state")?));
    }
    view.extend(delivery.map(|delivery| member("delivery", &delivery.to_json())));
    view.extend(
        rendered_body_html.map(|html| member("rendered", &object(&[member("body_html", &quoted(html))]))),
    );
    Ok(object(&view))
}

fn opening(id: &str, status: &str) -> Vec<String> {
    vec![member("id", &quoted(id)), member("status", &quoted(status))]
}

/// An object without one of its members; anything else as it is.
fn without(value: &RawValue, name: &str) -> Result<String, Problem> {
    if value.get().starts_with('{') {
        without_member(value.get(), name)
    } else {
        Ok(value.get().to_owned())
    }
}

fn without_member(object_text: &str, name: &str) -> Result<String, Problem> {
    let kept = members(object_text)?
        .into_iter()
        .filter(|(member, _)| member != name);
    Ok(object(
        &kept
            .map(|(name, value)| member(&name, value.get()))
            .collect::<Vec<_>>(),
    ))
}

pub(crate) fn member(name: &str, text: &str) -> String {
    format!("{}:{text}", quoted(name))
}

pub(crate) fn object(members: &[String]) -> String {
    format!("{{{}}}", members.join(","))
}

#[cfg(test)]
mod tests;
