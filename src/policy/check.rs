//! Compiles a syntax tree to code. Every name, field, function and type is checked here, before any evaluation.

use super::code::{Code, Constant, Function, Root};
use super::duration;
use super::syntax::{Expr, ExprKind, Fault, Macro, Operator};
use super::types::{ObjectType, Type};
use crate::selection::nearest;
use regex::RegexBuilder;
use std::ops::Range;

/// Maximum size of a compiled pattern, in bytes.
const MAX_PATTERN: usize = 1 << 18;

/// Compiles `expr`, which concerns an object called `name` and must be a Boolean.
pub(super) fn check(expr: &Expr, name: &'static str, object: ObjectType) -> Result<Code, Fault> {
    let mut checker = Checker {
        name,
        object,
        locals: Vec::new(),
    };
    let (code, kind) = checker.expr(expr)?;
    match kind {
        Type::Bool => Ok(code),
        other => {
            let message = format!("expected a condition, found {}", other.with_article());
            Err(Fault::new(expr.range.clone(), message))
        }
    }
}

struct Checker {
    name: &'static str,
    object: ObjectType,
    /// Variables of the enclosing macros, which are bound to list elements.
    locals: Vec<(String, Type)>,
}

type Checked = Result<(Code, Type), Fault>;

impl Checker {
    fn expr(&mut self, expr: &Expr) -> Checked {
        let at = &expr.range;
        Ok(match &expr.kind {
            ExprKind::Null => (Code::Constant(Constant::Null), Type::Null),
            ExprKind::Bool(truth) => (Code::Constant(Constant::Bool(*truth)), Type::Bool),
            ExprKind::Int(number) => (Code::Constant(Constant::Int(*number)), Type::Int),
            ExprKind::Text(text) => (Code::Constant(Constant::Text(text.as_str().into())), Type::Text),
            ExprKind::List(elements) => self.list(elements)?,
            ExprKind::Name(name) => self.name(name, at)?,
            ExprKind::Field(of, name, name_range) => self.field(of, name, name_range)?,
            ExprKind::Has(field) => {
                let (code, _) = self.expr(field)?;
                (Code::Has(code.into()), Type::Bool)
            }
            ExprKind::Index(of, index) => self.index(of, index)?,
            ExprKind::Call {
                name,
                name_range,
                is_method,
                arguments,
            } => self.call(name, name_range, *is_method, arguments)?,
            ExprKind::Macro {
                which,
                list,
                each,
                body,
            } => self.macro_of(*which, list, each, body)?,
            ExprKind::Not(of) => {
                let code = self.of_type(of, &Type::Bool)?;
                (Code::Not(code.into()), Type::Bool)
            }
            ExprKind::Minus(of) => {
                let (code, kind) = self.expr(of)?;
                if !matches!(kind, Type::Int | Type::Duration) {
                    return Err(wrong(of, "a number or a duration", &kind));
                }
                (Code::Minus(code.into()), kind)
            }
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, at)?,
            ExprKind::Choice(condition, yes, no) => {
                let condition = self.of_type(condition, &Type::Bool)?;
                let (yes_code, yes_type) = self.expr(yes)?;
                let (no_code, no_type) = self.expr(no)?;
                if !yes_type.is_compatible_with(&no_type) {
                    return Err(wrong(no, &yes_type.with_article(), &no_type));
                }
                let kind = if yes_type == Type::Null { no_type } else { yes_type };
                (Code::Choice(condition.into(), yes_code.into(), no_code.into()), kind)
            }
        })
    }

    fn of_type(&mut self, expr: &Expr, wanted: &Type) -> Result<Code, Fault> {
        let (code, kind) = self.expr(expr)?;
        if kind.is_compatible_with(wanted) && kind != Type::Null {
            Ok(code)
        } else {
            Err(wrong(expr, &wanted.with_article(), &kind))
        }
    }

    fn list(&mut self, elements: &[Expr]) -> Checked {
        let mut codes = Vec::new();
        let mut element = Type::Null;
        for one in elements {
            let (code, kind) = self.expr(one)?;
            if !kind.is_compatible_with(&element) {
                return Err(wrong(one, &format!("{}, as before it", element.with_article()), &kind));
            }
            if element == Type::Null {
                element = kind;
            }
            codes.push(code);
        }
        Ok((Code::List(codes), Type::List(element.into())))
    }

    fn name(&self, name: &str, at: &Range<usize>) -> Checked {
        let local = self.locals.iter().rposition(|(own, _)| own == name);
        if let Some((place, (_, kind))) = local.and_then(|place| Some((place, self.locals.get(place)?))) {
            return Ok((Code::Local(place), kind.clone()));
        }
        if name == self.name {
            return Ok((Code::Root(Root::Object), Type::Object(self.object)));
        }
        match name {
            "unit" => return Ok((Code::Root(Root::Unit), Type::Object(ObjectType::Unit))),
            "environment" => return Ok((Code::Root(Root::Environment), Type::Text)),
            _ => {}
        }
        let locals = self.locals.iter().map(|(own, _)| own.as_str());
        let known: Vec<&str> = locals.chain([self.name, "unit", "environment"]).collect();
        let is_object = ObjectType::ALL.iter().any(|object| object.name() == name);
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None if is_object => format!("; this policy is for a {}", self.name),
            None => format!("; there are `{}`", known.join("`, `")),
        };
        Err(Fault::new(at.clone(), format!("unknown name `{name}`{hint}")))
    }

    fn field(&mut self, of: &Expr, name: &str, name_range: &Range<usize>) -> Checked {
        let (code, kind) = self.expr(of)?;
        match kind {
            Type::Object(object) => {
                if let Some(field) = object.field(name) {
                    Ok((Code::Field(code.into(), field), field.kind.clone()))
                } else {
                    let fields = object.fields().iter().map(|field| field.name);
                    let hint = match nearest(name, fields) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => "`sqslint graph --schema` lists its fields".to_owned(),
                    };
                    let object = Type::Object(object).with_article();
                    Err(Fault::new(
                        name_range.clone(),
                        format!("{object} has no field `{name}`; {hint}"),
                    ))
                }
            }
            Type::Tags => {
                let key = Code::Constant(Constant::Text(name.into()));
                Ok((Code::Tag(code.into(), key.into()), Type::Text))
            }
            Type::List(_) => {
                let hint = if name == "size" || name == "length" {
                    "; `size(…)` counts its elements"
                } else {
                    "; `exists`, `all`, `filter` and `map` go through its elements"
                };
                Err(Fault::new(
                    name_range.clone(),
                    format!("a list has no field `{name}`{hint}"),
                ))
            }
            other => {
                let message = format!("{} has no field `{name}`", other.with_article());
                Err(Fault::new(name_range.clone(), message))
            }
        }
    }

    fn index(&mut self, of: &Expr, index: &Expr) -> Checked {
        let (code, kind) = self.expr(of)?;
        match kind {
            Type::Tags => {
                let key = self.of_type(index, &Type::Text)?;
                Ok((Code::Tag(code.into(), key.into()), Type::Text))
            }
            Type::List(element) => {
                let place = self.of_type(index, &Type::Int)?;
                Ok((Code::Index(code.into(), place.into()), *element))
            }
            other => Err(wrong(of, "a list or a map", &other)),
        }
    }

    fn macro_of(&mut self, which: Macro, list: &Expr, each: &str, body: &[Expr]) -> Checked {
        let (code, kind) = self.expr(list)?;
        let element = match &kind {
            Type::List(element) => (**element).clone(),
            Type::Tags => Type::Text,
            other => return Err(wrong(list, "a list or a map", other)),
        };
        self.locals.push((each.to_owned(), element.clone()));
        let checked = self.body(which, body);
        self.locals.pop();
        let (body, mapped) = checked?;
        let kind = match which {
            Macro::All | Macro::Exists | Macro::ExistsOne => Type::Bool,
            Macro::Filter => Type::List(element.into()),
            Macro::Map => Type::List(mapped.into()),
        };
        let list = code.into();
        Ok((Code::Macro { which, list, body }, kind))
    }

    /// Compiles the expressions of a macro, and returns the type of the last one.
    fn body(&mut self, which: Macro, body: &[Expr]) -> Result<(Vec<Code>, Type), Fault> {
        let mut codes = Vec::new();
        let mut last = Type::Null;
        for (at, expr) in body.iter().enumerate() {
            let is_value = which == Macro::Map && at + 1 == body.len();
            if is_value {
                let (code, kind) = self.expr(expr)?;
                codes.push(code);
                last = kind;
            } else {
                codes.push(self.of_type(expr, &Type::Bool)?);
            }
        }
        Ok((codes, last))
    }

    fn binary(&mut self, operator: Operator, left: &Expr, right: &Expr, at: &Range<usize>) -> Checked {
        use Operator::{And, AtLeast, AtMost, Divided, Equal, In, Less, Minus, Modulo, More, Or, Plus, Times, Unequal};
        if matches!(operator, And | Or) {
            let (left, right) = (self.of_type(left, &Type::Bool)?, self.of_type(right, &Type::Bool)?);
            return Ok((Code::Binary(operator, left.into(), right.into()), Type::Bool));
        }
        let (left_code, left_type) = self.expr(left)?;
        let (right_code, right_type) = self.expr(right)?;
        let same = left_type == right_type;
        let kind = match (operator, &left_type, &right_type) {
            (Equal | Unequal, ..) if left_type.is_compatible_with(&right_type) => Some(Type::Bool),
            (Less | AtMost | More | AtLeast, Type::Int | Type::Duration | Type::Text, _) if same => Some(Type::Bool),
            (In, one, Type::List(element)) if one.is_compatible_with(element) => Some(Type::Bool),
            (In, Type::Text, Type::Tags) => Some(Type::Bool),
            (Plus, Type::Int | Type::Duration | Type::Text | Type::List(_), _)
                if left_type.is_compatible_with(&right_type) =>
            {
                Some(left_type.clone())
            }
            (Minus, Type::Int | Type::Duration, _) if same => Some(left_type.clone()),
            (Times | Divided | Modulo, Type::Int, Type::Int) => Some(Type::Int),
            (Times, Type::Duration, Type::Int) | (Times, Type::Int, Type::Duration) => Some(Type::Duration),
            _ => None,
        };
        if let Some(kind) = kind {
            return Ok((Code::Binary(operator, left_code.into(), right_code.into()), kind));
        }
        let (one, other) = (left_type.with_article(), right_type.with_article());
        let is_time = matches!(
            (&left_type, &right_type),
            (Type::Duration, Type::Int | Type::Text) | (Type::Int | Type::Text, Type::Duration)
        );
        let hint = if is_time {
            "; write durations as `duration(\"14d\")`, `duration(\"90s\")`"
        } else {
            ""
        };
        let is_comparison = matches!(operator, Equal | Unequal | Less | AtMost | More | AtLeast);
        let message = if is_comparison {
            format!("{one} cannot be compared with {other}{hint}")
        } else {
            format!("`{}` does not go between {one} and {other}{hint}", operator.sign())
        };
        Err(Fault::new(at.clone(), message))
    }

    fn call(&mut self, name: &str, name_range: &Range<usize>, is_method: bool, arguments: &[Expr]) -> Checked {
        let Some(function) = Function::called(name) else {
            let known = Function::ALL.iter().map(|function| function.name());
            let macros = Macro::ALL.iter().map(|(name, _)| *name);
            let hint = match nearest(name, known.chain(macros).chain(["has"])) {
                Some(near) => format!("; did you mean `{near}`?"),
                None => String::new(),
            };
            return Err(Fault::new(
                name_range.clone(),
                format!("unknown function `{name}`{hint}"),
            ));
        };
        if function.is_method() != is_method && function != Function::Size {
            let form = function.form();
            return Err(Fault::new(name_range.clone(), format!("write it as `{form}`")));
        }
        let wanted = function.arguments();
        if arguments.len() != wanted {
            let form = function.form();
            let message = format!("wrong number of arguments; write it as `{form}`");
            return Err(Fault::new(name_range.clone(), message));
        }
        self.known_call(function, arguments)
    }

    fn known_call(&mut self, function: Function, arguments: &[Expr]) -> Checked {
        let Some(first) = arguments.first() else {
            return Ok((Code::Constant(Constant::Null), Type::Null));
        };
        let (code, kind) = self.expr(first)?;
        let takes = |is_right: bool, wanted: &str| {
            if is_right {
                Ok(())
            } else {
                Err(wrong(first, wanted, &kind))
            }
        };
        match function {
            Function::Size => takes(
                matches!(kind, Type::Text | Type::List(_) | Type::Tags),
                "a string, a list or a map",
            )?,
            Function::Int => takes(
                matches!(kind, Type::Text | Type::Int | Type::Duration),
                "a string or a duration",
            )?,
            Function::String => takes(
                matches!(kind, Type::Text | Type::Int | Type::Bool | Type::Duration),
                "a number, a duration, or true or false",
            )?,
            Function::Seconds | Function::Minutes | Function::Hours => {
                takes(kind == Type::Duration, "a duration")?;
            }
            Function::Duration => takes(matches!(kind, Type::Text | Type::Duration), "a string")?,
            Function::StartsWith
            | Function::EndsWith
            | Function::Contains
            | Function::Matches
            | Function::LowerAscii
            | Function::UpperAscii => takes(kind == Type::Text, "a string")?,
        }
        if function == Function::Duration
            && let ExprKind::Text(text) = &first.kind
        {
            let message = "not a duration; write it as `\"14d\"`, `\"90s\"` or `\"1h30m\"`";
            let parsed = duration::parse(text).ok_or_else(|| Fault::new(first.range.clone(), message));
            return parsed.map(|milliseconds| (Code::Constant(Constant::Duration(milliseconds)), Type::Duration));
        }
        if function == Function::Matches {
            return self.matches(code, arguments);
        }
        let mut codes = vec![code];
        for other in arguments.iter().skip(1) {
            codes.push(self.of_type(other, &Type::Text)?);
        }
        Ok((Code::Call(function, codes), function.result()))
    }

    /// Compiles `matches`, whose pattern must be a literal, so that it is compiled once and its cost is known.
    fn matches(&mut self, text: Code, arguments: &[Expr]) -> Checked {
        let pattern = match arguments.get(1) {
            Some(Expr {
                kind: ExprKind::Text(pattern),
                range: at,
            }) => (pattern, at),
            other => {
                let at = other.map_or(0..0, |other| other.range.clone());
                return Err(Fault::new(
                    at,
                    "a pattern has to be written out, as in `matches(\"^orders-\")`",
                ));
            }
        };
        let regex = RegexBuilder::new(pattern.0)
            .size_limit(MAX_PATTERN)
            .dfa_size_limit(MAX_PATTERN)
            .build();
        match regex {
            Ok(regex) => Ok((Code::Matches(text.into(), regex), Type::Bool)),
            Err(regex::Error::CompiledTooBig(_)) => Err(Fault::new(
                pattern.1.clone(),
                "the pattern is too large once it is compiled",
            )),
            Err(_) => Err(Fault::new(pattern.1.clone(), "not a valid pattern (RE2's syntax)")),
        }
    }
}

fn wrong(expr: &Expr, wanted: &str, found: &Type) -> Fault {
    let message = format!("expected {wanted}, found {}", found.with_article());
    Fault::new(expr.range.clone(), message)
}
