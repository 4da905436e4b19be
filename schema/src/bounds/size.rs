//! How large a JSON value is.

use serde_json::Value;

/// Sizes of a JSON value.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Size {
    /// Values in it, itself included.
    pub(super) nodes: usize,
    /// Objects among them.
    pub(super) objects: usize,
    /// Objects and arrays one inside the other.
    pub(super) depth: usize,
    /// Bytes of its strings and of its members' names.
    pub(super) text_bytes: usize,
}

impl Size {
    pub(super) fn of(value: &Value) -> Size {
        let mut size = Size {
            nodes: 1,
            ..Size::default()
        };
        match value {
            Value::String(text) => size.text_bytes = text.len(),
            Value::Array(items) => items.iter().for_each(|item| size.hold(Size::of(item))),
            Value::Object(members) => {
                size.objects = 1;
                for (name, member) in members {
                    size.text_bytes += name.len();
                    size.hold(Size::of(member));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        size.depth += usize::from(value.is_array() || value.is_object());
        size
    }

    fn hold(&mut self, inner: Size) {
        self.nodes += inner.nodes;
        self.objects += inner.objects;
        self.depth = self.depth.max(inner.depth);
        self.text_bytes += inner.text_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::Size;
    use serde_json::json;

    #[test]
    fn a_size_counts_all_that_is_inside() {
        let size = Size::of(&json!({ "ab": [1, { "c": "é" }], "d": null }));
        assert_eq!(
            size,
            Size {
                nodes: 6,
                objects: 2,
                depth: 3,
                text_bytes: 6
            }
        );
    }
}
