//! The members of a JSON object, taken out one by one: what is left at the end is unknown, and named.

use ma2h::error::Problem;
use serde_json::{Map, Value};

/// What a merge patch says of one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Patched<T> {
    /// Absent: it stays as it is.
    Kept,
    /// Null: it goes back to what it is without having been set.
    Reset,
    /// Its new value.
    Set(T),
}

impl<T> Patched<T> {
    /// The value, if one is set.
    pub(crate) fn value(self) -> Option<T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Kept | Self::Reset => None,
        }
    }

    /// The same with another value, or its refusal.
    pub(crate) fn try_map<U, E>(self, change: impl FnOnce(T) -> Result<U, E>) -> Result<Patched<U>, E> {
        Ok(match self {
            Self::Kept => Patched::Kept,
            Self::Reset => Patched::Reset,
            Self::Set(value) => Patched::Set(change(value)?),
        })
    }
}

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
        Ok(self.patched_string(name)?.value())
    }

    /// A string of a merge patch.
    pub(crate) fn patched_string(&mut self, name: &str) -> Result<Patched<String>, Problem> {
        match self.take(name) {
            None => Ok(Patched::Kept),
            Some(Value::Null) => Ok(Patched::Reset),
            Some(Value::String(text)) => Ok(Patched::Set(text)),
            Some(_) => Err(Problem::validation(format!("{name}: expected a string"))),
        }
    }

    /// An object of a merge patch.
    pub(crate) fn patched_object(&mut self, name: &str) -> Result<Patched<Map<String, Value>>, Problem> {
        match self.take(name) {
            None => Ok(Patched::Kept),
            Some(Value::Null) => Ok(Patched::Reset),
            Some(Value::Object(members)) => Ok(Patched::Set(members)),
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

    use super::{Fields, Patched};

    #[test]
    fn members_are_taken_and_the_rest_is_named() {
        let mut fields = Fields::of(json!({"id": "a", "name": null, "extra": 1})).unwrap();
        assert_eq!(fields.string("id").unwrap(), "a");
        assert_eq!(fields.patched_string("name").unwrap(), Patched::Reset);
        assert_eq!(fields.patched_string("email").unwrap(), Patched::Kept);
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
