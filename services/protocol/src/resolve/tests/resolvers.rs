use serde_json::{Value, json};

use crate::address::Actor;
use crate::resolve::{may_resolve, sole_human};
use crate::samples::{ask, at, lay_over, read, task};

#[test]
fn who_may_resolve() {
    let human = |id: &str| Actor::Human(id.into());
    let session = |id: &str| Actor::Agent {
        id: id.into(),
        session: Some("sess_1".into()),
    };
    let listed = |entries: Value| ask(&json!({ "allowed_resolvers": entries }));
    let addressed = |to: &str, entries: Option<Value>| {
        let mut envelope = ask(&json!({}));
        lay_over(&mut envelope, &json!({ "to": to }));
        if let Some(entries) = entries {
            envelope["request"]["allowed_resolvers"] = entries;
        }
        envelope
    };
    let submitter = Actor::agent("deploybot/dev-team");
    let own = ask(&json!({}));
    let cases = [
        (&own, submitter.clone(), true),
        (&own, session("deploybot/dev-team"), true),
        (&own, human("alice"), false),
        (&own, human("deploybot/dev-team"), false),
        (&own, Actor::System("x".into()), false),
        (&own, Actor::agent("other"), false),
        (&task(&json!({})), submitter.clone(), true),
        (
            &task(&json!({ "allowed_resolvers": ["human:alice"] })),
            human("alice"),
            true,
        ),
        (&listed(json!([])), submitter.clone(), false),
        (&listed(json!(["human:alice"])), human("alice"), true),
        (&listed(json!(["human:alice"])), human("bob"), false),
        (&listed(json!(["human:alice"])), submitter.clone(), false),
        (
            &listed(json!(["human:bob", "agent:other"])),
            session("other"),
            true,
        ),
        (&listed(json!(["agent:other#sess_1"])), session("other"), true),
        (&listed(json!(["agent:other#sess_2"])), session("other"), false),
        (
            &listed(json!(["agent:other#sess_1"])),
            Actor::agent("other"),
            false,
        ),
        (
            &listed(json!(["agent:other#sess_1"])),
            Actor::agent("other#sess_1"),
            false,
        ),
        (
            &at("0.4", listed(json!(["agent:o#x"]))),
            Actor::agent("o#x"),
            true,
        ),
        (
            &at("0.4", listed(json!(["agent:o#sess_1"]))),
            Actor::agent("o#sess_1"),
            true,
        ),
        (&addressed("agent:other", None), Actor::agent("other"), true),
        (&addressed("agent:other", None), session("other"), true),
        (&addressed("agent:other#sess_2", None), session("other"), true),
        (&addressed("agent:other", None), submitter.clone(), false),
        (&addressed("agent:other", None), human("alice"), false),
        (
            &addressed("agent:other", Some(json!(["human:alice"]))),
            human("alice"),
            true,
        ),
        (
            &addressed("agent:other", Some(json!(["human:alice"]))),
            Actor::agent("other"),
            false,
        ),
    ];
    for (envelope, actor, expected) in cases {
        assert_eq!(
            may_resolve(&read(envelope), &actor),
            expected,
            "{envelope} {actor}"
        );
    }
}

#[test]
fn one_human_alone_may_resolve() {
    let cases = [
        (json!(["human:alice"]), Some("alice")),
        (json!(["human:alice", "human:alice"]), Some("alice")),
        (json!(["human:alice", "human:bob"]), None),
        (json!(["human:alice", "agent:bot"]), None),
        (json!(["agent:bot"]), None),
        (json!(["human:"]), None),
        (json!([]), None),
    ];
    for (listed, expected) in cases {
        let envelope = read(&ask(&json!({ "allowed_resolvers": listed })));
        assert_eq!(sole_human(&envelope), expected, "{listed}");
    }
}
