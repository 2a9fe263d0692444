//! Counts the findings of each rule, and the resources that it could not judge.

use super::Report;
use std::collections::BTreeMap;

/// Formats one line per rule, most frequent first; empty without findings.
pub fn render(report: &Report<'_>) -> String {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for found in report.findings {
        counts.entry(&found.rule).or_default().0 += 1;
    }
    for entry in report.not_evaluated {
        counts.entry(&entry.rule).or_default().1 += 1;
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by_key(|&(rule, (found, open))| (std::cmp::Reverse((found, open)), rule));
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("{:>8}  {:>10}  rule\n", "findings", "not judged");
    for (rule, (found, open)) in rows {
        text.push_str(&format!("{found:>8}  {open:>10}  {rule}\n"));
    }
    text
}
