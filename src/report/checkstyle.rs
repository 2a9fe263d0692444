//! Writes Checkstyle XML, which many tools read: files with their findings.

use super::Report;
use super::markup::escaped;
use std::io::{self, Write};

/// Writes the findings by file.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n")?;
    // Findings are sorted by path, so those of one file are adjacent.
    for group in report
        .findings
        .chunk_by(|a, b| a.primary().span.file == b.primary().span.file)
    {
        let Some(first) = group.first() else { continue };
        let file = report.sources.file(first.primary().span.file);
        writeln!(out, "  <file name=\"{}\">", escaped(file.name()))?;
        for found in group {
            let at = file.position(found.primary().span.start as usize);
            writeln!(
                out,
                "    <error line=\"{}\" column=\"{}\" severity=\"{}\" message=\"{}\" source=\"sqslint.{}\"/>",
                at.line,
                at.column,
                found.severity,
                escaped(&found.headline),
                escaped(&found.rule),
            )?;
        }
        out.write_all(b"  </file>\n")?;
    }
    out.write_all(b"</checkstyle>\n")
}
