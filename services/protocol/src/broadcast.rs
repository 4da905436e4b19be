//! Broadcasts: what a person tells many agents at once. Each of them gets a directive of its own (§13).

use std::collections::{BTreeMap, BTreeSet};

use time::OffsetDateTime;

use crate::address::AgentAddress;
use crate::directive::{Content, expiry};
use crate::error::Problem;
use crate::json::{self, Node, members};

/// Labels that one broadcast may ask for.
const LABELS_MAX: usize = 32;
/// Stands for any address where the shape of a directive is checked.
const ANYBODY: &str = "\"agent:a\"";

/// Labels that an agent carries, or shall: text to text.
pub type Labels = BTreeMap<String, String>;

/// Whom a broadcast is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// These agents, by their ids, each once.
    Agents(BTreeSet<String>),
    /// All agents that carry all of these labels.
    Labels(Labels),
}

/// What a person wrote, found to be fit for a broadcast.
#[derive(Clone, Debug)]
pub struct Draft<'t> {
    /// Whom it is for.
    pub audience: Audience,
    /// What each directive says.
    pub content: Content<'t>,
    /// When it is dropped; whether that lies ahead is not looked at here.
    pub expires_at: Option<OffsetDateTime>,
    /// SHA-256 of what was written, whatever its spelling as JSON (§8.1).
    pub digest: [u8; 32],
}

impl<'t> Draft<'t> {
    /// Reads a body; refuses what would be no broadcast, and names the field.
    pub fn read(body: &'t str) -> Result<Self, Problem> {
        let node = json::parse_input(body)?;
        let mut written = members(body)?;
        written.retain(|(name, _)| !["to", "labels"].contains(&name.as_str()));
        let content = Content::of(written)?;
        let audience = match (node.get("to"), node.get("labels")) {
            (Some(to), None) => Audience::Agents(agents(to)?),
            (None, Some(asked)) => Audience::Labels(labels(asked)?),
            _ => return Err(Problem::validation("to, labels: expected exactly one of the two")),
        };
        content.check_shape(ANYBODY)?;
        Ok(Self {
            audience,
            content,
            expires_at: expiry(&node)?,
            digest: node.lossless_digest(&[]),
        })
    }
}

/// A broadcast is for agents as such: a session is told by a directive.
fn agents(to: &Node<'_>) -> Result<BTreeSet<String>, Problem> {
    let Node::Array(addresses) = to else {
        return Err(Problem::validation("to: expected a list of agent:<id>"));
    };
    if addresses.is_empty() {
        return Err(Problem::validation("to: expected at least one agent"));
    }
    let mut agents = BTreeSet::new();
    for (at, address) in addresses.iter().enumerate() {
        let address: Option<AgentAddress> = address.as_str().and_then(|text| text.parse().ok());
        let agent = address.filter(|address| address.session().is_none());
        let agent = agent.ok_or_else(|| {
            Problem::validation(format!(
                "to[{at}]: expected agent:<id>, no session, the id without #"
            ))
        })?;
        agents.insert(agent.agent_id().to_owned());
    }
    Ok(agents)
}

fn labels(asked: &Node<'_>) -> Result<Labels, Problem> {
    let expected = || Problem::validation(format!("labels: expected 1 to {LABELS_MAX} labels, text to text"));
    let Node::Object(members) = asked else {
        return Err(expected());
    };
    if !(1..=LABELS_MAX).contains(&members.len()) {
        return Err(expected());
    }
    let mut labels = Labels::new();
    for member in members {
        let value = member.node.as_str().ok_or_else(expected)?;
        labels.insert(member.name.clone().into_owned(), value.to_owned());
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::{Audience, Draft};
    use crate::directive::{Composed, Content};

    fn agents(body: &str) -> Vec<String> {
        match Draft::read(body).unwrap().audience {
            Audience::Agents(agents) => agents.into_iter().collect(),
            Audience::Labels(labels) => panic!("{labels:?}"),
        }
    }

    #[test]
    fn each_agent_is_told_once() {
        let body = r#"{"to":["agent:b","agent:a","agent:b"],"title":"Stop"}"#;
        assert_eq!(agents(body), ["a", "b"]);
        let labelled = Draft::read(r#"{"labels":{"team":"infra"},"title":"Stop"}"#).unwrap();
        let expected = [("team".to_owned(), "infra".to_owned())];
        assert_eq!(labelled.audience, Audience::Labels(expected.into()));
    }

    #[test]
    fn every_directive_says_what_was_written_as_it_was_spelled() {
        let body =
            r#"{"title":"St\u006fp", "to":["agent:a"], "context":[{"kind":"data","data":{"kg":1.50}}]}"#;
        let draft = Draft::read(body).unwrap();
        let text = draft.content.text();
        assert_eq!(
            text,
            r#"{"title":"St\u006fp","context":[{"kind":"data","data":{"kg":1.50}}]}"#
        );
        assert_eq!(draft.content.member("title"), Some(r#""St\u006fp""#));
        let Composed { before, after } =
            Content::read(&text)
                .unwrap()
                .compose("dir_1", "human:alice", "\"agent:a\"");
        assert_eq!(
            before,
            r#"{"ma2h_version":"0.6","type":"directive","id":"dir_1","from":"human:alice","to":"agent:a","created_at":""#
        );
        assert_eq!(
            after,
            r#"","title":"St\u006fp","context":[{"kind":"data","data":{"kg":1.50}}]}"#
        );
    }

    #[test]
    fn what_is_no_broadcast_is_refused_by_name() {
        let cases = [
            (r#"{"title":"x"}"#, "to, labels"),
            (
                r#"{"to":["agent:a"],"labels":{"a":"b"},"title":"x"}"#,
                "to, labels",
            ),
            (r#"{"to":"agent:a","title":"x"}"#, "to"),
            (r#"{"to":[],"title":"x"}"#, "to"),
            (r#"{"to":["agent:a",7],"title":"x"}"#, "to[1]"),
            (r#"{"to":["agent:a#sess_1"],"title":"x"}"#, "to[0]"),
            (r#"{"to":["human:alice"],"title":"x"}"#, "to[0]"),
            (r#"{"labels":{},"title":"x"}"#, "labels"),
            (r#"{"labels":["a"],"title":"x"}"#, "labels"),
            (r#"{"labels":{"a":1},"title":"x"}"#, "labels"),
            (r#"{"to":["agent:a"]}"#, "title"),
            (r#"{"to":["agent:a"],"title":"x","priority":"now"}"#, "priority"),
            (r#"{"to":["agent:a"],"title":"x","from":"human:b"}"#, "from"),
            (r#"{"to":["agent:a"],"title":"x","state":{}}"#, "state"),
        ];
        for (body, field) in cases {
            let refused = Draft::read(body).unwrap_err();
            assert!(refused.message.starts_with(field), "{body}: {refused}");
        }
        for malformed in ["", "[]", r#"{"to":["agent:a"],"to":["agent:b"],"title":"x"}"#] {
            assert!(Draft::read(malformed).is_err(), "{malformed}");
        }
    }
}
