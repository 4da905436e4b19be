//! Acknowledgements (§14.1), as everybody reads them.

use time::OffsetDateTime;

use crate::json::quoted;
use crate::timestamp;
use crate::view::{member, object};

/// That a message, or the answer to one, was taken into custody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Of the acknowledgement.
    pub ma2h_version: String,
    /// What is acknowledged.
    pub in_reply_to: String,
    /// `agent:…`, as attested.
    pub by: String,
    /// When.
    pub acked_at: OffsetDateTime,
    /// What the agent has to say; not to be trusted.
    pub note: Option<String>,
    /// Of the answer that is acknowledged.
    pub resolution_id: Option<String>,
}

impl Ack {
    /// The envelope.
    pub fn to_json(&self) -> String {
        let mut members = vec![
            member("ma2h_version", &quoted(&self.ma2h_version)),
            member("type", &quoted("ack")),
            member("in_reply_to", &quoted(&self.in_reply_to)),
            member("by", &quoted(&self.by)),
            member("acked_at", &quoted(&timestamp::format(self.acked_at))),
        ];
        let optional = [("note", &self.note), ("resolution_id", &self.resolution_id)];
        members.extend(
            optional
                .into_iter()
                .filter_map(|(name, text)| Some(member(name, &quoted(text.as_deref()?)))),
        );
        object(&members)
    }
}

#[cfg(test)]
mod tests {
    use ma2h_schema::{Edition, Noun};
    use time::macros::datetime;

    use super::Ack;

    #[test]
    fn an_acknowledgement_has_its_shape() {
        let mut ack = Ack {
            ma2h_version: "0.6".to_owned(),
            in_reply_to: "dir_1".to_owned(),
            by: "agent:bot".to_owned(),
            acked_at: datetime!(2026-06-04 15:48:30 UTC),
            note: None,
            resolution_id: None,
        };
        let plain = r#"{"ma2h_version":"0.6","type":"ack","in_reply_to":"dir_1","by":"agent:bot","acked_at":"2026-06-04T15:48:30.000000Z"}"#;
        assert_eq!(ack.to_json(), plain);
        ack.note = Some("on \"it\"".to_owned());
        ack.resolution_id = Some("res_1".to_owned());
        let text = ack.to_json();
        assert!(
            text.ends_with(r#","note":"on \"it\"","resolution_id":"res_1"}"#),
            "{text}"
        );
        let value = serde_json::from_str(&text).unwrap();
        ma2h_schema::document::check(Edition::V06, Noun::Ack, &value).unwrap();
    }
}
