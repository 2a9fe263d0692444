//! Where a new suppression is written, and how: what this gives is read again as covering the place it was asked for.
//! Every other byte of a file stays.

use super::super::edits::piece::quoted;
use super::super::parsed::{self, Repeating};
use super::super::terraform::Trace;
use super::super::tree::{Entry, Node, Value};
use super::{Syntax, json::KEY, tree};
use crate::diagnostic::Edit;
use crate::source::{FileId, SourceFile, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A place and the rule to silence there.
type Wanted<'r> = (Span, &'r str);

/// Rules by where they are silenced.
type Places<'r, P> = BTreeMap<P, BTreeSet<&'r str>>;

/// What to insert into `file` to silence each of `wanted`, one suppression a place; those that cannot be are given back.
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
            // The whole block; of locals only the one.
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
            // The innermost that begins its line.
            let mut lines = around
                .rev()
                .filter_map(|span| writer.line(span.start as usize, |c| c.is_whitespace() || c == '-'));
            lines.next()
        });
    }

    fn source(&mut self, wanted: &[Wanted<'t>], mark: &str) {
        self.lines(wanted, mark, |writer, at| writer.line(at, |_| true));
    }

    /// Comments on lines of their own, each before what `place` finds around an offset.
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
            let said = self.said(&rules);
            let text = format!("{indentation}{mark} {said}{end}");
            self.insert(at, text);
        }
    }

    /// The beginning of the line of `start` and its indentation, if nothing but `before` stands before it.
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

    /// How the line of `at` ends, so that a new one ends like it.
    fn line_end(&self, at: usize) -> &'static str {
        let rest = self.text.get(at..).unwrap_or("");
        let first = rest.split_inclusive('\n').next().unwrap_or("");
        let is_windows = first.ends_with("\r\n") || (!first.ends_with('\n') && self.text.contains("\r\n"));
        if is_windows { "\r\n" } else { "\n" }
    }

    fn said(&self, rules: &BTreeSet<&str>) -> String {
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
            let said = quoted(&self.said(&rules));
            match block.entry(KEY).map(|entry| &entry.value) {
                None => self.first_entry(block, &format!("{}: {said}", quoted(KEY))),
                Some(list) if list.items().is_some() => self.first_item(list, &said),
                Some(one) => {
                    self.insert(one.span.start as usize, "[".to_owned());
                    self.insert(one.span.end as usize, format!(", {said}]"));
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

    /// Before the first entry of an object; what is no object stays as it is.
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
            // Behind the bracket.
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

/// The body of the block of Terraform's JSON that `span` begins in.
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

/// `node`, or of an array of objects the one that `span` begins in, or the first.
fn object(node: &Node, span: Span) -> Option<&Node> {
    let Some(items) = node.items() else {
        return node.entries().map(|_| node);
    };
    let mut objects = items.iter().filter(|item| item.entries().is_some());
    let around = objects.clone().find(|item| begins_in(item.span, span));
    around.or_else(|| objects.next())
}
