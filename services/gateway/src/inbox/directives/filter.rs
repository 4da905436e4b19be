//! What the list is narrowed to, as its address says it.

use serde::Deserialize;

use crate::directives::{self, STATES};

use super::super::links::encode;

/// Rows on one page of the list.
const PAGE_ROWS: u32 = 30;

/// The query of the list's address. What it does not know is ignored.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(in super::super) struct Filter {
    pub(super) agent: Option<String>,
    pub(super) state: Option<String>,
    pub(super) cursor: Option<String>,
}

impl Filter {
    /// All to one agent.
    pub(super) fn of_agent(agent: &str) -> Self {
        Self {
            agent: Some(agent.to_owned()),
            ..Self::default()
        }
    }

    /// The same without what is empty or unknown.
    pub(super) fn cleaned(self) -> Self {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        Self {
            agent: given(self.agent),
            state: self.state.filter(|state| STATES.contains(&state.as_str())),
            cursor: given(self.cursor),
        }
    }

    /// Whether it leaves anything out.
    pub(super) fn is_narrow(&self) -> bool {
        self.agent.is_some() || self.state.is_some()
    }

    /// Its address, from the first page on.
    pub(super) fn href(&self) -> String {
        self.address(None)
    }

    /// The address of the page that starts at a cursor.
    pub(super) fn href_from(&self, cursor: &str) -> String {
        self.address(Some(cursor))
    }

    fn address(&self, cursor: Option<&str>) -> String {
        let terms = [
            ("agent", self.agent.as_deref()),
            ("state", self.state.as_deref()),
            ("cursor", cursor),
        ];
        let terms = terms.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let query: Vec<String> = terms
            .map(|(name, value)| format!("{name}={}", encode(value)))
            .collect();
        if query.is_empty() {
            "/inbox/directives".to_owned()
        } else {
            format!("/inbox/directives?{}", query.join("&"))
        }
    }

    /// As the rest of the gateway lists them.
    pub(super) fn request(&self) -> directives::Filter {
        directives::Filter {
            agent: self.agent.clone(),
            state: self.state.clone(),
            limit: PAGE_ROWS,
            cursor: self.cursor.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Filter;

    #[test]
    fn says_itself_as_an_address() {
        assert_eq!(Filter::default().href(), "/inbox/directives");
        let narrowed = Filter {
            state: Some("queued".to_owned()),
            cursor: Some("old".to_owned()),
            ..Filter::of_agent("a/b#🌳")
        };
        let address = "/inbox/directives?agent=a/b%23%F0%9F%8C%B3&state=queued";
        assert_eq!(narrowed.href(), address);
        assert_eq!(narrowed.href_from("new"), format!("{address}&cursor=new"));
    }

    #[test]
    fn drops_what_it_does_not_know() {
        let odd = Filter {
            agent: Some(String::new()),
            state: Some("lost".to_owned()),
            cursor: None,
        };
        assert_eq!(odd.cleaned(), Filter::default());
    }
}
