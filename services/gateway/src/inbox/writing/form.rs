//! The form. What was typed stays in it until it is sent.

use ma2h::envelope::Priority;
use maud::{Markup, html};

use super::super::controls::Entry;
use super::super::names;
use super::super::session::Session;
use super::draft::{BODY, EXPIRES_IN, EXPIRES_UNIT, KEY, LINKS, PRIORITY, SENSITIVE, TAGS, TITLE, TO, UNITS};
use super::field::Field;

/// What it is drawn from.
pub(in super::super) struct Form<'a> {
    /// Where it is posted.
    pub(in super::super) action: String,
    pub(in super::super) entry: &'a Entry<'a>,
    /// Names this sending.
    pub(in super::super) key: &'a str,
    /// For how many seconds a directive is kept that says nothing of it.
    pub(in super::super) kept_seconds: u64,
    /// What its button says.
    pub(in super::super) send: String,
}

impl Form<'_> {
    /// Draws it.
    pub(in super::super) fn draw(&self, session: &Session) -> Markup {
        let complaints = self.entry.complaints;
        html! {
            form id="compose" class="card stack" method="post" action=(self.action) data-draft
                data-kept[self.entry.typed.is_some()] {
                (session.csrf_field())
                input type="hidden" name=(KEY) value=(self.key);
                @if let Some(complaint) = complaints.general.as_deref().or(complaints.of(TO)) {
                    p class="error" role="alert" { (complaint) }
                } @else if !complaints.is_empty() {
                    p class="error" role="alert" { "Something is missing or does not fit; it is marked below." }
                }
                (self.title())
                (self.body())
                (self.priority())
                (self.expiry())
                (self.more())
                div class="actions" { button class="button primary" type="submit" { (self.send) } }
            }
        }
    }

    fn title(&self) -> Markup {
        let field = self.field(TITLE, "Title", None);
        // On a first visit the person begins here.
        let begins = self.entry.typed.is_none() || field.is_invalid();
        field.draw(&html! {
            input id=(TITLE) name=(TITLE) type="text" required autocomplete="off" value=(self.entry.text(TITLE))
                aria-describedby=[field.described_by()] aria-invalid=[field.invalid()] autofocus[begins];
        })
    }

    fn body(&self) -> Markup {
        let hint = "Markdown. The agent decides what it makes of it.";
        self.lines(&self.field(BODY, "Text", Some(hint)), 7)
    }

    fn lines(&self, field: &Field<'_>, rows: u32) -> Markup {
        field.draw(&html! {
            textarea id=(field.id) name=(field.id) rows=(rows) aria-describedby=[field.described_by()]
                aria-invalid=[field.invalid()] autofocus[field.is_invalid()] { "\n" (self.entry.text(field.id)) }
        })
    }

    fn priority(&self) -> Markup {
        let field = self.field(PRIORITY, "Priority", None);
        let picked: Priority = self.entry.text(PRIORITY).parse().unwrap_or_default();
        field.draw(&html! {
            select id=(PRIORITY) name=(PRIORITY) aria-describedby=[field.described_by()] aria-invalid=[field.invalid()] {
                @for priority in [Priority::Low, Priority::Normal, Priority::High, Priority::Urgent] {
                    option value=(priority.as_str()) selected[priority == picked] { (names::priority(priority)) }
                }
            }
        })
    }

    fn expiry(&self) -> Markup {
        let hint = format!(
            "Empty: it is kept for {} days.",
            (self.kept_seconds / 86400).max(1)
        );
        let label = "Drop it if the agent did not get it within";
        let field = self.field(EXPIRES_IN, label, Some(&hint));
        let unit = match self.entry.text(EXPIRES_UNIT) {
            "" => "hours",
            unit => unit,
        };
        field.draw(&html! {
            div class="count" {
                input id=(EXPIRES_IN) name=(EXPIRES_IN) type="text" inputmode="numeric" autocomplete="off"
                    value=(self.entry.text(EXPIRES_IN)) aria-describedby=[field.described_by()]
                    aria-invalid=[field.invalid()] autofocus[field.is_invalid()];
                select name=(EXPIRES_UNIT) aria-label="counted in" {
                    @for (name, _) in UNITS { option value=(name) selected[name == unit] { (name) } }
                }
            }
        })
    }

    /// What is seldom needed stands open only where something is in it.
    fn more(&self) -> Markup {
        let tags = self.field(TAGS, "Tags", Some("Separated by commas."));
        let hint = "One on each line: its address, and a name after it if you like.";
        let links = self.field(LINKS, "Links to attach", Some(hint));
        let is_sensitive = self.entry.typed.is_some_and(|typed| typed.has(SENSITIVE));
        let is_used = [&tags, &links]
            .into_iter()
            .any(|field| field.is_invalid() || !self.entry.text(field.id).is_empty());
        html! {
            details id="more" class="more-fields" open[is_used || is_sensitive] {
                summary { "Tags, links, sensitivity" }
                div class="stack" {
                    (tags.draw(&html! {
                        input id=(TAGS) name=(TAGS) type="text" autocomplete="off" autocapitalize="none"
                            value=(self.entry.text(TAGS)) aria-describedby=[tags.described_by()]
                            aria-invalid=[tags.invalid()] autofocus[tags.is_invalid()];
                    }))
                    (self.lines(&links, 3))
                    div class="field flag" {
                        input id=(SENSITIVE) name=(SENSITIVE) type="checkbox" value="yes" checked[is_sensitive]
                            aria-describedby="sensitive-hint";
                        label for=(SENSITIVE) { "Sensitive" }
                        p id="sensitive-hint" class="hint" { "Its text is kept out of exports and telemetry." }
                    }
                }
            }
        }
    }

    fn field<'a>(&'a self, id: &'static str, label: &'static str, hint: Option<&'a str>) -> Field<'a> {
        Field {
            id,
            label,
            hint,
            complaint: self.entry.complaints.of(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Form};
    use crate::inbox::controls::Complaints;
    use crate::inbox::fields::Fields;
    use crate::inbox::session::tests::session;
    use crate::principal::Role;

    fn drawn(typed: Option<&Fields>, complaints: &Complaints) -> String {
        let entry = Entry { typed, complaints };
        let form = Form {
            action: "/to".to_owned(),
            entry: &entry,
            key: "form_1",
            kept_seconds: 30 * 86400,
            send: "Send".to_owned(),
        };
        form.draw(&session("one", Role::Operator)).into_string()
    }

    #[test]
    fn what_was_typed_stays_beside_what_is_wrong_with_it() {
        let hurt = "\"><script>x</script>";
        let typed = Fields::from([
            ("title", hurt),
            ("body", hurt),
            ("priority", "urgent"),
            ("expires_in", "soon"),
            ("expires_unit", "days"),
            ("tags", hurt),
            ("links", hurt),
            ("sensitive", "yes"),
        ]);
        let html = drawn(
            Some(&typed),
            &Complaints::about("expires_in", "Write a whole number."),
        );
        assert!(!html.contains("<script"), "{html}");
        assert_eq!(html.matches("&lt;script&gt;").count(), 4, "{html}");
        for part in [
            "<option value=\"urgent\" selected>",
            "<option value=\"days\" selected>",
            "value=\"soon\" aria-describedby=\"expires_in-hint expires_in-error\" aria-invalid=\"true\" autofocus",
            "<p id=\"expires_in-error\" class=\"error\">Write a whole number.</p>",
            "data-kept",
            "name=\"key\" value=\"form_1\"",
            "class=\"more-fields\" open",
            "value=\"yes\" checked",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn what_is_seldom_needed_is_closed_until_it_is() {
        let closed = drawn(None, &Complaints::default());
        assert!(closed.contains("class=\"more-fields\">"), "{closed}");
        let open = drawn(None, &Complaints::about("links", "Odd."));
        assert!(open.contains("class=\"more-fields\" open"), "{open}");
    }
}
