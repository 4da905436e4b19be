use serde_json::{Value, json};
use time::macros::datetime;

use super::{Delivery, human_view, submitter_view};
use crate::ack::Ack;
use crate::json::{member, members};

const ENVELOPE: &str = concat!(
    r#"{"ma2h_version":"0.6", "id":"mine", "status":"mine", "response":1, "delivery":1, "mailbox":1, "rendered":1,"#,
    r#" "title":"\u0041\u0000", "state":{"a":1.0, "b":9007199254740993}, "client_ref":"c", "x-more":[ 1e2 ],"#,
    r#" "request":{"mode":"select", "\u0063allback":{"mode":"pull"}, "n":1.0}, "action":{"callback":1, "y":2} }"#
);
const RESPONSE: &str = r#"{"resolution":"answered","response":{"value":"x", "n":1.0},"state":{"a":1.0}}"#;

fn names(object_text: &str) -> Vec<String> {
    members(object_text)
        .unwrap()
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

fn delivery() -> Delivery {
    let delivered_at = Some(datetime!(2026-06-04 15:48:30 UTC));
    Delivery {
        state: "delivered-to-agent".into(),
        delivered_at,
        ack: None,
    }
}

#[test]
fn the_submitter_reads_what_it_sent() {
    let view = submitter_view("msg_1", "answered", ENVELOPE, Some(RESPONSE), Some(&delivery())).unwrap();
    let expected = [
        "id",
        "status",
        "ma2h_version",
        "title",
        "state",
        "client_ref",
        "x-more",
        "request",
        "action",
        "response",
        "delivery",
    ];
    assert_eq!(names(&view), expected);
    for name in ["title", "state", "client_ref", "x-more", "request", "action"] {
        assert_eq!(
            member(&view, name).unwrap().get(),
            member(ENVELOPE, name).unwrap().get()
        );
    }
    assert_eq!(member(&view, "id").unwrap().get(), "\"msg_1\"");
    assert_eq!(member(&view, "response").unwrap().get(), RESPONSE);
    let shown: Value = serde_json::from_str(&view).unwrap();
    let expected = json!({ "state": "delivered-to-agent", "delivered_at": "2026-06-04T15:48:30.000000Z" });
    assert_eq!(
        (&shown["status"], &shown["delivery"]),
        (&json!("answered"), &expected)
    );

    let open = submitter_view("msg_1", "open", ENVELOPE, None, None).unwrap();
    assert_eq!(names(&open), expected_without_outcome());
}

fn expected_without_outcome() -> [&'static str; 9] {
    [
        "id",
        "status",
        "ma2h_version",
        "title",
        "state",
        "client_ref",
        "x-more",
        "request",
        "action",
    ]
}

#[test]
fn a_person_reads_what_is_meant_for_people() {
    let html = "<p>\"A\"</p>";
    let view = human_view(
        "msg_1",
        "answered",
        ENVELOPE,
        Some(RESPONSE),
        Some(&delivery()),
        Some(html),
    )
    .unwrap();
    let expected = [
        "id",
        "status",
        "ma2h_version",
        "title",
        "x-more",
        "request",
        "action",
        "response",
        "delivery",
        "rendered",
    ];
    assert_eq!(names(&view), expected);
    assert_eq!(
        member(&view, "request").unwrap().get(),
        r#"{"mode":"select","n":1.0}"#
    );
    assert_eq!(member(&view, "action").unwrap().get(), r#"{"y":2}"#);
    let response = r#"{"resolution":"answered","response":{"value":"x", "n":1.0}}"#;
    assert_eq!(member(&view, "response").unwrap().get(), response);
    let shown: Value = serde_json::from_str(&view).unwrap();
    assert_eq!(shown["rendered"], json!({ "body_html": html }));
    assert_eq!(member(&view, "title").unwrap().get(), r#""\u0041\u0000""#);

    let plain = human_view("msg_1", "open", ENVELOPE, None, None, None).unwrap();
    assert_eq!(
        names(&plain),
        [
            "id",
            "status",
            "ma2h_version",
            "title",
            "x-more",
            "request",
            "action"
        ]
    );
    assert!(human_view("msg_1", "open", "[]", None, None, None).is_err());
}

#[test]
fn an_acknowledgement_is_part_of_its_track() {
    let delivery = Delivery {
        state: "acknowledged".into(),
        ack: Some(Ack {
            ma2h_version: "0.6".into(),
            in_reply_to: "msg_1".into(),
            by: "agent:bot".into(),
            acked_at: datetime!(2026-06-04 15:48:31 UTC),
            note: Some("going on".into()),
            resolution_id: Some("res_1".into()),
        }),
        ..delivery()
    };
    let view = human_view(
        "msg_1",
        "answered",
        ENVELOPE,
        Some(RESPONSE),
        Some(&delivery),
        None,
    )
    .unwrap();
    let shown: Value = serde_json::from_str(&view).unwrap();
    let track = &shown["delivery"];
    assert_eq!(track["acknowledged_at"], "2026-06-04T15:48:31.000000Z");
    assert_eq!(
        (&track["ack"]["type"], &track["ack"]["note"]),
        (&json!("ack"), &json!("going on"))
    );
}
