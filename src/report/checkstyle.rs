//! Checkstyle XML: files with their findings, for the many tools that read it.

use super::Report;
use super::markup::escaped;

/// The findings by file.
pub fn render(report: &Report<'_>) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n".to_owned();
    // Sorted by path, so that those of one file follow each other.
    for group in report
        .findings
        .chunk_by(|a, b| a.primary().span.file == b.primary().span.file)
    {
        let Some(first) = group.first() else { continue };
        let file = report.sources.file(first.primary().span.file);
        text.push_str(&format!("  <file name=\"{}\">\n", escaped(file.name())));
        for found in group {
            let at = file.position(found.primary().span.start as usize);
            text.push_str(&format!(
                "    <error line=\"{}\" column=\"{}\" severity=\"{}\" message=\"{}\" source=\"sqslint.{}\"/>\n",
                at.line,
                at.column,
                found.severity,
                escaped(&found.headline),
                escaped(found.rule),
            ));
        }
        text.push_str("  </file>\n");
    }
    text.push_str("</checkstyle>\n");
    text
}
