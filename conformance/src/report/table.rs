//! The table that a person reads.

use std::fmt::Write as _;

use super::{Line, Report, Status};

/// Lines grouped by section, reasons beneath those that did not pass, the counts last.
pub(crate) fn table(report: &Report) -> String {
    let mut lines: Vec<&Line> = report.lines.iter().collect();
    lines.sort_by_key(|line| (order(&line.section), line.name.clone()));
    let mut text = String::new();
    let mut section = None;
    for line in lines {
        if section != Some(&line.section) {
            let _ = writeln!(text, "§{}", line.section);
            section = Some(&line.section);
        }
        row(&mut text, line);
    }
    let counts = Status::ALL.map(|status| format!("{} {}", report.count(status), status.as_str()));
    let seconds = report.took.as_secs_f64();
    let _ = writeln!(text, "{}: {} in {seconds:.1} s", report.title, counts.join(", "));
    text
}

fn row(text: &mut String, line: &Line) {
    let mark = match line.status {
        Status::Passed => "ok",
        Status::Failed => "FAILED",
        Status::NotOffered => "not offered",
        Status::Skipped => "skipped",
    };
    let _ = match line.took.as_millis() {
        0 => writeln!(text, "  {mark:<12} {}", line.name),
        ms => writeln!(text, "  {mark:<12} {}  ({ms} ms)", line.name),
    };
    for detail in line.detail.lines() {
        let _ = writeln!(text, "               {detail}");
    }
}

/// Sections in the order of their numbers: 8.10 after 8.9.
pub(crate) fn order(section: &str) -> Vec<u32> {
    section
        .split('.')
        .map(|number| number.parse().unwrap_or(u32::MAX))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::{order, table};

    #[test]
    fn sections_are_in_order_and_reasons_beneath() {
        let text = table(&sample());
        let expected = "\
§8.1
  FAILED       submit/<other> & thing
               expected \"a\"
               got <b>
  ok           submit/a-thing
§9.2
  skipped      push/y
§16
  not offered  sessions/x
sample: 1 passed, 1 failed, 1 not offered, 1 skipped in 0.0 s
";
        assert_eq!(text, expected);
        assert!(order("8.10") > order("8.9") && order("8.7.1") > order("8.7") && order("13") > order("8"));
    }
}
