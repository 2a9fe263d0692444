//! Converts expressions and patterns of JavaScript and TypeScript.

use super::{Script, range};
use crate::read::reader::expression;
use crate::read::syntax::{
    Expression, Function, Logic, Operator, Parameter, Role, Statement, StatementKind, Takes, Term, TextRange,
};
use oxc_ast::ast;
use oxc_span::GetSpan;
use oxc_syntax::operator::{AssignmentOperator, BinaryOperator, LogicalOperator, UnaryOperator};
use std::sync::Arc;

impl Script<'_> {
    /// Converts a pattern: names, lists, objects, and assignments for defaults.
    pub(crate) fn pattern(&mut self, pattern: &ast::BindingPattern<'_>) -> Expression {
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
                ast::BindingPattern::AssignmentPattern(one) => {
                    Term::assign(self.pattern(&one.left), self.expression(&one.right), None)
                }
            }
        } else {
            Term::Null
        };
        self.0.leave();
        expression(kind, at)
    }

    pub(crate) fn target(&mut self, target: &ast::AssignmentTarget<'_>) -> Expression {
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

    pub(crate) fn target_with_default(&mut self, target: &ast::AssignmentTargetMaybeDefault<'_>) -> Expression {
        let at = range(target.span());
        match target {
            ast::AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(one) => expression(
                Term::assign(self.target(&one.binding), self.expression(&one.init), None),
                at,
            ),
            other => match other.as_assignment_target() {
                Some(target) => self.target(target),
                None => expression(Term::Null, at),
            },
        }
    }

    pub(crate) fn simple_target(&mut self, target: &ast::SimpleAssignmentTarget<'_>) -> Expression {
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

    pub(crate) fn expression(&mut self, node: &ast::Expression<'_>) -> Expression {
        let at = range(node.span());
        let kind = if self.0.enter() { self.term(node) } else { Term::Null };
        self.0.leave();
        expression(kind, at)
    }

    pub(crate) fn boxed(&mut self, node: &ast::Expression<'_>) -> Box<Expression> {
        Box::new(self.expression(node))
    }

    pub(crate) fn other(&mut self, parts: &[&ast::Expression<'_>]) -> Term {
        Term::Other(parts.iter().map(|part| self.expression(part)).collect())
    }

    pub(crate) fn member(&mut self, node: &ast::MemberExpression<'_>) -> Term {
        if node.optional() {
            self.0.add_optional(range(node.object().span()).end);
        }
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

    /// Converts `++` and `--`.
    fn updated(&mut self, one: &ast::UpdateExpression<'_>) -> Term {
        let operator = match one.operator {
            oxc_syntax::operator::UpdateOperator::Increment => Operator::Add,
            oxc_syntax::operator::UpdateOperator::Decrement => Operator::Subtract,
        };
        let at = range(one.span);
        let target = self.simple_target(&one.argument);
        let number = |at| expression(Term::Number(1.0), at);
        let changed = Term::assign(target, number(at.clone()), Some(operator));
        // `count--` is the number before the change.
        let inverse = match operator {
            Operator::Add => Operator::Subtract,
            _ => Operator::Add,
        };
        if one.prefix {
            changed
        } else {
            Term::Binary(inverse, Box::new([expression(changed, at.clone()), number(at)]))
        }
    }

    pub(crate) fn term(&mut self, node: &ast::Expression<'_>) -> Term {
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
            ast::Expression::NullLiteral(_) => Term::Nil,
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
                UnaryOperator::Delete => Term::Delete(vec![self.expression(&one.argument)]),
                // As functions.
                UnaryOperator::Void | UnaryOperator::Typeof => Term::Call {
                    callee: Box::new(expression(Term::Name(one.operator.as_str().into()), range(one.span))),
                    arguments: vec![self.expression(&one.argument)],
                    named: Vec::new(),
                    is_new: false,
                },
                UnaryOperator::UnaryNegation => {
                    let zero = expression(Term::Number(0.0), range(one.span));
                    Term::Binary(Operator::Subtract, Box::new([zero, self.expression(&one.argument)]))
                }
                _ => self.other(&[&one.argument]),
            },
            ast::Expression::UpdateExpression(one) => self.updated(one),
            ast::Expression::AssignmentExpression(one) => self.assignment(one),
            ast::Expression::SequenceExpression(one) => {
                Term::Other(one.expressions.iter().map(|part| self.expression(part)).collect())
            }
            ast::Expression::YieldExpression(one) => {
                Term::Yield(one.argument.as_ref().map(|value| self.boxed(value)), one.delegate)
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

    pub(crate) fn template(&mut self, one: &ast::TemplateLiteral<'_>) -> Term {
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

    pub(crate) fn tagged(&mut self, one: &ast::TaggedTemplateExpression<'_>) -> Term {
        // sql`select ${id}` is a call of `sql`.
        let texts = one.quasi.quasis.iter();
        let mut arguments: Vec<Expression> = texts
            .map(|text| expression(Term::Text(self.word(&text.value.raw)), range(text.span)))
            .collect();
        arguments.extend(one.quasi.expressions.iter().map(|part| self.expression(part)));
        Term::call(self.expression(&one.tag), arguments)
    }

    pub(crate) fn assignment(&mut self, one: &ast::AssignmentExpression<'_>) -> Term {
        let target = self.target(&one.left);
        let value = self.expression(&one.right);
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
                return Term::assign(target, value, operator);
            }
        };
        // `a ||= b` is `a || (a = b)`.
        let at = range(one.span);
        let left = self.target(&one.left);
        let assigned = expression(Term::assign(target, value, None), at);
        Term::Logic(logic, Box::new([left, assigned]))
    }

    pub(crate) fn spread(&mut self, spread: &ast::SpreadElement<'_>) -> Expression {
        let inner = self.boxed(&spread.argument);
        expression(Term::Spread(inner), range(spread.span))
    }

    pub(crate) fn call(&mut self, callee: &ast::Expression<'_>, arguments: &[ast::Argument<'_>], is_new: bool) -> Term {
        let callee = self.boxed(callee);
        // `middy(run)`, `middy().use(…).handler(run)`
        let takes_handler = matches!(callee.last_name(), Some("middy" | "handler"));
        let arguments = arguments.iter().map(|one| match one {
            ast::Argument::SpreadElement(spread) => self.spread(spread),
            one => match one.as_expression() {
                Some(ast::Expression::Identifier(one)) if takes_handler && self.1.contains(&*one.name) => {
                    self.calling(&one.name, range(one.span))
                }
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

    /// Returns a function that passes its event to the imported function `name`: `event => name(event)`.
    fn calling(&mut self, name: &str, at: TextRange) -> Expression {
        let mut word = |name| expression(Term::Name(self.word(name)), at.clone());
        let (callee, pattern, event) = (word(name), word("event"), word("event"));
        let call = expression(Term::call(callee, vec![event]), at.clone());
        let parameter = Parameter {
            pattern,
            default: None,
            takes: Takes::One,
        };
        let body = Statement {
            kind: StatementKind::Return(Some(call)),
            at: at.clone(),
        };
        let function = Function {
            parameters: vec![parameter],
            body: vec![body],
            is_async: true,
            is_arrow: true,
            at: at.clone(),
            ..Function::default()
        };
        expression(Term::Function(Arc::new(function)), at)
    }

    pub(crate) fn entry(&mut self, entry: &ast::ObjectPropertyKind<'_>) -> (Option<Arc<str>>, Expression) {
        match entry {
            ast::ObjectPropertyKind::SpreadProperty(spread) => (None, self.spread(spread)),
            ast::ObjectPropertyKind::ObjectProperty(one) => {
                let key = one.key.static_name().map(|key| self.word(&key));
                let value = match (&one.value, one.kind) {
                    (
                        ast::Expression::FunctionExpression(function),
                        ast::PropertyKind::Get | ast::PropertyKind::Set,
                    ) => {
                        let at = range(function.span);
                        let mut accessor = self.function(function, at.clone());
                        accessor.role = Role::Get;
                        let value = expression(Term::Function(Arc::new(accessor)), at.clone());
                        if one.kind == ast::PropertyKind::Set {
                            // What an assignment to it does is not known.
                            return (None, expression(Term::Other(vec![value]), at));
                        }
                        value
                    }
                    _ => self.expression(&one.value),
                };
                if key.is_some() {
                    return (key, value);
                }
                let at = value.at.clone();
                let name = one.key.as_expression().map(|name| self.expression(name));
                (
                    None,
                    expression(Term::Other(name.into_iter().chain([value]).collect()), at),
                )
            }
        }
    }
}

fn binary(operator: BinaryOperator) -> Operator {
    match operator {
        BinaryOperator::Equality => Operator::Equal,
        BinaryOperator::StrictEquality => Operator::Same,
        BinaryOperator::Inequality => Operator::NotEqual,
        BinaryOperator::StrictInequality => Operator::NotSame,
        BinaryOperator::Remainder => Operator::Remainder,
        BinaryOperator::LessThan => Operator::Less,
        BinaryOperator::LessEqualThan => Operator::AtMost,
        BinaryOperator::GreaterThan => Operator::Greater,
        BinaryOperator::GreaterEqualThan => Operator::AtLeast,
        BinaryOperator::Addition => Operator::Add,
        BinaryOperator::Subtraction => Operator::Subtract,
        BinaryOperator::Multiplication => Operator::Multiply,
        BinaryOperator::In => Operator::In,
        BinaryOperator::Instanceof => Operator::InstanceOf,
        _ => Operator::Other,
    }
}
