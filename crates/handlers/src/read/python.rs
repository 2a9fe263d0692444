//! Converts Python to the common syntax.

use super::nesting;
use super::reader::{SyntaxReader, expression};
use super::syntax::{
    Case, Catch, Class, Clause, Declares, Expression, Function, Logic, Loop, Module, Operator, Parameter, Role,
    Statement, StatementKind, Takes, Term, TextRange,
};
use ruff_python_ast as ast;
use ruff_python_ast::{Expr, Pattern, Stmt};
use ruff_text_size::Ranged;
use std::sync::Arc;

/// Converts a file, or returns why it is not read.
pub(crate) fn read(source: &str) -> Result<Module, nesting::Refusal> {
    nesting::check_python(source)?;
    let parsed = ruff_python_parser::parse_module(source).map_err(|_| nesting::Refusal::Syntax)?;
    let mut reader = Python {
        syntax: SyntaxReader::new(source, false),
        outer: Vec::new(),
        yields: false,
    };
    let body = reader.statements(&parsed.syntax().body);
    reader.syntax.finish(body).ok_or(nesting::Refusal::TooDeep)
}

/// Reader of Python.
struct Python<'s> {
    syntax: SyntaxReader<'s>,
    /// Names in `global` and `nonlocal` of the current function.
    outer: Vec<Arc<str>>,
    /// `true` if the current function has a `yield`.
    yields: bool,
}

fn range(node: &impl Ranged) -> TextRange {
    node.range().start().to_usize()..node.range().end().to_usize()
}

impl Python<'_> {
    fn word(&mut self, text: &str) -> Arc<str> {
        self.syntax.word(text)
    }

    fn statements(&mut self, body: &[Stmt]) -> Vec<Statement> {
        let is_within = self.syntax.enter();
        let body = if is_within { body } else { &[] };
        let all = body.iter().map(|one| self.statement(one)).collect();
        self.syntax.leave();
        all
    }

    fn all(&mut self, values: &[Expr]) -> Vec<Expression> {
        values.iter().map(|value| self.expression(value)).collect()
    }

    fn statement(&mut self, node: &Stmt) -> Statement {
        let at = range(node);
        let kind = match node {
            Stmt::Expr(one) => StatementKind::Expression(self.expression(&one.value)),
            Stmt::Assign(one) => self.assignment(one),
            Stmt::AnnAssign(one) => match &one.value {
                Some(value) => {
                    let value = self.expression(value);
                    StatementKind::Assign {
                        target: self.expression(&one.target),
                        value,
                        declares: Declares::Block,
                    }
                }
                None => match &*one.target {
                    Expr::Name(name) => StatementKind::Field(self.word(&name.id)),
                    _ => StatementKind::Nothing,
                },
            },
            Stmt::AugAssign(one) => {
                let (target, value) = (self.expression(&one.target), self.expression(&one.value));
                let kind = Term::assign(target, value, Some(computed(one.op)));
                StatementKind::Expression(expression(kind, at.clone()))
            }
            Stmt::Return(one) => StatementKind::Return(one.value.as_deref().map(|value| self.expression(value))),
            Stmt::Raise(one) => StatementKind::Raise(one.exc.as_deref().map(|value| self.expression(value))),
            Stmt::Assert(one) => StatementKind::If {
                test: self.expression(&one.test),
                yes: Vec::new(),
                no: vec![Statement {
                    kind: StatementKind::Raise(Some(expression(Term::Other(Vec::new()), at.clone()))),
                    at: at.clone(),
                }],
            },
            Stmt::For(one) => StatementKind::Loop(Box::new(Loop {
                target: Some(self.expression(&one.target)),
                over: Some(self.expression(&one.iter)),
                body: self.statements(&one.body),
                otherwise: self.statements(&one.orelse),
                ..Loop::default()
            })),
            Stmt::While(one) => StatementKind::Loop(Box::new(Loop {
                test: Some(self.expression(&one.test)),
                body: self.statements(&one.body),
                otherwise: self.statements(&one.orelse),
                ..Loop::default()
            })),
            Stmt::If(one) => self.branch(one),
            Stmt::Match(one) => StatementKind::Switch {
                subject: self.expression(&one.subject),
                cases: one.cases.iter().map(|case| self.case(case)).collect(),
                falls_through: false,
            },
            Stmt::Try(one) => StatementKind::Try {
                body: self.statements(&one.body),
                catches: one.handlers.iter().map(|handler| self.catch(handler)).collect(),
                otherwise: self.statements(&one.orelse),
                last: self.statements(&one.finalbody),
            },
            Stmt::With(one) => self.with(one),
            Stmt::FunctionDef(one) => StatementKind::Function(Arc::new(self.function(one))),
            Stmt::ClassDef(one) => StatementKind::Class(Arc::new(Class {
                name: Some(self.word(&one.name.id)),
                bases: one
                    .arguments
                    .as_ref()
                    .map_or_else(Vec::new, |bases| self.all(&bases.args)),
                decorators: self.decorators(&one.decorator_list),
                is_created_elsewhere: one.arguments.as_ref().is_some_and(|bases| {
                    let mut names = bases.keywords.iter().map(|keyword| keyword.arg.as_deref());
                    names.any(|name| !matches!(name, Some("frozen" | "total" | "kw_only" | "slots" | "table")))
                }),
                body: self.statements(&one.body),
            })),
            Stmt::Break(_) => StatementKind::Break(None),
            Stmt::Continue(_) => StatementKind::Continue(None),
            Stmt::Global(one) => self.outside(&one.names),
            Stmt::Nonlocal(one) => self.outside(&one.names),
            Stmt::Import(one) => self.imported(None, 0, &one.names),
            Stmt::ImportFrom(one) => self.imported(one.module.as_ref(), one.level, &one.names),
            Stmt::Delete(one) => {
                StatementKind::Expression(expression(Term::Delete(self.all(&one.targets)), at.clone()))
            }
            Stmt::Pass(_) | Stmt::TypeAlias(_) | Stmt::IpyEscapeCommand(_) => StatementKind::Nothing,
        };
        Statement { kind, at }
    }

    fn assignment(&mut self, one: &ast::StmtAssign) -> StatementKind {
        let value = self.expression(&one.value);
        match one.targets.as_slice() {
            [only] => self.assigned(only, value),
            several => {
                // `a = b = value` assigns from left to right.
                let chained = several.iter().rev().fold(value, |value, target| {
                    expression(Term::assign(self.expression(target), value, None), range(target))
                });
                StatementKind::Expression(chained)
            }
        }
    }

    fn decorators(&mut self, all: &[ast::Decorator]) -> Vec<Expression> {
        all.iter().map(|one| self.expression(&one.expression)).collect()
    }

    fn branch(&mut self, one: &ast::StmtIf) -> StatementKind {
        let mut no = Vec::new();
        for clause in one.elif_else_clauses.iter().rev() {
            let yes = self.statements(&clause.body);
            no = match &clause.test {
                None => yes,
                Some(test) => {
                    let test = self.expression(test);
                    let kind = StatementKind::If { test, yes, no };
                    vec![Statement {
                        kind,
                        at: range(clause),
                    }]
                }
            };
        }
        StatementKind::If {
            test: self.expression(&one.test),
            yes: self.statements(&one.body),
            no,
        }
    }

    fn with(&mut self, one: &ast::StmtWith) -> StatementKind {
        let items = one.items.iter().map(|item| {
            let value = self.expression(&item.context_expr);
            (
                value,
                item.optional_vars.as_deref().map(|target| self.expression(target)),
            )
        });
        let items = items.collect();
        StatementKind::With(items, self.statements(&one.body))
    }

    fn outside(&mut self, names: &[ast::Identifier]) -> StatementKind {
        for name in names {
            let name = self.word(&name.id);
            self.outer.push(name);
        }
        StatementKind::Nothing
    }

    fn assigned(&mut self, target: &Expr, value: Expression) -> StatementKind {
        StatementKind::Assign {
            target: self.expression(target),
            value,
            declares: Declares::No,
        }
    }

    fn imported(&mut self, module: Option<&ast::Identifier>, level: u32, names: &[ast::Alias]) -> StatementKind {
        let dots = ".".repeat(level as usize);
        let mut all = Vec::new();
        for alias in names {
            let name = self.word(&alias.name.id);
            let from = self.word(&format!("{dots}{}", module.map_or(&*name, |module| module.id.as_str())));
            let local = alias.asname.as_ref().unwrap_or(&alias.name);
            // `import a.b` binds `a`.
            let local = self.word(local.id.split('.').next().unwrap_or_default());
            self.syntax.add_imports(std::slice::from_ref(&local), &from);
            all.push(local);
        }
        StatementKind::Import(all)
    }

    fn case(&mut self, case: &ast::MatchCase) -> Case {
        let mut all = Vec::new();
        let mut matches_all = false;
        let is_capture = |pattern: &Pattern| matches!(pattern, Pattern::MatchAs(one) if one.pattern.is_none());
        let mut open = vec![&case.pattern];
        while let Some(pattern) = open.pop() {
            match pattern {
                Pattern::MatchValue(one) => all.push(self.expression(&one.value)),
                Pattern::MatchOr(one) => open.extend(&one.patterns),
                Pattern::MatchAs(one) if one.pattern.is_none() => matches_all = true,
                Pattern::MatchAs(one) => open.extend(one.pattern.as_deref()),
                Pattern::MatchSingleton(one) => {
                    let kind = match one.value {
                        ast::Singleton::None => Term::Null,
                        ast::Singleton::True => Term::Bool(true),
                        ast::Singleton::False => Term::Bool(false),
                    };
                    all.push(expression(kind, range(pattern)));
                }
                Pattern::MatchClass(one)
                    if one.arguments.patterns.iter().all(is_capture)
                        && one
                            .arguments
                            .keywords
                            .iter()
                            .all(|keyword| is_capture(&keyword.pattern)) =>
                {
                    let at = range(pattern);
                    let parts = [expression(Term::Null, at.clone()), self.expression(&one.cls)];
                    all.push(expression(Term::Binary(Operator::InstanceOf, Box::new(parts)), at));
                }
                _ => all.push(expression(Term::Other(Vec::new()), range(pattern))),
            }
        }
        let mut tests = (!matches_all).then_some(all);
        if let Some(guard) = &case.guard {
            let guard = self.expression(guard);
            tests = Some(vec![expression(Term::Other(vec![guard]), range(case))]);
        }
        Case {
            tests,
            body: self.statements(&case.body),
        }
    }

    fn catch(&mut self, handler: &ast::ExceptHandler) -> Catch {
        let ast::ExceptHandler::ExceptHandler(handler) = handler;
        let types = handler.type_.as_deref().map(|types| match types {
            Expr::Tuple(several) => self.all(&several.elts),
            one => vec![self.expression(one)],
        });
        Catch {
            types,
            target: handler.name.as_ref().map(|name| self.name(name)),
            body: self.statements(&handler.body),
            at: self.syntax.head(range(handler)),
        }
    }

    fn name(&mut self, name: &ast::Identifier) -> Expression {
        expression(Term::Name(self.word(&name.id)), range(name))
    }

    fn parameters(&mut self, parameters: Option<&ast::Parameters>) -> Vec<Parameter> {
        let Some(parameters) = parameters else {
            return Vec::new();
        };
        let all = parameters.iter().map(|one| {
            let takes = match one {
                ast::AnyParameterRef::NonVariadic(one) if parameters.posonlyargs.contains(one) => Takes::Positional,
                ast::AnyParameterRef::NonVariadic(_) => Takes::One,
                ast::AnyParameterRef::Variadic(rest) if parameters.vararg.as_deref() == Some(rest) => Takes::Rest,
                ast::AnyParameterRef::Variadic(_) => Takes::Named,
            };
            Parameter {
                pattern: self.name(one.name()),
                default: one.default().map(|value| self.expression(value)),
                takes,
            }
        });
        all.collect()
    }

    fn function(&mut self, one: &ast::StmtFunctionDef) -> Function {
        let outer = std::mem::take(&mut self.outer);
        let yields = std::mem::replace(&mut self.yields, false);
        let mut decorators = self.decorators(&one.decorator_list);
        let role = decorators.iter().find_map(|one| match one.last_name()? {
            "property" | "cached_property" | "computed_field" => Some(Role::Get),
            "setter" => Some(Role::Set),
            "staticmethod" => Some(Role::Static),
            _ => None,
        });
        let is_role = |one: &Expression| {
            matches!(
                one.last_name(),
                Some("property" | "cached_property" | "computed_field" | "setter" | "staticmethod" | "classmethod")
            )
        };
        decorators.retain(|one| !is_role(one));
        let body = self.statements(&one.body);
        let start = range(&one.name).start;
        let from = self.syntax.head(range(one));
        // The range includes decorators.
        let at = if one.decorator_list.is_empty() {
            from
        } else {
            self.syntax.head(start..range(one).end)
        };
        Function {
            name: Some(self.word(&one.name.id)),
            parameters: self.parameters(Some(&one.parameters)),
            decorators,
            body,
            is_async: one.is_async,
            returns_failures: false,
            is_generator: std::mem::replace(&mut self.yields, yields),
            is_arrow: false,
            role: role.unwrap_or_default(),
            outer: std::mem::replace(&mut self.outer, outer),
            at,
        }
    }

    fn expression(&mut self, node: &Expr) -> Expression {
        let at = range(node);
        let kind = if self.syntax.enter() {
            self.term(node)
        } else {
            Term::Null
        };
        self.syntax.leave();
        expression(kind, at)
    }

    fn boxed(&mut self, node: &Expr) -> Box<Expression> {
        Box::new(self.expression(node))
    }

    fn term(&mut self, node: &Expr) -> Term {
        match node {
            Expr::Name(one) => Term::Name(self.word(&one.id)),
            Expr::Attribute(one) => Term::Member(self.boxed(&one.value), self.word(&one.attr.id)),
            Expr::Subscript(one) => {
                let of = self.boxed(&one.value);
                match &*one.slice {
                    Expr::StringLiteral(key) => Term::Member(of, self.word(key.value.to_str())),
                    Expr::Slice(slice) if slice.step.is_none() => self.sliced(of, slice, range(one)),
                    index => Term::Index(of, self.boxed(index)),
                }
            }
            Expr::Call(one) => {
                let named = one.arguments.keywords.iter().map(|keyword| {
                    let name = keyword.arg.as_ref().map(|name| self.word(&name.id));
                    (name, self.expression(&keyword.value))
                });
                let named = named.collect();
                Term::Call {
                    callee: self.boxed(&one.func),
                    arguments: self.all(&one.arguments.args),
                    named,
                    is_new: false,
                }
            }
            Expr::Lambda(one) => self.lambda(one),
            Expr::Dict(one) => Term::Object(one.items.iter().map(|item| self.entry(item)).collect()),
            Expr::List(one) => Term::List(self.all(&one.elts)),
            Expr::Tuple(one) => Term::List(self.all(&one.elts)),
            Expr::Set(one) => {
                let list = expression(Term::List(self.all(&one.elts)), range(node));
                Term::Set(Box::new(list))
            }
            Expr::ListComp(one) => self.each(&one.generators, &one.elt, false),
            Expr::SetComp(one) => {
                let list = self.each(&one.generators, &one.elt, false);
                Term::Set(Box::new(expression(list, range(node))))
            }
            Expr::Generator(one) => self.each(&one.generators, &one.elt, true),
            Expr::DictComp(one) => self.each(&one.generators, &one.value, false),
            Expr::StringLiteral(one) => Term::Text(self.word(one.value.to_str())),
            Expr::FString(one) => {
                let parts = one
                    .value
                    .elements()
                    .filter_map(ast::InterpolatedStringElement::as_interpolation);
                Term::Other(parts.map(|part| self.expression(&part.expression)).collect())
            }
            Expr::NumberLiteral(one) => match &one.value {
                ast::Number::Int(value) => Term::Number(value.as_i32().map_or(f64::NAN, f64::from)),
                ast::Number::Float(value) => Term::Number(*value),
                ast::Number::Complex { .. } => Term::Other(Vec::new()),
            },
            Expr::BooleanLiteral(one) => Term::Bool(one.value),
            Expr::NoneLiteral(_) => Term::Null,
            Expr::Await(one) => Term::Await(self.boxed(&one.value)),
            Expr::If(one) => Term::If(Box::new([
                self.expression(&one.test),
                self.expression(&one.body),
                self.expression(&one.orelse),
            ])),
            Expr::BoolOp(one) => self.logic(one),
            Expr::UnaryOp(one) => match one.op {
                ast::UnaryOp::Not => Term::Not(self.boxed(&one.operand)),
                ast::UnaryOp::USub => {
                    let parts = [
                        expression(Term::Number(0.0), range(node)),
                        self.expression(&one.operand),
                    ];
                    Term::Binary(Operator::Subtract, Box::new(parts))
                }
                _ => Term::Other(vec![self.expression(&one.operand)]),
            },
            Expr::BinOp(one) => {
                let parts = [self.expression(&one.left), self.expression(&one.right)];
                Term::Binary(computed(one.op), Box::new(parts))
            }
            Expr::Compare(one) => self.comparison(one),
            Expr::Named(one) => Term::assign(self.expression(&one.target), self.expression(&one.value), None),
            Expr::Starred(one) => Term::Spread(self.boxed(&one.value)),
            Expr::Yield(one) => {
                self.yields = true;
                Term::Yield(one.value.as_deref().map(|value| self.boxed(value)), false)
            }
            Expr::YieldFrom(one) => {
                self.yields = true;
                Term::Yield(Some(self.boxed(&one.value)), true)
            }
            Expr::Slice(one) => {
                let ends = [&one.lower, &one.upper].into_iter().flatten();
                Term::Other(ends.map(|end| self.expression(end)).collect())
            }
            Expr::BytesLiteral(_) | Expr::TString(_) | Expr::EllipsisLiteral(_) | Expr::IpyEscapeCommand(_) => {
                Term::Other(Vec::new())
            }
        }
    }

    fn logic(&mut self, one: &ast::ExprBoolOp) -> Term {
        let logic = match one.op {
            ast::BoolOp::And => Logic::And,
            ast::BoolOp::Or => Logic::Or,
        };
        let mut all = self.all(&one.values).into_iter();
        let first = all.next().map_or(Term::Null, |first| first.kind);
        all.fold(first, |left, right| {
            let left = expression(left, right.at.clone());
            Term::Logic(logic, Box::new([left, right]))
        })
    }

    fn comparison(&mut self, one: &ast::ExprCompare) -> Term {
        match (&*one.ops, &*one.comparators) {
            ([operator], [right]) => {
                let parts = [self.expression(&one.left), self.expression(right)];
                Term::Binary(compared(*operator), Box::new(parts))
            }
            // `200 <= status < 300`: the one in the middle is evaluated once.
            (operators, rest) => {
                let mut left = self.expression(&one.left);
                let mut all: Option<Expression> = None;
                for (operator, right) in operators.iter().zip(rest) {
                    let at = range(right);
                    let value = self.expression(right);
                    let middle = |kind| expression(kind, at.clone());
                    let name = self.word("<middle>");
                    let target = middle(Term::Name(name.clone()));
                    let kept = middle(Term::assign(target, value, None));
                    let kind = Term::Binary(compared(*operator), Box::new([left, kept]));
                    let next = middle(kind);
                    all = Some(match all {
                        Some(all) => middle(Term::Logic(Logic::And, Box::new([all, next]))),
                        None => next,
                    });
                    left = middle(Term::Name(name));
                }
                all.map_or(Term::Null, |all| all.kind)
            }
        }
    }

    fn lambda(&mut self, one: &ast::ExprLambda) -> Term {
        let at = range(&*one.body);
        let value = self.expression(&one.body);
        let kind = StatementKind::Return(Some(value));
        Term::Function(Arc::new(Function {
            parameters: self.parameters(one.parameters.as_deref()),
            body: vec![Statement { kind, at }],
            is_arrow: true,
            at: self.syntax.head(range(one)),
            ..Function::default()
        }))
    }

    /// Returns the call with which JavaScript writes `of[lower:upper]`.
    fn sliced(&mut self, of: Box<Expression>, slice: &ast::ExprSlice, at: TextRange) -> Term {
        let lower = slice.lower.as_deref().map(|lower| self.expression(lower));
        let lower = lower.unwrap_or_else(|| expression(Term::Number(0.0), at.clone()));
        let upper = slice.upper.as_deref().map(|upper| self.expression(upper));
        let method = Term::Member(of, self.word("slice"));
        Term::call(expression(method, at), std::iter::once(lower).chain(upper).collect())
    }

    fn entry(&mut self, item: &ast::DictItem) -> (Option<Arc<str>>, Expression) {
        let value = self.expression(&item.value);
        match &item.key {
            Some(Expr::StringLiteral(key)) => (Some(self.word(key.value.to_str())), value),
            Some(key) => {
                let at = value.at.clone();
                (None, expression(Term::Other(vec![self.expression(key), value]), at))
            }
            None => {
                let at = value.at.clone();
                (None, expression(Term::Spread(Box::new(value)), at))
            }
        }
    }

    fn each(&mut self, clauses: &[ast::Comprehension], made: &Expr, is_lazy: bool) -> Term {
        let clauses = clauses.iter().map(|clause| Clause {
            target: self.expression(&clause.target),
            over: self.expression(&clause.iter),
            tests: self.all(&clause.ifs),
        });
        Term::Each {
            clauses: clauses.collect(),
            made: self.boxed(made),
            is_lazy,
        }
    }
}

fn computed(operator: ast::Operator) -> Operator {
    match operator {
        ast::Operator::Add => Operator::Add,
        ast::Operator::Sub => Operator::Subtract,
        ast::Operator::Mult => Operator::Multiply,
        ast::Operator::FloorDiv => Operator::Floor,
        ast::Operator::Mod => Operator::Remainder,
        _ => Operator::Other,
    }
}

fn compared(operator: ast::CmpOp) -> Operator {
    match operator {
        ast::CmpOp::Eq => Operator::Equal,
        ast::CmpOp::Is => Operator::Same,
        ast::CmpOp::IsNot => Operator::NotSame,
        ast::CmpOp::NotEq => Operator::NotEqual,
        ast::CmpOp::Lt => Operator::Less,
        ast::CmpOp::LtE => Operator::AtMost,
        ast::CmpOp::Gt => Operator::Greater,
        ast::CmpOp::GtE => Operator::AtLeast,
        ast::CmpOp::In => Operator::In,
        ast::CmpOp::NotIn => Operator::NotIn,
    }
}
