//! Edits of a text through its tree: entries that are put into mappings and taken out of them, in YAML and JSON, so that
//! every other line stays as it is. It knows no property of any resource.
//!
//! What an alias or a merge key brings in from elsewhere is never edited through it, and what others refer to by an
//! anchor is not edited at all: an edit changes what it names, and nothing else.

use super::piece::{Piece, Style, block, quoted, spelled_key};
use crate::diagnostic::Edit;
use crate::frontend::tree::{Entry, Node, Value};
use crate::source::Span;

/// A text that is to be edited.
pub(in crate::frontend) struct Editor<'t> {
    pub(in crate::frontend) text: &'t str,
    pub(in crate::frontend) is_json: bool,
    pub(in crate::frontend) style: Style,
}

/// A step from a collection to what is in it.
#[derive(Debug, Clone, Copy)]
pub(in crate::frontend) enum Step<'n> {
    /// An entry of a mapping.
    Entry(&'n Node, &'n Entry),
    /// An item of a list.
    Item(&'n Node),
}

impl<'n> Step<'n> {
    pub(in crate::frontend) fn node(self) -> &'n Node {
        match self {
            Step::Entry(_, entry) => &entry.value,
            Step::Item(item) => item,
        }
    }

    pub(in crate::frontend) fn key(self) -> Option<&'n str> {
        match self {
            Step::Entry(_, entry) => Some(&entry.key),
            Step::Item(_) => None,
        }
    }
}

impl<'t> Editor<'t> {
    /// An editor of `text`, whose tree is `root`.
    pub(in crate::frontend) fn new(text: &'t str, root: &Node, is_json: bool) -> Self {
        let style = Style {
            unit: "  ".to_owned(),
            end: if text.contains("\r\n") { "\r\n" } else { "\n" },
            deep_items: true,
            colon: ": ".to_owned(),
            has_lines: true,
            quotes_keys: is_json,
        };
        let mut editor = Editor { text, is_json, style };
        editor.learn(root);
        editor
    }

    /// How the text is indented, and whether it has lines at all.
    fn learn(&mut self, root: &Node) {
        let first = written(root).next();
        if self.is_json {
            let own_line = first.and_then(|entry| self.indentation(entry.key_span.start));
            self.style.has_lines = own_line.is_some_and(|_| self.text.trim().contains('\n'));
            self.style.colon = first.map_or_else(|| ": ".to_owned(), |entry| self.colon(entry));
            if let Some(unit) = own_line.filter(|unit| !unit.is_empty()) {
                unit.clone_into(&mut self.style.unit);
            }
            return;
        }
        let nested = written(root).find_map(|entry| {
            let inner = self.indentation(written(&entry.value).next()?.key_span.start)?;
            let outer = self.indentation(entry.key_span.start)?;
            inner.strip_prefix(outer).filter(|unit| !unit.is_empty())
        });
        if let Some(unit) = nested {
            unit.clone_into(&mut self.style.unit);
        }
        self.style.deep_items = self.deep_items(root, 0).unwrap_or(true);
        self.style.quotes_keys = first.is_some_and(|entry| self.is_quoted(entry));
    }

    /// Whether the items of the first list in a block stand deeper than its key.
    fn deep_items(&self, node: &Node, depth: usize) -> Option<bool> {
        if depth > 64 {
            return None;
        }
        written(node).find_map(|entry| {
            let Some(first) = entry.value.items().and_then(<[Node]>::first) else {
                return self.deep_items(&entry.value, depth + 1);
            };
            let before = self.before(first.span.start as usize)?;
            let dash = before
                .trim_end()
                .strip_suffix('-')
                .filter(|rest| rest.trim().is_empty())?;
            Some(dash.len() > self.indentation(entry.key_span.start)?.len())
        })
    }

    /// The steps from `root` to the entry whose key, or that itself, is at `span`; `None` where others refer to
    /// something on the way, so that a change would reach further.
    pub(in crate::frontend) fn path<'n>(&self, root: &'n Node, span: Span) -> Option<Vec<Step<'n>>> {
        let mut steps = Vec::new();
        let mut node = root;
        loop {
            let step = step_towards(node, span)?;
            if self.is_shared(step) {
                return None;
            }
            steps.push(step);
            match step {
                Step::Entry(_, entry) if entry.key_span == span || entry.span() == span => return Some(steps),
                // One whose value begins and ends with its only entry or item.
                Step::Entry(_, entry) if entry.value.span == span => {
                    let inner = written(&entry.value).next().filter(|inner| inner.span() == span);
                    steps.extend(inner.map(|inner| Step::Entry(&entry.value, inner)));
                    let items = entry.value.items().unwrap_or_default().first();
                    steps.extend(items.filter(|item| item.span == span).map(Step::Item));
                    return Some(steps);
                }
                Step::Item(item) if item.span == span => return Some(steps),
                _ => node = step.node(),
            }
        }
    }

    /// Whether what stands at `span` is there once, as far as the tree tells: no alias names it or what it is in, and
    /// no loop or macro repeats it.
    pub(in crate::frontend) fn stands_once(&self, root: &Node, span: Span) -> bool {
        let mut node = root;
        while let Some(step) = step_towards(node, span) {
            let is_repeated = step
                .key()
                .is_some_and(|key| key.starts_with("Fn::ForEach") || key == "Fn::Transform");
            if is_repeated || self.is_shared(step) {
                return false;
            }
            node = step.node();
        }
        true
    }

    /// Whether the value has an anchor that an alias names.
    fn is_shared(&self, step: Step<'_>) -> bool {
        if self.is_json {
            return false;
        }
        let node = step.node();
        let from = match step {
            Step::Entry(_, entry) => entry.key_span.end as usize,
            Step::Item(item) => self.line_start(item.span.start as usize),
        };
        let inner = match &node.value {
            Value::Mapping(_) => written(node).next().map(|entry| entry.key_span.start),
            Value::Sequence(items) => items.first().map(|item| item.span.start),
            _ => None,
        };
        let to = inner.unwrap_or(node.span.start).max(node.span.start) as usize;
        let gap = self.text.get(from..to).unwrap_or("");
        gap.match_indices('&').any(|(at, _)| {
            let rest = gap.get(at + 1..).unwrap_or("");
            let name = rest.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}'));
            let alias = format!("*{}", name.take(1).collect::<String>());
            self.text.contains(&alias)
        })
    }

    /// Puts an entry into `mapping`: behind the entry `after`, or else behind the first if that is short, or before it.
    pub(in crate::frontend) fn insert(
        &self,
        mapping: &Node,
        after: Option<&str>,
        key: &str,
        value: &Piece,
    ) -> Option<Edit> {
        if !matches!(mapping.value, Value::Mapping(_)) || mapping.entry(key).is_some() {
            return None;
        }
        let start = mapping.span.start as usize;
        let first = written(mapping).next();
        if self.text.get(start..)?.starts_with('{') {
            return match first {
                None => self.fill(mapping, key, value),
                Some(first) => self.insert_flow(mapping, first, after, key, value),
            };
        }
        // Before the first entry there may be a merge key.
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
            return Some(self.lines_at(mapping.span, self.behind(before), &line(&column), style.end));
        }
        let indentation = self.indentation(first.key_span.start)?;
        let at = self.above_comments(first.key_span.start as usize, indentation);
        let text = format!("{}{}", line(indentation), style.end);
        Some(Edit::insertion(mapping.span, at, text))
    }

    pub(in crate::frontend) fn begins(&self, at: usize, with: &str) -> bool {
        self.text.get(at..).is_some_and(|rest| rest.starts_with(with))
    }

    /// Puts an entry into `{}`.
    fn fill(&self, mapping: &Node, key: &str, value: &Piece) -> Option<Edit> {
        let inside = self
            .text
            .get(mapping.span.range())?
            .strip_prefix('{')?
            .strip_suffix('}')?;
        if !inside.trim().is_empty() {
            return None;
        }
        let whole = Piece::Mapping(vec![(key.to_owned(), value.clone())]);
        let text = if self.is_json {
            let line = self.before(mapping.span.start as usize)?;
            let indentation: String = line.chars().take_while(|c| c.is_whitespace()).collect();
            whole.json(&indentation, &self.style)
        } else {
            whole.flow(&self.style)
        };
        Some(Edit {
            span: mapping.span,
            text,
        })
    }

    fn insert_flow(
        &self,
        mapping: &Node,
        first: &Entry,
        after: Option<&str>,
        key: &str,
        value: &Piece,
    ) -> Option<Edit> {
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
        // A comment behind it would go with the new entry.
        if let Some(wanted) = wanted.filter(|_| self.is_json) {
            separator.insert(0, ',');
            return Some(Edit::insertion(
                mapping.span,
                wanted.value.span.end as usize,
                separator + &entry,
            ));
        }
        Some(Edit::insertion(
            mapping.span,
            first.key_span.start as usize,
            format!("{entry},{separator}"),
        ))
    }

    /// Puts mappings of entries behind `entry`, which is one of `mapping`, each apart from the others as those are.
    pub(in crate::frontend) fn append(
        &self,
        mapping: &Node,
        entry: &Entry,
        made: &[(String, Vec<(String, Piece)>)],
    ) -> Option<Edit> {
        if self.is_json {
            return self.append_json(mapping, entry, made);
        }
        let start = mapping.span.start as usize;
        if self.begins(start, "{") || self.begins(start, "!") || !self.ends_line(entry) {
            return None;
        }
        let indentation = self.indentation(entry.key_span.start)?;
        let style = self.style_at(entry);
        let inner = self.inner_indentation(entry, indentation);
        let gap = if self.is_apart(mapping, entry) { style.end } else { "" };
        let texts = made.iter().map(|(key, entries)| {
            let lines = block(entries, &inner, &style);
            format!(
                "{gap}{indentation}{}:{}{inner}{lines}",
                spelled_key(key, &style),
                style.end
            )
        });
        let lines = texts.collect::<Vec<_>>().join(style.end);
        Some(self.lines_at(mapping.span, self.behind(entry), &lines, style.end))
    }

    fn append_json(&self, mapping: &Node, entry: &Entry, made: &[(String, Vec<(String, Piece)>)]) -> Option<Edit> {
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
            let value = Piece::Mapping(entries.clone()).json(indentation.unwrap_or(""), &style);
            format!("{separator}{}{}{value}", quoted(key), style.colon)
        });
        let end = entry.value.span.end as usize;
        Some(Edit::insertion(mapping.span, end, texts.collect()))
    }

    /// How the entries of the value of `entry` are indented, which is itself indented by `outer`.
    pub(in crate::frontend) fn inner_indentation(&self, entry: &Entry, outer: &str) -> String {
        let first = written(&entry.value).next();
        let is_block = !self.begins(entry.value.span.start as usize, "{");
        let found = first.and_then(|first| self.indentation(first.key_span.start));
        let found = found.filter(|inner| is_block && inner.len() > outer.len());
        found.map_or_else(|| format!("{outer}{}", self.style.unit), str::to_owned)
    }

    /// Whether an empty line stands between `entry` and a neighbour; true where it has none.
    fn is_apart(&self, mapping: &Node, entry: &Entry) -> bool {
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
        let between = self.text.get(self.behind(one)..start).unwrap_or("");
        between.lines().any(|line| line.trim().is_empty())
    }

    /// Takes the entry out at the end of `path`, and every mapping that would be left empty with it.
    pub(in crate::frontend) fn remove_along(&self, path: &[Step<'_>]) -> Option<Edit> {
        let (Step::Entry(mapping, entry), above) = path.split_last().map(|(last, above)| (*last, above))? else {
            return None;
        };
        let is_alone = mapping.entries().is_some_and(|entries| entries.len() == 1);
        if is_alone && !above.is_empty() {
            return self.remove_along(above);
        }
        self.remove(mapping, entry)
    }

    /// Takes `entry` out of `mapping`; the last leaves `{}`, where the mapping has braces.
    pub(in crate::frontend) fn remove(&self, mapping: &Node, entry: &Entry) -> Option<Edit> {
        let siblings: Vec<Span> = written(mapping).map(Entry::span).collect();
        self.remove_one(mapping, &siblings, entry.span())
    }

    /// Takes the item at `span` out of `list`; the last leaves `[]`, where the list has brackets.
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
            // Behind a dash: the next entry takes its place.
            let next = next.filter(|next| self.indentation(next.start).is_some())?;
            let between = self.text.get(end..next.start as usize)?;
            if !between.trim().is_empty() || !self.before(start)?.trim_end().ends_with('-') {
                return None;
            }
            start..next.start as usize
        };
        // What is named elsewhere has to stay.
        let gone = self.text.get(range.clone())?;
        let is_named = !self.is_json && gone.contains('&') && self.text.contains('*');
        (!is_named).then(|| Edit {
            span: Span::new(one.file, range),
            text: String::new(),
        })
    }

    fn range_in_brackets(
        &self,
        around: Span,
        one: Span,
        before: Option<Span>,
        next: Option<Span>,
    ) -> Option<std::ops::Range<usize>> {
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

    /// The style of the block or the braces that begin with `first`.
    fn style_at(&self, first: &Entry) -> Style {
        Style {
            quotes_keys: self.is_json || self.is_quoted(first),
            ..self.style.clone()
        }
    }

    fn is_quoted(&self, entry: &Entry) -> bool {
        let key = self.text.get(entry.key_span.range()).unwrap_or("");
        key.starts_with(['"', '\''])
    }

    /// What stands between the key of `entry` and its value, where that is a colon and spaces.
    pub(in crate::frontend) fn colon(&self, entry: &Entry) -> String {
        let between = entry.key_span.end as usize..entry.value.span.start as usize;
        let gap = self.text.get(between).unwrap_or(": ");
        let is_plain = gap.trim_matches(' ') == ":";
        if is_plain { gap } else { ": " }.to_owned()
    }

    /// Whether the entry ends on the line that it begins on, and nothing but a comment or a comma stands behind it.
    pub(in crate::frontend) fn is_one_line(&self, entry: &Entry) -> bool {
        let span = entry.span();
        let whole = self.text.get(span.range()).unwrap_or("\n");
        let rest = self.rest_of_line(span.end as usize);
        let rest = if self.is_json { "" } else { rest };
        !whole.contains('\n') && is_blank_or_comment(rest)
    }

    /// Whether nothing but a comment stands behind the entry on its last line, and no line behind it is its own.
    fn ends_line(&self, entry: &Entry) -> bool {
        let value = self.text.get(entry.value.span.range()).unwrap_or("");
        let is_block_text = value.starts_with(['|', '>']);
        !is_block_text && is_blank_or_comment(self.rest_of_line(entry.value.span.end as usize))
    }

    /// Where the line begins behind those of `entry`: its own, and comments that are indented like what is in it.
    pub(in crate::frontend) fn behind(&self, entry: &Entry) -> usize {
        let column = entry.key_span.start as usize - self.line_start(entry.key_span.start as usize);
        let end = self.after_line(entry.value.span.end as usize);
        let mut behind = end;
        let mut at = end;
        for line in self.text.get(end..).unwrap_or("").split_inclusive('\n') {
            let content = line.trim_start();
            let is_inner = content.starts_with('#') && line.len() - content.len() > column;
            if !is_inner && !content.is_empty() {
                break;
            }
            at += line.len();
            if is_inner {
                behind = at;
            }
        }
        behind
    }

    /// `lines` at the beginning of a line, or behind the end of the text.
    pub(in crate::frontend) fn lines_at(&self, within: Span, at: usize, lines: &str, end: &str) -> Edit {
        let has_break = self
            .text
            .get(..at)
            .is_none_or(|before| before.is_empty() || before.ends_with('\n'));
        let text = if has_break {
            format!("{lines}{end}")
        } else {
            format!("{end}{lines}")
        };
        Edit::insertion(within, at, text)
    }

    /// Where the line behind that of `at` begins.
    pub(in crate::frontend) fn after_line(&self, at: usize) -> usize {
        let end = at + self.rest_of_line(at).len();
        end + self.line_break(end)
    }

    pub(in crate::frontend) fn line_start(&self, at: usize) -> usize {
        let start = self
            .text
            .get(..at)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |at| at + 1);
        let mark = '\u{feff}';
        if start == 0 && self.text.starts_with(mark) {
            mark.len_utf8()
        } else {
            start
        }
    }

    /// What stands before `at` on its line.
    pub(in crate::frontend) fn before(&self, at: usize) -> Option<&'t str> {
        self.text.get(self.line_start(at)..at)
    }

    /// The spaces before `at`, if nothing else stands before it on its line.
    pub(in crate::frontend) fn indentation(&self, at: u32) -> Option<&'t str> {
        let before = self.before(at as usize)?;
        let is_space = |c: char| c == ' ' || (self.is_json && c == '\t');
        before.chars().all(is_space).then_some(before)
    }

    /// As many spaces as reach to `at`, behind spaces and the dashes of lists.
    fn column(&self, at: u32) -> Option<String> {
        let before = self.before(at as usize)?;
        before
            .chars()
            .all(|c| matches!(c, ' ' | '-'))
            .then(|| " ".repeat(before.len()))
    }

    /// The rest of the line of `at`, without its end.
    pub(in crate::frontend) fn rest_of_line(&self, at: usize) -> &'t str {
        let rest = self.text.get(at..).unwrap_or("");
        rest.lines().next().unwrap_or("")
    }

    fn line_break(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or("");
        if rest.starts_with("\r\n") {
            2
        } else {
            usize::from(rest.starts_with('\n'))
        }
    }

    /// The beginning of the line of `at`, or of the comments right above it that are indented like it.
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

/// The step from `node` into what `span` lies in.
fn step_towards(node: &Node, span: Span) -> Option<Step<'_>> {
    match &node.value {
        Value::Mapping(_) => written(node)
            .find(|entry| entry.span().contains(span))
            .map(|entry| Step::Entry(node, entry)),
        Value::Sequence(items) => items
            .iter()
            .find(|item| node.span.contains(item.span) && item.span.contains(span))
            .map(Step::Item),
        _ => None,
    }
}

/// The entries of a mapping that stand in it, not brought in from elsewhere.
pub(in crate::frontend) fn written(node: &Node) -> impl Iterator<Item = &Entry> {
    let entries = node.entries().unwrap_or_default().iter();
    entries.filter(|entry| node.span.contains(entry.span()))
}

fn is_blank_or_comment(rest: &str) -> bool {
    let text = rest.trim_start();
    text.is_empty() || (text.starts_with('#') && text.len() < rest.len())
}
