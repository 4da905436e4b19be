//! Where the keywords of a schema lead: to schemas for the same value, or for what is inside it.

use serde_json::{Map, Value};

use super::size::Size;

type Members = Map<String, Value>;

/// The schemas that apply to the same value.
pub(super) fn here<'s>(root: &'s Value, members: &'s Members) -> Result<Vec<&'s Value>, String> {
    if members.contains_key("$dynamicRef") || members.contains_key("$recursiveRef") {
        return Err("$dynamicRef and $recursiveRef are not supported".to_owned());
    }
    let single = ["not", "if", "then", "else"]
        .into_iter()
        .filter_map(|name| members.get(name));
    let listed = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .filter_map(|name| members.get(name)?.as_array())
        .flatten();
    let named = ["dependentSchemas", "dependencies"]
        .into_iter()
        .filter_map(|name| members.get(name)?.as_object())
        .flat_map(Map::values);
    let mut schemas: Vec<_> = single.chain(listed).chain(named).collect();
    if let Some(reference) = members.get("$ref") {
        schemas.push(target(root, reference)?);
    }
    Ok(schemas)
}

/// The schemas that apply to members, their names, or items of the value.
pub(super) fn inside(members: &Members) -> impl Iterator<Item = &Value> {
    let alone = [
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "items",
        "prefixItems",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    ];
    let alone = alone.into_iter().filter_map(|name| members.get(name));
    let alone = alone.flat_map(|value| {
        value
            .as_array()
            .map_or(std::slice::from_ref(value), Vec::as_slice)
    });
    let named = ["patternProperties", "properties"]
        .into_iter()
        .filter_map(|name| members.get(name)?.as_object())
        .flat_map(Map::values);
    alone.chain(named)
}

/// How many patterns look at the value or at the names of its members.
pub(super) fn patterns(members: &Members) -> usize {
    let named = members
        .get("patternProperties")
        .and_then(Value::as_object)
        .map_or(0, Map::len);
    named + usize::from(members.contains_key("pattern"))
}

/// How many values the value is compared with.
pub(super) fn listed(members: &Members) -> usize {
    ["enum", "const"]
        .into_iter()
        .filter_map(|name| members.get(name))
        .map(|value| Size::of(value).nodes)
        .sum()
}

/// Whether a keyword asks what the others left over.
pub(super) fn looks_again(members: &Members) -> bool {
    ["unevaluatedItems", "unevaluatedProperties"]
        .into_iter()
        .any(|name| members.contains_key(name))
}

/// Whether something below the root names itself as the base of references. It may be mere data, as in a `const`; a
/// schema is then refused that could have been understood.
pub(super) fn has_inner_base(schema: &Value) -> bool {
    fn children(value: &Value) -> impl Iterator<Item = &Value> {
        let members = value.as_object().into_iter().flat_map(Map::values);
        members.chain(value.as_array().into_iter().flatten())
    }
    fn has_base(value: &Value) -> bool {
        value.get("$id").is_some_and(Value::is_string) || children(value).any(has_base)
    }
    children(schema).any(has_base)
}

fn target<'s>(root: &'s Value, reference: &Value) -> Result<&'s Value, String> {
    let reference = reference.as_str().ok_or("$ref must be a string")?;
    let pointer = reference
        .strip_prefix('#')
        .filter(|pointer| !pointer.contains('%'));
    let pointer = pointer.ok_or("$ref leads outside of the schema; only #/… is followed")?;
    root.pointer(pointer)
        .ok_or_else(|| "$ref leads to nothing in the schema".to_owned())
}
