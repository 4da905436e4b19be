//! Markdown of agents as HTML without raw HTML (§9.6).
//!
//! What the parser finds is reduced to a closed set of harmless events, and only those become HTML: no element, attribute or
//! scheme of the agent's can get through, since none is ever copied. The work grows with the text and not faster, which a
//! general sanitiser of HTML does not promise; the tests hold what is drawn against one.

use std::fmt::Write as _;

use maud::Escaper;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::links;

/// What is read of a text at most; the rest is left out, and said so.
const INPUT_BYTES_MAX: usize = 256 * 1024;
/// Events drawn at most: one short line of a table can stand for thousands of empty cells.
const EVENTS_MAX: usize = 20_000;
/// Elements inside one another; deeper ones lose their markup and keep their text.
const DEPTH_MAX: usize = 24;

/// Draws Markdown as HTML that can neither run, nor load, nor pretend to be the hub's own.
pub(crate) fn render(markdown: &str) -> String {
    let (text, mut cut) = shorten(markdown);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut drawing = Drawing::default();
    for event in Parser::new_ext(text, options) {
        if drawing.events.len() >= EVENTS_MAX {
            cut = true;
            break;
        }
        drawing.take(event);
    }
    drawing.close();
    let mut html = String::with_capacity(text.len() * 2);
    let highest = drawing.highest.unwrap_or(HeadingLevel::H1);
    let events = drawing
        .events
        .into_iter()
        .map(|event| below_the_title(event, highest));
    pulldown_cmark::html::push_html(&mut html, events);
    if cut {
        html.push_str("<p><em>The rest of this text is too long to show.</em></p>");
    }
    html
}

fn shorten(text: &str) -> (&str, bool) {
    if text.len() <= INPUT_BYTES_MAX {
        return (text, false);
    }
    let mut end = INPUT_BYTES_MAX;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (&text[..end], true)
}

/// The reduced events, and what is open while they are gathered.
#[derive(Default)]
struct Drawing<'a> {
    events: Vec<Event<'a>>,
    open: Vec<Open<'a>>,
    /// Whether a link is among what is open.
    in_link: bool,
    /// Of the headings so far.
    highest: Option<HeadingLevel>,
}

/// How an element that the parser opened is to be closed.
enum Open<'a> {
    /// As itself.
    Element(TagEnd),
    /// Its markup was left out.
    Nothing,
    /// A link, with the text that names where it leads.
    Link(CowStr<'a>),
}

impl<'a> Drawing<'a> {
    fn take(&mut self, event: Event<'a>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => self.end(),
            // Shown as what it is: text.
            Event::Html(html) | Event::InlineHtml(html) => self.events.push(Event::Text(html)),
            Event::TaskListMarker(done) => {
                self.events
                    .push(Event::Text(CowStr::Borrowed(if done { "☑ " } else { "☐ " })));
            }
            Event::Text(_) | Event::Code(_) | Event::SoftBreak | Event::HardBreak | Event::Rule => {
                self.events.push(event);
            }
            // Extensions that are not switched on.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.events.push(Event::Text(text));
            }
        }
    }

    fn start(&mut self, tag: Tag<'a>) {
        let tag = match tag {
            Tag::Link { dest_url, .. } => return self.link(&dest_url, false),
            Tag::Image { dest_url, .. } => return self.link(&dest_url, true),
            Tag::Heading { level, .. } => {
                self.highest = Some(self.highest.map_or(level, |highest| highest.min(level)));
                Tag::Heading {
                    level,
                    id: None,
                    classes: Vec::new(),
                    attrs: Vec::new(),
                }
            }
            Tag::HtmlBlock => Tag::Paragraph,
            Tag::CodeBlock(_) => Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Indented),
            Tag::Table(_) => Tag::Table(Vec::new()),
            Tag::BlockQuote(_) => Tag::BlockQuote(None),
            other => other,
        };
        // A table is one thing: without one of its inner elements its cells would lie about.
        let in_table = matches!(tag, Tag::TableHead | Tag::TableRow | Tag::TableCell);
        if self.open.len() >= DEPTH_MAX && !in_table {
            self.open.push(Open::Nothing);
            return;
        }
        self.open.push(Open::Element(tag.to_end()));
        self.events.push(Event::Start(tag));
    }

    /// A link, or an image drawn as one: nothing is fetched that the person did not ask for.
    fn link(&mut self, address: &str, image: bool) {
        if image {
            self.events.push(Event::Text(CowStr::Borrowed("Image: ")));
        }
        match links::host(address) {
            Some(host) if !self.in_link && self.open.len() < DEPTH_MAX => {
                self.in_link = true;
                self.open.push(Open::Link(host.into()));
                self.events.push(Event::InlineHtml(anchor(address).into()));
            }
            _ => self.open.push(Open::Nothing),
        }
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Open::Element(end)) => self.events.push(Event::End(end)),
            Some(Open::Link(host)) => {
                self.in_link = false;
                self.events
                    .push(Event::InlineHtml(CowStr::Borrowed("<span class=\"link-host\">")));
                self.events.push(Event::Text(format!(" {host} ↗").into()));
                self.events
                    .push(Event::InlineHtml(CowStr::Borrowed("</span></a>")));
            }
            Some(Open::Nothing) | None => {}
        }
    }

    fn close(&mut self) {
        while !self.open.is_empty() {
            self.end();
        }
    }
}

/// The start of a link to an address that [`links::host`] lets through.
fn anchor(address: &str) -> String {
    let mut tag = String::from("<a href=\"");
    // Writing to a String cannot fail.
    let _ = Escaper::new(&mut tag).write_str(address);
    let _ = write!(
        tag,
        "\" class=\"external\" target=\"_blank\" rel=\"{}\">",
        links::REL
    );
    tag
}

/// Moves headings below the page's own first level, whatever level the text began with.
fn below_the_title(event: Event<'_>, highest: HeadingLevel) -> Event<'_> {
    let moved = |level: HeadingLevel| {
        let level = level as usize - highest as usize + 2;
        HeadingLevel::try_from(level).unwrap_or(HeadingLevel::H6)
    };
    match event {
        Event::Start(Tag::Heading {
            level,
            id,
            classes,
            attrs,
        }) => Event::Start(Tag::Heading {
            level: moved(level),
            id,
            classes,
            attrs,
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(moved(level))),
        other => other,
    }
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
