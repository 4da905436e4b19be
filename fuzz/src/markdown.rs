//! Markdown of agents, drawn for a person.

use std::str;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How long the text is that a short input is repeated into: what takes too long shows when there is much of it.
const REPEATED_BYTES: usize = 16 * 1024;
/// All that may ever be drawn.
pub const ELEMENTS: [&str; 25] = [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];
const ATTRIBUTES: [&str; 5] = ["href", "class", "target", "rel", "start"];

/// What is drawn are elements we know, closed as they were opened, with links that lead out of the hub and nowhere else;
/// and however often a text is repeated, drawing it takes no more processor time than `work_max`. That much takes a few
/// milliseconds where the compiler optimises, and seconds where the work grows with the square of the text.
pub fn markdown(data: &[u8], render: impl Fn(&str) -> String, work_max: Duration) {
    let Ok(text) = str::from_utf8(data) else { return };
    check_html(&render(text));
    let repeated = repeat(text);
    let before = processor_time();
    let html = render(&repeated);
    let work = processor_time().saturating_sub(before);
    assert!(work < work_max, "{} bytes took {work:?}", repeated.len());
    check_html(&html);
}

/// The text again and again; of two parts with a NUL between them, first the one so often, then the other.
fn repeat(text: &str) -> String {
    let times = REPEATED_BYTES / text.len().max(1);
    match text.split_once('\0') {
        Some((head, tail)) => head.repeat(times) + &tail.repeat(times),
        None => text.repeat(times),
    }
}

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.try_into().unwrap())
}

fn check_html(html: &str) {
    let mut open = Vec::new();
    let mut rest = html;
    while let Some((text, after)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{html}");
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{html}");
            continue;
        }
        let name = check_tag(tag);
        if !matches!(name, "br" | "hr") {
            open.push(name);
        }
    }
    assert!(open.is_empty() && !rest.contains('>'), "{html}");
}

/// What stands between `<` and `>`; gives its name.
fn check_tag(tag: &str) -> &str {
    let opening = tag.strip_suffix(" /").unwrap_or(tag);
    let (name, mut rest) = opening.split_once(' ').unwrap_or((opening, ""));
    assert!(ELEMENTS.contains(&name), "<{tag}>");
    while let Some((attribute, after)) = rest.split_once("=\"") {
        assert!(ATTRIBUTES.contains(&attribute), "<{tag}>");
        let (value, after) = after.split_once('"').unwrap();
        if attribute == "href" {
            let scheme = value.split(':').next().unwrap().to_ascii_lowercase();
            assert!(matches!(scheme.as_str(), "http" | "https" | "mailto"), "<{tag}>");
        }
        rest = after.trim_start();
    }
    assert!(rest.is_empty(), "<{tag}>");
    name
}
