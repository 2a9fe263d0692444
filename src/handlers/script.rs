//! JavaScript and TypeScript, as far as they are asked for. The grammar of the one reads the other.

use super::parse::{children, parse};
use super::reader::SyntaxReader;
use super::syntax::{Catch, Expression, Function, Module, Statement, StatementKind, Term, TextRange};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use tree_sitter::Node;

/// What a file says; `None` where it is not understood.
pub(super) fn read(source: &str) -> Option<Module> {
    let tree = parse(source, &tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into())?;
    let mut reader = Script(SyntaxReader::new(source));
    let body = reader.statements(tree.root_node(), 0);
    reader.0.finish(body)
}

/// A reader of JavaScript and TypeScript.
struct Script<'s>(SyntaxReader<'s>);

impl<'s> Deref for Script<'s> {
    type Target = SyntaxReader<'s>;

    fn deref(&self) -> &SyntaxReader<'s> {
        &self.0
    }
}

impl DerefMut for Script<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Script<'_> {
    fn statements(&mut self, block: Node<'_>, depth: usize) -> Vec<Statement> {
        let mut all = Vec::new();
        for node in children(block) {
            self.statement(node, depth + 1, &mut all);
        }
        all
    }

    /// A block, or the one statement that stands for one.
    fn body(&mut self, node: Option<Node<'_>>, depth: usize) -> Vec<Statement> {
        let Some(node) = node else { return Vec::new() };
        if matches!(
            node.kind(),
            "statement_block" | "class_body" | "else_clause" | "finally_clause"
        ) {
            return self.statements(node, depth);
        }
        let mut one = Vec::new();
        self.statement(node, depth + 1, &mut one);
        one
    }

    fn field(&mut self, node: Node<'_>, field: &str, depth: usize) -> Option<Expression> {
        node.child_by_field_name(field)
            .map(|inner| self.expression(inner, depth + 1))
    }

    fn statement(&mut self, node: Node<'_>, depth: usize, all: &mut Vec<Statement>) {
        let at = node.byte_range();
        if self.is_beyond(depth) {
            return;
        }
        let first = |reader: &mut Self| children(node).first().map(|value| reader.expression(*value, depth + 1));
        let body = node.child_by_field_name("body");
        let kind = match node.kind() {
            "expression_statement" => {
                if let [only] = children(node).as_slice() {
                    self.effect(*only, depth, all);
                }
                return;
            }
            "lexical_declaration" | "variable_declaration" => {
                for declared in children(node) {
                    self.declared(declared, depth, all);
                }
                return;
            }
            "export_statement" => return self.exported(node, depth, all),
            "return_statement" => StatementKind::Return(first(self)),
            "throw_statement" => StatementKind::Raise(first(self)),
            "for_in_statement" => StatementKind::Loop {
                over: self.field(node, "right", depth),
                body: self.body(body, depth),
            },
            "for_statement" => StatementKind::Loop {
                over: self.field(node, "condition", depth),
                body: self.body(body, depth),
            },
            "while_statement" | "do_statement" => StatementKind::Loop {
                over: None,
                body: self.body(body, depth),
            },
            "if_statement" => {
                let alternative = node.child_by_field_name("alternative");
                let mut arms = vec![self.body(node.child_by_field_name("consequence"), depth)];
                arms.extend(alternative.map(|one| self.body(Some(one), depth)));
                StatementKind::Branch {
                    tests: self.field(node, "condition", depth).into_iter().collect(),
                    arms,
                }
            }
            "switch_statement" => self.switched(node, depth),
            "try_statement" => self.tried(node, depth),
            "statement_block" => StatementKind::Block(Vec::new(), self.statements(node, depth)),
            "labeled_statement" => StatementKind::Block(Vec::new(), self.body(body, depth)),
            "function_declaration" | "generator_function_declaration" => {
                StatementKind::Function(Arc::new(self.function(node, depth)))
            }
            "class_declaration" | "abstract_class_declaration" => StatementKind::Class(self.members(node, depth)),
            "break_statement" => StatementKind::Break,
            "continue_statement" => StatementKind::Continue,
            "import_statement" => {
                self.learn(node, depth);
                StatementKind::Nothing
            }
            "empty_statement"
            | "interface_declaration"
            | "type_alias_declaration"
            | "enum_declaration"
            | "ambient_declaration"
            | "hash_bang_line" => StatementKind::Nothing,
            _ => StatementKind::Expression(Expression {
                kind: Term::Other(self.parts(node, depth)),
                at: at.clone(),
            }),
        };
        all.push(Statement { kind, at });
    }

    /// An expression that stands alone.
    fn effect(&mut self, node: Node<'_>, depth: usize, all: &mut Vec<Statement>) {
        let at = node.byte_range();
        let adds = match node.kind() {
            "assignment_expression" => false,
            "augmented_assignment_expression" => true,
            _ => {
                let kind = StatementKind::Expression(self.expression(node, depth + 1));
                all.push(Statement { kind, at });
                return;
            }
        };
        if let (Some(target), Some(value)) = (self.field(node, "left", depth), self.field(node, "right", depth)) {
            let kind = StatementKind::Assign { target, value, adds };
            all.push(Statement { kind, at });
        }
    }

    /// `const a = …`, `const { a, b: c } = …`, `const [a] = …`.
    fn declared(&mut self, node: Node<'_>, depth: usize, all: &mut Vec<Statement>) {
        let at = node.byte_range();
        let Some(value) = node.child_by_field_name("value") else {
            return;
        };
        let Some(pattern) = node.child_by_field_name("name") else {
            return;
        };
        for (name, member) in self.bindings(pattern, depth) {
            let mut value = self.expression(value, depth + 1);
            match member {
                Some(Some(member)) => {
                    value = Expression {
                        at: value.at.clone(),
                        kind: Term::Member(Box::new(value), member),
                    }
                }
                Some(None) => {
                    value = Expression {
                        at: value.at.clone(),
                        kind: Term::Other(vec![value]),
                    }
                }
                None => {}
            }
            let target = Expression {
                kind: Term::Name(name),
                at: pattern.byte_range(),
            };
            all.push(Statement {
                kind: StatementKind::Assign {
                    target,
                    value,
                    adds: false,
                },
                at: at.clone(),
            });
        }
    }

    /// The names that a pattern binds, each with the property that it takes; `Some(None)` for one further in.
    fn bindings(&mut self, pattern: Node<'_>, depth: usize) -> Vec<(Arc<str>, Option<Option<Arc<str>>>)> {
        if pattern.kind() == "identifier" {
            return vec![(self.text(pattern), None)];
        }
        let mut all = Vec::new();
        for part in children(pattern) {
            match part.kind() {
                "shorthand_property_identifier_pattern" => {
                    let name = self.text(part);
                    all.push((name.clone(), Some(Some(name))));
                }
                "pair_pattern" => {
                    let key = part.child_by_field_name("key").map(|key| self.text(key));
                    let value = part.child_by_field_name("value");
                    match value.filter(|value| value.kind() == "identifier") {
                        Some(value) => all.push((self.text(value), Some(key))),
                        None => all.extend(self.names(value, depth).into_iter().map(|name| (name, Some(None)))),
                    }
                }
                _ => all.extend(self.names(Some(part), depth).into_iter().map(|name| (name, Some(None)))),
            }
        }
        all
    }

    /// Every name that a pattern binds.
    fn names(&mut self, pattern: Option<Node<'_>>, depth: usize) -> Vec<Arc<str>> {
        let Some(pattern) = pattern else {
            return Vec::new();
        };
        if self.is_beyond(depth) {
            return Vec::new();
        }
        match pattern.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => vec![self.text(pattern)],
            "assignment_pattern" => self.names(pattern.child_by_field_name("left"), depth + 1),
            "pair_pattern" => self.names(pattern.child_by_field_name("value"), depth + 1),
            "required_parameter" | "optional_parameter" => {
                self.names(pattern.child_by_field_name("pattern"), depth + 1)
            }
            "object_pattern" | "array_pattern" | "rest_pattern" => {
                let all = children(pattern).into_iter();
                all.flat_map(|one| self.names(Some(one), depth + 1)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What an `export` declares, or gives another name.
    fn exported(&mut self, node: Node<'_>, depth: usize, all: &mut Vec<Statement>) {
        let at = node.byte_range();
        if let Some(declaration) = node.child_by_field_name("declaration") {
            return self.statement(declaration, depth + 1, all);
        }
        let named = |name: &str, value: Expression, all: &mut Vec<Statement>| {
            let target = Expression {
                kind: Term::Name(name.into()),
                at: at.clone(),
            };
            let kind = StatementKind::Assign {
                target,
                value,
                adds: false,
            };
            all.push(Statement { kind, at: at.clone() });
        };
        if let Some(value) = self.field(node, "value", depth) {
            return named("default", value, all);
        }
        let clause = children(node).into_iter().find(|child| child.kind() == "export_clause");
        for specifier in clause.map(children).unwrap_or_default() {
            let name = specifier.child_by_field_name("name");
            let alias = specifier.child_by_field_name("alias");
            if let (Some(name), Some(alias)) = (name, alias) {
                let (value, alias) = (self.expression(name, depth + 1), self.text(alias));
                named(&alias, value, all);
            }
        }
    }

    fn switched(&mut self, node: Node<'_>, depth: usize) -> StatementKind {
        let mut tests = Vec::from_iter(self.field(node, "value", depth));
        let mut arms = Vec::new();
        for case in node.child_by_field_name("body").map(children).unwrap_or_default() {
            let value = case.child_by_field_name("value");
            tests.extend(value.map(|value| self.expression(value, depth + 1)));
            let mut arm = Vec::new();
            for statement in children(case).into_iter().filter(|child| Some(*child) != value) {
                // The end of the arm, and not that of a loop around it.
                if statement.kind() != "break_statement" {
                    self.statement(statement, depth + 1, &mut arm);
                }
            }
            arms.push(arm);
        }
        StatementKind::Branch { tests, arms }
    }

    fn tried(&mut self, node: Node<'_>, depth: usize) -> StatementKind {
        let handler = node.child_by_field_name("handler");
        let catches = handler.map(|handler| Catch {
            is_general: true,
            body: self.body(handler.child_by_field_name("body"), depth),
            at: self.head(handler),
        });
        let last = node.child_by_field_name("finalizer");
        let last = last.and_then(|clause| clause.child_by_field_name("body"));
        StatementKind::Try {
            body: self.body(node.child_by_field_name("body"), depth),
            catches: catches.into_iter().collect(),
            last: self.body(last, depth),
        }
    }

    /// The methods of a class, and the functions in its fields.
    fn members(&mut self, class: Node<'_>, depth: usize) -> Vec<Statement> {
        let mut all = Vec::new();
        for member in class.child_by_field_name("body").map(children).unwrap_or_default() {
            let at = member.byte_range();
            let kind = match member.kind() {
                "method_definition" => StatementKind::Function(Arc::new(self.function(member, depth))),
                "public_field_definition" | "field_definition" => {
                    let name = member.child_by_field_name("name").map(|name| self.text(name));
                    match (name, self.field(member, "value", depth)) {
                        (Some(name), Some(value)) => StatementKind::Assign {
                            target: Expression {
                                kind: Term::Name(name),
                                at: at.clone(),
                            },
                            value,
                            adds: false,
                        },
                        _ => StatementKind::Nothing,
                    }
                }
                _ => {
                    self.learn(member, depth);
                    StatementKind::Nothing
                }
            };
            all.push(Statement { kind, at });
        }
        all
    }

    fn function(&mut self, node: Node<'_>, depth: usize) -> Function {
        let parameters = match node.child_by_field_name("parameter") {
            Some(one) => vec![one],
            None => node.child_by_field_name("parameters").map(children).unwrap_or_default(),
        };
        let mut body = Vec::new();
        let mut names = Vec::new();
        for parameter in parameters {
            let pattern = parameter.child_by_field_name("pattern").unwrap_or(parameter);
            if pattern.kind() == "object_pattern" {
                self.destructured(pattern, depth, &mut body);
                names.push(None);
            } else {
                names.push(self.names(Some(parameter), depth).into_iter().next());
            }
        }
        match node.child_by_field_name("body") {
            Some(block) if block.kind() == "statement_block" => body.extend(self.statements(block, depth)),
            Some(value) => body.push(Statement {
                at: value.byte_range(),
                kind: StatementKind::Return(Some(self.expression(value, depth + 1))),
            }),
            None => {}
        }
        Function {
            name: node.child_by_field_name("name").map(|name| self.text(name)),
            parameters: names,
            decorators: Vec::new(),
            body,
            is_async: (0..node.child_count()).any(|at| node.child(at).is_some_and(|part| part.kind() == "async")),
            at: self.head(node),
        }
    }

    /// A parameter that is taken apart: what its names are.
    fn destructured(&mut self, pattern: Node<'_>, depth: usize, body: &mut Vec<Statement>) {
        let at = pattern.byte_range();
        let whole = |at: &TextRange| Expression {
            kind: Term::Other(Vec::new()),
            at: at.clone(),
        };
        for (name, member) in self.bindings(pattern, depth) {
            let value = match member.flatten() {
                Some(member) => Expression {
                    kind: Term::Member(Box::new(whole(&at)), member),
                    at: at.clone(),
                },
                None => whole(&at),
            };
            let target = Expression {
                kind: Term::Name(name),
                at: at.clone(),
            };
            let kind = StatementKind::Assign {
                target,
                value,
                adds: false,
            };
            body.push(Statement { kind, at: at.clone() });
        }
    }

    fn parts(&mut self, node: Node<'_>, depth: usize) -> Vec<Expression> {
        let all = children(node).into_iter();
        all.map(|part| self.expression(part, depth + 1)).collect()
    }

    fn expression(&mut self, node: Node<'_>, depth: usize) -> Expression {
        let at = node.byte_range();
        if self.is_beyond(depth) {
            return Expression {
                kind: Term::Literal,
                at,
            };
        }
        let kind = match node.kind() {
            "identifier" | "this" | "shorthand_property_identifier" => Term::Name(self.text(node)),
            "member_expression" => {
                let name = node.child_by_field_name("property").map(|name| self.text(name));
                match (self.field(node, "object", depth), name) {
                    (Some(object), Some(name)) => Term::Member(Box::new(object), name),
                    _ => Term::Literal,
                }
            }
            "subscript_expression" => match (self.field(node, "object", depth), self.field(node, "index", depth)) {
                (Some(of), Some(index)) => match &index.kind {
                    Term::Text(key) => Term::Member(Box::new(of), key.clone()),
                    _ => Term::Index(Box::new(of), Box::new(index)),
                },
                _ => Term::Literal,
            },
            "call_expression" | "new_expression" => self.call(node, depth),
            "arrow_function" | "function_expression" | "function" | "generator_function" => {
                Term::Function(Arc::new(self.function(node, depth)))
            }
            "object" => Term::Object(self.entries(node, depth)),
            "array" => Term::List(self.parts(node, depth)),
            "string" => match children(node).as_slice() {
                [content] => Term::Text(self.text(*content)),
                _ => Term::Text("".into()),
            },
            "template_string" => {
                let inner = children(node)
                    .into_iter()
                    .filter(|part| part.kind() == "template_substitution");
                let inner: Vec<Node<'_>> = inner.flat_map(children).collect();
                Term::Other(inner.into_iter().map(|part| self.expression(part, depth + 1)).collect())
            }
            "null" | "undefined" | "true" | "false" | "number" | "regex" => Term::Literal,
            "await_expression" => match children(node).first() {
                Some(inner) => Term::Await(Box::new(self.expression(*inner, depth + 1))),
                None => Term::Literal,
            },
            "ternary_expression" => {
                let both = ["consequence", "alternative"].map(|field| self.field(node, field, depth));
                Term::Choice(both.into_iter().flatten().collect())
            }
            "binary_expression" => {
                let operator = node.child_by_field_name("operator").map(|operator| operator.kind());
                let parts = self.parts(node, depth);
                match operator {
                    Some("||" | "??" | "&&") => Term::Choice(parts),
                    _ => Term::Other(parts),
                }
            }
            "parenthesized_expression" | "non_null_expression" => match children(node).first() {
                Some(only) => return self.expression(*only, depth + 1),
                None => Term::Literal,
            },
            // What it is called by its type changes nothing.
            "as_expression" | "satisfies_expression" => match children(node).first() {
                Some(value) => return self.expression(*value, depth + 1),
                None => Term::Literal,
            },
            "type_annotation" | "type_arguments" | "type_identifier" | "predefined_type" => Term::Literal,
            _ => Term::Other(self.parts(node, depth)),
        };
        Expression { kind, at }
    }

    fn call(&mut self, node: Node<'_>, depth: usize) -> Term {
        let is_new = node.kind() == "new_expression";
        let callee = if is_new { "constructor" } else { "function" };
        let Some(callee) = self.field(node, callee, depth) else {
            return Term::Literal;
        };
        let arguments = node.child_by_field_name("arguments").map(children).unwrap_or_default();
        let arguments = arguments.into_iter().map(|one| self.expression(one, depth + 1));
        Term::Call {
            arguments: arguments.collect(),
            callee: Box::new(callee),
            is_new,
        }
    }

    fn entries(&mut self, node: Node<'_>, depth: usize) -> Vec<(Option<Arc<str>>, Expression)> {
        let mut all = Vec::new();
        for entry in children(node) {
            match entry.kind() {
                "pair" => {
                    let key = entry.child_by_field_name("key");
                    let key = key.and_then(|key| match key.kind() {
                        "property_identifier" => Some(self.text(key)),
                        "string" => children(key).first().map(|content| self.text(*content)),
                        _ => None,
                    });
                    if let Some(value) = self.field(entry, "value", depth) {
                        all.push((key, value));
                    }
                }
                "shorthand_property_identifier" => {
                    let name = self.text(entry);
                    all.push((Some(name), self.expression(entry, depth + 1)));
                }
                "method_definition" => {
                    let function = Arc::new(self.function(entry, depth));
                    let value = Expression {
                        at: entry.byte_range(),
                        kind: Term::Function(function.clone()),
                    };
                    all.push((function.name.clone(), value));
                }
                _ => all.push((None, self.expression(entry, depth + 1))),
            }
        }
        all
    }
}
