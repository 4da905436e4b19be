//! Typed reading of an object's members, with errors that name the field.

use crate::error::Problem;
use crate::json::{Member, Node};

/// An object and where it stands.
pub(crate) struct Fields<'n, 'a> {
    object: &'n Node<'a>,
    path: &'n str,
}

impl<'n, 'a> Fields<'n, 'a> {
    /// Refuses what is no object.
    pub(crate) fn of(object: &'n Node<'a>, path: &'n str) -> Result<Fields<'n, 'a>, Problem> {
        match object {
            Node::Object(_) => Ok(Fields { object, path }),
            _ if path.is_empty() => Err(Problem::validation("expected an object")),
            _ => Err(Problem::validation(format!("{path}: expected an object"))),
        }
    }

    /// The field's name with its path.
    pub(crate) fn at(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }

    pub(crate) fn member(&self, name: &str) -> Option<&'n Member<'a>> {
        self.object.member(name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.member(name).is_some()
    }

    pub(crate) fn required(&self, name: &str) -> Result<&'n Node<'a>, Problem> {
        let member = self.member(name);
        member
            .map(|member| &member.node)
            .ok_or_else(|| self.expected(name, "required"))
    }

    pub(crate) fn text(&self, name: &str) -> Result<&'n str, Problem> {
        self.required(name)?
            .as_str()
            .ok_or_else(|| self.expected(name, "expected a string"))
    }

    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&'n str>, Problem> {
        if self.has(name) {
            self.text(name).map(Some)
        } else {
            Ok(None)
        }
    }

    pub(crate) fn owned_text(&self, name: &str) -> Result<Option<String>, Problem> {
        Ok(self.optional_text(name)?.map(str::to_owned))
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, Problem> {
        match self.member(name).map(|member| &member.node) {
            None => Ok(default),
            Some(Node::Bool(value)) => Ok(*value),
            Some(_) => Err(self.expected(name, "expected true or false")),
        }
    }

    pub(crate) fn list(&self, name: &str) -> Result<Option<&'n [Node<'a>]>, Problem> {
        match self.member(name).map(|member| &member.node) {
            None => Ok(None),
            Some(Node::Array(items)) => Ok(Some(items)),
            Some(_) => Err(self.expected(name, "expected an array")),
        }
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Problem> {
        let Some(items) = self.list(name)? else {
            return Ok(None);
        };
        let owned = |item: &Node<'_>| item.as_str().map(str::to_owned);
        let texts: Option<Vec<String>> = items.iter().map(owned).collect();
        texts
            .map(Some)
            .ok_or_else(|| self.expected(name, "expected an array of strings"))
    }

    pub(crate) fn expected(&self, name: &str, what: &str) -> Problem {
        Problem::validation(format!("{}: {what}", self.at(name)))
    }
}
