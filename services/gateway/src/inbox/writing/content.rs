//! What was written beyond the line of a list, as its page shows it.

use ma2h::error::Problem;
use maud::{Markup, PreEscaped, html};
use serde::Deserialize;

use super::super::shown::Part;
use super::super::{context, markdown};

/// The body, and what is attached to it.
pub(in super::super) struct Content {
    /// The body, drawn; none where nothing stands in it.
    pub(in super::super) body_html: Option<String>,
    pub(in super::super) context: Vec<Part>,
}

#[derive(Deserialize)]
struct Written {
    body: Option<String>,
    #[serde(default)]
    context: Vec<Part>,
}

impl Content {
    /// Reads what lifecycle keeps: the envelope of a directive, or what a broadcast says.
    pub(in super::super) fn read(json: &str) -> Result<Self, Problem> {
        let written: Written = serde_json::from_str(json).map_err(|_| Problem::internal())?;
        let body = written.body.as_deref().filter(|body| !body.trim().is_empty());
        Ok(Self {
            body_html: body.map(markdown::render),
            context: written.context,
        })
    }

    /// Draws it; `label` names the body for who cannot see it.
    pub(in super::super) fn draw(&self, label: &str) -> Markup {
        html! {
            @if let Some(body) = &self.body_html {
                section class="card prose" aria-label=(label) { (PreEscaped(body)) }
            }
            (context::draw(&self.context))
            @if self.body_html.is_none() && self.context.is_empty() {
                p class="muted" { "Nothing was written beyond the title." }
            }
        }
    }
}

/// The tags, where there are any.
pub(in super::super) fn tags(tags: &[String]) -> Markup {
    html! {
        @if !tags.is_empty() {
            ul class="tags" aria-label="Tags" { @for tag in tags { li class="tag" { (tag) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, tags};

    #[test]
    fn what_was_written_is_drawn_and_harmless() {
        let json = r#"{"body":"**now** <script>","context":[{"kind":"text","text":"attached"}]}"#;
        let html = Content::read(json).unwrap().draw("Directive").into_string();
        assert!(
            html.contains("<strong>now</strong>") && !html.contains("<script"),
            "{html}"
        );
        assert!(html.contains("attached"), "{html}");
        let empty = Content::read(r#"{"body":" "}"#)
            .unwrap()
            .draw("Directive")
            .into_string();
        assert!(empty.contains("Nothing was written"), "{empty}");
    }

    #[test]
    fn tags_are_text() {
        let html = tags(&["<b>".to_owned()]).into_string();
        assert!(html.contains("&lt;b&gt;"), "{html}");
        assert_eq!(tags(&[]).into_string(), "");
    }
}
