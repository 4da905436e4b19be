//! What stands in a directive's envelope (§13.1).

use hub_proto::lifecycle::{Directive, MailboxTrack};
use ma2h::ack::Ack;
use ma2h::envelope::Priority;
use ma2h::error::Problem;
use ma2h::timestamp;
use serde::Deserialize;
use time::OffsetDateTime;

use crate::edge::answer;

/// Who told whom, in one line, and how far it got.
pub(super) struct Heading {
    pub(super) id: String,
    /// The addressed agent.id.
    pub(super) agent: String,
    /// `human:…`, as the hub attests it.
    pub(super) author: String,
    pub(super) title: String,
    pub(super) priority: Priority,
    pub(super) tags: Vec<String>,
    pub(super) sensitive: bool,
    pub(super) created_at: Option<OffsetDateTime>,
    pub(super) expires_at: Option<OffsetDateTime>,
    pub(super) track: Track,
}

/// How far it got (§14.2).
pub(super) struct Track {
    pub(super) state: String,
    pub(super) delivered_at: Option<OffsetDateTime>,
    /// Where a bounce found it.
    pub(super) prior: Option<String>,
    pub(super) ended_at: Option<OffsetDateTime>,
    pub(super) ack: Option<Ack>,
}

#[derive(Deserialize)]
struct Line {
    from: String,
    title: String,
    priority: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    sensitive: bool,
    created_at: String,
    expires_at: Option<String>,
}

impl Heading {
    /// Reads what lifecycle keeps.
    pub(super) fn read(directive: &Directive) -> Result<Self, Problem> {
        let line: Line = serde_json::from_str(&directive.directive).map_err(|_| Problem::internal())?;
        let track = directive.track.as_ref().ok_or_else(Problem::internal)?;
        Ok(Self {
            id: directive.directive_id.clone(),
            agent: directive.agent.clone(),
            author: line.from,
            title: line.title,
            priority: line
                .priority
                .and_then(|name| name.parse().ok())
                .unwrap_or_default(),
            tags: line.tags,
            sensitive: line.sensitive,
            created_at: timestamp::parse(&line.created_at),
            expires_at: line.expires_at.as_deref().and_then(timestamp::parse),
            track: Track::read(track),
        })
    }

    /// The address of its page.
    pub(super) fn path(&self) -> String {
        super::path(&self.id)
    }
}

impl Track {
    fn read(track: &MailboxTrack) -> Self {
        Self {
            state: track.state.clone(),
            delivered_at: track.delivered_at.as_ref().and_then(hub_proto::time_of),
            prior: track.prior.clone(),
            ended_at: track.ended_at.as_ref().and_then(hub_proto::time_of),
            ack: track.ack.as_ref().and_then(answer::ack),
        }
    }

    /// Whether nothing can come after.
    pub(super) fn is_over(&self) -> bool {
        !matches!(self.state.as_str(), "queued" | "delivered")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use hub_proto::lifecycle::{Directive, MailboxTrack};
    use ma2h::envelope::Priority;
    use serde_json::json;

    use super::Heading;

    /// One that is queued, of this title and body.
    pub(in super::super) fn directive(title: &str, body: &str) -> Directive {
        let envelope = json!({
            "ma2h_version": "0.6", "type": "directive", "id": "dir_1", "from": "human:alice", "to": "agent:a/b",
            "created_at": "2026-06-04T18:00:00Z", "title": title, "body": body, "priority": "urgent",
            "context": [{"kind": "text", "text": "attached"}], "expires_at": "2026-06-04T20:00:00Z",
        });
        Directive {
            directive_id: "dir_1".to_owned(),
            agent: "a/b".to_owned(),
            directive: envelope.to_string(),
            track: Some(MailboxTrack {
                state: "queued".to_owned(),
                ..MailboxTrack::default()
            }),
        }
    }

    #[test]
    fn reads_what_was_written() {
        let directive = directive("Stop", "**now** <script>");
        let heading = Heading::read(&directive).unwrap();
        assert_eq!(
            (heading.title.as_str(), heading.author.as_str()),
            ("Stop", "human:alice")
        );
        assert_eq!(heading.priority, Priority::Urgent);
        assert!(heading.created_at < heading.expires_at && !heading.track.is_over());
    }
}
