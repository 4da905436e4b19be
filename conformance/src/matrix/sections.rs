//! How many obligations each section of the specification has, so that no row of the matrix is lost unnoticed.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde::Deserialize;

const TEXT: &str = include_str!("../../sections.toml");

/// By number.
pub(super) type Sections = BTreeMap<String, Section>;

/// What the rows of a section are held to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    /// The MUSTs and MUST NOTs of v0.5.
    musts: usize,
    /// Those that v0.6 adds.
    #[serde(default)]
    asks: usize,
    /// The rows for both.
    rows: usize,
    /// Why those are fewer.
    merged: Option<String>,
}

/// A row as it is counted: its section, and whether v0.6 added it.
pub(super) type Row<'a> = (&'a str, bool);

pub(super) fn read() -> anyhow::Result<Sections> {
    toml::from_str(TEXT).context("parse sections.toml")
}

/// What is wrong, if anything: each section has its rows, and says why where they are fewer than its obligations.
pub(super) fn faults<'a>(sections: &Sections, rows: impl IntoIterator<Item = Row<'a>>) -> Vec<String> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (section, added) in rows {
        let (all, asks) = counts.entry(section).or_default();
        *all += 1;
        *asks += usize::from(added);
    }
    let mut faults = Vec::new();
    for (number, section) in sections {
        let (all, asks) = counts.remove(number.as_str()).unwrap_or_default();
        if (all, asks) != (section.rows, section.asks) {
            faults.push(format!(
                "§{number}: expected {} rows, {} of v0.6, got {all} and {asks}",
                section.rows, section.asks
            ));
        }
        let is_fewer = section.rows < section.musts + section.asks;
        if is_fewer != section.merged.as_ref().is_some_and(|why| !why.is_empty()) {
            faults.push(format!(
                "§{number}: merged: expected where rows are fewer, and only there"
            ));
        }
    }
    faults.extend(
        counts
            .keys()
            .map(|number| format!("§{number}: is not in sections.toml")),
    );
    faults
}

#[cfg(test)]
mod tests {
    use super::{Row, Sections, faults};

    #[test]
    fn a_row_too_few_or_too_many_is_noticed() {
        let sections: Sections = toml::from_str(
            "\"7\" = { musts = 1, asks = 1, rows = 2 }\n\"9\" = { musts = 2, rows = 1, merged = \"one says both\" }",
        )
        .unwrap();
        let rows: [Row<'_>; 3] = [("7", false), ("7", true), ("9", false)];
        assert!(faults(&sections, rows).is_empty());
        for lost in 0..rows.len() {
            let kept = rows.iter().enumerate().filter(|(at, _)| *at != lost);
            assert_eq!(
                faults(&sections, kept.map(|(_, row)| *row)).len(),
                1,
                "without {lost}"
            );
        }
        for more in [("7", false), ("9", true), ("11", false)] {
            let rows = rows.iter().copied().chain([more]);
            assert_eq!(faults(&sections, rows).len(), 1, "with {more:?}");
        }
    }

    #[test]
    fn fewer_rows_need_a_reason_and_no_others_have_one() {
        for (text, good) in [
            ("\"7\" = { musts = 2, rows = 1 }", false),
            ("\"7\" = { musts = 2, rows = 1, merged = \"\" }", false),
            (
                "\"7\" = { musts = 2, rows = 1, merged = \"one says both\" }",
                true,
            ),
            (
                "\"7\" = { musts = 1, rows = 1, merged = \"one says both\" }",
                false,
            ),
        ] {
            let sections: Sections = toml::from_str(text).unwrap();
            assert_eq!(faults(&sections, [("7", false)]).is_empty(), good, "{text}");
        }
    }
}
