//! Python, as far as it is asked for.

use super::parse::{children, fields, parse};
use super::reader::SyntaxReader;
use super::syntax::{Catch, Expression, Function, Module, Statement, StatementKind, Term};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use tree_sitter::Node;

/// What a file says; `None` where it is not understood.
pub(super) fn read(source: &str) -> Option<Module> {
    let tree = parse(source, &tree_sitter_python::LANGUAGE.into())?;
    let mut reader = Python(SyntaxReader::new(source));
    let body = reader.statements(tree.root_node(), 0);
    reader.0.finish(body)
}

/// A reader of Python.
struct Python<'s>(SyntaxReader<'s>);

impl<'s> Deref for Python<'s> {
    type Target = SyntaxReader<'s>;

    fn deref(&self) -> &SyntaxReader<'s> {
        &self.0
    }
}

impl DerefMut for Python<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Python<'_> {
    fn statements(&mut self, block: Node<'_>, depth: usize) -> Vec<Statement> {
        let all = children(block).into_iter();
        all.map(|node| self.statement(node, depth + 1)).collect()
    }

    fn field_block(&mut self, node: Node<'_>, field: &str, depth: usize) -> Vec<Statement> {
        node.child_by_field_name(field)
            .map_or_else(Vec::new, |block| self.statements(block, depth))
    }

    fn field(&mut self, node: Node<'_>, field: &str, depth: usize) -> Option<Expression> {
        node.child_by_field_name(field)
            .map(|inner| self.expression(inner, depth + 1))
    }

    /// The block of a clause that has one child of that kind.
    fn clause(&mut self, clause: Node<'_>, depth: usize) -> Vec<Statement> {
        let block = children(clause).into_iter().find(|child| child.kind() == "block");
        block.map_or_else(Vec::new, |block| self.statements(block, depth))
    }

    fn statement(&mut self, node: Node<'_>, depth: usize) -> Statement {
        let at = node.byte_range();
        if self.is_beyond(depth) {
            return Statement {
                kind: StatementKind::Nothing,
                at,
            };
        }
        let kind = match node.kind() {
            "expression_statement" => match children(node).as_slice() {
                [only] if matches!(only.kind(), "assignment" | "augmented_assignment") => self.assignment(*only, depth),
                [only] => StatementKind::Expression(self.expression(*only, depth + 1)),
                several => StatementKind::Expression(self.other(several, node, depth)),
            },
            "return_statement" => {
                StatementKind::Return(children(node).first().map(|value| self.expression(*value, depth + 1)))
            }
            "raise_statement" => {
                StatementKind::Raise(children(node).first().map(|value| self.expression(*value, depth + 1)))
            }
            "for_statement" => {
                let over = self.field(node, "right", depth);
                self.names(node.child_by_field_name("left"));
                let body = self.field_block(node, "body", depth);
                let looped = StatementKind::Loop { over, body };
                self.with_else(looped, node, depth)
            }
            "while_statement" => {
                let over = self.field(node, "condition", depth);
                let looped = StatementKind::Branch {
                    tests: over.into_iter().collect(),
                    arms: vec![vec![Statement {
                        kind: StatementKind::Loop {
                            over: None,
                            body: self.field_block(node, "body", depth),
                        },
                        at: at.clone(),
                    }]],
                };
                self.with_else(looped, node, depth)
            }
            "if_statement" | "match_statement" => self.branch(node, depth),
            "try_statement" => self.tried(node, depth),
            "with_statement" => {
                let clause = children(node).into_iter().find(|child| child.kind() == "with_clause");
                let items = clause.map(|clause| self.parts(clause, depth)).unwrap_or_default();
                StatementKind::Block(items, self.field_block(node, "body", depth))
            }
            "function_definition" => StatementKind::Function(Arc::new(self.function(node, Vec::new(), depth))),
            "decorated_definition" => self.decorated(node, depth),
            "class_definition" => StatementKind::Class(self.field_block(node, "body", depth)),
            "break_statement" => StatementKind::Break,
            "continue_statement" => StatementKind::Continue,
            "pass_statement" | "global_statement" | "nonlocal_statement" | "type_alias_statement" => {
                StatementKind::Nothing
            }
            "import_statement" | "import_from_statement" | "future_import_statement" => {
                self.learn(node, depth);
                StatementKind::Nothing
            }
            _ => StatementKind::Expression(self.other(&children(node), node, depth)),
        };
        Statement { kind, at }
    }

    /// A loop, and what is done behind it.
    fn with_else(&mut self, looped: StatementKind, node: Node<'_>, depth: usize) -> StatementKind {
        let Some(alternative) = node.child_by_field_name("alternative") else {
            return looped;
        };
        let at = node.byte_range();
        let mut both = vec![Statement { kind: looped, at }];
        both.extend(self.clause(alternative, depth));
        StatementKind::Block(Vec::new(), both)
    }

    fn assignment(&mut self, node: Node<'_>, depth: usize) -> StatementKind {
        let adds = node.kind() == "augmented_assignment";
        let target = self.field(node, "left", depth);
        // A bare annotation has no value.
        match (target, self.field(node, "right", depth)) {
            (Some(target), Some(value)) => StatementKind::Assign { target, value, adds },
            (target, value) => {
                let parts = target.into_iter().chain(value).collect();
                let at = node.byte_range();
                let kind = Term::Other(parts);
                StatementKind::Expression(Expression { kind, at })
            }
        }
    }

    fn branch(&mut self, node: Node<'_>, depth: usize) -> StatementKind {
        let mut tests = Vec::from_iter(self.field(node, "condition", depth));
        let mut arms = Vec::new();
        if node.kind() == "match_statement" {
            for subject in fields(node, "subject") {
                tests.push(self.expression(subject, depth + 1));
            }
            let cases = node.child_by_field_name("body").map(children).unwrap_or_default();
            for case in cases {
                arms.push(self.field_block(case, "consequence", depth + 1));
            }
        } else {
            arms.push(self.field_block(node, "consequence", depth));
            for alternative in fields(node, "alternative") {
                if alternative.kind() == "elif_clause" {
                    tests.extend(self.field(alternative, "condition", depth));
                    arms.push(self.field_block(alternative, "consequence", depth));
                } else {
                    arms.push(self.clause(alternative, depth));
                }
            }
        }
        StatementKind::Branch { tests, arms }
    }

    fn tried(&mut self, node: Node<'_>, depth: usize) -> StatementKind {
        let mut body = self.field_block(node, "body", depth);
        let (mut catches, mut last) = (Vec::new(), Vec::new());
        for clause in children(node) {
            match clause.kind() {
                "except_clause" | "except_group_clause" => catches.push(self.catch(clause, depth)),
                // It runs where nothing failed.
                "else_clause" => body.extend(self.clause(clause, depth)),
                "finally_clause" => last = self.clause(clause, depth),
                _ => {}
            }
        }
        StatementKind::Try { body, catches, last }
    }

    fn catch(&mut self, clause: Node<'_>, depth: usize) -> Catch {
        let mut is_bare = true;
        let mut is_general = false;
        for part in children(clause) {
            if part.kind() == "block" {
                continue;
            }
            is_bare = false;
            let mut caught = vec![part];
            while let Some(one) = caught.pop() {
                match one.kind() {
                    "identifier" => is_general |= matches!(&*self.text(one), "Exception" | "BaseException"),
                    "as_pattern" => caught.extend(children(one).first()),
                    "tuple" => caught.extend(children(one)),
                    _ => {}
                }
            }
        }
        Catch {
            is_general: is_general || is_bare,
            body: self.clause(clause, depth),
            at: self.head(clause),
        }
    }

    fn decorated(&mut self, node: Node<'_>, depth: usize) -> StatementKind {
        let decorators = children(node).into_iter().filter(|child| child.kind() == "decorator");
        let decorators: Vec<Expression> = decorators
            .filter_map(|decorator| Some(self.expression(*children(decorator).first()?, depth + 1)))
            .collect();
        match node.child_by_field_name("definition") {
            Some(inner) if inner.kind() == "function_definition" => {
                StatementKind::Function(Arc::new(self.function(inner, decorators, depth)))
            }
            Some(inner) => self.statement(inner, depth + 1).kind,
            None => StatementKind::Nothing,
        }
    }

    fn function(&mut self, node: Node<'_>, decorators: Vec<Expression>, depth: usize) -> Function {
        let parameters = node.child_by_field_name("parameters").map(children).unwrap_or_default();
        Function {
            name: node.child_by_field_name("name").map(|name| self.text(name)),
            parameters: parameters
                .into_iter()
                .map(|one| self.names(Some(one)).into_iter().next())
                .collect(),
            decorators,
            body: self.field_block(node, "body", depth),
            is_async: node.child(0).is_some_and(|first| first.kind() == "async"),
            at: self.head(node),
        }
    }

    /// The names that a pattern binds, or a parameter has.
    fn names(&mut self, pattern: Option<Node<'_>>) -> Vec<Arc<str>> {
        let Some(pattern) = pattern else {
            return Vec::new();
        };
        match pattern.kind() {
            "identifier" => vec![self.text(pattern)],
            "default_parameter" | "typed_default_parameter" => self.names(pattern.child_by_field_name("name")),
            "typed_parameter" => self.names(children(pattern).first().copied()),
            "pattern_list" | "tuple_pattern" | "list_pattern" => {
                let all = children(pattern).into_iter();
                all.flat_map(|one| self.names(Some(one))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn parts(&mut self, node: Node<'_>, depth: usize) -> Vec<Expression> {
        let all = children(node).into_iter();
        all.map(|part| self.expression(part, depth + 1)).collect()
    }

    fn other(&mut self, parts: &[Node<'_>], node: Node<'_>, depth: usize) -> Expression {
        let parts = parts.iter().map(|part| self.expression(*part, depth + 1)).collect();
        Expression {
            kind: Term::Other(parts),
            at: node.byte_range(),
        }
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
            "identifier" => Term::Name(self.text(node)),
            "attribute" => {
                let name = node.child_by_field_name("attribute").map(|name| self.text(name));
                match (self.field(node, "object", depth), name) {
                    (Some(object), Some(name)) => Term::Member(Box::new(object), name),
                    _ => Term::Literal,
                }
            }
            "subscript" => self.subscript(node, depth),
            "call" => self.call(node, depth),
            "lambda" => Term::Function(Arc::new(self.lambda(node, depth))),
            "dictionary" => Term::Object(self.entries(node, depth)),
            "list" | "tuple" | "set" | "expression_list" => Term::List(self.parts(node, depth)),
            "list_comprehension" | "generator_expression" | "set_comprehension" | "dictionary_comprehension" => {
                self.each(node, depth)
            }
            "string" | "concatenated_string" => self.string(node, depth),
            "none" | "true" | "false" | "integer" | "float" | "ellipsis" => Term::Literal,
            "await" => match children(node).first() {
                Some(inner) => Term::Await(Box::new(self.expression(*inner, depth + 1))),
                None => Term::Literal,
            },
            "conditional_expression" => match self.parts(node, depth) {
                mut parts if parts.len() == 3 => {
                    parts.remove(1);
                    Term::Choice(parts)
                }
                parts => Term::Other(parts),
            },
            "boolean_operator" => Term::Choice(self.parts(node, depth)),
            "parenthesized_expression" => match children(node).as_slice() {
                [only] => return self.expression(*only, depth + 1),
                _ => Term::Other(self.parts(node, depth)),
            },
            _ => Term::Other(self.parts(node, depth)),
        };
        Expression { kind, at }
    }

    fn subscript(&mut self, node: Node<'_>, depth: usize) -> Term {
        let index = fields(node, "subscript");
        let (Some(of), [index]) = (self.field(node, "value", depth), index.as_slice()) else {
            return Term::Other(self.parts(node, depth));
        };
        let index = self.expression(*index, depth + 1);
        match &index.kind {
            Term::Text(key) => Term::Member(Box::new(of), key.clone()),
            _ => Term::Index(Box::new(of), Box::new(index)),
        }
    }

    fn call(&mut self, node: Node<'_>, depth: usize) -> Term {
        let Some(callee) = self.field(node, "function", depth) else {
            return Term::Literal;
        };
        let given = node.child_by_field_name("arguments");
        let given = match given.map(|list| (list.kind(), list)) {
            Some(("generator_expression", each)) => vec![each],
            Some((_, list)) => children(list),
            None => Vec::new(),
        };
        let (mut arguments, mut named) = (Vec::new(), Vec::new());
        for one in given {
            if one.kind() == "keyword_argument" {
                let key = one.child_by_field_name("name").map(|name| self.text(name));
                named.extend(self.field(one, "value", depth).map(|value| (key, value)));
            } else {
                arguments.push(self.expression(one, depth + 1));
            }
        }
        // As a script gives them.
        if !named.is_empty() {
            let kind = Term::Object(named);
            let at = node.byte_range();
            arguments.push(Expression { kind, at });
        }
        Term::Call {
            arguments,
            callee: Box::new(callee),
            is_new: false,
        }
    }

    fn lambda(&mut self, node: Node<'_>, depth: usize) -> Function {
        let parameters = node.child_by_field_name("parameters").map(children).unwrap_or_default();
        let value = self.field(node, "body", depth);
        Function {
            name: None,
            parameters: parameters
                .into_iter()
                .map(|one| self.names(Some(one)).into_iter().next())
                .collect(),
            decorators: Vec::new(),
            body: vec![Statement {
                kind: StatementKind::Return(value),
                at: node.byte_range(),
            }],
            is_async: false,
            at: self.head(node),
        }
    }

    fn entries(&mut self, node: Node<'_>, depth: usize) -> Vec<(Option<Arc<str>>, Expression)> {
        let mut all = Vec::new();
        for entry in children(node) {
            let key = self.field(entry, "key", depth);
            let value = self.field(entry, "value", depth);
            match (key.map(|key| key.kind), value) {
                (Some(Term::Text(key)), Some(value)) => all.push((Some(key), value)),
                (_, Some(value)) => all.push((None, value)),
                (_, None) => all.push((None, self.expression(entry, depth + 1))),
            }
        }
        all
    }

    fn each(&mut self, node: Node<'_>, depth: usize) -> Term {
        let clause = children(node).into_iter().find(|child| child.kind() == "for_in_clause");
        let made = self.field(node, "body", depth);
        let over = clause.and_then(|clause| self.field(clause, "right", depth));
        match (made, over) {
            (Some(made), Some(over)) => Term::Each {
                over: Box::new(over),
                made: Box::new(made),
            },
            _ => Term::Other(self.parts(node, depth)),
        }
    }

    fn string(&mut self, node: Node<'_>, depth: usize) -> Term {
        let parts = children(node);
        let inner: Vec<Node<'_>> = parts
            .iter()
            .copied()
            .filter(|part| part.kind() == "interpolation")
            .collect();
        match parts.as_slice() {
            _ if !inner.is_empty() => {
                let inner = inner.into_iter().flat_map(children).collect::<Vec<_>>();
                let inner = inner.into_iter().map(|part| self.expression(part, depth + 1));
                Term::Other(inner.collect())
            }
            [_, content, _] if content.kind() == "string_content" => Term::Text(self.text(*content)),
            _ => Term::Text("".into()),
        }
    }
}
