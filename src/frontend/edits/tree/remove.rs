//! Removes entries and items from mappings and lists.

use super::lines::is_blank_or_comment;
use super::{Editor, Step, written};
use crate::diagnostic::Edit;
use source::Span;
use std::ops::Range;
use trees::{Entry, Node};

impl Editor<'_> {
    /// Removes the entry at the end of `path`, and every mapping that would become empty.
    pub(in crate::frontend) fn remove_along(&self, path: &[Step<'_>]) -> Option<Edit> {
        let (Step::Entry(mapping, entry), above) = path.split_last().map(|(last, above)| (*last, above))? else {
            return None;
        };
        let is_alone = mapping.entries().is_some_and(|entries| entries.len() == 1);
        match above.last() {
            Some(Step::Entry(_, around)) if is_alone => {
                // A comment between the two would be lost.
                let between = around.key_span.end as usize..entry.key_span.start as usize;
                let has_comment = !self.is_json && self.text.get(between)?.contains('#');
                if has_comment { None } else { self.remove_along(above) }
            }
            Some(Step::Item(_)) if is_alone => None,
            _ => self.remove(mapping, entry),
        }
    }

    /// Removes `entry` from `mapping`; the last entry leaves `{}`, if the mapping has braces.
    pub(in crate::frontend) fn remove(&self, mapping: &Node, entry: &Entry) -> Option<Edit> {
        let siblings: Vec<Span> = written(mapping).map(Entry::span).collect();
        self.remove_one(mapping, &siblings, entry.span())
    }

    /// Removes the item at `span` from `list`; the last item leaves `[]`, if the list has brackets.
    pub(in crate::frontend) fn remove_item(&self, list: &Node, span: Span) -> Option<Edit> {
        let items = list.items()?.iter().map(|item| item.span);
        let siblings: Vec<Span> = items.filter(|item| list.span.contains(*item)).collect();
        self.remove_one(list, &siblings, span)
    }

    fn remove_one(&self, collection: &Node, siblings: &[Span], one: Span) -> Option<Edit> {
        let at = siblings.iter().position(|sibling| *sibling == one)?;
        let next = siblings.get(at + 1).copied();
        let before = at.checked_sub(1).and_then(|at| siblings.get(at)).copied();
        let (start, end) = (one.start as usize, one.end as usize);
        let is_list = collection.items().is_some();
        let rest = self.rest_of_line(end);
        let range = if self.begins(collection.span.start as usize, if is_list { "[" } else { "{" }) {
            self.range_in_brackets(collection.span, one, before, next)?
        } else if self.is_json || siblings.len() == 1 {
            return None;
        } else if is_list || self.indentation(one.start).is_some() {
            let prefix = self.before(start)?;
            let dash = if is_list { "-" } else { "" };
            if prefix.trim() != dash || !is_blank_or_comment(rest) {
                return None;
            }
            self.line_start(start)..self.after_line(end)
        } else {
            // The entry follows a dash, so the next entry moves to its place.
            let next = next.filter(|next| self.indentation(next.start).is_some())?;
            let between = self.text.get(end..next.start as usize)?;
            if !between.trim().is_empty() || !self.before(start)?.trim_end().ends_with('-') {
                return None;
            }
            start..next.start as usize
        };
        // An anchor that is used elsewhere has to stay.
        let gone = self.text.get(range.clone())?;
        let is_named = !self.is_json && gone.contains('&') && self.text.contains('*');
        (!is_named).then(|| Edit::new(Span::new(one.file, range), String::new()))
    }

    fn range_in_brackets(
        &self,
        around: Span,
        one: Span,
        before: Option<Span>,
        next: Option<Span>,
    ) -> Option<Range<usize>> {
        let (start, end) = (one.start as usize, one.end as usize);
        let gap = |from: usize, to: usize| self.text.get(from..to).map(str::trim);
        match (before, next) {
            (_, Some(next)) => {
                let next = next.start as usize;
                (gap(end, next) == Some(",")).then_some(start..next)
            }
            (Some(before), None) => {
                let before = before.end as usize;
                (gap(before, start) == Some(",")).then_some(before..end)
            }
            (None, None) => {
                let (open, close) = (around.start as usize + 1, (around.end as usize).checked_sub(1)?);
                let is_alone = gap(open, start) == Some("") && gap(end, close) == Some("");
                is_alone.then_some(open..close)
            }
        }
    }
}
