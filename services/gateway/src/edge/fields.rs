//! The members of a JSON object, taken out one by one: what is left at the end is unknown, and named.

use ma2h::error::Problem;
use serde_json::{Map, Value};

/// Members not taken yet.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    /// The members of `value`, which must be an object.
    pub(crate) fn of(value: Value) -> Result<Self, Problem> {
        match value {
            Value::Object(members) => Ok(Self(members)),
            _ => Err(Problem::validation("expected a JSON object")),
        }
    }

    /// A member as it is; `None` where it is absent.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// A string that must be there.
    pub(crate) fn string(&mut self, name: &str) -> Result<String, Problem> {
        self.optional_string(name)?
            .ok_or_else(|| Problem::validation(format!("{name}: required")))
    }

    /// A string that may be absent or null.
    pub(crate) fn optional_string(&mut self, name: &str) -> Result<Option<String>, Problem> {
        Ok(self.patched_string(name)?.flatten())
    }

    /// A string of a merge patch: absent, null, or set.
    pub(crate) fn patched_string(&mut self, name: &str) -> Result<Option<Option<String>>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Null) => Ok(Some(None)),
            Some(Value::String(text)) => Ok(Some(Some(text))),
            Some(_) => Err(Problem::validation(format!("{name}: expected a string"))),
        }
    }

    /// An object of a merge patch: absent, null, or set.
    pub(crate) fn patched_object(
        &mut self,
        name: &str,
    ) -> Result<Option<Option<Map<String, Value>>>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Null) => Ok(Some(None)),
            Some(Value::Object(members)) => Ok(Some(Some(members))),
            Some(_) => Err(Problem::validation(format!("{name}: expected an object"))),
        }
    }

    /// Refuses what has not been taken.
    pub(crate) fn finish(self) -> Result<(), Problem> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(Problem::validation(format!("{}: unknown member", shown(name)))),
        }
    }
}

/// A name that a caller made up, short enough to show.
pub(crate) fn shown(name: &str) -> String {
    /// Longest name shown whole.
    const SHOWN_CHARS_MAX: usize = 64;
    name.chars()
        .filter(|char| !char.is_control())
        .take(SHOWN_CHARS_MAX)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Fields;

    #[test]
    fn members_are_taken_and_the_rest_is_named() {
        let mut fields = Fields::of(json!({"id": "a", "name": null, "extra": 1})).unwrap();
        assert_eq!(fields.string("id").unwrap(), "a");
        assert_eq!(fields.patched_string("name").unwrap(), Some(None));
        assert_eq!(fields.patched_string("email").unwrap(), None);
        assert_eq!(fields.finish().unwrap_err().message, "extra: unknown member");
    }

    #[test]
    fn a_wrong_type_and_a_missing_member_are_named() {
        let mut fields = Fields::of(json!({"id": 5})).unwrap();
        assert_eq!(fields.string("id").unwrap_err().message, "id: expected a string");
        assert_eq!(fields.string("id").unwrap_err().message, "id: required");
        assert!(Fields::of(json!([])).is_err());
    }
}
