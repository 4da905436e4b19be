//! The members of an object, each value by its text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::Problem;

/// The top-level members in order, values verbatim.
pub fn members(object_text: &str) -> Result<Vec<(String, &RawValue)>, Problem> {
    let read: Result<Members<'_>, _> = serde_json::from_str(object_text);
    read.map(|members| members.0)
        .map_err(|error| Problem::validation(format!("malformed json: {error}")))
}

/// The value of one top-level member, verbatim.
pub fn member<'a>(object_text: &'a str, name: &str) -> Option<&'a RawValue> {
    let members = members(object_text).ok()?;
    members
        .into_iter()
        .find(|(member, _)| member == name)
        .map(|(_, value)| value)
}

struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Collect)
    }
}

struct Collect;

impl<'de> Visitor<'de> for Collect {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}
