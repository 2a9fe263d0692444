//! Replaces variables by their values, as in a deployment without options. A variable whose value is from the
//! environment, from other stacks, stores or code stays as written and is unresolved. Files are read only inside the
//! repository, and no code is run. Depth and size are bounded, even if variables refer to each other.

use super::variables::{self, TextPiece, VariableSource, is_code, pieces};
use crate::document::scalar;
use crate::limits;
use crate::value::Part;
use knowledge::{Origin, Reason};
use rustc_hash::{FxHashMap, FxHashSet};
use source::reading::{Problem, ReadError, read};
use source::{Sources, Span};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::parsed;
use trees::{Entry, Node, Value};

/// Provenance of values, by the span of their node.
pub(crate) type Origins = FxHashMap<Span, Vec<Origin>>;

/// The result of resolving a variable.
#[derive(Debug, Clone)]
pub(super) enum Resolved {
    /// A value, and its provenance, nearest first.
    Value(Node, Vec<Origin>),
    /// No value; the next source is tried.
    Missing,
    /// An unresolved value; the text of the variable that causes it, if that is a different one.
    Unresolved(Option<Arc<str>>),
}

/// A value that is unresolved because of this variable itself.
pub(super) const UNRESOLVED: Resolved = Resolved::Unresolved(None);

/// Resolves the variables of one service.
pub(super) struct Resolver<'a> {
    root: &'a Node,
    /// The directory of the service.
    pub(super) directory: PathBuf,
    pub(super) sources: &'a Sources,
    /// The stage set by an option.
    requested: Option<String>,
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
    /// Provenance of the values.
    pub(super) origins: Origins,
    /// Problems in the files that were read, and exceeded bounds.
    pub(super) problems: Vec<Problem>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(root: &'a Node, path: &Path, sources: &'a Sources) -> Self {
        let directory = path.parent().unwrap_or(path).to_owned();
        Resolver {
            root,
            directory,
            sources,
            requested: None,
            known: FxHashMap::default(),
            active: FxHashSet::default(),
            constructs: FxHashMap::default(),
            files: FxHashMap::default(),
            nodes: 0,
            depth: 0,
            exhausted: false,
            origins: Origins::default(),
            problems: Vec::new(),
        }
    }

    /// Sets the stage, like `--stage`.
    pub(super) fn for_stage(mut self, stage: Option<&str>) -> Self {
        self.requested = stage.map(ToOwned::to_owned);
        self
    }

    /// Sets the value of `${construct:address}`.
    pub(super) fn give(&mut self, address: String, value: Node) {
        self.constructs.insert(address, value);
    }

    /// Returns the value at `path` of the service, with its variables resolved.
    pub(super) fn section(&mut self, path: &[&str]) -> Option<Node> {
        match self.service_value(path) {
            Resolved::Value(node, _) => Some(node),
            Resolved::Missing | Resolved::Unresolved(_) => None,
        }
    }

    /// Returns a scalar at `path` as text, with its provenance.
    pub(super) fn text(&mut self, path: &[&str]) -> Option<(String, Vec<Origin>)> {
        match self.service_value(path) {
            Resolved::Value(node, origins) => Some((scalar(&node)?, origins)),
            Resolved::Missing | Resolved::Unresolved(_) => None,
        }
    }

    /// Returns the stage of the deployment, with its span; an option takes precedence.
    pub(super) fn stage(&mut self) -> (String, Option<Span>) {
        if let Some(requested) = &self.requested {
            return (requested.clone(), None);
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

    /// Returns `node` with its variables resolved.
    fn node(&mut self, node: &Node) -> Node {
        if !self.may_add(node.span) {
            return node.clone();
        }
        let value = match &node.value {
            Value::String(text) if text.contains("${") => return self.string(node, text),
            Value::Sequence(items) => Value::Sequence(items.iter().map(|item| self.node(item)).collect()),
            Value::Mapping(entries) => {
                let entries = entries
                    .iter()
                    .map(|entry| Entry::new(entry.key.clone(), entry.key_span, self.node(&entry.value)));
                Value::Mapping(entries.collect())
            }
            other => other.clone(),
        };
        Node { span: node.span, value }
    }

    /// Counts a node; reports once, and returns `false`, if the bound is exceeded.
    fn may_add(&mut self, at: Span) -> bool {
        self.nodes += 1;
        if self.nodes <= limits::MAX_VARIABLE_NODES {
            return true;
        }
        self.exhaust(at, "variables expand to too many values");
        false
    }

    fn exhaust(&mut self, at: Span, message: &str) {
        if !self.exhausted {
            self.exhausted = true;
            self.problems.push(Problem::limit(at, message));
        }
    }

    fn string(&mut self, node: &Node, text: &str) -> Node {
        let Some(pieces) = pieces(text) else {
            return node.clone();
        };
        if let [TextPiece::Variable { sources, .. }] = pieces.as_slice() {
            return match self.variable(sources, node.span) {
                Resolved::Value(found, origins) if is_scalar(&found) => {
                    self.origins.insert(node.span, origins);
                    Node::new(node.span, found.value)
                }
                Resolved::Value(found, _) => found,
                Resolved::Unresolved(Some(following)) => Node::new(node.span, Value::String(following)),
                Resolved::Missing | Resolved::Unresolved(None) => node.clone(),
            };
        }
        let (joined, origins) = self.joined(&pieces, node.span);
        if !origins.is_empty() {
            self.origins.insert(node.span, origins);
        }
        Node::new(node.span, Value::String(joined.into()))
    }

    /// Joins `pieces`; variables without a value stay as written.
    fn joined(&mut self, pieces: &[TextPiece<'_>], at: Span) -> (String, Vec<Origin>) {
        let (mut joined, mut all) = (String::new(), Vec::new());
        for piece in pieces {
            match piece {
                TextPiece::Text(text) => joined.push_str(text),
                TextPiece::Variable { written, sources } => match self.variable(sources, at) {
                    Resolved::Value(found, origins) if is_scalar(&found) => {
                        joined.push_str(&scalar(&found).unwrap_or_default());
                        all.extend(origins);
                    }
                    Resolved::Unresolved(Some(following)) => joined.push_str(&following),
                    _ => joined.push_str(written),
                },
            }
            self.nodes += joined.len() / limits::BYTES_PER_NODE;
            if joined.len() > limits::MAX_VARIABLE_TEXT {
                self.exhaust(at, "variables make a string too long");
                break;
            }
        }
        (joined, all)
    }

    /// Resolves the text of an address or parameter; returns `None` if it is unresolved.
    fn inner(&mut self, text: &str, at: Span) -> Option<String> {
        let Some(all) = pieces(text) else {
            return Some(text.trim().to_owned());
        };
        let (joined, _) = self.joined(&all, at);
        pieces(&joined).is_none().then_some(joined)
    }

    /// Returns the value of the first source that has one. `at` is the span of the variable.
    fn variable(&mut self, sources: &[VariableSource<'_>], at: Span) -> Resolved {
        if self.depth >= limits::MAX_VARIABLE_DEPTH || self.exhausted {
            self.exhaust(at, "variables refer to variables too deep");
            return UNRESOLVED;
        }
        self.depth += 1;
        let found = self.first(sources, at);
        self.depth -= 1;
        found
    }

    fn first(&mut self, sources: &[VariableSource<'_>], at: Span) -> Resolved {
        // The first option or parameter that a deployment may set, which is assumed to be unset.
        let mut unset: Option<String> = None;
        for (place, source) in sources.iter().enumerate() {
            let found = match source {
                VariableSource::Literal { text, quoted } => Resolved::Value(literal(text, *quoted, at), Vec::new()),
                VariableSource::Nested(text) => match pieces(text).as_deref() {
                    Some([TextPiece::Variable { sources, .. }]) => self.variable(sources, at),
                    _ => UNRESOLVED,
                },
                VariableSource::Malformed => UNRESOLVED,
                VariableSource::Named {
                    kind,
                    parameters,
                    address,
                } => {
                    let Some(address) = self.inner(address, at) else {
                        return UNRESOLVED;
                    };
                    match *kind {
                        "self" => self.service_value(&address.split('.').collect::<Vec<_>>()),
                        "file" => self.file(parameters, &address, at),
                        "sls" if address == "stage" => self.stage_value(at),
                        "strToBool" => self.truth(parameters, at),
                        "param" => self.parameter(&address, at),
                        "opt" if address == "stage" && self.requested.is_some() => self.stage_value(at),
                        "opt" => Resolved::Missing,
                        // Another unit may publish it under this name.
                        _ if variables::is_published(kind) => {
                            let parameters = match parameters.as_slice() {
                                [] | [""] => String::new(),
                                some => format!("({})", some.join(",")),
                            };
                            Resolved::Unresolved(Some(format!("${{{kind}{parameters}:{address}}}").into()))
                        }
                        "construct" => match self.constructs.get(&address) {
                            Some(value) => Resolved::Value(value.clone(), Vec::new()),
                            None => UNRESOLVED,
                        },
                        _ => UNRESOLVED,
                    }
                }
            };
            if let (VariableSource::Named { kind, address, .. }, Resolved::Missing) = (source, &found)
                && matches!(*kind, "opt" | "param")
            {
                unset.get_or_insert_with(|| format!("the default of `${{{kind}:{address}}}`"));
            }
            match (found, unset) {
                (Resolved::Missing, still) => unset = still,
                (Resolved::Value(node, mut origins), Some(what)) => {
                    origins.push(Origin {
                        is_input_default: true,
                        ..Origin::new(at, what)
                    });
                    return Resolved::Value(node, origins);
                }
                // If the source has no value at deployment, a later one applies, so the result is unresolved.
                (Resolved::Unresolved(_), _) if place + 1 < sources.len() => return UNRESOLVED,
                (found, _) => return found,
            }
        }
        if unset.is_some() { UNRESOLVED } else { Resolved::Missing }
    }

    /// Resolves `${self:…}`.
    fn service_value(&mut self, path: &[&str]) -> Resolved {
        let address = path.join(".");
        if let Some(known) = self.known.get(&address) {
            if let Resolved::Value(node, _) = known
                && !is_scalar(node)
            {
                let at = node.span;
                let size = size(node, limits::MAX_VARIABLE_NODES.saturating_sub(self.nodes) + 1);
                self.nodes += size;
                if !self.may_add(at) {
                    return UNRESOLVED;
                }
            }
            return self.known.get(&address).cloned().unwrap_or(UNRESOLVED);
        }
        if !self.active.insert(address.clone()) {
            return UNRESOLVED;
        }
        let root = self.root;
        let found = self.walk(root, path, &address);
        self.active.remove(&address);
        self.known.insert(address, found.clone());
        found
    }

    /// Returns the value at `path` in `start`, resolving variables on the way; `shown` describes it.
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
                    // A variable without a value here may have one at deployment.
                    Value::String(text) if pieces(text).is_some() => UNRESOLVED,
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
            && pieces(text).is_some_and(|pieces| matches!(pieces.as_slice(), [TextPiece::Variable { .. }]))
        {
            return Resolved::Unresolved(Some(text.clone()));
        }
        let mut origins = vec![Origin::new(place, format!("`{shown}`"))];
        origins.extend(self.origins.get(&resolved.span).into_iter().flatten().cloned());
        Resolved::Value(resolved, origins)
    }

    fn stage_value(&mut self, at: Span) -> Resolved {
        let (stage, span) = self.stage();
        if pieces(&stage).is_some() {
            return UNRESOLVED;
        }
        let what = if self.requested.is_some() {
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
            is_input_default: self.requested.is_none(),
            decides: false,
        };
        Resolved::Value(literal(&stage, true, at), vec![origin])
    }

    /// Resolves `${param:…}`: the parameter of the stage, then that of all stages, then that of a compose file.
    fn parameter(&mut self, name: &str, at: Span) -> Resolved {
        let stage = match self.stage_value(at) {
            Resolved::Value(node, _) => scalar(&node).unwrap_or_default(),
            _ => return UNRESOLVED,
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
        self.composed(name)
    }

    /// Resolves `${strToBool(…)}`.
    fn truth(&mut self, parameters: &[&str], at: Span) -> Resolved {
        let text = parameters.first().and_then(|text| self.inner(text, at));
        let value = match text.unwrap_or_default().to_ascii_lowercase().as_str() {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => return UNRESOLVED,
        };
        let value = Value::Bool(value);
        Resolved::Value(Node { span: at, value }, Vec::new())
    }

    /// Resolves `${file(path):key}`. A missing file is unresolved, because it may be generated before the deployment.
    fn file(&mut self, parameters: &[&str], address: &str, at: Span) -> Resolved {
        let path = parameters.first().and_then(|path| self.inner(path, at));
        let Some(path) = path.filter(|path| !is_code(path)) else {
            return UNRESOLVED;
        };
        let Ok(file) = self.sources.files().real(&self.directory.join(&path)) else {
            return UNRESOLVED;
        };
        let is_tree = [".yml", ".yaml", ".json"].iter().any(|end| path.ends_with(end));
        let is_near = file.starts_with(&self.directory) || self.sources.files().contains(&file);
        if !is_tree || !is_near || !self.sources.files().is_file(&file) {
            return UNRESOLVED;
        }
        let Some(content) = self.content(&file) else {
            return UNRESOLVED;
        };
        let shown = if address.is_empty() {
            format!("file({path})")
        } else {
            format!("file({path}):{address}")
        };
        // Guards against files that refer to themselves.
        let key = format!("{}:{address}", file.display());
        if !self.active.insert(key.clone()) {
            return UNRESOLVED;
        }
        let path: Vec<&str> = address.split('.').filter(|key| !key.is_empty()).collect();
        let found = self.walk(&content, &path, &shown);
        self.active.remove(&key);
        found
    }

    pub(super) fn content(&mut self, file: &Path) -> Option<Arc<Node>> {
        if let Some(known) = self.files.get(file) {
            return known.clone();
        }
        if self.files.len() >= limits::MAX_SERVICE_FILES {
            return None;
        }
        let content = match read(file, self.sources) {
            Ok(id) => {
                let parsed = parsed::tree(id, &self.sources.file(id));
                self.problems.extend(parsed.problems());
                parsed.documents.first().cloned().map(Arc::new)
            }
            Err(ReadError::Unfit(problem)) => {
                self.problems.push(problem);
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

/// Counts the nodes of a tree, up to `enough`.
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

/// Returns the reason why a text is unresolved, if a variable of the framework was left in it.
pub(super) fn unresolved_reason(text: &str) -> Option<Reason> {
    pieces(text)?.into_iter().find_map(|piece| match piece {
        TextPiece::Variable { written, sources } => Some(variables::reason(written, &sources)),
        TextPiece::Text(_) => None,
    })
}

/// Converts a text, whose remaining variables become unresolved parts.
pub(crate) fn parts(text: &str) -> Vec<Part> {
    let Some(pieces) = pieces(text) else {
        return vec![Part::Text(text.to_owned())];
    };
    let parts = pieces.into_iter().map(|piece| match piece {
        TextPiece::Text(text) => Part::Text(text.to_owned()),
        TextPiece::Variable { written, sources } => Part::Unresolved {
            text: written.to_owned(),
            reason: variables::reason(written, &sources),
            published: variables::published(&sources),
            // A Region and an account contain no separator of ARNs.
            atomic: matches!(
                sources.as_slice(),
                [VariableSource::Named {
                    kind: "aws" | "sls",
                    ..
                }]
            ),
        },
    });
    parts.collect()
}
