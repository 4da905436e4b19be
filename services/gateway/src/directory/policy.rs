//! An account's policy: what its owner may set, beneath what the deployment allows.

use hub_platform::config::Config;
use ma2h::error::Problem;
use serde_json::{Map, Value, json};

use crate::edge::fields::shown;

/// Seconds of a day.
const DAY_SECONDS: u64 = 86_400;
/// Largest rate or depth that is one.
const LIMIT_MAX: u64 = 1_000_000;
/// Longest retention an account may ask for.
const RETENTION_DAYS_MAX: u64 = 3650;

/// What one member may be.
#[derive(Clone, Copy)]
enum Rule {
    Boolean,
    /// A rate or depth beneath the deployment's; 0, for none, only where the deployment has none.
    AtMost(Option<u64>),
    /// Days, from what is advertised on.
    DaysFrom(u64),
}

/// Every member by its group, none for the top level.
fn members(config: &Config) -> Vec<(Option<&'static str>, &'static str, Rule)> {
    let limits = &config.rate_limit;
    let ceiling = |limit: u64| (limit > 0).then_some(limit);
    // Without a budget of their own, addressed messages are charged to the common one.
    let inter_agent = limits
        .inter_agent_requests_per_minute
        .unwrap_or(limits.requests_per_minute);
    vec![
        (Some("inter_agent"), "enabled", Rule::Boolean),
        (Some("sessions"), "agent_list_visibility", Rule::Boolean),
        (
            Some("rate_limit"),
            "requests_per_minute",
            Rule::AtMost(ceiling(limits.requests_per_minute)),
        ),
        (
            Some("rate_limit"),
            "inter_agent_requests_per_minute",
            Rule::AtMost(ceiling(inter_agent)),
        ),
        (
            Some("rate_limit"),
            "inbox_depth",
            Rule::AtMost(ceiling(limits.inbox_depth)),
        ),
        (None, "retention_days", Rule::DaysFrom(retention_days(config))),
    ]
}

/// How long messages are kept, as it is advertised.
pub(crate) fn retention_days(config: &Config) -> u64 {
    advertised_days(config.lifecycle.retention_seconds)
}

/// A retention as it is advertised: whole days, at least one.
pub(crate) fn advertised_days(seconds: u64) -> u64 {
    (seconds / DAY_SECONDS).max(1)
}

/// The policy in force: what was set, over the deployment's.
pub(crate) fn effective(config: &Config, stored: &Value) -> Value {
    let limits = &config.rate_limit;
    let mut policy = json!({
        "inter_agent": { "enabled": false },
        "sessions": { "agent_list_visibility": false },
        "rate_limit": {
            "requests_per_minute": limits.requests_per_minute,
            "inter_agent_requests_per_minute": limits.inter_agent_requests_per_minute,
            "inbox_depth": limits.inbox_depth,
        },
        "retention_days": retention_days(config),
    });
    overlay(&mut policy, stored);
    policy
}

/// Merges a patch into what is stored: null resets a member, or a whole group.
pub(crate) fn merge(config: &Config, stored: Value, patch: Map<String, Value>) -> Result<Value, Problem> {
    let mut policy = match stored {
        Value::Object(policy) => policy,
        _ => Map::new(),
    };
    let members = members(config);
    for (name, value) in patch {
        if let Some((_, _, rule)) = members
            .iter()
            .find(|(group, member, _)| group.is_none() && *member == name)
        {
            set(
                &mut policy,
                &name,
                check(*rule, &format!("policy.{name}"), value)?,
            );
            continue;
        }
        let group: Vec<_> = members
            .iter()
            .filter(|(group, ..)| *group == Some(name.as_str()))
            .collect();
        if group.is_empty() {
            return Err(unknown(&format!("policy.{}", shown(&name))));
        }
        match value {
            Value::Null => {
                policy.remove(&name);
            }
            Value::Object(patch) => {
                let stored = policy
                    .remove(&name)
                    .and_then(|group| group.as_object().cloned())
                    .unwrap_or_default();
                let merged = merge_group(&name, &group, stored, patch)?;
                set(
                    &mut policy,
                    &name,
                    (!merged.is_empty()).then_some(Value::Object(merged)),
                );
            }
            _ => {
                return Err(Problem::invalid_field(format!(
                    "policy.{name}: expected an object"
                )));
            }
        }
    }
    Ok(Value::Object(policy))
}

fn merge_group(
    name: &str,
    members: &[&(Option<&'static str>, &'static str, Rule)],
    mut stored: Map<String, Value>,
    patch: Map<String, Value>,
) -> Result<Map<String, Value>, Problem> {
    for (member, value) in patch {
        let place = format!("policy.{name}.{}", shown(&member));
        let Some((_, _, rule)) = members.iter().find(|(_, known, _)| *known == member) else {
            return Err(unknown(&place));
        };
        let checked = check(*rule, &place, value)?;
        set(&mut stored, &member, checked);
    }
    Ok(stored)
}

/// The value, none for null.
fn check(rule: Rule, place: &str, value: Value) -> Result<Option<Value>, Problem> {
    let refused = |expected: String| Err(Problem::invalid_field(format!("{place}: expected {expected}")));
    match (rule, &value) {
        (_, Value::Null) => Ok(None),
        (Rule::Boolean, Value::Bool(_)) => Ok(Some(value)),
        (Rule::Boolean, _) => refused("true or false".to_owned()),
        (Rule::AtMost(None), _) if value.as_u64().is_some_and(|number| number <= LIMIT_MAX) => {
            Ok(Some(value))
        }
        (Rule::AtMost(None), _) => refused(format!("0 to {LIMIT_MAX}, 0 for no limit")),
        (Rule::AtMost(Some(max)), _) if value.as_u64().is_some_and(|number| (1..=max).contains(&number)) => {
            Ok(Some(value))
        }
        (Rule::AtMost(Some(max)), _) => refused(format!("1 to {max}, which is the deployment's limit")),
        (Rule::DaysFrom(min), _)
            if value
                .as_u64()
                .is_some_and(|days| (min..=RETENTION_DAYS_MAX).contains(&days)) =>
        {
            Ok(Some(value))
        }
        (Rule::DaysFrom(min), _) => refused(format!(
            "{min} to {RETENTION_DAYS_MAX} days, never fewer than advertised"
        )),
    }
}

fn set(members: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => members.insert(name.to_owned(), value),
        None => members.remove(name),
    };
}

fn unknown(place: &str) -> Problem {
    Problem::invalid_field(format!("{place}: unknown member"))
}

/// Members of `over` replace those of `under`, groups member by member.
fn overlay(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                overlay(under.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use hub_platform::config::Config;
    use serde_json::{Value, json};

    use super::{effective, merge};

    fn config() -> Config {
        Config::load([]).unwrap()
    }

    fn merged(stored: Value, patch: &Value) -> Result<Value, String> {
        merge(&config(), stored, patch.as_object().unwrap().clone()).map_err(|problem| problem.message)
    }

    #[test]
    fn a_patch_merges_and_null_resets() {
        let stored = merged(
            json!({}),
            &json!({"inter_agent": {"enabled": true}, "retention_days": 60}),
        )
        .unwrap();
        assert_eq!(
            stored,
            json!({"inter_agent": {"enabled": true}, "retention_days": 60})
        );
        let stored = merged(
            stored,
            &json!({"retention_days": null, "rate_limit": {"inbox_depth": 5}}),
        )
        .unwrap();
        assert_eq!(
            stored,
            json!({"inter_agent": {"enabled": true}, "rate_limit": {"inbox_depth": 5}})
        );
        let stored = merged(
            stored,
            &json!({"rate_limit": {"inbox_depth": null}, "inter_agent": null}),
        )
        .unwrap();
        assert_eq!(stored, json!({}));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let cases = [
            (json!({"colour": 1}), "policy.colour: unknown member"),
            (
                json!({"rate_limit": {"burst": 1}}),
                "policy.rate_limit.burst: unknown member",
            ),
            (json!({"rate_limit": 5}), "policy.rate_limit: expected an object"),
            (
                json!({"inter_agent": {"enabled": "yes"}}),
                "policy.inter_agent.enabled: expected true or false",
            ),
            (
                json!({"rate_limit": {"inbox_depth": 0}}),
                "policy.rate_limit.inbox_depth: expected 1 to 1000",
            ),
            (
                json!({"rate_limit": {"requests_per_minute": 61}}),
                "policy.rate_limit.requests_per_minute: expected 1",
            ),
            (
                json!({"retention_days": 29}),
                "policy.retention_days: expected 30 to",
            ),
            (
                json!({"retention_days": 30.5}),
                "policy.retention_days: expected 30 to",
            ),
        ];
        for (patch, expected) in cases {
            let message = merged(json!({}), &patch).unwrap_err();
            assert!(message.starts_with(expected), "{patch}: {message}");
        }
    }

    #[test]
    fn what_is_not_set_is_the_deployments() {
        let policy = effective(&config(), &json!({"rate_limit": {"inbox_depth": 5}}));
        assert_eq!(
            policy,
            json!({
                "inter_agent": {"enabled": false},
                "sessions": {"agent_list_visibility": false},
                "rate_limit": {
                    "requests_per_minute": 60, "inter_agent_requests_per_minute": null, "inbox_depth": 5,
                },
                "retention_days": 30,
            })
        );
    }
}
