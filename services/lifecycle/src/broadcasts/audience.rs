//! The agents a broadcast is for, fixed when it is taken.

use hub_platform::config;
use hub_platform::db::{self, During};
use ma2h::broadcast::{Audience, Labels};
use ma2h::error::{ErrorCode, Problem};
use ma2h::json::quoted;
use tokio_postgres::types::Type;

use super::{LABELLED, UNKNOWN};
use crate::error::Error;
use crate::statement::TypedValues;
use crate::tier::Tier;

/// Unknown agents that a refusal names.
const NAMED_MAX: usize = 10;

impl Tier {
    /// The agents, by id, or why it can be for none.
    pub(super) async fn recipients(
        &self,
        account: &str,
        audience: &Audience,
        content_bytes: usize,
    ) -> Result<Vec<String>, Error> {
        let bounds = &self.config.broadcast;
        match audience {
            Audience::Agents(agents) => {
                let agents: Vec<_> = agents.iter().cloned().collect();
                // First, so that the look-up is bounded.
                check(bounds, agents.len(), content_bytes)?;
                let unknown = self.unknown(account, &agents).await?;
                if unknown.is_empty() {
                    Ok(agents)
                } else {
                    Err(unknown_destination(&unknown).into())
                }
            }
            Audience::Labels(labels) => {
                let agents = self.labelled(account, labels).await?;
                if agents.is_empty() {
                    let message = "labels: no agent carries them";
                    return Err(Problem::new(ErrorCode::UnknownDestination, message).into());
                }
                check(bounds, agents.len(), content_bytes)?;
                Ok(agents)
            }
        }
    }

    /// Of these agents, those that are not there, as many as a refusal names and one more.
    async fn unknown(&self, account: &str, agents: &[String]) -> Result<Vec<String>, db::Error> {
        // An address may spell U+0000, which no id of an agent holds, nor PostgreSQL's text.
        let unspeakable: Vec<_> = agents.iter().filter(|agent| agent.contains('\0')).collect();
        if !unspeakable.is_empty() {
            return Ok(unspeakable.into_iter().take(NAMED_MAX + 1).cloned().collect());
        }
        let rows_max = i64::try_from(NAMED_MAX + 1).unwrap_or(i64::MAX);
        let values: TypedValues<'_> = &[
            (&account, Type::TEXT),
            (&agents, Type::TEXT_ARRAY),
            (&rows_max, Type::INT8),
        ];
        let rows = UNKNOWN.rows_planned(&self.pool, values).await?;
        let agents = rows.iter().map(|row| row.try_get("agent"));
        agents.collect::<Result<_, _>>().during(UNKNOWN.name)
    }

    /// The agents that carry these labels, and of too many one more than may be.
    async fn labelled(&self, account: &str, labels: &Labels) -> Result<Vec<String>, db::Error> {
        // As above, and so with labels.
        if labels
            .iter()
            .any(|(name, value)| name.contains('\0') || value.contains('\0'))
        {
            return Ok(Vec::new());
        }
        let labels = labels_json(labels);
        let rows_max = i64::from(self.config.broadcast.recipients_max) + 1;
        let values: TypedValues<'_> = &[
            (&account, Type::TEXT),
            (&labels, Type::TEXT),
            (&rows_max, Type::INT8),
        ];
        let rows = LABELLED.rows_planned(&self.pool, values).await?;
        let agents = rows.iter().map(|row| row.try_get("agent"));
        agents.collect::<Result<_, _>>().during(LABELLED.name)
    }
}

/// Labels as JSON.
pub(super) fn labels_json(labels: &Labels) -> String {
    let members = labels
        .iter()
        .map(|(name, value)| format!("{}:{}", quoted(name), quoted(value)));
    let members: Vec<_> = members.collect();
    format!("{{{}}}", members.join(","))
}

/// Whether so many may be told so much.
fn check(bounds: &config::Broadcast, recipients: usize, content_bytes: usize) -> Result<(), Problem> {
    let recipients_max = bounds.recipients_max;
    if u32::try_from(recipients).map_or(true, |recipients| recipients > recipients_max) {
        let message = format!("to, labels: expected at most {recipients_max} agents");
        return Err(Problem::invalid_field(message));
    }
    let bytes = u64::try_from(recipients.saturating_mul(content_bytes)).unwrap_or(u64::MAX);
    if bytes > bounds.content_bytes_max {
        let message = format!(
            "to, labels: {content_bytes} bytes for each of {recipients} agents, expected at most {} together",
            bounds.content_bytes_max
        );
        return Err(Problem::invalid_field(message));
    }
    Ok(())
}

fn unknown_destination(unknown: &[String]) -> Problem {
    let mut named: Vec<_> = unknown.iter().take(NAMED_MAX).map(|agent| shown(agent)).collect();
    if unknown.len() > NAMED_MAX {
        named.push("and others".to_owned());
    }
    let message = format!("to: no such agent: {}", named.join(", "));
    Problem::new(ErrorCode::UnknownDestination, message)
}

fn shown(agent: &str) -> String {
    /// Of an id that nobody has; those that somebody has are no longer.
    const CHARS_MAX: usize = 256;
    let plain = agent.chars().filter(|char| !char.is_control());
    format!("agent:{}", plain.take(CHARS_MAX).collect::<String>())
}

#[cfg(test)]
mod tests {
    use hub_platform::config::Broadcast;

    use super::{NAMED_MAX, check, labels_json, unknown_destination};

    #[test]
    fn neither_too_many_nor_too_much() {
        let bounds = Broadcast {
            recipients_max: 3,
            content_bytes_max: 100,
            under_way_max: 1,
            chunk_max: 1,
        };
        let cases = [(3, 33, true), (4, 1, false), (3, 34, false), (1, 100, true)];
        for (recipients, content_bytes, is_fit) in cases {
            let checked = check(&bounds, recipients, content_bytes);
            assert_eq!(
                checked.is_ok(),
                is_fit,
                "{recipients} of {content_bytes}: {checked:?}"
            );
        }
    }

    #[test]
    fn a_refusal_names_some_and_says_that_there_are_others() {
        let agents = |count: usize| (0..count).map(|at| format!("a{at}")).collect::<Vec<_>>();
        assert_eq!(
            unknown_destination(&agents(2)).message,
            "to: no such agent: agent:a0, agent:a1"
        );
        let many = unknown_destination(&agents(NAMED_MAX + 1)).message;
        assert!(many.ends_with("agent:a9, and others"), "{many}");
        let unspeakable = unknown_destination(&["a\0b".to_owned()]).message;
        assert_eq!(unspeakable, "to: no such agent: agent:ab");
    }

    #[test]
    fn labels_are_written_as_json() {
        let labels = [("team".to_owned(), "in\"fra".to_owned())].into();
        assert_eq!(labels_json(&labels), r#"{"team":"in\"fra"}"#);
    }
}
