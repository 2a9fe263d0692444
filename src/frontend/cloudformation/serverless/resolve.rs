//! Puts the values of variables in their place, as a deployment without options would: what the environment, other
//! stacks, stores or code give stays as written, and is unresolved where it is used. Files are read inside the
//! repository only; nothing is run. Depth and size are bounded, whatever refers to what.

use super::variables::{self, Piece, Source, is_code, pieces};
use crate::diagnostic::Diagnostic;
use crate::frontend::cloudformation::complaints;
use crate::frontend::cloudformation::sections::scalar;
use crate::frontend::cloudformation::value::Part;
use crate::frontend::tree::{Entry, Node, Value};
use crate::frontend::{ReadError, limit_reached, parsed, read};
use crate::graph::{Origin, Reason};
use crate::source::{Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Variables lead to variables this deep.
const MAX_DEPTH: usize = 24;
/// Nodes that are made in the place of variables.
const MAX_NODES: usize = 400_000;
/// Bytes of text that count as one of them.
const TEXT_OF_A_NODE: usize = 64;
/// Bytes of one text that variables make.
const MAX_TEXT: usize = 1 << 16;
/// Other files that one service reads.
const MAX_FILES: usize = 500;

/// Where the value of a node came from, by the node's place.
pub(in super::super) type Origins = FxHashMap<Span, Vec<Origin>>;

/// What a variable comes to.
#[derive(Debug, Clone)]
enum Resolved {
    /// A value, and where it came from, nearest first.
    Value(Node, Vec<Origin>),
    /// Nothing: the next source counts.
    Missing,
    /// Not for sqslint to know; the variable that is behind it, where another leads there.
    Open(Option<Arc<str>>),
}

/// What is open, and not because of another variable.
const OPEN: Resolved = Resolved::Open(None);

/// Resolves the variables of one service.
pub(super) struct Resolver<'a> {
    root: &'a Node,
    /// The service's directory.
    directory: PathBuf,
    /// Nothing outside it is read.
    bounds: PathBuf,
    unit: &'a str,
    sources: &'a Sources,
    /// The stage that it is deployed to by an option.
    asked: Option<String>,
    /// Values of `self:…`, by address.
    known: FxHashMap<String, Resolved>,
    /// Addresses that are being resolved.
    active: FxHashSet<String>,
    /// Values of `construct:…`, by address.
    constructs: FxHashMap<String, Node>,
    files: FxHashMap<PathBuf, Option<Arc<Node>>>,
    nodes: usize,
    depth: usize,
    exhausted: bool,
    /// Where values came from.
    pub(super) origins: Origins,
    /// Faults of the files that were read, and bounds that were reached.
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(root: &'a Node, path: &Path, unit: &'a str, sources: &'a Sources) -> Self {
        let directory = path.parent().unwrap_or(path).to_owned();
        let repository = sources.repository().filter(|root| path.starts_with(root));
        Resolver {
            root,
            bounds: repository.unwrap_or(&directory).to_owned(),
            directory,
            unit,
            sources,
            asked: None,
            known: FxHashMap::default(),
            active: FxHashSet::default(),
            constructs: FxHashMap::default(),
            files: FxHashMap::default(),
            nodes: 0,
            depth: 0,
            exhausted: false,
            origins: Origins::default(),
            diagnostics: Vec::new(),
        }
    }

    /// The same with `--stage`.
    pub(super) fn for_stage(mut self, stage: Option<&str>) -> Self {
        self.asked = stage.map(ToOwned::to_owned);
        self
    }

    /// Makes `${construct:address}` stand for `value`.
    pub(super) fn give(&mut self, address: String, value: Node) {
        self.constructs.insert(address, value);
    }

    /// The value at `path` of the service, with every variable in it resolved as far as it can be.
    pub(super) fn section(&mut self, path: &[&str]) -> Option<Node> {
        match self.service_value(path) {
            Resolved::Value(node, _) => Some(node),
            Resolved::Missing | Resolved::Open(_) => None,
        }
    }

    /// A single value at `path`, as text, with where it came from.
    pub(super) fn text(&mut self, path: &[&str]) -> Option<(String, Vec<Origin>)> {
        match self.service_value(path) {
            Resolved::Value(node, origins) => Some((scalar(&node)?, origins)),
            Resolved::Missing | Resolved::Open(_) => None,
        }
    }

    /// The stage of a deployment, and where it is written: an option wins.
    pub(super) fn stage(&mut self) -> (String, Option<Span>) {
        if let Some(asked) = &self.asked {
            return (asked.clone(), None);
        }
        let written = self.root.get("provider").and_then(|provider| provider.entry("stage"));
        let span = written.map(Entry::span);
        match self.text(&["provider", "stage"]) {
            Some((stage, _)) if !stage.is_empty() => (stage, span),
            _ => match written.and_then(|entry| entry.value.as_str()) {
                Some(text) => (text.to_owned(), span),
                None => ("dev".to_owned(), None),
            },
        }
    }

    /// `node` with its variables resolved.
    fn node(&mut self, node: &Node) -> Node {
        if !self.may_add(node.span) {
            return node.clone();
        }
        let value = match &node.value {
            Value::String(text) if text.contains("${") => return self.string(node, text),
            Value::Sequence(items) => Value::Sequence(items.iter().map(|item| self.node(item)).collect()),
            Value::Mapping(entries) => {
                let entries = entries.iter().map(|entry| Entry {
                    key: entry.key.clone(),
                    key_span: entry.key_span,
                    value: self.node(&entry.value),
                });
                Value::Mapping(entries.collect())
            }
            other => other.clone(),
        };
        Node { span: node.span, value }
    }

    /// Counts a node; false, and said once, where there are too many.
    fn may_add(&mut self, at: Span) -> bool {
        self.nodes += 1;
        if self.nodes <= MAX_NODES {
            return true;
        }
        self.exhaust(at, "variables expand to too many values");
        false
    }

    fn exhaust(&mut self, at: Span, message: &str) {
        if !self.exhausted {
            self.exhausted = true;
            let diagnostic = limit_reached(self.sources, self.unit, at, message);
            self.diagnostics.push(diagnostic);
        }
    }

    fn string(&mut self, node: &Node, text: &str) -> Node {
        let Some(pieces) = pieces(text) else {
            return node.clone();
        };
        if let [Piece::Variable { sources, .. }] = pieces.as_slice() {
            return match self.variable(sources, node.span) {
                Resolved::Value(found, origins) if is_scalar(&found) => {
                    self.origins.insert(node.span, origins);
                    Node {
                        span: node.span,
                        value: found.value,
                    }
                }
                Resolved::Value(found, _) => found,
                Resolved::Open(Some(behind)) => Node {
                    span: node.span,
                    value: Value::String(behind),
                },
                Resolved::Missing | Resolved::Open(None) => node.clone(),
            };
        }
        let (joined, origins) = self.joined(&pieces, node.span);
        if !origins.is_empty() {
            self.origins.insert(node.span, origins);
        }
        Node {
            span: node.span,
            value: Value::String(joined.into()),
        }
    }

    /// The text of `pieces`; variables without a value stay as written.
    fn joined(&mut self, pieces: &[Piece<'_>], at: Span) -> (String, Vec<Origin>) {
        let (mut joined, mut all) = (String::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Text(text) => joined.push_str(text),
                Piece::Variable { written, sources } => match self.variable(sources, at) {
                    Resolved::Value(found, origins) if is_scalar(&found) => {
                        joined.push_str(&scalar(&found).unwrap_or_default());
                        all.extend(origins);
                    }
                    Resolved::Open(Some(behind)) => joined.push_str(&behind),
                    _ => joined.push_str(written),
                },
            }
            self.nodes += joined.len() / TEXT_OF_A_NODE;
            if joined.len() > MAX_TEXT {
                self.exhaust(at, "variables make a string too long");
                break;
            }
        }
        (joined, all)
    }

    /// A text that a variable holds as address or parameter; `None` where it is not known.
    fn inner(&mut self, text: &str, at: Span) -> Option<String> {
        let Some(all) = pieces(text) else {
            return Some(text.trim().to_owned());
        };
        let (joined, _) = self.joined(&all, at);
        pieces(&joined).is_none().then_some(joined)
    }

    /// The value of the first source that has one. `at` is where the variable stands.
    fn variable(&mut self, sources: &[Source<'_>], at: Span) -> Resolved {
        if self.depth >= MAX_DEPTH || self.exhausted {
            self.exhaust(at, "variables refer to variables too deep");
            return OPEN;
        }
        self.depth += 1;
        let found = self.first(sources, at);
        self.depth -= 1;
        found
    }

    fn first(&mut self, sources: &[Source<'_>], at: Span) -> Resolved {
        // What a deployment may set, and this run takes as not set.
        let mut unset: Option<String> = None;
        for (place, source) in sources.iter().enumerate() {
            let found = match source {
                Source::Literal { text, quoted } => Resolved::Value(literal(text, *quoted, at), Vec::new()),
                Source::Nested(text) => match pieces(text).as_deref() {
                    Some([Piece::Variable { sources, .. }]) => self.variable(sources, at),
                    _ => OPEN,
                },
                Source::Malformed => OPEN,
                Source::Named {
                    kind,
                    parameters,
                    address,
                } => {
                    let Some(address) = self.inner(address, at) else {
                        return OPEN;
                    };
                    match *kind {
                        "self" => self.service_value(&address.split('.').collect::<Vec<_>>()),
                        "file" => self.file(parameters, &address, at),
                        "sls" if address == "stage" => self.stage_value(at),
                        "strToBool" => self.truth(parameters, at),
                        "param" => self.parameter(&address, at),
                        "opt" if address == "stage" && self.asked.is_some() => self.stage_value(at),
                        "opt" => Resolved::Missing,
                        "construct" => match self.constructs.get(&address) {
                            Some(value) => Resolved::Value(value.clone(), Vec::new()),
                            None => OPEN,
                        },
                        _ => OPEN,
                    }
                }
            };
            if let (Source::Named { kind, address, .. }, Resolved::Missing) = (source, &found)
                && matches!(*kind, "opt" | "param")
            {
                unset.get_or_insert_with(|| format!("the default of `${{{kind}:{address}}}`"));
            }
            match (found, unset) {
                (Resolved::Missing, still) => unset = still,
                (Resolved::Value(node, mut origins), Some(what)) => {
                    origins.push(Origin {
                        span: at,
                        what: what.into(),
                        computes: false,
                    });
                    return Resolved::Value(node, origins);
                }
                // What is not there when the service is deployed gives way to what follows.
                (Resolved::Open(_), _) if place + 1 < sources.len() => return OPEN,
                (found, _) => return found,
            }
        }
        if unset.is_some() { OPEN } else { Resolved::Missing }
    }

    /// `${self:…}`.
    fn service_value(&mut self, path: &[&str]) -> Resolved {
        let address = path.join(".");
        if let Some(known) = self.known.get(&address) {
            if let Resolved::Value(node, _) = known
                && !is_scalar(node)
            {
                let at = node.span;
                let size = size(node, MAX_NODES.saturating_sub(self.nodes) + 1);
                self.nodes += size;
                if !self.may_add(at) {
                    return OPEN;
                }
            }
            return self.known.get(&address).cloned().unwrap_or(OPEN);
        }
        if !self.active.insert(address.clone()) {
            return OPEN;
        }
        let root = self.root;
        let found = self.walk(root, path, &address);
        self.active.remove(&address);
        self.known.insert(address, found.clone());
        found
    }

    /// The value at `path` in `start`, which `shown` names; variables on the way are resolved.
    fn walk(&mut self, start: &Node, path: &[&str], shown: &str) -> Resolved {
        let Some((first, rest)) = path.split_first() else {
            return match start.value {
                Value::Null => Resolved::Missing,
                _ => Resolved::Value(self.node(start), Vec::new()),
            };
        };
        let index = first.parse::<usize>().ok();
        let (next, place) = match &start.value {
            Value::Mapping(_) => match start.entry(first) {
                Some(entry) => (&entry.value, entry.span()),
                None => return Resolved::Missing,
            },
            Value::Sequence(items) => match index.and_then(|index| items.get(index)) {
                Some(item) => (item, item.span),
                None => return Resolved::Missing,
            },
            Value::String(text) if pieces(text).is_some() => {
                let resolved = self.string(start, text);
                return match &resolved.value {
                    // A variable that has no value yet may have one when the service is deployed.
                    Value::String(text) if pieces(text).is_some() => OPEN,
                    _ => self.walk(&resolved, path, shown),
                };
            }
            _ => return Resolved::Missing,
        };
        if !rest.is_empty() {
            return self.walk(next, rest, shown);
        }
        if matches!(next.value, Value::Null) {
            return Resolved::Missing;
        }
        let resolved = self.node(next);
        if let Value::String(text) = &resolved.value
            && pieces(text).is_some_and(|pieces| matches!(pieces.as_slice(), [Piece::Variable { .. }]))
        {
            return Resolved::Open(Some(text.clone()));
        }
        let mut origins = vec![Origin {
            span: place,
            what: format!("`{shown}`").into(),
            computes: false,
        }];
        origins.extend(self.origins.get(&resolved.span).into_iter().flatten().cloned());
        Resolved::Value(resolved, origins)
    }

    fn stage_value(&mut self, at: Span) -> Resolved {
        let (stage, span) = self.stage();
        if pieces(&stage).is_some() {
            return OPEN;
        }
        let what = if self.asked.is_some() {
            "the stage"
        } else if span.is_some() {
            "`provider.stage`"
        } else {
            "the framework's default stage"
        };
        let origin = Origin {
            span: span.unwrap_or(at),
            what: what.into(),
            computes: false,
        };
        Resolved::Value(literal(&stage, true, at), vec![origin])
    }

    /// `${param:…}`: of the stage, then of every stage.
    fn parameter(&mut self, name: &str, at: Span) -> Resolved {
        let stage = match self.stage_value(at) {
            Resolved::Value(node, _) => scalar(&node).unwrap_or_default(),
            _ => return OPEN,
        };
        for path in [
            ["params", &stage, name].as_slice(),
            &["stages", &stage, "params", name],
            &["params", "default", name],
            &["stages", "default", "params", name],
        ] {
            match self.service_value(path) {
                Resolved::Missing => {}
                found => return found,
            }
        }
        Resolved::Missing
    }

    /// `${strToBool(…)}`.
    fn truth(&mut self, parameters: &[&str], at: Span) -> Resolved {
        let text = parameters.first().and_then(|text| self.inner(text, at));
        let value = match text.unwrap_or_default().to_ascii_lowercase().as_str() {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => return OPEN,
        };
        let value = Value::Bool(value);
        Resolved::Value(Node { span: at, value }, Vec::new())
    }

    /// `${file(path):key}`. A file that is not there may be made before the service is deployed.
    fn file(&mut self, parameters: &[&str], address: &str, at: Span) -> Resolved {
        let path = parameters.first().and_then(|path| self.inner(path, at));
        let Some(path) = path.filter(|path| !is_code(path)) else {
            return OPEN;
        };
        let Ok(file) = self.sources.files().real(&self.directory.join(&path)) else {
            return OPEN;
        };
        let is_tree = [".yml", ".yaml", ".json"].iter().any(|end| path.ends_with(end));
        if !is_tree || !file.starts_with(&self.bounds) || !self.sources.files().is_file(&file) {
            return OPEN;
        }
        let Some(content) = self.content(&file) else {
            return OPEN;
        };
        let shown = if address.is_empty() {
            format!("file({path})")
        } else {
            format!("file({path}):{address}")
        };
        // A file that refers to itself is as endless as a value that does.
        let key = format!("{}:{address}", file.display());
        if !self.active.insert(key.clone()) {
            return OPEN;
        }
        let path: Vec<&str> = address.split('.').filter(|key| !key.is_empty()).collect();
        let found = self.walk(&content, &path, &shown);
        self.active.remove(&key);
        found
    }

    fn content(&mut self, file: &Path) -> Option<Arc<Node>> {
        if let Some(known) = self.files.get(file) {
            return known.clone();
        }
        if self.files.len() >= MAX_FILES {
            return None;
        }
        let content = match read(file, self.sources, self.unit) {
            Ok(id) => {
                let parsed = parsed::tree(id, &self.sources.file(id));
                let found = complaints(&parsed, self.sources, self.unit);
                self.diagnostics.extend(found);
                parsed.documents.first().cloned().map(Arc::new)
            }
            Err(ReadError::Unfit(diagnostic)) => {
                self.diagnostics.push(*diagnostic);
                None
            }
            Err(ReadError::Io(_)) => None,
        };
        self.files.insert(file.to_owned(), content.clone());
        content
    }
}

fn is_scalar(node: &Node) -> bool {
    !matches!(node.value, Value::Sequence(_) | Value::Mapping(_))
}

/// How many nodes a tree has, counted up to `enough`.
fn size(node: &Node, enough: usize) -> usize {
    let mut open = vec![node];
    let mut count = 0;
    while let Some(node) = open.pop() {
        count += 1;
        if count >= enough {
            break;
        }
        open.extend(node.items().unwrap_or_default());
        open.extend(node.entries().unwrap_or_default().iter().map(|entry| &entry.value));
    }
    count
}

fn literal(text: &str, quoted: bool, at: Span) -> Node {
    let value = match text {
        _ if quoted => Value::String(text.into()),
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        _ => match (text.parse(), text.parse()) {
            (Ok(whole), _) => Value::Integer(whole),
            (_, Ok(number)) => Value::Float(number),
            _ => Value::String(text.into()),
        },
    };
    Node { span: at, value }
}

/// Why a text is not known, where a variable of the framework was left in it.
pub(super) fn open_reason(text: &str) -> Option<Reason> {
    pieces(text)?.into_iter().find_map(|piece| match piece {
        Piece::Variable { written, sources } => Some(variables::reason(written, &sources)),
        Piece::Text(_) => None,
    })
}

/// A text in which variables without a value were left.
pub(in super::super) fn parts(text: &str) -> Vec<Part> {
    let Some(pieces) = pieces(text) else {
        return vec![Part::Text(text.to_owned())];
    };
    let parts = pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => Part::Text(text.to_owned()),
        Piece::Variable { written, sources } => Part::Open {
            text: written.to_owned(),
            reason: variables::reason(written, &sources),
            // A Region and an account hold nothing that parts an ARN.
            atomic: matches!(
                sources.as_slice(),
                [Source::Named {
                    kind: "aws" | "sls",
                    ..
                }]
            ),
        },
    });
    parts.collect()
}
