//! The lossless form of a JSON value: strings decoded, numbers as written, members in order.

use std::borrow::Cow;

use serde_json::{Number, Value};

/// A value, borrowed from its text.
#[derive(Clone, Debug, PartialEq)]
pub enum Node<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// As written; a finite double.
    Number(&'a str),
    /// Decoded.
    String(Cow<'a, str>),
    /// In order.
    Array(Vec<Node<'a>>),
    /// In order, each name once.
    Object(Vec<Member<'a>>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Member<'a> {
    /// Decoded.
    pub name: Cow<'a, str>,
    /// The value as written.
    pub text: &'a str,
    /// The value.
    pub node: Node<'a>,
}

impl<'a> Node<'a> {
    /// The member of that name, of an object that has it.
    pub fn member(&self, name: &str) -> Option<&Member<'a>> {
        match self {
            Node::Object(members) => members.iter().find(|member| member.name == name),
            _ => None,
        }
    }

    /// The value of that member.
    pub fn get(&self, name: &str) -> Option<&Node<'a>> {
        self.member(name).map(|member| &member.node)
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Node::String(text) => Some(text),
            _ => None,
        }
    }

    /// The same value, for those who work with serde.
    pub fn to_value(&self) -> Value {
        match self {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(*value),
            Node::Number(text) => number(text),
            Node::String(text) => Value::String(text.clone().into_owned()),
            Node::Array(items) => items.iter().map(Node::to_value).collect(),
            Node::Object(members) => {
                let entries = members
                    .iter()
                    .map(|m| (m.name.clone().into_owned(), m.node.to_value()));
                Value::Object(entries.collect())
            }
        }
    }
}

/// An integer where 64 bits hold it, otherwise the nearest double. `-0` is a double: an integer has no sign to keep.
fn number(text: &str) -> Value {
    if text != "-0" {
        if let Ok(value) = text.parse::<u64>() {
            return value.into();
        }
        if let Ok(value) = text.parse::<i64>() {
            return value.into();
        }
    }
    // The scanner lets only finite doubles through.
    text.parse()
        .ok()
        .and_then(Number::from_f64)
        .map_or(Value::Null, Value::Number)
}
