//! `JUnit` XML, which continuous integration shows.

use std::fmt::Write as _;

use super::{Line, Report, Status};

/// One suite; what was not tried is skipped, with the reason.
pub(crate) fn junit(report: &Report) -> String {
    let skipped = report.count(Status::NotOffered) + report.count(Status::Skipped);
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        r#"<testsuite name="{}" tests="{}" failures="{}" skipped="{skipped}" time="{:.3}">"#,
        escaped(&report.title),
        report.lines.len(),
        report.count(Status::Failed),
        report.took.as_secs_f64(),
    );
    for line in &report.lines {
        case(&mut text, line);
    }
    text.push_str("</testsuite>\n");
    text
}

fn case(text: &mut String, line: &Line) {
    let (section, name) = (escaped(&line.section), escaped(&line.name));
    let _ = write!(
        text,
        r#"  <testcase classname="§{section}" name="{name}" time="{:.3}""#,
        line.took.as_secs_f64()
    );
    let detail = escaped(&line.detail);
    let _ = match line.status {
        Status::Passed => writeln!(text, "/>"),
        Status::Failed => writeln!(text, r#"><failure message="{detail}"/></testcase>"#),
        Status::NotOffered | Status::Skipped => {
            let why = line.status.as_str();
            writeln!(text, r#"><skipped message="{why}: {detail}"/></testcase>"#)
        }
    };
}

/// Fit for an attribute. Characters that XML 1.0 cannot hold at all are left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' | '\r' => {
                let _ = write!(escaped, "&#{};", u32::from(character));
            }
            character if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {}
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::{escaped, junit};

    #[test]
    fn a_suite_says_what_failed_and_what_was_not_tried() {
        let text = junit(&sample());
        assert!(text.contains(r#"tests="4" failures="1" skipped="2""#), "{text}");
        assert!(
            text.contains(r#"name="submit/&lt;other&gt; &amp; thing""#)
                && text.contains(r#"<failure message="expected &quot;a&quot;&#10;got &lt;b&gt;"/>"#),
            "{text}"
        );
        assert_eq!(escaped("a\u{0}b\u{1b}c"), "abc");
    }
}
