//! An element of the form with what stands around it.

use maud::{Markup, html};

/// Its label, a hint, and what is wrong with what was typed.
pub(super) struct Field<'a> {
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    pub(super) hint: Option<&'a str>,
    pub(super) complaint: Option<&'a str>,
}

impl Field<'_> {
    /// Whether something is wrong.
    pub(super) fn is_invalid(&self) -> bool {
        self.complaint.is_some()
    }

    /// The value of `aria-invalid`.
    pub(super) fn invalid(&self) -> Option<&'static str> {
        self.is_invalid().then_some("true")
    }

    /// The value of `aria-describedby`.
    pub(super) fn described_by(&self) -> Option<String> {
        let parts = [
            self.hint.map(|_| format!("{}-hint", self.id)),
            self.complaint.map(|_| format!("{}-error", self.id)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// Draws it around its element.
    pub(super) fn draw(&self, element: &Markup) -> Markup {
        html! {
            div class="field" {
                label for=(self.id) { (self.label) }
                @if let Some(hint) = self.hint { p id=(format!("{}-hint", self.id)) class="hint" { (hint) } }
                (element)
                @if let Some(complaint) = self.complaint {
                    p id=(format!("{}-error", self.id)) class="error" { (complaint) }
                }
            }
        }
    }
}
