use serde_json::json;

use crate::envelope::Envelope;
use crate::resolve::{ACTOR_DEFAULT, ACTOR_EXPIRY, expiry_detail};
use crate::samples::{ask, input, read, task};

#[test]
fn expiries() {
    let applied = |value: &str| (format!("{{\"value\":{value}}}"), true, ACTOR_DEFAULT);
    let none = ("{}".to_owned(), false, ACTOR_EXPIRY);
    assert_eq!(
        expiry_detail(&read(&ask(&json!({ "default_on_expire": "hold" })))),
        applied("\"hold\"")
    );
    assert_eq!(expiry_detail(&read(&ask(&json!({})))), none);
    assert_eq!(expiry_detail(&read(&task(&json!({})))), none);
    let text = input(&json!({ "default_on_expire": "D" })).to_string();
    let exact = r#"{"reason":"\u0041", "n":1.0}"#;
    let envelope = Envelope::parse(&text.replace("\"D\"", exact)).unwrap();
    assert_eq!(expiry_detail(&envelope), applied(exact));
    let envelope = Envelope::parse(&text.replace("\"D\"", "null")).unwrap();
    assert_eq!(expiry_detail(&envelope), none);
}
