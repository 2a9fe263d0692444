//! The data source `aws_iam_policy_document`: renders the policy that its blocks describe, as the provider does.
//! Unknown parts leave the rest known. This module does not interpret policies.

use super::{Evaluator, Scope, TOO_MANY_STEPS};
use crate::json;
use crate::syntax::Body;
use crate::value::{Value, ValueKind, joined};
use conditions::Case;
use knowledge::Cause;
use std::sync::Arc;

/// The version of a policy that does not set one.
const VERSION: &str = "2012-10-17";
/// Arguments of a statement that are sets of strings, with their names in a policy.
const LISTS: [(&str, &str); 4] = [
    ("actions", "Action"),
    ("not_actions", "NotAction"),
    ("resources", "Resource"),
    ("not_resources", "NotResource"),
];

impl Evaluator<'_> {
    /// Returns the value of `json` and `minified_json`, disregarding their layout.
    pub(crate) fn policy_document(&mut self, body: &Body, scope: &Scope) -> Value {
        let mut version = self.argument_or_null(body, scope, "version");
        if version.is_null() {
            version = Value::text(VERSION);
        }
        let mut id = Value::null();
        let mut statements: Vec<Value> = Vec::new();
        for name in ["source_json", "source_policy_documents"] {
            for document in self.documents(body, scope, name) {
                adopt(&document, &mut version, &mut id);
                merge(&mut statements, statements_of(&document));
            }
        }
        let named = self.argument_or_null(body, scope, "policy_id");
        if !is_empty(&named) {
            id = named;
        }
        let own = match self.blocks(body, scope, "statement") {
            Ok(blocks) => blocks,
            Err(reason) => {
                merge(&mut statements, vec![Value::unknown(reason)]);
                Vec::new()
            }
        };
        for nested in own {
            let statement = self.statement(&nested.block.body, &nested.scope).at(nested.span);
            let statement = Value::cases([
                Case::new(nested.when.clone(), statement),
                Case::new(nested.when.not(), Value::null()),
            ]);
            merge(&mut statements, vec![statement]);
            if !self.spend(statements.len()) {
                return Value::beyond(TOO_MANY_STEPS);
            }
        }
        for name in ["override_json", "override_policy_documents"] {
            for document in self.documents(body, scope, name) {
                adopt(&document, &mut version, &mut id);
                merge(&mut statements, statements_of(&document));
            }
        }
        let mut entries = vec![("Version".into(), version)];
        if !is_empty(&id) {
            entries.push(("Id".into(), id));
        }
        if !statements.is_empty() {
            entries.push(("Statement".into(), Value::list(statements)));
        }
        ValueKind::Rendered(Arc::new(Value::map(entries))).into()
    }

    fn argument_or_null(&mut self, body: &Body, scope: &Scope, name: &str) -> Value {
        body.attribute(name)
            .map_or_else(Value::null, |attribute| self.eval(&attribute.value, scope))
    }

    /// Returns the documents that the argument `name` lists, parsed. An unknown one may be any document.
    fn documents(&mut self, body: &Body, scope: &Scope, name: &str) -> Vec<Value> {
        let given = self.argument_or_null(body, scope, name);
        let texts = match &given.kind {
            ValueKind::Null => Vec::new(),
            ValueKind::List(items) | ValueKind::Set(items) => items.to_vec(),
            _ => vec![given],
        };
        let read = |this: &mut Self, text: Value| {
            this.lift(vec![text], &mut |_, values| {
                let text = json::settled(values[0].clone());
                match &text.kind {
                    ValueKind::Null | ValueKind::Unknown(_) => text,
                    ValueKind::Text(inner) if inner.is_empty() => Value::null(),
                    _ => json::decode(&text).unwrap_or_else(Value::error),
                }
            })
        };
        let documents = texts.into_iter().map(|text| read(self, text));
        documents.filter(|document| !document.is_null()).collect()
    }

    fn statement(&mut self, body: &Body, scope: &Scope) -> Value {
        let mut entries: Vec<(Arc<str>, Value)> = Vec::new();
        let sid = self.argument_or_null(body, scope, "sid");
        if !is_empty(&sid) {
            entries.push(("Sid".into(), sid));
        }
        let effect = self.argument_or_null(body, scope, "effect");
        entries.push((
            "Effect".into(),
            if effect.is_null() { Value::text("Allow") } else { effect },
        ));
        for (argument, name) in LISTS {
            let Some(attribute) = body.attribute(argument) else {
                continue;
            };
            let value = self.eval(&attribute.value, scope);
            let replace = argument.ends_with("resources");
            let value = self.lift(vec![value], &mut |_, values| texts(&values[0], replace, true));
            if !value.is_null() {
                entries.push((name.into(), value.at(attribute.span)));
            }
        }
        for (block, name) in [("principals", "Principal"), ("not_principals", "NotPrincipal")] {
            let principals = self.principals(body, scope, block);
            if !principals.is_null() {
                entries.push((name.into(), principals));
            }
        }
        let conditions = self.conditions(body, scope);
        if !conditions.is_null() {
            entries.push(("Condition".into(), conditions));
        }
        Value::map(entries)
    }

    fn principals(&mut self, body: &Body, scope: &Scope, block: &str) -> Value {
        let blocks = match self.blocks(body, scope, block) {
            Ok(blocks) => blocks,
            Err(reason) => return Value::unknown(reason),
        };
        let mut all: Vec<(Arc<str>, Vec<Value>)> = Vec::new();
        let count = blocks.len();
        for nested in blocks {
            let kind = self.argument_or_null(&nested.block.body, &nested.scope, "type");
            let identifiers = self.argument_or_null(&nested.block.body, &nested.scope, "identifiers");
            let (Some(kind), Some(items)) = (kind.to_text(), identifiers.items()) else {
                return Value::unknown(Cause::Derived.because("a principal of a policy is not known"));
            };
            if !nested.when.is_always() {
                return Value::unknown(Cause::Unsupported.because("a principal of a policy depends on a condition"));
            }
            let items: Vec<Value> = items.iter().map(replaced).collect();
            let is_anyone = items
                .iter()
                .all(|item| item.to_text().is_some_and(|text| &*text == "*"));
            if count == 1 && &*kind == "*" && items.len() == 1 && is_anyone {
                return Value::text("*");
            }
            match all.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, known)) => known.extend(items),
                None => all.push((kind, items)),
            }
        }
        if all.is_empty() {
            return Value::null();
        }
        let entries = all
            .into_iter()
            .map(|(kind, items)| (kind, texts(&Value::list(items), false, true)));
        Value::map(entries.collect())
    }

    fn conditions(&mut self, body: &Body, scope: &Scope) -> Value {
        let blocks = match self.blocks(body, scope, "condition") {
            Ok(blocks) => blocks,
            Err(reason) => return Value::unknown(reason),
        };
        let mut all: Vec<(Arc<str>, Vec<(Arc<str>, Vec<Value>)>)> = Vec::new();
        for nested in blocks {
            let (body, scope) = (&nested.block.body, &nested.scope);
            let test = self.argument_or_null(body, scope, "test");
            let variable = self.argument_or_null(body, scope, "variable");
            let values = self.argument_or_null(body, scope, "values");
            let (Some(test), Some(variable), Some(items)) = (test.to_text(), variable.to_text(), values.items()) else {
                return Value::unknown(Cause::Derived.because("a condition of a policy is not known"));
            };
            if !nested.when.is_always() {
                return Value::unknown(Cause::Unsupported.because("a condition of a policy depends on a condition"));
            }
            let items = items.iter().map(replaced);
            if !all.iter().any(|(known, _)| *known == test) {
                all.push((test.clone(), Vec::new()));
            }
            let Some((_, variables)) = all.iter_mut().find(|(known, _)| *known == test) else {
                continue;
            };
            match variables.iter_mut().find(|(known, _)| *known == variable) {
                Some((_, known)) => known.extend(items),
                None => variables.push((variable, items.collect())),
            }
        }
        if all.is_empty() {
            return Value::null();
        }
        let entries = all.into_iter().map(|(test, variables)| {
            let variables = variables
                .into_iter()
                .map(|(variable, items)| (variable, texts(&Value::list(items), false, false)));
            (test, Value::map(variables.collect()))
        });
        Value::map(entries.collect())
    }
}

/// Renders a list as the provider does: a single string by itself, several in descending order if `sort` is set.
fn texts(list: &Value, replace: bool, sort: bool) -> Value {
    let Some(items) = list.items() else {
        return list.clone();
    };
    let mut items: Vec<Value> = items
        .iter()
        .map(|item| if replace { replaced(item) } else { item.clone() })
        .collect();
    if sort && items.iter().all(|item| item.to_text().is_some()) {
        items.sort_by_key(|item| std::cmp::Reverse(item.to_text()));
        items.dedup_by_key(|item| item.to_text());
    }
    match items.len() {
        0 => Value::null(),
        1 => items.remove(0),
        _ => list.with(Value::list(items)),
    }
}

/// Replaces `&{aws:username}`, the notation of these blocks for `${aws:username}`.
fn replaced(value: &Value) -> Value {
    match &value.kind {
        ValueKind::Text(text) if text.contains("&{") => Value {
            kind: ValueKind::Text(text.replace("&{", "${").into()),
            ..value.clone()
        },
        ValueKind::Template(parts) => value.with(joined(parts.iter().map(replaced).collect())),
        _ => value.clone(),
    }
}

/// Returns `true` if a value is null or the empty string.
fn is_empty(text: &Value) -> bool {
    text.is_null() || text.to_text().is_some_and(|text| text.is_empty())
}

fn statements_of(document: &Value) -> Vec<Value> {
    match document.get("Statement") {
        Some(statements) => match statements.items() {
            Some(items) => items.to_vec(),
            None => vec![statements.clone()],
        },
        None if document.entries().is_some() => Vec::new(),
        None => vec![document.clone()],
    }
}

/// Takes the id of a document if it has one, and its version if that is later.
fn adopt(document: &Value, version: &mut Value, id: &mut Value) {
    if let Some(theirs) = document.get("Id").filter(|theirs| !is_empty(theirs)) {
        *id = theirs.clone();
    }
    if let (Some(theirs), Some(mine)) = (document.get("Version").and_then(Value::to_text), version.to_text())
        && theirs > mine
    {
        *version = Value::text(theirs);
    }
}

/// Adds statements. A statement replaces an earlier one with the same `Sid`.
fn merge(all: &mut Vec<Value>, added: Vec<Value>) {
    for statement in added {
        if statement.as_unknown().is_some() {
            // It may replace any statement that has a `Sid`.
            for known in all.iter_mut().filter(|known| known.get("Sid").is_some()) {
                *known = known.with(statement.clone());
            }
        }
        let sid = statement.get("Sid").and_then(Value::to_text);
        let place = sid.and_then(|sid| {
            all.iter_mut().find(|known| {
                known
                    .get("Sid")
                    .and_then(Value::to_text)
                    .is_some_and(|known| known == sid)
            })
        });
        match place {
            Some(place) => *place = statement,
            None => all.push(statement),
        }
    }
}
