//! Converts JavaScript and TypeScript to the common syntax.

use super::nesting;
use super::reader::{SyntaxReader, expression, named};
use super::syntax::{
    Case, Catch, Class, Declares, Expression, Function, Logic, Loop, Module, Operator, Parameter, Statement,
    StatementKind, Takes, Term, TextRange,
};
use oxc_allocator::Allocator;
use oxc_ast::ast;
use oxc_span::{GetSpan, SourceType, Span};
use oxc_syntax::operator::{AssignmentOperator, BinaryOperator, LogicalOperator, UnaryOperator};
use std::sync::Arc;

/// Converts a file, or returns why it is not read.
pub(super) fn read(source: &str) -> Result<Module, nesting::Refusal> {
    nesting::check_script(source)?;
    let allocator = Allocator::default();
    let parsed = oxc_parser::Parser::new(&allocator, source, SourceType::ts()).parse();
    if parsed.panicked || !parsed.diagnostics.is_empty() {
        return Err(nesting::Refusal::Syntax);
    }
    let mut reader = Script(SyntaxReader::new(source, true));
    let body = reader.statements(&parsed.program.body);
    reader.0.finish(body).ok_or(nesting::Refusal::TooDeep)
}

/// Reader of JavaScript and TypeScript.
struct Script<'s>(SyntaxReader<'s>);

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
        let call = Term::Call {
            callee: Box::new(keys),
            arguments: Vec::new(),
            named: Vec::new(),
            is_new: false,
        };
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
                self.word(&one.source.value);
                let specifiers = one.specifiers.iter().flatten();
                let names = specifiers.map(|one| match one {
                    ast::ImportDeclarationSpecifier::ImportSpecifier(one) => {
                        self.word(&one.imported.name());
                        self.word(&one.local.name)
                    }
                    ast::ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => self.word(&one.local.name),
                    ast::ImportDeclarationSpecifier::ImportNamespaceSpecifier(one) => self.word(&one.local.name),
                });
                let kind = StatementKind::Import(names.collect());
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
                    let kind = StatementKind::Function(Arc::new(function));
                    body.push(Statement { kind, at });
                }
                ast::ClassElement::PropertyDefinition(one) => {
                    if let (Some(name), Some(value)) = (one.key.name(), &one.value) {
                        let (name, value) = (self.word(&name), self.expression(value));
                        body.push(named(name, value, at));
                    }
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
            body,
        }
    }

    fn function(&mut self, function: &ast::Function<'_>, at: TextRange) -> Function {
        let body = function.body.as_ref();
        Function {
            name: function.id.as_ref().map(|id| self.word(&id.name)),
            parameters: self.parameters(&function.params),
            decorators: Vec::new(),
            body: body.map_or_else(Vec::new, |body| self.statements(&body.statements)),
            is_async: function.r#async,
            is_generator: function.generator,
            is_arrow: false,
            outer: Vec::new(),
            at: self.0.head(at),
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
            name: None,
            parameters: self.parameters(&arrow.params),
            decorators: Vec::new(),
            body,
            is_async: arrow.r#async,
            is_generator: false,
            is_arrow: true,
            outer: Vec::new(),
            at: self.0.head(range(arrow.span)),
        }
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

    /// Converts a pattern: names, lists, objects, and assignments for defaults.
    fn pattern(&mut self, pattern: &ast::BindingPattern<'_>) -> Expression {
        let at = range(pattern.span());
        let kind = if self.0.enter() {
            match pattern {
                ast::BindingPattern::BindingIdentifier(one) => Term::Name(self.word(&one.name)),
                ast::BindingPattern::ObjectPattern(one) => {
                    let mut entries = Vec::new();
                    for property in &one.properties {
                        let key = property.key.static_name().map(|key| self.word(&key));
                        entries.push((key, self.pattern(&property.value)));
                    }
                    if let Some(rest) = &one.rest {
                        let rest_at = range(rest.span);
                        let rest = Term::Spread(Box::new(self.pattern(&rest.argument)));
                        entries.push((None, expression(rest, rest_at)));
                    }
                    Term::Object(entries)
                }
                ast::BindingPattern::ArrayPattern(one) => {
                    let items = one.elements.iter().map(|item| match item {
                        Some(item) => self.pattern(item),
                        None => expression(Term::Null, at.clone()),
                    });
                    let mut items: Vec<Expression> = items.collect();
                    if let Some(rest) = &one.rest {
                        let rest_at = range(rest.span);
                        let rest = Term::Spread(Box::new(self.pattern(&rest.argument)));
                        items.push(expression(rest, rest_at));
                    }
                    Term::List(items)
                }
                ast::BindingPattern::AssignmentPattern(one) => Term::Assign {
                    target: Box::new(self.pattern(&one.left)),
                    value: Box::new(self.expression(&one.right)),
                    operator: None,
                },
            }
        } else {
            Term::Null
        };
        self.0.leave();
        expression(kind, at)
    }

    fn target(&mut self, target: &ast::AssignmentTarget<'_>) -> Expression {
        let at = range(target.span());
        if let Some(simple) = target.as_simple_assignment_target() {
            return self.simple_target(simple);
        }
        let kind = match target {
            ast::AssignmentTarget::ArrayAssignmentTarget(one) => {
                let items = one.elements.iter().map(|item| match item {
                    Some(item) => self.target_with_default(item),
                    None => expression(Term::Null, at.clone()),
                });
                Term::List(items.collect())
            }
            ast::AssignmentTarget::ObjectAssignmentTarget(one) => {
                let entries = one.properties.iter().map(|property| match property {
                    ast::AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(one) => {
                        let name = self.word(&one.binding.name);
                        (Some(name.clone()), expression(Term::Name(name), at.clone()))
                    }
                    ast::AssignmentTargetProperty::AssignmentTargetPropertyProperty(one) => {
                        let name = one.name.static_name().map(|name| self.word(&name));
                        (name, self.target_with_default(&one.binding))
                    }
                });
                Term::Object(entries.collect())
            }
            _ => Term::Null,
        };
        expression(kind, at)
    }

    fn target_with_default(&mut self, target: &ast::AssignmentTargetMaybeDefault<'_>) -> Expression {
        let at = range(target.span());
        match target {
            ast::AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(one) => {
                let kind = Term::Assign {
                    target: Box::new(self.target(&one.binding)),
                    value: Box::new(self.expression(&one.init)),
                    operator: None,
                };
                expression(kind, at)
            }
            other => match other.as_assignment_target() {
                Some(target) => self.target(target),
                None => expression(Term::Null, at),
            },
        }
    }

    fn simple_target(&mut self, target: &ast::SimpleAssignmentTarget<'_>) -> Expression {
        let at = range(target.span());
        if let Some(member) = target.as_member_expression() {
            let kind = self.member(member);
            return expression(kind, at);
        }
        match target {
            ast::SimpleAssignmentTarget::AssignmentTargetIdentifier(one) => {
                expression(Term::Name(self.word(&one.name)), at)
            }
            other => match other.get_expression() {
                Some(value) => self.expression(value),
                None => expression(Term::Null, at),
            },
        }
    }

    fn expression(&mut self, node: &ast::Expression<'_>) -> Expression {
        let at = range(node.span());
        let kind = if self.0.enter() { self.term(node) } else { Term::Null };
        self.0.leave();
        expression(kind, at)
    }

    fn boxed(&mut self, node: &ast::Expression<'_>) -> Box<Expression> {
        Box::new(self.expression(node))
    }

    fn other(&mut self, parts: &[&ast::Expression<'_>]) -> Term {
        Term::Other(parts.iter().map(|part| self.expression(part)).collect())
    }

    fn member(&mut self, node: &ast::MemberExpression<'_>) -> Term {
        match node {
            ast::MemberExpression::StaticMemberExpression(one) => {
                Term::Member(self.boxed(&one.object), self.word(&one.property.name))
            }
            ast::MemberExpression::PrivateFieldExpression(one) => {
                Term::Member(self.boxed(&one.object), self.word(&one.field.name))
            }
            ast::MemberExpression::ComputedMemberExpression(one) => {
                let of = self.boxed(&one.object);
                match &one.expression {
                    ast::Expression::StringLiteral(key) => Term::Member(of, self.word(&key.value)),
                    index => Term::Index(of, self.boxed(index)),
                }
            }
        }
    }

    fn term(&mut self, node: &ast::Expression<'_>) -> Term {
        if let Some(member) = node.as_member_expression() {
            return self.member(member);
        }
        match node {
            ast::Expression::Identifier(one) if one.name == "undefined" => Term::Null,
            ast::Expression::Identifier(one) => Term::Name(self.word(&one.name)),
            ast::Expression::ThisExpression(_) => Term::Name(self.word("this")),
            ast::Expression::Super(_) => Term::Name(self.word("super")),
            ast::Expression::CallExpression(one) => self.call(&one.callee, &one.arguments, false),
            ast::Expression::NewExpression(one) => self.call(&one.callee, &one.arguments, true),
            ast::Expression::ChainExpression(one) => match &one.expression {
                ast::ChainElement::CallExpression(one) => self.call(&one.callee, &one.arguments, false),
                ast::ChainElement::TSNonNullExpression(one) => self.expression(&one.expression).kind,
                other => match other.as_member_expression() {
                    Some(member) => self.member(member),
                    None => Term::Null,
                },
            },
            ast::Expression::ArrowFunctionExpression(one) => Term::Function(Arc::new(self.arrow(one))),
            ast::Expression::FunctionExpression(one) => Term::Function(Arc::new(self.function(one, range(one.span)))),
            ast::Expression::ClassExpression(one) => Term::Class(Arc::new(self.class(one))),
            ast::Expression::ObjectExpression(one) => {
                Term::Object(one.properties.iter().map(|entry| self.entry(entry)).collect())
            }
            ast::Expression::ArrayExpression(one) => {
                let items = one.elements.iter().map(|item| match item {
                    ast::ArrayExpressionElement::SpreadElement(spread) => self.spread(spread),
                    item => match item.as_expression() {
                        Some(value) => self.expression(value),
                        None => expression(Term::Null, range(item.span())),
                    },
                });
                Term::List(items.collect())
            }
            ast::Expression::StringLiteral(one) => Term::Text(self.word(&one.value)),
            ast::Expression::NumericLiteral(one) => Term::Number(one.value),
            ast::Expression::BooleanLiteral(one) => Term::Bool(one.value),
            ast::Expression::NullLiteral(_) => Term::Null,
            ast::Expression::TemplateLiteral(one) => self.template(one),
            ast::Expression::TaggedTemplateExpression(one) => self.tagged(one),
            ast::Expression::AwaitExpression(one) => Term::Await(self.boxed(&one.argument)),
            ast::Expression::ConditionalExpression(one) => Term::If(Box::new([
                self.expression(&one.test),
                self.expression(&one.consequent),
                self.expression(&one.alternate),
            ])),
            ast::Expression::LogicalExpression(one) => {
                let logic = match one.operator {
                    LogicalOperator::And => Logic::And,
                    LogicalOperator::Or => Logic::Or,
                    LogicalOperator::Coalesce => Logic::IfNull,
                };
                Term::Logic(
                    logic,
                    Box::new([self.expression(&one.left), self.expression(&one.right)]),
                )
            }
            ast::Expression::BinaryExpression(one) => {
                let parts = [self.expression(&one.left), self.expression(&one.right)];
                Term::Binary(binary(one.operator), Box::new(parts))
            }
            ast::Expression::UnaryExpression(one) => match one.operator {
                UnaryOperator::LogicalNot => Term::Not(self.boxed(&one.argument)),
                _ => self.other(&[&one.argument]),
            },
            ast::Expression::UpdateExpression(one) => {
                let operator = match one.operator {
                    oxc_syntax::operator::UpdateOperator::Increment => Operator::Add,
                    oxc_syntax::operator::UpdateOperator::Decrement => Operator::Subtract,
                };
                let at = range(one.span);
                Term::Assign {
                    target: Box::new(self.simple_target(&one.argument)),
                    value: Box::new(expression(Term::Number(1.0), at)),
                    operator: Some(operator),
                }
            }
            ast::Expression::AssignmentExpression(one) => self.assignment(one),
            ast::Expression::SequenceExpression(one) => {
                Term::Other(one.expressions.iter().map(|part| self.expression(part)).collect())
            }
            ast::Expression::YieldExpression(one) => {
                Term::Other(one.argument.iter().map(|value| self.expression(value)).collect())
            }
            ast::Expression::ImportExpression(one) => self.other(&[&one.source]),
            ast::Expression::ParenthesizedExpression(one) => self.term(&one.expression),
            ast::Expression::TSAsExpression(one) => self.term(&one.expression),
            ast::Expression::TSSatisfiesExpression(one) => self.term(&one.expression),
            ast::Expression::TSTypeAssertion(one) => self.term(&one.expression),
            ast::Expression::TSNonNullExpression(one) => self.term(&one.expression),
            ast::Expression::TSInstantiationExpression(one) => self.term(&one.expression),
            _ => Term::Other(Vec::new()),
        }
    }

    fn template(&mut self, one: &ast::TemplateLiteral<'_>) -> Term {
        match (one.quasis.as_slice(), one.expressions.as_slice()) {
            ([only], []) => Term::Text(self.word(&only.value.raw)),
            (quasis, parts) => {
                for quasi in quasis {
                    self.word(&quasi.value.raw);
                }
                Term::Other(parts.iter().map(|part| self.expression(part)).collect())
            }
        }
    }

    fn tagged(&mut self, one: &ast::TaggedTemplateExpression<'_>) -> Term {
        // sql`select ${id}` is a call of `sql`.
        let texts = one.quasi.quasis.iter();
        let mut arguments: Vec<Expression> = texts
            .map(|text| expression(Term::Text(self.word(&text.value.raw)), range(text.span)))
            .collect();
        arguments.extend(one.quasi.expressions.iter().map(|part| self.expression(part)));
        Term::Call {
            callee: self.boxed(&one.tag),
            arguments,
            named: Vec::new(),
            is_new: false,
        }
    }

    fn assignment(&mut self, one: &ast::AssignmentExpression<'_>) -> Term {
        let target = Box::new(self.target(&one.left));
        let value = self.boxed(&one.right);
        let logic = match one.operator {
            AssignmentOperator::LogicalOr => Logic::Or,
            AssignmentOperator::LogicalAnd => Logic::And,
            AssignmentOperator::LogicalNullish => Logic::IfNull,
            operator => {
                let operator = match operator {
                    AssignmentOperator::Assign => None,
                    AssignmentOperator::Addition => Some(Operator::Add),
                    AssignmentOperator::Subtraction => Some(Operator::Subtract),
                    _ => Some(Operator::Other),
                };
                return Term::Assign {
                    target,
                    value,
                    operator,
                };
            }
        };
        // `a ||= b` is `a || (a = b)`.
        let at = range(one.span);
        let left = self.target(&one.left);
        let operator = None;
        let assigned = expression(
            Term::Assign {
                target,
                value,
                operator,
            },
            at,
        );
        Term::Logic(logic, Box::new([left, assigned]))
    }

    fn spread(&mut self, spread: &ast::SpreadElement<'_>) -> Expression {
        let inner = self.boxed(&spread.argument);
        expression(Term::Spread(inner), range(spread.span))
    }

    fn call(&mut self, callee: &ast::Expression<'_>, arguments: &[ast::Argument<'_>], is_new: bool) -> Term {
        let callee = self.boxed(callee);
        let arguments = arguments.iter().map(|one| match one {
            ast::Argument::SpreadElement(spread) => self.spread(spread),
            one => match one.as_expression() {
                Some(value) => self.expression(value),
                None => expression(Term::Null, range(one.span())),
            },
        });
        Term::Call {
            arguments: arguments.collect(),
            callee,
            named: Vec::new(),
            is_new,
        }
    }

    fn entry(&mut self, entry: &ast::ObjectPropertyKind<'_>) -> (Option<Arc<str>>, Expression) {
        match entry {
            ast::ObjectPropertyKind::SpreadProperty(spread) => (None, self.spread(spread)),
            ast::ObjectPropertyKind::ObjectProperty(one) => {
                let key = one.key.static_name().map(|key| self.word(&key));
                let value = self.expression(&one.value);
                if key.is_some() {
                    return (key, value);
                }
                let at = value.at.clone();
                (None, expression(Term::Other(vec![value]), at))
            }
        }
    }
}

fn binary(operator: BinaryOperator) -> Operator {
    match operator {
        BinaryOperator::Equality | BinaryOperator::StrictEquality => Operator::Equal,
        BinaryOperator::Inequality | BinaryOperator::StrictInequality => Operator::NotEqual,
        BinaryOperator::LessThan => Operator::Less,
        BinaryOperator::LessEqualThan => Operator::AtMost,
        BinaryOperator::GreaterThan => Operator::Greater,
        BinaryOperator::GreaterEqualThan => Operator::AtLeast,
        BinaryOperator::Addition => Operator::Add,
        BinaryOperator::Subtraction => Operator::Subtract,
        BinaryOperator::In => Operator::In,
        BinaryOperator::Instanceof => Operator::InstanceOf,
        _ => Operator::Other,
    }
}
