//! Languages in which the type of a handler says what it returns: Java, C# and Go. Nothing else is asked of them.

use super::parse::{MAX_DEPTH, children, fields, head, parse, text};
use super::syntax::TextRange;
use std::sync::Arc;
use tree_sitter::Node;

/// What a handler returns, by its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Returns {
    /// The messages that failed.
    Failures,
    /// Nothing that Lambda reads.
    Nothing,
    /// Not known.
    Unknown,
}

/// What the source says of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Typed {
    pub(super) returns: Returns,
    /// The head of the handler.
    pub(super) at: TextRange,
    /// Whether any failure may be caught before it gets to Lambda.
    pub(super) may_catch: bool,
}

/// The method that Lambda calls in the class `class` of a file of Java.
pub(super) fn java(source: &str, class: &str, method: &str) -> Option<Typed> {
    let tree = parse(source, &tree_sitter_java::LANGUAGE.into())?;
    let words = Words::of(tree.root_node(), source)?;
    let is_class = |node: &Node<'_>| node.kind() == "class_declaration" && is_named(*node, class, source);
    let class = children(tree.root_node()).into_iter().find(is_class)?;
    let body = class.child_by_field_name("body").map(children).unwrap_or_default();
    let mut methods = body
        .into_iter()
        .filter(|node| node.kind() == "method_declaration" && is_named(*node, method, source));
    let (Some(handler), None) = (methods.next(), methods.next()) else {
        return None;
    };
    let parameters = handler.child_by_field_name("parameters").map(|list| text(list, source));
    let is_stream = parameters.is_some_and(|list| list.contains("OutputStream"));
    let kind = handler.child_by_field_name("type").map(|kind| text(kind, source));
    let reports = || words.says(&["BatchItemFailure", "BatchMessageHandler", "BatchMessageHandlerBuilder"]);
    let returns = match kind.as_deref().map(|kind| kind.rsplit('.').next().unwrap_or(kind)) {
        Some("SQSBatchResponse") if reports() => Returns::Failures,
        Some("Boolean" | "Integer" | "String" | "Void" | "boolean" | "int" | "void") if !is_stream => Returns::Nothing,
        _ => Returns::Unknown,
    };
    Some(Typed {
        returns,
        at: head(handler, source),
        may_catch: words.catches,
    })
}

/// The method that Lambda calls in the class `class` of a file of C#.
pub(super) fn csharp(source: &str, class: &str, method: &str) -> Option<Typed> {
    let tree = parse(source, &tree_sitter_c_sharp::LANGUAGE.into())?;
    let words = Words::of(tree.root_node(), source)?;
    // Namespaces stand around classes, or in front of them.
    let mut open = children(tree.root_node());
    let mut classes = Vec::new();
    while let Some(node) = open.pop() {
        match node.kind() {
            "namespace_declaration" | "file_scoped_namespace_declaration" | "declaration_list" => {
                open.extend(children(node));
            }
            "class_declaration" if is_named(node, class, source) => classes.push(node),
            _ => {}
        }
    }
    let [class] = classes.as_slice() else { return None };
    let body = class.child_by_field_name("body").map(children).unwrap_or_default();
    let mut methods = body
        .into_iter()
        .filter(|node| node.kind() == "method_declaration" && is_named(*node, method, source));
    let (Some(handler), None) = (methods.next(), methods.next()) else {
        return None;
    };
    let kind = handler.child_by_field_name("returns").map(|kind| text(kind, source))?;
    let of_task = kind.strip_prefix("Task<").or_else(|| kind.strip_prefix("ValueTask<"));
    let kind = of_task.and_then(|kind| kind.strip_suffix('>')).unwrap_or(&kind);
    let reports = || words.says(&["BatchItemFailure", "BatchItemFailures"]);
    let returns = match kind.rsplit('.').next().unwrap_or(kind) {
        "SQSBatchResponse" if reports() => Returns::Failures,
        // What the processor of Powertools has collected.
        "BatchItemFailuresResponse" => Returns::Failures,
        "Task" | "ValueTask" | "bool" | "int" | "string" | "void" => Returns::Nothing,
        _ => Returns::Unknown,
    };
    Some(Typed {
        returns,
        at: head(handler, source),
        may_catch: words.catches,
    })
}

/// The function that `lambda.Start` gets in a file of Go.
pub(super) fn go(source: &str) -> Option<Typed> {
    let tree = parse(source, &tree_sitter_go::LANGUAGE.into())?;
    let words = Words::of(tree.root_node(), source)?;
    let name = words.started.as_deref()?;
    let is_handler = |node: &Node<'_>| node.kind() == "function_declaration" && is_named(*node, name, source);
    let handler = children(tree.root_node()).into_iter().find(is_handler)?;
    let result = handler.child_by_field_name("result");
    let types: Vec<Arc<str>> = match result {
        None => Vec::new(),
        Some(list) if list.kind() == "parameter_list" => {
            let kinds = children(list).into_iter().flat_map(|one| fields(one, "type"));
            kinds.map(|kind| text(kind, source)).collect()
        }
        Some(one) => vec![text(one, source)],
    };
    let types: Vec<&str> = types.iter().map(|kind| kind.trim_start_matches('*')).collect();
    let returns = match types.as_slice() {
        ["events.SQSEventResponse", ..] if words.says(&["SQSBatchItemFailure", "BatchItemFailures"]) => {
            Returns::Failures
        }
        [] | ["error"] | ["string" | "bool" | "int", "error"] => Returns::Nothing,
        _ => Returns::Unknown,
    };
    Some(Typed {
        returns,
        at: head(handler, source),
        // An error is a value there, and dropped without a word.
        may_catch: true,
    })
}

fn is_named(node: Node<'_>, name: &str, source: &str) -> bool {
    node.child_by_field_name("name")
        .is_some_and(|found| *text(found, source) == *name)
}

/// The identifiers of a file.
#[derive(Default)]
struct Words {
    all: rustc_hash::FxHashSet<Arc<str>>,
    /// Whether something is caught.
    catches: bool,
    /// What `lambda.Start` gets.
    started: Option<Arc<str>>,
}

impl Words {
    fn of(root: Node<'_>, source: &str) -> Option<Words> {
        let mut words = Words::default();
        let mut open = vec![(root, 0)];
        while let Some((node, depth)) = open.pop() {
            if depth > MAX_DEPTH * 4 {
                return None;
            }
            match node.kind() {
                "catch_clause" => words.catches = true,
                "call_expression" => words.note_start(node, source),
                kind if kind.ends_with("identifier") => {
                    words.all.insert(text(node, source));
                }
                _ => {}
            }
            open.extend(children(node).into_iter().map(|child| (child, depth + 1)));
        }
        Some(words)
    }

    fn note_start(&mut self, call: Node<'_>, source: &str) {
        let callee = call.child_by_field_name("function").map(|callee| text(callee, source));
        let is_start = callee.is_some_and(|callee| matches!(&*callee, "lambda.Start" | "lambda.StartWithOptions"));
        let first = call.child_by_field_name("arguments").map(children);
        if let (true, Some([first, ..])) = (is_start, first.as_deref())
            && first.kind() == "identifier"
        {
            self.started = Some(text(*first, source));
        }
    }

    fn says(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.all.contains(*name))
    }
}
