//! Adds entries to mappings.

use super::{Editor, written};
use crate::diagnostic::Edit;
use crate::frontend::edits::piece::{NewValue, Style, block, quoted, spelled_key};
use trees::{Entry, Node, Value};

/// A new entry: its key and the entries of its value.
type NewEntry = (String, Vec<(String, NewValue)>);

impl Editor<'_> {
    /// Adds an entry to `mapping`: after the entry `after`, else after the first entry if that has one line, else
    /// before it.
    pub(in crate::frontend) fn insert(
        &self,
        mapping: &Node,
        after: Option<&str>,
        key: &str,
        value: &NewValue,
    ) -> Option<Edit> {
        if !matches!(mapping.value, Value::Mapping(_)) || mapping.entry(key).is_some() {
            return None;
        }
        let start = mapping.span.start as usize;
        let first = written(mapping).next();
        if self.text.get(start..)?.starts_with('{') {
            return match first {
                None => self.fill(mapping, key, value),
                Some(first) => Some(self.insert_flow(mapping, first, after, key, value)),
            };
        }
        // A merge key may precede the first entry.
        let is_block = |first: &&Entry| first.key_span.start == mapping.span.start || self.begins(start, "<<");
        let first = first
            .filter(is_block)
            .filter(|_| !self.is_json && !self.begins(start, "!"))?;
        let style = self.style_at(first);
        let line = |indentation: &str| {
            let value = value.block(indentation, &style);
            format!("{indentation}{}:{value}", spelled_key(key, &style))
        };
        let wanted = written(mapping).find(|entry| after == Some(&*entry.key));
        let wanted = wanted.filter(|entry| self.ends_line(entry));
        if let Some(before) = wanted.or(Some(first).filter(|entry| self.is_one_line(entry))) {
            let column = self.column(before.key_span.start)?;
            return Some(self.lines_at(mapping.span, self.end_with_comments(before), &line(&column), style.end));
        }
        let indentation = self.indentation(first.key_span.start)?;
        let at = self.above_comments(first.key_span.start as usize, indentation);
        let text = format!("{}{}", line(indentation), style.end);
        Some(Edit::insertion(mapping.span, at, text))
    }

    /// Adds an entry to `{}`.
    fn fill(&self, mapping: &Node, key: &str, value: &NewValue) -> Option<Edit> {
        let inside = self
            .text
            .get(mapping.span.range())?
            .strip_prefix('{')?
            .strip_suffix('}')?;
        if !inside.trim().is_empty() {
            return None;
        }
        let whole = NewValue::Mapping(vec![(key.to_owned(), value.clone())]);
        let text = if self.is_json {
            let line = self.before(mapping.span.start as usize)?;
            let indentation: String = line.chars().take_while(|c| c.is_whitespace()).collect();
            whole.json(&indentation, &self.style)
        } else {
            whole.flow(&self.style)
        };
        Some(Edit::new(mapping.span, text))
    }

    fn insert_flow(&self, mapping: &Node, first: &Entry, after: Option<&str>, key: &str, value: &NewValue) -> Edit {
        let indentation = self.indentation(first.key_span.start);
        let style = Style {
            colon: self.colon(first),
            has_lines: self.style.has_lines && indentation.is_some(),
            ..self.style_at(first)
        };
        let mut separator = match indentation {
            Some(indentation) => format!("{}{indentation}", style.end),
            None if style.colon == ":" => String::new(),
            None => " ".to_owned(),
        };
        let entry = if self.is_json {
            let colon = &style.colon;
            format!(
                "{}{colon}{}",
                quoted(key),
                value.json(indentation.unwrap_or(""), &style)
            )
        } else {
            format!("{}: {}", spelled_key(key, &style), value.flow(&style))
        };
        let wanted = written(mapping).find(|entry| after == Some(&*entry.key));
        let wanted = wanted.or(Some(first).filter(|first| self.is_one_line(first)));
        // In YAML a comment after the entry would move to the new one.
        if let Some(wanted) = wanted.filter(|_| self.is_json) {
            separator.insert(0, ',');
            return Edit::insertion(mapping.span, wanted.value.span.end as usize, separator + &entry);
        }
        Edit::insertion(
            mapping.span,
            first.key_span.start as usize,
            format!("{entry},{separator}"),
        )
    }

    /// Adds entries with mappings after `entry` of `mapping`, separated like the existing entries.
    pub(in crate::frontend) fn append(&self, mapping: &Node, entry: &Entry, made: &[NewEntry]) -> Option<Edit> {
        if self.is_json {
            return Some(self.append_json(mapping, entry, made));
        }
        let start = mapping.span.start as usize;
        if self.begins(start, "{") || self.begins(start, "!") || !self.ends_line(entry) {
            return None;
        }
        let indentation = self.indentation(entry.key_span.start)?;
        let style = self.style_at(entry);
        let inner = self.inner_indentation(entry, indentation);
        let gap = if self.has_blank_neighbour(mapping, entry) {
            style.end
        } else {
            ""
        };
        let texts = made.iter().map(|(key, entries)| {
            let lines = block(entries, &inner, &style);
            format!(
                "{gap}{indentation}{}:{}{inner}{lines}",
                spelled_key(key, &style),
                style.end
            )
        });
        let lines = texts.collect::<Vec<_>>().join(style.end);
        Some(self.lines_at(mapping.span, self.end_with_comments(entry), &lines, style.end))
    }

    fn append_json(&self, mapping: &Node, entry: &Entry, made: &[NewEntry]) -> Edit {
        let indentation = self.indentation(entry.key_span.start);
        let separator = match indentation {
            Some(indentation) => format!(",{}{indentation}", self.style.end),
            None if self.style.colon == ":" => ",".to_owned(),
            None => ", ".to_owned(),
        };
        let style = Style {
            colon: self.colon(entry),
            has_lines: self.style.has_lines && indentation.is_some(),
            ..self.style.clone()
        };
        let texts = made.iter().map(|(key, entries)| {
            let value = NewValue::Mapping(entries.clone()).json(indentation.unwrap_or(""), &style);
            format!("{separator}{}{}{value}", quoted(key), style.colon)
        });
        let end = entry.value.span.end as usize;
        Edit::insertion(mapping.span, end, texts.collect())
    }

    /// Returns the indentation of the entries in the value of `entry`, whose own indentation is `outer`.
    pub(in crate::frontend) fn inner_indentation(&self, entry: &Entry, outer: &str) -> String {
        let first = written(&entry.value).next();
        let is_block = !self.begins(entry.value.span.start as usize, "{");
        let found = first.and_then(|first| self.indentation(first.key_span.start));
        let found = found.filter(|inner| is_block && inner.len() > outer.len());
        found.map_or_else(|| format!("{outer}{}", self.style.unit), str::to_owned)
    }

    /// Returns `true` if an empty line separates `entry` from a neighbour, or if it has no neighbour.
    fn has_blank_neighbour(&self, mapping: &Node, entry: &Entry) -> bool {
        let siblings: Vec<&Entry> = written(mapping).collect();
        let Some(at) = siblings.iter().position(|sibling| sibling.key_span == entry.key_span) else {
            return true;
        };
        let next = siblings.get(at + 1).map(|next| (entry, *next));
        let before = at
            .checked_sub(1)
            .and_then(|at| siblings.get(at))
            .map(|before| (*before, entry));
        let Some((one, other)) = next.or(before) else {
            return true;
        };
        let start = self.line_start(other.key_span.start as usize);
        let between = self.text.get(self.end_with_comments(one)..start).unwrap_or("");
        between.lines().any(|line| line.trim().is_empty())
    }

    /// Returns the beginning of the line of `at`, or of the comments directly above it with the same indentation.
    fn above_comments(&self, at: usize, indentation: &str) -> usize {
        let mut start = self.line_start(at);
        while let Some(above) = self.text.get(..start).and_then(|before| before.strip_suffix('\n')) {
            let line_start = self.line_start(above.len());
            let line = above.get(line_start..).unwrap_or("");
            if line_start >= start || !line.strip_prefix(indentation).is_some_and(|line| line.starts_with('#')) {
                break;
            }
            start = line_start;
        }
        start
    }
}
