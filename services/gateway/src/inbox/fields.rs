//! What a form posted.

/// Names and values in the order of the page. Values may be secrets, so there is no `Debug`.
#[derive(Clone, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Browsers send every line end as CR LF, whatever was typed or stored: they become what they were.
    pub(super) fn new(posted: Vec<(String, String)>) -> Self {
        Self(
            posted
                .into_iter()
                .map(|(name, value)| (name, value.replace("\r\n", "\n")))
                .collect(),
        )
    }

    /// The value of a field, if the form sent it.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(at, _)| at == name)
            .map(|(_, value)| value.as_str())
    }

    /// The value of a field that holds more than white space.
    pub(super) fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.trim().is_empty())
    }

    /// Whether a checkbox was checked.
    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Fields {
    fn from(pairs: [(&str, &str); N]) -> Self {
        Self::new(
            pairs
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        )
    }
}
