//! What an agent attached (§4.2): text, data, and files that are elsewhere.

use maud::{Markup, html};

use super::json_text::laid_out;
use super::links;
use super::shown::{File, Part};

/// More of one part than this helps nobody on a page.
const SHOWN_BYTES_MAX: usize = 64 * 1024;

/// Draws the parts in their order.
pub(super) fn draw(parts: &[Part]) -> Markup {
    html! {
        @if !parts.is_empty() {
            section aria-labelledby="context-title" {
                h2 id="context-title" class="section-title" { "Attached" }
                @for part in parts { div class="card part" { (one(part)) } }
            }
        }
    }
}

fn one(part: &Part) -> Markup {
    html! {
        @if let Some(text) = &part.text { (shortened(text, "prose plain-text")) }
        @if let Some(data) = &part.data { (shortened(&laid_out(data.get()), "code")) }
        @if let Some(file) = &part.file { (link(file)) }
        @if let Some(metadata) = &part.metadata {
            details {
                summary { "About this part" }
                (shortened(&laid_out(metadata.get()), "code"))
            }
        }
    }
}

fn shortened(text: &str, class: &str) -> Markup {
    let mut end = text.len().min(SHOWN_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    html! {
        pre class=(class) tabindex=[(class == "code").then_some("0")] { (&text[..end]) }
        @if end < text.len() { p class="muted" { "The rest is too long to show." } }
    }
}

fn link(file: &File) -> Markup {
    let name = file
        .name
        .as_deref()
        .filter(|name| !name.trim().is_empty())
        .unwrap_or(&file.uri);
    html! {
        p class="file" {
            @match links::host(&file.uri) {
                Some(host) => {
                    a class="external" href=(file.uri) target="_blank" rel=(links::REL) {
                        (name) span class="link-host" { " " (host) " ↗" }
                    }
                }
                // A scheme that the inbox does not follow is still worth knowing.
                None => { (name) @if name != file.uri { " " code { (file.uri) } } }
            }
            @if let Some(mime_type) = &file.mime_type { " " span class="muted" { (mime_type) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{SHOWN_BYTES_MAX, draw};
    use crate::inbox::shown::Part;

    fn drawn(part: &serde_json::Value) -> String {
        let part: Part = serde_json::from_str(&part.to_string()).unwrap();
        draw(&[part]).into_string()
    }

    #[test]
    fn shows_text_as_text() {
        let html = drawn(&json!({"kind": "text", "text": "<script>alert(1)</script>"}));
        assert!(
            html.contains("&lt;script&gt;") && !html.contains("<script"),
            "{html}"
        );
    }

    #[test]
    fn shows_data_laid_out() {
        let html = drawn(&json!({"kind": "data", "data": {"a": [1]}}));
        assert!(html.contains("{\n  &quot;a&quot;: [\n    1\n  ]\n}"), "{html}");
    }

    #[test]
    fn marks_files_as_elsewhere() {
        let html = drawn(
            &json!({"kind": "file", "file": {"uri": "https://ci.example/d", "name": "d.patch", "mime_type": "text/x-diff"}}),
        );
        assert!(html.contains("rel=\"noopener noreferrer nofollow\""), "{html}");
        assert!(
            html.contains("d.patch<span class=\"link-host\"> ci.example ↗</span>"),
            "{html}"
        );
        for uri in [
            "javascript:alert(1)",
            "data:text/html,x",
            "/inbox/sign-out",
            "file:///etc/passwd",
        ] {
            let html = drawn(&json!({"kind": "file", "file": {"uri": uri, "name": "x"}}));
            assert!(!html.contains("href"), "{html}");
        }
    }

    #[test]
    fn bounds_a_part() {
        let html = drawn(&json!({"kind": "text", "text": "ä".repeat(SHOWN_BYTES_MAX)}));
        assert!(html.len() < SHOWN_BYTES_MAX + 1000 && html.contains("too long to show"));
    }
}
