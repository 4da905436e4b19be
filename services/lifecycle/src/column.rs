//! Text on its way into columns: in a form that cannot fail the insert (design rule 8), nor the index over it. The
//! envelope itself is kept as it came.

use std::borrow::Cow;

/// Longest text of an extracted column: 4 bytes each and the rest of a key stay below what a B-tree page takes.
const CHARS_MAX: usize = 256;
/// What stands for U+0000, which PostgreSQL's text cannot hold.
const REPLACEMENT: char = '\u{fffd}';

/// The text as a column holds it, and as a filter must be for the same text to match.
pub(crate) fn storable(text: &str) -> Cow<'_, str> {
    let text = match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => &text[..end],
        None => text,
    };
    without_nul(text)
}

/// The text at its full length, for what no index covers.
pub(crate) fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether a column surely holds the text as it was sent.
pub(crate) fn is_verbatim(column: &str) -> bool {
    !column.contains(REPLACEMENT) && column.chars().nth(CHARS_MAX - 1).is_none()
}

#[cfg(test)]
mod tests {
    use super::{CHARS_MAX, is_verbatim, storable, without_nul};

    #[test]
    fn what_a_column_cannot_hold_is_replaced_or_cut() {
        let long = "é".repeat(CHARS_MAX + 1);
        let full = "é".repeat(CHARS_MAX);
        let cases = [
            ("", "", true),
            ("run_1", "run_1", true),
            ("a\0b\0", "a\u{fffd}b\u{fffd}", false),
            ("was \u{fffd} before", "was \u{fffd} before", false),
            (&full, &full, false),
            (&long, &full, false),
        ];
        for (text, stored, verbatim) in cases {
            assert_eq!(storable(text), stored);
            assert_eq!(is_verbatim(&storable(text)), verbatim, "{text:?}");
        }
        assert_eq!(without_nul(&long), long);
    }
}
