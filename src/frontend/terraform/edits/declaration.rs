//! A block that is to be written: its arguments in groups, as `terraform fmt` leaves them.

use super::document::Document;
use std::fmt::Write as _;

/// A resource.
pub(super) struct Declaration<'a> {
    pub(super) kind: &'a str,
    pub(super) label: &'a str,
    /// Arguments that stand together, with a blank line between the groups.
    pub(super) groups: Vec<Vec<(&'a str, String)>>,
}

impl Declaration<'_> {
    /// Its lines, with the indentation and the line breaks of `document`.
    pub(super) fn written(&self, document: &Document) -> String {
        let (step, line_break) = (document.step(), document.line_break());
        let mut text = format!("resource \"{}\" \"{}\" {{{line_break}", self.kind, self.label);
        let groups = self.groups.iter().filter(|group| !group.is_empty());
        for (at, group) in groups.enumerate() {
            if at > 0 {
                text.push_str(line_break);
            }
            for part in group.chunk_by(|a, b| is_line(a) && is_line(b)) {
                let width = part.iter().filter(|argument| is_line(argument));
                let width = width.map(|(name, _)| name.len()).max().unwrap_or(0);
                for (name, value) in part {
                    // Writing to a text cannot fail.
                    let _ = write!(text, "{step}{name:width$} = {value}{line_break}");
                }
            }
        }
        text + "}" + line_break
    }
}

fn is_line((_, value): &(&str, String)) -> bool {
    !value.contains('\n')
}
