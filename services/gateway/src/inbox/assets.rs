//! The style sheet, the script and the mark of the inbox, under addresses that change with their content.

use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use ma2h::error::Problem;

use super::page;
use super::segment::Segment;

/// One file the browser keeps for as long as it likes: another content has another address.
pub(super) struct Asset {
    stem: &'static str,
    extension: &'static str,
    mime_type: &'static str,
    content: &'static str,
    /// Where the page refers to it.
    pub(super) path: String,
}

/// How everything looks: one file for the browser, one part per concern for us. The order counts.
pub(super) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("inbox", "css", "text/css; charset=utf-8", STYLE_PARTS));

const STYLE_PARTS: &str = concat!(
    include_str!("assets/style/base.css"),
    include_str!("assets/style/frame.css"),
    include_str!("assets/style/controls.css"),
    include_str!("assets/style/list.css"),
    include_str!("assets/style/message.css"),
    include_str!("assets/style/directives.css"),
    include_str!("assets/style/broadcasts.css"),
    include_str!("assets/style/modes.css"),
);

/// What updates the page.
pub(super) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "inbox",
        "js",
        "text/javascript; charset=utf-8",
        include_str!("assets/inbox.js"),
    )
});

/// The mark in the browser's tab.
pub(super) static MARK: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("mark", "svg", "image/svg+xml", include_str!("assets/mark.svg")));

impl Asset {
    fn new(
        stem: &'static str,
        extension: &'static str,
        mime_type: &'static str,
        content: &'static str,
    ) -> Self {
        let digest = ma2h::digest::sha256_hex(content.as_bytes());
        let path = format!("/inbox/assets/{stem}.{}.{extension}", &digest[..16]);
        Self {
            stem,
            extension,
            mime_type,
            content,
            path,
        }
    }

    /// Whether an address is this file's, of this version or another: a page of the release before may still ask for
    /// its own, and gets a newer style rather than none.
    fn is_at(&self, name: &str) -> bool {
        name.starts_with(self.stem) && name.ends_with(&format!(".{}", self.extension))
    }
}

/// `GET /inbox/assets/{name}`.
pub(super) async fn serve(Segment(name): Segment) -> Response {
    for asset in [&STYLE, &SCRIPT, &MARK] {
        if !asset.is_at(&name) {
            continue;
        }
        let exact = asset.path.ends_with(&name);
        let caching = if exact {
            "public, max-age=31536000, immutable"
        } else {
            "no-store"
        };
        return (
            [(CONTENT_TYPE, asset.mime_type), (CACHE_CONTROL, caching)],
            asset.content,
        )
            .into_response();
    }
    page::problem(&Problem::not_found(), None)
}

#[cfg(test)]
mod tests {
    use super::{MARK, SCRIPT, STYLE};

    #[test]
    fn addresses_carry_the_content() {
        let digest = STYLE
            .path
            .strip_prefix("/inbox/assets/inbox.")
            .and_then(|rest| rest.strip_suffix(".css"));
        assert_eq!(digest.map(str::len), Some(16), "{}", STYLE.path);
        assert!(STYLE.is_at("inbox.0123.css") && !STYLE.is_at("inbox.0123.js"));
        assert!(SCRIPT.is_at("inbox.0123.js") && !SCRIPT.is_at("mark.0123.svg"));
        assert!(MARK.is_at("mark.0123.svg"));
    }

    #[test]
    fn nothing_comes_from_elsewhere() {
        for asset in [&STYLE, &SCRIPT, &MARK] {
            let content = asset.content.replace("http://www.w3.org/2000/svg", "");
            assert!(
                !content.contains("http:") && !content.contains("https:"),
                "{}",
                asset.path
            );
        }
    }
}
