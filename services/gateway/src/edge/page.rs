//! Pages of a list: how many, and from where.

use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ma2h::error::Problem;
use serde::Deserialize;
use serde_json::Value;

use super::answer;

/// Entries of a page, where the caller does not say.
pub(crate) const LIMIT_DEFAULT: u32 = 50;
/// Most entries of a page.
pub(crate) const LIMIT_MAX: u32 = 200;

/// `?cursor=&limit=`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct PageParams {
    cursor: Option<String>,
    limit: Option<String>,
}

/// Where a page begins and how long it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The key of the last entry of the page before; empty for the first page.
    pub(crate) after: String,
    /// Entries of this page.
    pub(crate) limit: u32,
}

impl PageParams {
    /// Of a page of the inbox, which is always so long.
    pub(crate) fn of(cursor: Option<String>, limit: u32) -> Self {
        Self {
            cursor,
            limit: Some(limit.to_string()),
        }
    }

    /// Checked.
    pub(crate) fn page(&self) -> Result<Page, Problem> {
        let after = match self.cursor.as_deref() {
            None | Some("") => String::new(),
            Some(cursor) => decode(cursor).ok_or_else(|| Problem::validation("cursor: not one of ours"))?,
        };
        Ok(Page {
            after,
            limit: limit(self.limit.as_deref())?,
        })
    }
}

impl Page {
    /// The answer to a list of which `found` was read, [`Page::rows`] of it at most.
    pub(crate) fn answer<T>(
        &self,
        name: &str,
        mut found: Vec<T>,
        key: impl Fn(&T) -> &str,
        body: impl Fn(&T) -> Value,
    ) -> Response {
        let next_cursor = self.cut(&mut found, key);
        let entries = found.iter().map(body).collect();
        answer::json(StatusCode::OK, &answer::page(name, entries, next_cursor))
    }

    /// Rows to ask for: one more than the page holds tells whether another follows.
    pub(crate) fn rows(&self) -> i64 {
        i64::from(self.limit) + 1
    }

    /// Cuts what was read to the page; the cursor of the next one, if there is one.
    pub(crate) fn cut<T>(&self, entries: &mut Vec<T>, key: impl Fn(&T) -> &str) -> Option<String> {
        let limit = self.limit as usize;
        if entries.len() <= limit {
            return None;
        }
        entries.truncate(limit);
        entries
            .last()
            .map(|last| BASE64_URL_SAFE_NO_PAD.encode(key(last)))
    }
}

/// A limit that a caller wrote: 1 to 200.
pub(crate) fn limit(text: Option<&str>) -> Result<u32, Problem> {
    let Some(text) = text else {
        return Ok(LIMIT_DEFAULT);
    };
    match text.parse() {
        Ok(limit @ 1..=LIMIT_MAX) => Ok(limit),
        _ => Err(Problem::validation(format!("limit: expected 1 to {LIMIT_MAX}"))),
    }
}

/// A key that was encoded here; no key of ours holds a control character.
fn decode(cursor: &str) -> Option<String> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let key = String::from_utf8(bytes).ok()?;
    (!key.chars().any(char::is_control)).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::PageParams;

    #[test]
    fn a_page_leads_to_the_next() {
        let params = PageParams {
            cursor: None,
            limit: Some("2".to_owned()),
        };
        let page = params.page().unwrap();
        let mut entries = vec!["a", "b", "c"];
        let cursor = page.cut(&mut entries, |entry| entry);
        assert_eq!(entries, ["a", "b"]);
        let next = PageParams {
            cursor,
            limit: Some("2".to_owned()),
        }
        .page()
        .unwrap();
        assert_eq!(next.after, "b");
        assert_eq!(next.cut(&mut vec!["c"], |entry| entry), None);
    }

    #[test]
    fn nonsense_is_refused() {
        for limit in ["0", "201", "-1", "ten", ""] {
            assert!(
                PageParams {
                    cursor: None,
                    limit: Some(limit.to_owned())
                }
                .page()
                .is_err(),
                "{limit}"
            );
        }
        for cursor in ["%", "AA", "====="] {
            assert!(
                PageParams {
                    cursor: Some(cursor.to_owned()),
                    limit: None
                }
                .page()
                .is_err(),
                "{cursor}"
            );
        }
    }
}
