//! Directives (§13.1): what a person writes, and the envelope that the hub makes of it.

use ma2h_schema::EntryKind;
use serde_json::value::RawValue;
use time::OffsetDateTime;

use crate::address::AgentAddress;
use crate::error::Problem;
use crate::json::{self, members, quoted};
use crate::timestamp;
use crate::version::{HUB_MINOR, HUB_VERSION};

/// What a person may write of a directive, besides whom it is for.
const WRITTEN: [&str; 7] = [
    "title",
    "body",
    "priority",
    "tags",
    "context",
    "expires_at",
    "sensitive",
];
/// What only the hub may say.
const HUB_OWNED: [&str; 5] = ["ma2h_version", "type", "id", "from", "created_at"];

/// What a person wrote, found to be fit for a directive.
#[derive(Clone, Debug)]
pub struct Draft<'t> {
    /// The agent, or the one session of it, that it is for.
    pub to: AgentAddress,
    /// When it is dropped; whether that lies ahead is not looked at here.
    pub expires_at: Option<OffsetDateTime>,
    /// SHA-256 of what was written, whatever its spelling as JSON (§8.1).
    pub digest: [u8; 32],
    /// The address as it was spelled.
    to_json: &'t str,
    content: Content<'t>,
}

/// What a directive says, whomever it is for.
#[derive(Clone, Debug)]
pub struct Content<'t> {
    written: Vec<(String, &'t RawValue)>,
}

/// A directive but for its time, which is the database's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composed {
    /// The text up to its `created_at`.
    pub before: String,
    /// And after.
    pub after: String,
}

impl<'t> Draft<'t> {
    /// Reads a body; refuses what would be no directive, and names the field.
    pub fn read(body: &'t str) -> Result<Self, Problem> {
        let node = json::parse_input(body)?;
        let (mut to_json, mut written) = (None, Vec::new());
        for (name, value) in members(body)? {
            if name == "to" {
                to_json = Some(value.get());
            } else {
                written.push((name, value));
            }
        }
        let content = Content::of(written)?;
        let text = |name: &str| node.get(name).and_then(json::Node::as_str);
        let to = text("to").and_then(|to| to.parse().ok());
        let (to, to_json) = to.zip(to_json).ok_or_else(|| {
            Problem::validation("to: expected agent:<id> or agent:<id>#sess_…, the id without #")
        })?;
        content.check_shape(to_json)?;
        Ok(Self {
            to,
            expires_at: expiry(&node)?,
            digest: node.lossless_digest(&[]),
            to_json,
            content,
        })
    }

    /// The envelope: the hub's members, and what was written, value by value as it was spelled.
    pub fn compose(&self, id: &str, from: &str) -> Composed {
        self.content.compose(id, from, self.to_json)
    }
}

/// When what was written is of no use any more (§13.3). The shape takes spellings of no instant, as a second of 60 at noon.
pub(crate) fn expiry(written: &json::Node<'_>) -> Result<Option<OffsetDateTime>, Problem> {
    let text = written.get("expires_at").and_then(json::Node::as_str);
    let expected = || Problem::validation("expires_at: expected an RFC 3339 time");
    text.map(|text| timestamp::parse(text).ok_or_else(expected))
        .transpose()
}

impl<'t> Content<'t> {
    /// Of members as they were written; refuses by name what is not the author's to write.
    pub(crate) fn of(written: Vec<(String, &'t RawValue)>) -> Result<Self, Problem> {
        for (name, _) in &written {
            if HUB_OWNED.contains(&name.as_str()) {
                return Err(Problem::validation(format!("{name}: is set by the hub")));
            }
            if !WRITTEN.contains(&name.as_str()) {
                let shown: String = name.chars().filter(|char| !char.is_control()).take(64).collect();
                return Err(Problem::validation(format!("{shown}: unknown member")));
            }
        }
        Ok(Self { written })
    }

    /// Reads what [`Content::text`] gave.
    pub fn read(text: &'t str) -> Result<Self, Problem> {
        Self::of(members(text)?)
    }

    /// A JSON object of what was written, value by value as it was spelled.
    pub fn text(&self) -> String {
        let members = self.written.iter();
        let members: Vec<_> = members
            .map(|(name, value)| format!("{}:{}", quoted(name), value.get()))
            .collect();
        format!("{{{}}}", members.join(","))
    }

    /// The value of one member, as it was spelled.
    pub fn member(&self, name: &str) -> Option<&'t str> {
        let mut members = self.written.iter();
        members
            .find(|(member, _)| member == name)
            .map(|(_, value)| value.get())
    }

    /// The envelope for one addressee, whose address is JSON.
    pub fn compose(&self, id: &str, from: &str, to_json: &str) -> Composed {
        let (version, id, from) = (quoted(HUB_VERSION), quoted(id), quoted(from));
        let before = format!(
            "{{\"ma2h_version\":{version},\"type\":\"directive\",\"id\":{id},\"from\":{from},\"to\":{to_json},\"created_at\":\""
        );
        let mut after = "\"".to_owned();
        for (name, value) in &self.written {
            after.extend([",", &quoted(name), ":", value.get()]);
        }
        after.push('}');
        Composed { before, after }
    }

    /// Holds what would be delivered to the published shape.
    pub(crate) fn check_shape(&self, to_json: &str) -> Result<(), Problem> {
        let Composed { before, after } = self.compose("dir_0", "human:author", to_json);
        let envelope = format!("{before}1970-01-01T00:00:00.000000Z{after}");
        let envelope = json::parse(&envelope)?.to_value();
        Ok(ma2h_schema::entry::check_shape(
            HUB_MINOR,
            EntryKind::Directive,
            &envelope,
        )?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Composed, Draft};

    #[test]
    fn a_directive_says_what_was_written_and_who_wrote_it() {
        let body = r#"{ "title":"Stop", "to":"agent:orchard/worker", "context":[{"kind":"data","data":{"kg":1.50}}] }"#;
        let draft = Draft::read(body).unwrap();
        assert_eq!(
            (draft.to.agent_id(), draft.to.session()),
            ("orchard/worker", None)
        );
        let Composed { before, after } = draft.compose("dir_1", "human:alice");
        assert_eq!(
            before,
            r#"{"ma2h_version":"0.6","type":"directive","id":"dir_1","from":"human:alice","to":"agent:orchard/worker","created_at":""#
        );
        assert_eq!(
            after,
            r#"","title":"Stop","context":[{"kind":"data","data":{"kg":1.50}}]}"#
        );
    }

    #[test]
    fn a_directive_may_be_for_a_session() {
        let draft = Draft::read(r#"{"to":"agent:a#sess_1","title":"Stop"}"#).unwrap();
        assert_eq!((draft.to.agent_id(), draft.to.session()), ("a", Some("sess_1")));
    }

    #[test]
    fn what_is_no_directive_is_refused_by_name() {
        let cases = [
            (r#"{"title":"x"}"#, "to"),
            (r#"{"to":7,"title":"x"}"#, "to"),
            (r#"{"to":"human:alice","title":"x"}"#, "to"),
            (r#"{"to":"agent:a#7","title":"x"}"#, "to"),
            (r#"{"to":"agent:a"}"#, "title"),
            (
                r#"{"to":"agent:a","title":"x","priority":"whenever"}"#,
                "priority",
            ),
            (
                r#"{"to":"agent:a","title":"x","expires_at":"soon"}"#,
                "expires_at",
            ),
            (
                r#"{"to":"agent:a","title":"x","expires_at":"2020-01-01T23:59:60Z"}"#,
                "expires_at",
            ),
            (
                r#"{"to":"agent:a","title":"x","expires_at":"9999-12-31T23:59:59-23:59"}"#,
                "expires_at",
            ),
            (r#"{"to":"agent:a","title":"x","from":"human:mallory"}"#, "from"),
            (r#"{"to":"agent:a","title":"x","id":"dir_mine"}"#, "id"),
            (r#"{"to":"agent:a","title":"x","state":{}}"#, "state"),
            (r#"{"to":"agent:a","title":"x","sensitive":1}"#, "sensitive"),
        ];
        for (body, field) in cases {
            let refused = Draft::read(body).unwrap_err();
            assert!(refused.message.starts_with(field), "{body}: {refused}");
        }
        for malformed in ["", "[]", "{", r#"{"to":"agent:a","to":"agent:b","title":"x"}"#] {
            assert!(Draft::read(malformed).is_err(), "{malformed}");
        }
    }

    #[test]
    fn the_same_words_are_the_same_however_they_are_spelled() {
        let digest = |body: &str| Draft::read(body).unwrap().digest;
        let one = digest(r#"{"to":"agent:a","title":"x"}"#);
        assert_eq!(one, digest(r#"{ "title":"\u0078", "to":"agent:a" }"#));
        assert_ne!(one, digest(r#"{"to":"agent:a","title":"y"}"#));
    }
}
