use std::collections::{HashMap, HashSet};

use ammonia::Builder;

use super::corpus::ELEMENTS;
use super::{EVENTS_MAX, INPUT_BYTES_MAX, links, render};

#[track_caller]
fn check(markdown: &str, expected: &str) {
    assert_eq!(drawn(markdown).trim(), expected, "{markdown}");
}

/// Draws, and holds the result against a sanitiser that parses HTML as a browser does: it finds nothing to take out.
#[track_caller]
fn drawn(markdown: &str) -> String {
    let html = render(markdown);
    let mut sanitiser = Builder::empty();
    sanitiser
        .tags(HashSet::from(ELEMENTS))
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href", "target", "rel"])),
            ("ol", HashSet::from(["start"])),
        ]))
        .allowed_classes(HashMap::from([
            ("a", HashSet::from(["external"])),
            ("span", HashSet::from(["link-host"])),
        ]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(None);
    let as_browsers_write = html.replace(" />", ">").replace("&quot;", "\"");
    assert_eq!(
        sanitiser.clean(&html).to_string().replace("&quot;", "\""),
        as_browsers_write,
        "{markdown}"
    );
    assert_eq!(html.matches("<a ").count(), html.matches(links::REL).count());
    html
}

#[test]
fn draws_what_people_write() {
    check(
        "a **b** *c* ~~d~~ `e`",
        "<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e</code></p>",
    );
    check("# Title", "<h2>Title</h2>");
    check("### A\n\n#### B", "<h2>A</h2>\n<h3>B</h3>");
    check("# A\n\n###### B", "<h2>A</h2>\n<h6>B</h6>");
    check(
        "- [x] one\n- [ ] two",
        "<ul>\n<li>☑ one</li>\n<li>☐ two</li>\n</ul>",
    );
    check("3. three", "<ol start=\"3\">\n<li>three</li>\n</ol>");
    check("> said", "<blockquote>\n<p>said</p>\n</blockquote>");
    check("```sh\nrm -rf /\n```", "<pre><code>rm -rf /\n</code></pre>");
    check(
        "|a|\n|-|\n|b|",
        "<table><thead><tr><th>a</th></tr></thead><tbody>\n<tr><td>b</td></tr>\n</tbody></table>",
    );
}

#[test]
fn marks_external_links() {
    let html = drawn("[docs](https://example.com/a)");
    for part in [
        "<a href=\"https://example.com/a\"",
        "class=\"external\"",
        "target=\"_blank\"",
        "rel=\"noopener noreferrer nofollow\"",
        ">docs<span class=\"link-host\"> example.com ↗</span></a>",
    ] {
        assert!(html.contains(part), "{html} lacks {part}");
    }
    let lying = drawn("[https://bank.example](https://evil.example)");
    assert!(lying.contains("evil.example ↗"), "{lying}");
}

#[test]
fn loads_no_image() {
    let html = drawn("![a chart](https://example.com/chart.png)");
    assert!(!html.contains("<img"), "{html}");
    assert!(
        html.contains("Image: <a href=\"https://example.com/chart.png\""),
        "{html}"
    );
    assert!(html.contains(">a chart<"), "{html}");
    check("![alt](data:image/png;base64,AAAA)", "<p>Image: alt</p>");
    let nested = drawn("[![alt](https://a.example/i.png)](https://b.example)");
    assert_eq!(nested.matches("<a ").count(), 1, "{nested}");
    assert!(nested.contains("href=\"https://b.example\""), "{nested}");
}

#[test]
fn shows_raw_html_as_text() {
    let hostile = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <b onclick=alert(1)>b</b>",
        "<!-- hidden --><iframe src=//evil.example></iframe>",
        "<svg/onload=alert(1)>",
        "<style>body{display:none}</style>",
        "<form action=/inbox/sign-out method=post><button>x</button></form>",
        "<a href=\"javascript:alert(1)\">x</a>",
        "<div\n\nonmouseover=alert(1)>\n\n**x**\n\n</div>",
        "<base href=https://evil.example>",
        "<meta http-equiv=refresh content=0>",
        "- <scr<script>ipt>alert(1)</scr</script>ipt>",
        "<![CDATA[<script>alert(1)</script>]]>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "`<script>alert(1)</script>`",
        "<p class=\"secret\" style=\"position:fixed\" id=main>x</p>",
        "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
        "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    ];
    for markdown in hostile {
        let html = drawn(markdown);
        for element in [
            "script", "img", "iframe", "svg", "style", "form", "base", "meta", "b ", "div", "math",
            "noscript",
        ] {
            assert!(!html.contains(&format!("<{element}")), "{markdown} gave {html}");
        }
        assert!(!html.contains("<a "), "{markdown} gave {html}");
        assert!(!html.contains("<p "), "{markdown} gave {html}");
        assert!(!html.contains("<!--"), "{markdown} gave {html}");
    }
    check(
        "<script>alert(1)</script>",
        "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
    );
}

#[test]
fn follows_no_other_scheme() {
    let hostile = [
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java&#115;cript:alert(1))",
        "[x](<java\tscript:alert(1)>)",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:msgbox)",
        "[x](file:///etc/passwd)",
        "[x](/inbox/sign-out)",
        "[x](//evil.example)",
        "[x](#main)",
        "<javascript:alert(1)>",
        "[x][r]\n\n[r]: javascript:alert(1)",
    ];
    for markdown in hostile {
        let html = drawn(markdown);
        assert!(!html.contains("<a "), "{markdown} gave {html}");
    }
}

#[test]
fn escapes_inside_a_link() {
    let html = drawn("[x](https://e.example/\"onmouseover=\"alert(1))");
    assert!(!html.contains("onmouseover=\""), "{html}");
    let html = drawn("[x](https://e.example \"title\\\" onmouseover=alert(1)\")");
    assert!(!html.contains("title="), "{html}");
}

/// What is hostile by its size alone: each in proportion to `n` bytes.
fn large(n: usize) -> Vec<String> {
    let table = format!(
        "{}\n{}\n{}",
        "|a".repeat(n / 8),
        "|-".repeat(n / 8),
        "|b\n".repeat(n / 6)
    );
    let definitions: Vec<_> = (0..n / 12).map(|at| format!("[a{at}]: /b")).collect();
    let definitions = definitions.join("\n");
    let long = format!(
        "[r]: https://{}.example/?{}\n\n",
        "h".repeat(n / 8),
        "&".repeat(n / 8)
    );
    vec![
        "x".repeat(n),
        "ä".repeat(n / 2),
        "&".repeat(n),
        "&a".repeat(n / 2),
        "<".repeat(n),
        "[".repeat(n),
        "![".repeat(n / 2),
        "[a](".repeat(n / 4),
        "*a".repeat(n / 2),
        "*a **".repeat(n / 5),
        "`".repeat(n),
        (1..n / 200).map(|ticks| "`".repeat(ticks) + " ").collect(),
        ">".repeat(n),
        "> ".repeat(n / 4) + &"[a](https://b.example) ".repeat(n / 46),
        "- ".repeat(n / 2),
        "<a>".repeat(n / 3),
        "<!--".repeat(n / 4),
        "a\n\n".repeat(n / 3),
        definitions.clone() + &"[a0]".repeat(n / 8),
        definitions,
        long + &"[r] ".repeat(n / 8),
        table,
    ]
}

#[test]
fn draws_in_proportion() {
    for markdown in large(64 * 1024) {
        let html = render(&markdown);
        let head: String = markdown.chars().take(12).collect();
        assert!(
            html.len() < 4 * INPUT_BYTES_MAX,
            "{head}… gave {} bytes",
            html.len()
        );
        let elements = html.matches('<').count();
        assert!(elements < 5 * EVENTS_MAX, "{head}… gave {elements} tags");
    }
}

#[test]
fn says_when_it_cut() {
    assert!(render(&"x ".repeat(INPUT_BYTES_MAX)).contains("too long to show"));
    assert!(!render("short").contains("too long to show"));
}
