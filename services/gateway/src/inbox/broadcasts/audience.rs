//! Whom a broadcast is for, as the address of its form says it.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use serde_json::{Map, Value, json};

use super::super::agents::is_addressable;
use super::super::links::encode;
use super::super::writing::Way;
use super::{AGENTS, LABELS, NEW};

/// The name of an agent in the query.
pub(super) const TO: &str = "to";
/// The name of the element in which an agent's id is typed.
pub(super) const OTHER: &str = "other";
/// The name of a label in the query, [`label_text`] its value.
pub(super) const LABEL: &str = "label";
/// The names of the elements in which a label is typed.
pub(super) const NAME: &str = "name";
pub(super) const VALUE: &str = "value";
/// Agents that can be chosen one by one; for more there are labels.
pub(super) const AGENTS_MAX: usize = 100;
/// Longest address of the form: browsers and proxies take no much longer ones.
const ADDRESS_BYTES_MAX: usize = 16 * 1024;

/// Labels, text to text.
pub(super) type Labels = BTreeMap<String, String>;

/// Whom it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// These agents, by their ids.
    Agents(BTreeSet<String>),
    /// All that carry all of these labels.
    Labels(Labels),
}

impl Audience {
    /// The address of the form for it.
    pub(super) fn href(&self) -> String {
        format!("{NEW}?{}", self.query())
    }

    /// The address at which it is changed.
    pub(super) fn change(&self) -> String {
        let page = match self {
            Self::Agents(_) => AGENTS,
            Self::Labels(_) => LABELS,
        };
        format!("{page}?{}", self.query())
    }

    fn query(&self) -> String {
        let terms: Vec<String> = match self {
            Self::Agents(agents) => agents
                .iter()
                .map(|agent| format!("{TO}={}", encode(agent)))
                .collect(),
            Self::Labels(labels) => labels
                .iter()
                .map(|(name, value)| format!("{LABEL}={}", encode(&label_text(name, value))))
                .collect(),
        };
        terms.join("&")
    }

    /// The body of a call that tells them this.
    pub(super) fn told(&self, mut content: Map<String, Value>) -> String {
        match self {
            Self::Agents(agents) => {
                let addresses: Vec<_> = agents.iter().map(|agent| format!("agent:{agent}")).collect();
                content.insert("to".to_owned(), addresses.into());
            }
            Self::Labels(labels) => drop(content.insert("labels".to_owned(), json!(labels))),
        }
        Value::Object(content).to_string()
    }
}

/// The query of the form's address, and of the pages that lead to it.
#[derive(Debug, Default)]
pub(super) struct Asked(Vec<(String, String)>);

impl Asked {
    /// What cannot be read asks for nothing.
    pub(super) fn of(query: Result<Query<Vec<(String, String)>>, QueryRejection>) -> Self {
        Self(query.map(|Query(asked)| asked).unwrap_or_default())
    }

    /// The value of the first term of this name that says anything.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let terms = self.0.iter().filter(move |(at, _)| at == name);
        terms
            .map(|(_, text)| text.as_str())
            .filter(|text| !text.is_empty())
    }

    /// What was typed into an element.
    fn typed(&self, name: &str) -> Option<&str> {
        self.get(name).map(str::trim).filter(|text| !text.is_empty())
    }

    /// The agents that were chosen, and the one that was typed.
    pub(super) fn agents(&self) -> BTreeSet<String> {
        self.all(TO).chain(self.typed(OTHER)).map(str::to_owned).collect()
    }

    /// The labels that were chosen, as they stand in the query.
    pub(super) fn chosen(&self) -> Vec<String> {
        self.all(LABEL).map(str::to_owned).collect()
    }

    /// The labels that were chosen, and the one that was typed; or what is wrong with them.
    pub(super) fn labels(&self) -> Result<Labels, String> {
        let chosen = self.all(LABEL).filter_map(read_label);
        let typed = match (self.typed(NAME), self.typed(VALUE)) {
            (Some(name), Some(value)) => Some((name.to_owned(), value.to_owned())),
            (None, None) => None,
            _ => return Err("Write both, the name and the value of the other label.".to_owned()),
        };
        let mut labels = Labels::new();
        for (name, value) in chosen.chain(typed) {
            match labels.get(&name) {
                Some(other) if *other != value => {
                    return Err(format!(
                        "An agent carries “{name}” once: choose either “{other}” or “{value}”."
                    ));
                }
                _ => drop(labels.insert(name, value)),
            }
        }
        Ok(labels)
    }

    /// The page on which it was chosen.
    pub(super) fn way(&self) -> Way {
        let is_of_labels = |(name, _): &(String, String)| [LABEL, NAME, VALUE].contains(&name.as_str());
        if self.0.iter().any(is_of_labels) {
            Way::Labels
        } else {
            Way::Several
        }
    }

    /// Whom it is for, or what is wrong with the choice.
    pub(super) fn audience(&self) -> Result<Audience, String> {
        let audience = if self.way() == Way::Labels {
            let labels = self.labels()?;
            if labels.is_empty() {
                return Err("Choose at least one label, or write one.".to_owned());
            }
            Audience::Labels(labels)
        } else {
            Audience::Agents(fit(self.agents())?)
        };
        if audience.href().len() > ADDRESS_BYTES_MAX {
            return Err("That is too long for one address. Choose fewer at a time.".to_owned());
        }
        Ok(audience)
    }
}

fn fit(agents: BTreeSet<String>) -> Result<BTreeSet<String>, String> {
    if agents.is_empty() {
        return Err("Choose at least one agent.".to_owned());
    }
    if agents.len() > AGENTS_MAX {
        return Err(format!(
            "Choose at most {AGENTS_MAX} agents, or all that carry a label: you chose {}.",
            agents.len()
        ));
    }
    if let Some(agent) = agents.iter().find(|agent| !is_addressable(agent)) {
        return Err(format!("“{agent}” cannot be written to: its id has a # in it."));
    }
    Ok(agents)
}

/// A label as one text; a colon ends its name.
pub(super) fn label_text(name: &str, value: &str) -> String {
    let name = name.replace('%', "%25").replace(':', "%3A");
    format!("{name}:{value}")
}

/// The other way round.
pub(super) fn read_label(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once(':')?;
    Some((name.replace("%3A", ":").replace("%25", "%"), value.to_owned()))
}

/// Labels as a person reads them.
pub(super) fn words(labels: &Labels) -> String {
    let words = labels.iter().map(|(name, value)| format!("{name}: {value}"));
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use ma2h::broadcast::Draft;
    use serde_json::{Map, Value};

    use super::super::super::writing::Way;
    use super::{AGENTS_MAX, Asked, Audience, label_text, read_label, words};

    type Terms<'a> = &'a [(&'a str, &'a str)];

    fn asked(terms: Terms<'_>) -> Asked {
        let terms = terms
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Asked(terms.collect())
    }

    fn titled() -> Map<String, Value> {
        Map::from_iter([("title".to_owned(), "Stop".into())])
    }

    #[test]
    fn says_itself_as_an_address_and_as_a_call() {
        let audience = asked(&[("to", "a/b"), ("to", ""), ("other", " 🌳 & "), ("to", "a/b")])
            .audience()
            .unwrap();
        assert_eq!(
            audience.href(),
            "/inbox/broadcasts/new?to=a/b&to=%F0%9F%8C%B3%20%26"
        );
        let told = audience.told(titled());
        assert_eq!(told, r#"{"title":"Stop","to":["agent:a/b","agent:🌳 &"]}"#);
        Draft::read(&told).unwrap();

        let audience = asked(&[("label", "team:infra"), ("name", " odd:name "), ("value", "a:b")])
            .audience()
            .unwrap();
        assert_eq!(
            audience.change(),
            "/inbox/broadcasts/labels?label=odd%253Aname%3Aa%3Ab&label=team%3Ainfra"
        );
        let told = audience.told(titled());
        Draft::read(&told).unwrap();
        assert!(told.contains(r#""odd:name":"a:b""#), "{told}");
        let Audience::Labels(labels) = audience else {
            panic!("not of labels")
        };
        assert_eq!(words(&labels), "odd:name: a:b, team: infra");
    }

    #[test]
    fn any_label_comes_back_as_it_was() {
        for (name, value) in [("team", "infra"), ("a:b%3A", ":%"), ("%25", ""), ("", "x")] {
            let read = read_label(&label_text(name, value));
            assert_eq!(read, Some((name.to_owned(), value.to_owned())));
        }
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let many: Vec<String> = (0..=AGENTS_MAX).map(|at| format!("a{at}")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|id| ("to", id.as_str())).collect();
        let long = "x".repeat(17 * 1024);
        let cases: [(Terms<'_>, Way, &str); 8] = [
            (&[], Way::Several, "at least one agent"),
            (&many, Way::Several, "at most 100 agents"),
            (&[("to", "a#sess_1")], Way::Several, "has a #"),
            (&[("to", &long)], Way::Several, "too long"),
            (&[("name", ""), ("value", "")], Way::Labels, "at least one label"),
            (&[("name", "team"), ("value", " ")], Way::Labels, "Write both"),
            (
                &[("label", "t:a"), ("label", "t:b")],
                Way::Labels,
                "either “a” or “b”",
            ),
            (&[("label", "none")], Way::Labels, "at least one label"),
        ];
        for (terms, way, words) in cases {
            let asked = asked(terms);
            let complaint = asked.audience().unwrap_err();
            assert!(asked.way() == way && complaint.contains(words), "{complaint}");
        }
    }
}
