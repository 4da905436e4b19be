//! What is wrong with what was typed.

/// In words for a person; never the value of a sensitive field.
#[derive(Debug, Default)]
pub(in super::super) struct Complaints {
    /// About the whole.
    pub(in super::super) general: Option<String>,
    fields: Vec<(String, String)>,
}

impl Complaints {
    /// About the whole.
    pub(in super::super) fn general(text: impl Into<String>) -> Self {
        Self {
            general: Some(text.into()),
            fields: Vec::new(),
        }
    }

    /// About one element of the form.
    pub(in super::super) fn about(element: &str, text: &str) -> Self {
        Self {
            general: None,
            fields: vec![(element.to_owned(), text.to_owned())],
        }
    }

    /// Adds one about an element of the form.
    pub(in super::super) fn add(&mut self, element: String, text: String) {
        self.fields.push((element, text));
    }

    /// What is wrong with an element.
    pub(in super::super) fn of(&self, element: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(at, _)| at == element)
            .map(|(_, text)| text.as_str())
    }

    /// Whether all is well.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.general.is_none() && self.fields.is_empty()
    }
}
