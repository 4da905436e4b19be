//! What the list is narrowed to, as its address says it.

use std::str::FromStr;

use ma2h::envelope::{MessageType, Priority};
use ma2h::status::Status;
use serde::Deserialize;

use crate::messages;

use super::links::encode;

/// Rows on one page of the list.
const PAGE_ROWS: u32 = 30;

/// The three heaps a person looks through.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum View {
    /// Asks and tasks that nobody decided yet.
    #[default]
    Waiting,
    /// What agents only told.
    Notices,
    /// Everything there is.
    All,
}

impl View {
    pub(super) const ALL: [Self; 3] = [Self::Waiting, Self::Notices, Self::All];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Notices => "notices",
            Self::All => "all",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting",
            Self::Notices => "Notices",
            Self::All => "All",
        }
    }
}

/// The query of the list's address. What it does not know is ignored, so that an old bookmark still works.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(super) struct Filter {
    pub(super) view: View,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) priority: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) project: Option<String>,
    pub(super) tag: Option<String>,
    pub(super) q: Option<String>,
    pub(super) cursor: Option<String>,
}

impl Filter {
    /// Everything of one agent.
    pub(super) fn of_agent(agent: &str) -> Self {
        Self {
            view: View::All,
            agent: Some(agent.to_owned()),
            ..Self::default()
        }
    }

    /// Everything of one project.
    pub(super) fn of_project(project: &str) -> Self {
        Self {
            view: View::All,
            project: Some(project.to_owned()),
            ..Self::default()
        }
    }

    /// Everything with one tag.
    pub(super) fn of_tag(tag: &str) -> Self {
        Self {
            view: View::All,
            tag: Some(tag.to_owned()),
            ..Self::default()
        }
    }

    /// The same without what is empty or unknown: a form sends its empty fields as well.
    pub(super) fn cleaned(mut self) -> Self {
        for text in [
            &mut self.agent,
            &mut self.project,
            &mut self.tag,
            &mut self.q,
            &mut self.cursor,
        ] {
            *text = text
                .take()
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty());
        }
        let is_narrower = |kind: MessageType| self.view != View::Notices && kind != MessageType::Notify;
        self.kind = self
            .kind
            .filter(|kind| known(Some(kind)).is_some_and(is_narrower));
        self.priority = self
            .priority
            .filter(|name| known::<Priority>(Some(name)).is_some());
        self
    }

    /// Its address, from the first page on.
    pub(super) fn href(&self) -> String {
        self.address(None)
    }

    /// The address of the page that starts at a cursor.
    pub(super) fn href_from(&self, cursor: &str) -> String {
        self.address(Some(cursor))
    }

    /// What is narrowed beside the view, as names and values of the address.
    pub(super) fn terms(&self) -> Vec<(&'static str, &str)> {
        let terms = [
            ("type", &self.kind),
            ("priority", &self.priority),
            ("agent", &self.agent),
            ("project", &self.project),
            ("tag", &self.tag),
            ("q", &self.q),
        ];
        terms
            .into_iter()
            .filter_map(|(name, value)| value.as_deref().map(|value| (name, value)))
            .collect()
    }

    fn address(&self, cursor: Option<&str>) -> String {
        let view = (self.view != View::default()).then_some(("view", self.view.as_str()));
        let terms = view
            .into_iter()
            .chain(self.terms())
            .chain(cursor.map(|cursor| ("cursor", cursor)));
        let query: Vec<String> = terms
            .map(|(name, value)| format!("{name}={}", encode(value)))
            .collect();
        if query.is_empty() {
            "/inbox".to_owned()
        } else {
            format!("/inbox?{}", query.join("&"))
        }
    }

    /// As the rest of the gateway lists messages.
    pub(super) fn request(&self) -> messages::Filter {
        messages::Filter {
            status: (self.view == View::Waiting).then_some(Status::Open),
            kind: if self.view == View::Notices {
                Some(MessageType::Notify)
            } else {
                known(self.kind.as_deref())
            },
            priority: known(self.priority.as_deref()),
            agent: self.agent.clone(),
            project: self.project.clone(),
            tag: self.tag.clone(),
            q: self.q.clone(),
            limit: Some(PAGE_ROWS),
            cursor: self.cursor.clone(),
        }
    }
}

/// What is none of the known ones narrows nothing.
fn known<T: FromStr>(text: Option<&str>) -> Option<T> {
    text.and_then(|text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::{Filter, MessageType, Status, View};

    #[test]
    fn says_itself_as_an_address() {
        assert_eq!(Filter::default().href(), "/inbox");
        assert_eq!(
            Filter {
                view: View::All,
                ..Filter::default()
            }
            .href(),
            "/inbox?view=all"
        );
        let narrowed = Filter {
            kind: Some("ask".to_owned()),
            q: Some("a&b=c #ü".to_owned()),
            cursor: Some("old".to_owned()),
            ..Filter::default()
        };
        assert_eq!(narrowed.href(), "/inbox?type=ask&q=a%26b%3Dc%20%23%C3%BC");
        assert_eq!(
            narrowed.href_from("new"),
            "/inbox?type=ask&q=a%26b%3Dc%20%23%C3%BC&cursor=new"
        );
        assert_eq!(
            Filter::of_agent("deploybot/dev").href(),
            "/inbox?view=all&agent=deploybot/dev"
        );
    }

    #[test]
    fn drops_what_it_does_not_know() {
        let odd = Filter {
            view: View::Notices,
            kind: Some("ask".to_owned()),
            priority: Some("loud".to_owned()),
            q: Some("  ".to_owned()),
            ..Filter::default()
        };
        assert_eq!(
            odd.cleaned(),
            Filter {
                view: View::Notices,
                ..Filter::default()
            }
        );
    }

    #[test]
    fn asks_for_what_the_view_means() {
        let request = |view| {
            Filter {
                view,
                ..Filter::default()
            }
            .request()
        };
        assert_eq!(request(View::Waiting).status, Some(Status::Open));
        assert_eq!(request(View::Notices).kind, Some(MessageType::Notify));
        assert_eq!(request(View::All).status, None);
    }
}
