//! Writes new suppressions: chooses a location and a spelling such that the result is found again and covers the
//! requested span. Every other byte of a file stays.

use super::{Syntax, json::KEY, tree};
use crate::diagnostic::Edit;
use crate::frontend::edits::piece::quoted;
use crate::frontend::terraform::Trace;
use source::{FileId, SourceFile, Span};
use std::collections::{BTreeMap, BTreeSet};
use trees::parsed::{self, Repeating};
use trees::{Entry, Node, Value};

/// A span and the rule to suppress there.
type Wanted<'r> = (Span, &'r str);

/// Rules by the location of their suppression.
type Places<'r, P> = BTreeMap<P, BTreeSet<&'r str>>;

/// Returns the edits of `file` that suppress each of `wanted`, with one suppression per location, and those that cannot
/// be suppressed.
pub fn insertions<'t>(
    id: FileId,
    file: &'t SourceFile,
    wanted: &[Wanted<'t>],
    reason: &'t str,
) -> (Vec<Edit>, Vec<Wanted<'t>>) {
    let mut writer = Writer {
        id,
        file,
        text: file.text(),
        reason,
        found: Vec::new(),
        refused: Vec::new(),
    };
    match Syntax::of(file.name()) {
        _ if file.is_guarded() || !file.is_exact() => writer.refused.extend(wanted),
        Some(Syntax::Hcl) => writer.hcl(wanted),
        Some(Syntax::TerraformJson) => writer.terraform_json(wanted),
        Some(Syntax::Tree) if parsed::is_json(file.text()) => writer.json(wanted),
        Some(Syntax::Tree) => writer.yaml(wanted),
        Some(Syntax::Source(mark)) => writer.source(wanted, mark),
        None => writer.refused.extend(wanted),
    }
    writer.found.sort_by(|a, b| (a.span, &a.text).cmp(&(b.span, &b.text)));
    (writer.found, writer.refused)
}

struct Writer<'t> {
    id: FileId,
    file: &'t SourceFile,
    text: &'t str,
    reason: &'t str,
    found: Vec<Edit>,
    refused: Vec<Wanted<'t>>,
}

impl<'t> Writer<'t> {
    fn hcl(&mut self, wanted: &[Wanted<'t>]) {
        let trace = Trace::of(self.file);
        self.lines(wanted, "#", |writer, at| {
            let around = trace.elements.iter().filter(|element| element.contains(&at));
            let around: Vec<usize> = around.map(|element| element.start).collect();
            // The whole block; in `locals` only the one value.
            let is_locals = |start: &usize| writer.text.get(*start..).is_some_and(|text| text.starts_with("locals"));
            let inner = around.get(1).filter(|_| around.first().is_some_and(is_locals));
            let line = |start: &usize| writer.line(*start, char::is_whitespace);
            inner.and_then(line).or_else(|| around.first().and_then(line))
        });
    }

    fn yaml(&mut self, wanted: &[Wanted<'t>]) {
        let elements = tree::elements(&parsed::tree(self.id, self.file));
        self.lines(wanted, "#", |writer, at| {
            let around = elements.iter().filter(|span| span.range().contains(&at));
            // The innermost element that begins its line.
            let mut lines = around
                .rev()
                .filter_map(|span| writer.line(span.start as usize, |c| c.is_whitespace() || c == '-'));
            lines.next()
        });
    }

    fn source(&mut self, wanted: &[Wanted<'t>], mark: &str) {
        self.lines(wanted, mark, |writer, at| writer.line(at, |_| true));
    }

    /// Inserts comments on separate lines, each before the line that `place` finds for an offset.
    fn lines(&mut self, wanted: &[Wanted<'t>], mark: &str, place: impl Fn(&Self, usize) -> Option<(usize, String)>) {
        let mut places: Places<'_, (usize, String)> = BTreeMap::new();
        for &(span, rule) in wanted {
            match place(self, span.start as usize) {
                Some(line) => {
                    places.entry(line).or_default().insert(rule);
                }
                None => self.refused.push((span, rule)),
            }
        }
        for ((at, indentation), rules) in places {
            let end = self.line_end(at);
            let stated = self.directive(&rules);
            let text = format!("{indentation}{mark} {stated}{end}");
            self.insert(at, text);
        }
    }

    /// Returns the beginning of the line of `start` and its indentation, if all characters between the two satisfy
    /// `before`.
    fn line(&self, start: usize, before: impl Fn(char) -> bool) -> Option<(usize, String)> {
        let line = self.text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
        let mark = if line == 0 && self.text.starts_with('\u{feff}') {
            3
        } else {
            0
        };
        let line = line + mark;
        let prefix = self.text.get(line..start)?;
        let indentation: String = prefix.chars().take_while(|c| c.is_whitespace()).collect();
        prefix.chars().all(before).then_some((line, indentation))
    }

    /// Returns the line ending at `at`, so that a new line has the same.
    fn line_end(&self, at: usize) -> &'static str {
        let rest = self.text.get(at..).unwrap_or("");
        let first = rest.split_inclusive('\n').next().unwrap_or("");
        let is_windows = first.ends_with("\r\n") || (!first.ends_with('\n') && self.text.contains("\r\n"));
        if is_windows { "\r\n" } else { "\n" }
    }

    fn directive(&self, rules: &BTreeSet<&str>) -> String {
        let rules: Vec<&str> = rules.iter().copied().collect();
        format!("sqslint: ignore[{}] {}", rules.join(", "), self.reason)
    }

    fn terraform_json(&mut self, wanted: &[Wanted<'t>]) {
        let parsed = Repeating::of(self.id, self.file);
        let mut places: BTreeMap<u32, (&Node, BTreeSet<&str>)> = BTreeMap::new();
        for &(span, rule) in wanted {
            match parsed.root().and_then(|root| block(root, span)) {
                Some(block) => {
                    let place = places.entry(block.span.start).or_insert((block, BTreeSet::new()));
                    place.1.insert(rule);
                }
                None => self.refused.push((span, rule)),
            }
        }
        for (block, rules) in places.into_values() {
            let stated = quoted(&self.directive(&rules));
            match block.entry(KEY).map(|entry| &entry.value) {
                None => self.first_entry(block, &format!("{}: {stated}", quoted(KEY))),
                Some(list) if list.items().is_some() => self.first_item(list, &stated),
                Some(one) => {
                    self.insert(one.span.start as usize, "[".to_owned());
                    self.insert(one.span.end as usize, format!(", {stated}]"));
                }
            }
        }
    }

    fn json(&mut self, wanted: &[Wanted<'t>]) {
        let parsed = parsed::tree(self.id, self.file);
        let root = parsed.documents.first();
        let mut places: BTreeMap<u32, (&Node, BTreeSet<&str>)> = BTreeMap::new();
        for &(span, rule) in wanted {
            let resources = root.and_then(|root| root.get("Resources")).and_then(Node::entries);
            let mut resources = resources.unwrap_or_default().iter();
            let resource = resources
                .find(|entry| begins_in(entry.span(), span))
                .map(|entry| &entry.value);
            match resource.or(root).filter(|owner| owner.entries().is_some()) {
                Some(owner) => {
                    let place = places.entry(owner.span.start).or_insert((owner, BTreeSet::new()));
                    place.1.insert(rule);
                }
                None => self.refused.push((span, rule)),
            }
        }
        for (owner, rules) in places.into_values() {
            let reason = quoted(self.reason);
            let entries = rules
                .iter()
                .map(|rule| format!("{{\"rule\": {}, \"reason\": {reason}}}", quoted(rule)));
            let entries = entries.collect::<Vec<_>>().join(", ");
            let metadata = owner.get("Metadata");
            let ours = metadata.and_then(|metadata| metadata.get("sqslint"));
            match (metadata, ours, ours.and_then(|ours| ours.get("ignore"))) {
                (_, _, Some(list)) if list.items().is_some() => self.first_item(list, &entries),
                (_, _, Some(one)) => {
                    self.insert(one.span.start as usize, format!("[{entries}, "));
                    self.insert(one.span.end as usize, "]".to_owned());
                }
                (_, Some(ours), None) => self.first_entry(ours, &format!("\"ignore\": [{entries}]")),
                (Some(metadata), None, _) => {
                    self.first_entry(metadata, &format!("\"sqslint\": {{\"ignore\": [{entries}]}}"));
                }
                (None, None, _) => {
                    self.first_entry(
                        owner,
                        &format!("\"Metadata\": {{\"sqslint\": {{\"ignore\": [{entries}]}}}}"),
                    );
                }
            }
        }
    }

    fn insert(&mut self, at: usize, text: String) {
        let span = Span::new(self.id, at..at);
        self.found.push(Edit { span, text });
    }

    /// Inserts an entry before the first one of an object; does nothing if the node is not an object.
    fn first_entry(&mut self, object: &Node, entry: &str) {
        if let Value::Mapping(entries) = &object.value {
            let first = entries.iter().map(|entry| entry.key_span.start).min();
            self.first(object, first, entry);
        }
    }

    fn first_item(&mut self, list: &Node, item: &str) {
        let items = list.items().unwrap_or_default();
        self.first(list, items.iter().map(|item| item.span.start).min(), item);
    }

    fn first(&mut self, owner: &Node, first: Option<u32>, text: &str) {
        let Some(at) = first else {
            // After the bracket.
            self.insert(owner.span.start as usize + 1, text.to_owned());
            return;
        };
        let separator = match self.line(at as usize, char::is_whitespace) {
            Some((line, indentation)) if line > owner.span.start as usize => {
                format!("{}{indentation}", self.line_end(line))
            }
            _ => " ".to_owned(),
        };
        self.insert(at as usize, format!("{text},{separator}"));
    }
}

fn begins_in(place: Span, span: Span) -> bool {
    place.start <= span.start && span.start < place.end
}

/// Returns the body of the block in Terraform's JSON in which `span` begins.
fn block(root: &Node, span: Span) -> Option<&Node> {
    let within =
        |node: &'_ Node| -> Option<usize> { node.entries()?.iter().position(|entry| begins_in(entry.span(), span)) };
    let entry: &Entry = root.entries()?.get(within(root)?)?;
    let labels = match &*entry.key {
        "resource" | "data" | "ephemeral" => 2,
        "module" | "variable" | "output" | "provider" | "check" => 1,
        _ => 0,
    };
    let mut node = object(&entry.value, span)?;
    for _ in 0..labels {
        let entry = node.entries()?.get(within(node)?)?;
        node = object(&entry.value, span)?;
    }
    Some(node)
}

/// Returns `node`, if it is an object; in an array of objects, the one in which `span` begins, else the first.
fn object(node: &Node, span: Span) -> Option<&Node> {
    let Some(items) = node.items() else {
        return node.entries().map(|_| node);
    };
    let mut objects = items.iter().filter(|item| item.entries().is_some());
    let around = objects.clone().find(|item| begins_in(item.span, span));
    around.or_else(|| objects.next())
}
