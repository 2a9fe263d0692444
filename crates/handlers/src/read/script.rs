//! Converts JavaScript and TypeScript to the common syntax: statements here, expressions and patterns in
//! [`expressions`].

mod expressions;

use super::nesting;
use super::reader::{SyntaxReader, expression, named};
use super::scan::RESPONSES;
use super::syntax::{
    Case, Catch, Class, Declares, Expression, Function, Loop, Module, Parameter, Role, Statement, StatementKind, Takes,
    Term, TextRange,
};
use oxc_allocator::Allocator;
use oxc_ast::ast;
use oxc_span::{GetSpan, SourceType, Span};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Converts a file, or returns why it is not read.
pub(crate) fn read(source: &str) -> Result<Module, nesting::Refusal> {
    nesting::check_script(source)?;
    let allocator = Allocator::default();
    let parsed = oxc_parser::Parser::new(&allocator, source, SourceType::ts()).parse();
    if parsed.panicked || !parsed.diagnostics.is_empty() {
        return Err(nesting::Refusal::Syntax);
    }
    let mut reader = Script(SyntaxReader::new(source, true), FxHashSet::default());
    let body = reader.statements(&parsed.program.body);
    reader.0.finish(body).ok_or(nesting::Refusal::TooDeep)
}

/// Reader of JavaScript and TypeScript, with the names that are imported from other files.
struct Script<'s>(SyntaxReader<'s>, FxHashSet<Arc<str>>);

fn range(span: Span) -> TextRange {
    span.start as usize..span.end as usize
}

impl Script<'_> {
    fn word(&mut self, text: &str) -> Arc<str> {
        self.0.word(text)
    }

    fn statements(&mut self, body: &[ast::Statement<'_>]) -> Vec<Statement> {
        let mut all = Vec::new();
        for one in body {
            self.statement(one, None, &mut all);
        }
        all
    }

    /// Converts a statement that is the body of another.
    fn body(&mut self, node: &ast::Statement<'_>) -> Vec<Statement> {
        let mut all = Vec::new();
        match node {
            ast::Statement::BlockStatement(block) => return self.block(block),
            one => self.statement(one, None, &mut all),
        }
        all
    }

    fn block(&mut self, block: &ast::BlockStatement<'_>) -> Vec<Statement> {
        self.statements(&block.body)
    }

    /// Converts a statement, which may become several.
    fn statement(&mut self, node: &ast::Statement<'_>, label: Option<Arc<str>>, all: &mut Vec<Statement>) {
        if self.0.enter() {
            self.entered(node, label, all);
        }
        self.0.leave();
    }

    fn entered(&mut self, node: &ast::Statement<'_>, label: Option<Arc<str>>, all: &mut Vec<Statement>) {
        let at = range(node.span());
        if let Some(declaration) = node.as_declaration() {
            return self.declaration(declaration, all);
        }
        if let Some(declaration) = node.as_module_declaration() {
            return self.module_declaration(declaration, all);
        }
        let kind = match node {
            ast::Statement::BlockStatement(one) => StatementKind::Block(self.block(one)),
            ast::Statement::BreakStatement(one) => {
                StatementKind::Break(one.label.as_ref().map(|label| self.word(&label.name)))
            }
            ast::Statement::ContinueStatement(one) => {
                StatementKind::Continue(one.label.as_ref().map(|label| self.word(&label.name)))
            }
            ast::Statement::ExpressionStatement(one) => StatementKind::Expression(self.expression(&one.expression)),
            ast::Statement::ReturnStatement(one) => {
                StatementKind::Return(one.argument.as_ref().map(|value| self.expression(value)))
            }
            ast::Statement::ThrowStatement(one) => StatementKind::Raise(Some(self.expression(&one.argument))),
            ast::Statement::IfStatement(one) => StatementKind::If {
                test: self.expression(&one.test),
                yes: self.body(&one.consequent),
                no: one.alternate.as_ref().map_or_else(Vec::new, |other| self.body(other)),
            },
            ast::Statement::ForOfStatement(one) => StatementKind::Loop(Box::new(Loop {
                label,
                target: self.left(&one.left),
                over: Some(self.expression(&one.right)),
                body: self.body(&one.body),
                is_awaited: one.r#await,
                ..Loop::default()
            })),
            ast::Statement::ForInStatement(one) => self.for_in(one, label),
            ast::Statement::ForStatement(one) => self.for_loop(one, label, all),
            ast::Statement::WhileStatement(one) => StatementKind::Loop(Box::new(Loop {
                label,
                test: Some(self.expression(&one.test)),
                body: self.body(&one.body),
                ..Loop::default()
            })),
            ast::Statement::DoWhileStatement(one) => StatementKind::Loop(Box::new(Loop {
                label,
                test: Some(self.expression(&one.test)),
                body: self.body(&one.body),
                is_tested_last: true,
                ..Loop::default()
            })),
            ast::Statement::LabeledStatement(one) => {
                let label = self.word(&one.label.name);
                return self.statement(&one.body, Some(label), all);
            }
            ast::Statement::SwitchStatement(one) => StatementKind::Switch {
                subject: self.expression(&one.discriminant),
                cases: one.cases.iter().map(|case| self.case(case)).collect(),
                falls_through: true,
            },
            ast::Statement::TryStatement(one) => StatementKind::Try {
                body: self.block(&one.block),
                catches: one.handler.iter().map(|handler| self.catch(handler)).collect(),
                otherwise: Vec::new(),
                last: one.finalizer.as_ref().map_or_else(Vec::new, |last| self.block(last)),
            },
            ast::Statement::WithStatement(one) => {
                let object = self.expression(&one.object);
                StatementKind::With(vec![(object, None)], self.body(&one.body))
            }
            _ => StatementKind::Nothing,
        };
        all.push(Statement { kind, at });
    }

    fn for_in(&mut self, one: &ast::ForInStatement<'_>, label: Option<Arc<str>>) -> StatementKind {
        // The items are keys.
        let over = self.expression(&one.right);
        let over_at = over.at.clone();
        let keys = expression(Term::Member(Box::new(over), self.word("keys")), over_at.clone());
        let call = Term::call(keys, Vec::new());
        StatementKind::Loop(Box::new(Loop {
            label,
            target: self.left(&one.left),
            over: Some(expression(call, over_at)),
            body: self.body(&one.body),
            ..Loop::default()
        }))
    }

    fn for_loop(
        &mut self,
        one: &ast::ForStatement<'_>,
        label: Option<Arc<str>>,
        all: &mut Vec<Statement>,
    ) -> StatementKind {
        match &one.init {
            Some(ast::ForStatementInit::VariableDeclaration(declared)) => self.declared(declared, all),
            Some(init) => {
                if let Some(init) = init.as_expression() {
                    let kind = StatementKind::Expression(self.expression(init));
                    all.push(Statement {
                        kind,
                        at: range(one.span),
                    });
                }
            }
            None => {}
        }
        StatementKind::Loop(Box::new(Loop {
            label,
            test: one.test.as_ref().map(|test| self.expression(test)),
            step: one.update.as_ref().map(|step| self.expression(step)),
            body: self.body(&one.body),
            ..Loop::default()
        }))
    }

    fn case(&mut self, case: &ast::SwitchCase<'_>) -> Case {
        Case {
            tests: case.test.as_ref().map(|test| vec![self.expression(test)]),
            body: self.statements(&case.consequent),
        }
    }

    fn catch(&mut self, handler: &ast::CatchClause<'_>) -> Catch {
        Catch {
            types: None,
            target: handler.param.as_ref().map(|param| self.pattern(&param.pattern)),
            body: self.block(&handler.body),
            at: self.0.head(range(handler.span)),
        }
    }

    fn left(&mut self, left: &ast::ForStatementLeft<'_>) -> Option<Expression> {
        match left {
            ast::ForStatementLeft::VariableDeclaration(declared) => {
                declared.declarations.first().map(|first| self.pattern(&first.id))
            }
            other => other.as_assignment_target().map(|target| self.target(target)),
        }
    }

    fn declaration(&mut self, node: &ast::Declaration<'_>, all: &mut Vec<Statement>) {
        let at = range(node.span());
        let kind = match node {
            ast::Declaration::VariableDeclaration(one) => return self.declared(one, all),
            ast::Declaration::FunctionDeclaration(one) => {
                StatementKind::Function(Arc::new(self.function(one, at.clone())))
            }
            ast::Declaration::ClassDeclaration(one) => StatementKind::Class(Arc::new(self.class(one))),
            // Types, and values that only types use.
            _ => StatementKind::Nothing,
        };
        all.push(Statement { kind, at });
    }

    fn declared(&mut self, node: &ast::VariableDeclaration<'_>, all: &mut Vec<Statement>) {
        let declares = match node.kind {
            ast::VariableDeclarationKind::Var => Declares::Function,
            _ => Declares::Block,
        };
        for one in &node.declarations {
            let at = range(one.span);
            let value = match &one.init {
                Some(init) => self.expression(init),
                None => expression(Term::Null, at.clone()),
            };
            let target = self.pattern(&one.id);
            let kind = StatementKind::Assign {
                target,
                value,
                declares,
            };
            all.push(Statement { kind, at });
        }
    }

    fn module_declaration(&mut self, node: &ast::ModuleDeclaration<'_>, all: &mut Vec<Statement>) {
        let at = range(node.span());
        match node {
            ast::ModuleDeclaration::ImportDeclaration(one) => {
                let from = self.word(&one.source.value);
                let specifiers = one.specifiers.iter().flatten();
                let names = specifiers.map(|one| match one {
                    ast::ImportDeclarationSpecifier::ImportSpecifier(one) => {
                        self.word(&one.imported.name());
                        self.word(&one.local.name)
                    }
                    ast::ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => self.word(&one.local.name),
                    ast::ImportDeclarationSpecifier::ImportNamespaceSpecifier(one) => self.word(&one.local.name),
                });
                let names: Vec<_> = names.collect();
                if one.source.value.starts_with('.') {
                    self.1.extend(names.iter().cloned());
                }
                self.0.add_imports(&names, &from);
                let kind = StatementKind::Import(names);
                all.push(Statement { kind, at });
            }
            ast::ModuleDeclaration::ExportDeclaration(one) => self.declaration(&one.declaration, all),
            ast::ModuleDeclaration::ExportDefaultDeclaration(one) => {
                let value = match &one.declaration {
                    ast::ExportDefaultDeclarationKind::FunctionDeclaration(one) => {
                        let function = Arc::new(self.function(one, at.clone()));
                        expression(Term::Function(function), at.clone())
                    }
                    ast::ExportDefaultDeclarationKind::ClassDeclaration(one) => {
                        expression(Term::Class(Arc::new(self.class(one))), at.clone())
                    }
                    other => match other.as_expression() {
                        Some(value) => self.expression(value),
                        None => return,
                    },
                };
                // A named default is also declared under its name.
                if let Term::Function(function) = &value.kind
                    && function.name.is_some()
                {
                    let kind = StatementKind::Function(function.clone());
                    all.push(Statement { kind, at: at.clone() });
                }
                let name = self.word("default");
                all.push(named(name, value, at));
            }
            ast::ModuleDeclaration::ExportNamedDeclaration(one) => {
                for specifier in &one.specifiers {
                    let (local, exported) = (specifier.local.name(), specifier.exported.name());
                    if local != exported {
                        let value = expression(Term::Name(self.word(&local)), at.clone());
                        let name = self.word(&exported);
                        all.push(named(name, value, at.clone()));
                    }
                }
            }
            ast::ModuleDeclaration::ExportFromDeclaration(one) => {
                let names = one.specifiers.iter();
                let kind = StatementKind::Import(names.map(|one| self.word(&one.exported.name())).collect());
                all.push(Statement { kind, at });
            }
            // `export = { handler }`
            ast::ModuleDeclaration::TSExportAssignment(one) => {
                let target = expression(Term::Name(self.word("exports")), at.clone());
                let value = self.expression(&one.expression);
                let kind = StatementKind::Assign {
                    target,
                    value,
                    declares: Declares::No,
                };
                all.push(Statement { kind, at });
            }
            _ => {}
        }
    }

    /// Converts a class: its methods, and its fields as assignments.
    fn class(&mut self, class: &ast::Class<'_>) -> Class {
        let is_within = self.0.enter();
        let mut body = Vec::new();
        for member in class.body.body.iter().filter(|_| is_within) {
            let at = range(member.span());
            match member {
                ast::ClassElement::MethodDefinition(one) => {
                    let mut function = self.function(&one.value, at.clone());
                    function.name = one.key.name().map(|name| self.word(&name));
                    // `constructor(private readonly orders: Orders)` declares a field.
                    let fields = one.value.params.items.iter();
                    let fields = fields.filter(|field| field.accessibility.is_some() || field.readonly);
                    for field in fields.filter_map(|field| field.pattern.get_identifier_name()) {
                        let name = self.word(&field);
                        let this = expression(Term::Name("this".into()), at.clone());
                        let target = expression(Term::Member(Box::new(this), name.clone()), at.clone());
                        let value = expression(Term::Name(name), at.clone());
                        let kind = StatementKind::Assign {
                            target,
                            value,
                            declares: Declares::No,
                        };
                        function.body.insert(0, Statement { kind, at: at.clone() });
                    }
                    function.decorators = (one.decorators.iter())
                        .map(|one| self.expression(&one.expression))
                        .collect();
                    function.role = match one.kind {
                        ast::MethodDefinitionKind::Get => Role::Get,
                        ast::MethodDefinitionKind::Set => Role::Set,
                        _ => Role::Plain,
                    };
                    let kind = StatementKind::Function(Arc::new(function));
                    body.push(Statement { kind, at });
                }
                ast::ClassElement::PropertyDefinition(one) => {
                    let Some(name) = one.key.name() else { continue };
                    let name = self.word(&name);
                    let value = match &one.value {
                        Some(value) => self.expression(value),
                        None => expression(Term::Null, at.clone()),
                    };
                    let mut field = named(name, value, at);
                    if let (StatementKind::Assign { declares, .. }, true) = (&mut field.kind, one.r#static) {
                        *declares = Declares::Function;
                    }
                    body.push(field);
                }
                _ => {}
            }
        }
        self.0.leave();
        Class {
            name: class.id.as_ref().map(|id| self.word(&id.name)),
            bases: class
                .heritage
                .iter()
                .map(|base| self.expression(&base.expression))
                .collect(),
            decorators: Vec::new(),
            is_created_elsewhere: false,
            body,
        }
    }

    fn function(&mut self, function: &ast::Function<'_>, at: TextRange) -> Function {
        let body = function.body.as_ref();
        Function {
            name: function.id.as_ref().map(|id| self.word(&id.name)),
            parameters: self.parameters(&function.params),
            body: body.map_or_else(Vec::new, |body| self.statements(&body.statements)),
            is_async: function.r#async,
            returns_failures: self.names_response(function.return_type.as_deref()),
            is_generator: function.generator,
            at: self.0.head(at),
            ..Function::default()
        }
    }

    fn arrow(&mut self, arrow: &ast::ArrowFunctionExpression<'_>) -> Function {
        let body = match &arrow.body {
            ast::ArrowFunctionBody::FunctionBody(body) => self.statements(&body.statements),
            value => {
                let value = value.as_expression().map(|value| self.expression(value));
                let at = range(arrow.span);
                let kind = StatementKind::Return(value);
                vec![Statement { kind, at }]
            }
        };
        Function {
            parameters: self.parameters(&arrow.params),
            body,
            is_async: arrow.r#async,
            returns_failures: self.names_response(arrow.return_type.as_deref()),
            is_arrow: true,
            at: self.0.head(range(arrow.span)),
            ..Function::default()
        }
    }

    /// Returns `true` if the type of a result is that of a response with failed messages.
    fn names_response(&self, result: Option<&ast::TSTypeAnnotation<'_>>) -> bool {
        let written = result.map(|result| self.0.text(range(result.span)));
        written.is_some_and(|written| RESPONSES.iter().any(|name| written.contains(name)))
    }

    fn parameters(&mut self, parameters: &ast::FormalParameters<'_>) -> Vec<Parameter> {
        let mut all = Vec::new();
        for one in &parameters.items {
            all.push(Parameter {
                pattern: self.pattern(&one.pattern),
                default: one.initializer.as_ref().map(|value| self.expression(value)),
                takes: Takes::One,
            });
        }
        if let Some(rest) = &parameters.rest {
            all.push(Parameter {
                pattern: self.pattern(&rest.rest.argument),
                default: None,
                takes: Takes::Rest,
            });
        }
        all
    }
}
