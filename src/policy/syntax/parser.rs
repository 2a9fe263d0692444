//! Builds a tree from tokens, by operator precedence.

use super::lexer::{Token, tokens};
use super::{Expr, ExprKind, Fault, MAX_DEPTH, MAX_LENGTH, MAX_NODES, Macro, Operator};
use std::ops::Range;

/// Parses `text`.
pub(in crate::policy) fn parse(text: &str) -> Result<Expr, Fault> {
    if text.len() > MAX_LENGTH {
        let message = format!(
            "an expression has {MAX_LENGTH} bytes at most; this one has {}",
            text.len()
        );
        return Err(Fault::new(0..text.len(), message));
    }
    let mut parser = Parser {
        words: tokens(text)?,
        next: 0,
        depth: 0,
        nodes: 0,
    };
    let expr = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(expr),
        _ => Err(parser.unexpected("an operator")),
    }
}

struct Parser {
    words: Vec<(Token, Range<usize>)>,
    next: usize,
    depth: usize,
    nodes: usize,
}

/// Operators by precedence, lowest first.
const LEVELS: [&[(&str, Operator)]; 5] = [
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[
        ("<", Operator::Less),
        ("<=", Operator::AtMost),
        (">", Operator::More),
        (">=", Operator::AtLeast),
        ("==", Operator::Equal),
        ("!=", Operator::Unequal),
        ("in", Operator::In),
    ],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[
        ("*", Operator::Times),
        ("/", Operator::Divided),
        ("%", Operator::Modulo),
    ],
];

impl Parser {
    fn peek(&self) -> &Token {
        self.words.get(self.next).map_or(&Token::End, |(word, _)| word)
    }

    /// Returns the byte range of the next token.
    fn place(&self) -> Range<usize> {
        let last = self.words.last().map_or(0..0, |(_, at)| at.clone());
        self.words.get(self.next).map_or(last, |(_, at)| at.clone())
    }

    fn is(&self, sign: &str) -> bool {
        match self.peek() {
            Token::Sign(own) => *own == sign,
            Token::Name(name) => name == "in" && sign == "in",
            _ => false,
        }
    }

    fn eat(&mut self, sign: &str) -> bool {
        let is_it = self.is(sign);
        self.next += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, sign: &str) -> Result<Range<usize>, Fault> {
        let at = self.place();
        if self.eat(sign) {
            Ok(at)
        } else {
            Err(self.unexpected(&format!("`{sign}`")))
        }
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.peek() {
            Token::End => "the expression ends here".to_owned(),
            Token::Sign(sign) => format!("found `{sign}`"),
            Token::Name(name) => format!("found `{name}`"),
            Token::Int(number) => format!("found `{number}`"),
            Token::TooLarge => "found a number".to_owned(),
            Token::Text(_) => "found a string".to_owned(),
            Token::Quoted(name) => format!("found `{name}`"),
        };
        Fault::new(self.place(), format!("expected {wanted}, {found}"))
    }

    fn node(&mut self, at: Range<usize>, kind: ExprKind) -> Result<Expr, Fault> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(Fault::new(at, format!("an expression has {MAX_NODES} parts at most")));
        }
        Ok(Expr { range: at, kind })
    }

    fn expression(&mut self) -> Result<Expr, Fault> {
        if self.depth > MAX_DEPTH {
            let message = format!("an expression nests {MAX_DEPTH} levels deep at most");
            return Err(Fault::new(self.place(), message));
        }
        self.depth += 1;
        let condition = self.binary(0)?;
        let expr = if self.eat("?") {
            let yes = self.binary(0)?;
            self.expect(":")?;
            let no = self.expression()?;
            let at = condition.range.start..no.range.end;
            self.node(at, ExprKind::Choice(condition.into(), yes.into(), no.into()))?
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn binary(&mut self, level: usize) -> Result<Expr, Fault> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.is(sign)) {
            self.next += 1;
            let right = self.binary(level + 1)?;
            let at = left.range.start..right.range.end;
            left = self.node(at, ExprKind::Binary(*operator, left.into(), right.into()))?;
        }
        Ok(left)
    }

    /// Parses a value after any number of equal unary operators.
    fn unary(&mut self) -> Result<Expr, Fault> {
        let start = self.place().start;
        let mut count = 0_usize;
        let sign = if self.is("!") { "!" } else { "-" };
        while self.eat(sign) {
            count += 1;
        }
        if count > 0 && *self.peek() == Token::TooLarge {
            let at = start..self.place().end;
            self.next += 1;
            if count > 1 {
                return Err(Fault::new(at, "the number is too large"));
            }
            return self.node(at, ExprKind::Int(i64::MIN));
        }
        let value = self.postfix()?;
        // Pairs of them cancel out. At least one is kept to reject a value of the wrong type.
        let times = if count > 2 { 2 - count % 2 } else { count };
        (0..times).try_fold(value, |value, _| {
            let at = start..value.range.end;
            let kind = match sign {
                "!" => ExprKind::Not(value.into()),
                _ => ExprKind::Minus(value.into()),
            };
            self.node(at, kind)
        })
    }

    fn postfix(&mut self) -> Result<Expr, Fault> {
        let mut value = self.primary()?;
        loop {
            if self.eat(".") {
                let is_quoted = matches!(self.peek(), Token::Quoted(_));
                let (name, name_range) = self.name("a field or a method")?;
                if !is_quoted && self.eat("(") {
                    value = self.method(value, name, name_range)?;
                } else {
                    let at = value.range.start..name_range.end;
                    value = self.node(at, ExprKind::Field(value.into(), name, name_range))?;
                }
            } else if self.eat("[") {
                let index = self.expression()?;
                let end = self.expect("]")?.end;
                let at = value.range.start..end;
                value = self.node(at, ExprKind::Index(value.into(), index.into()))?;
            } else {
                return Ok(value);
            }
        }
    }

    /// Parses a method call on `receiver`, after the opening parenthesis.
    fn method(&mut self, receiver: Expr, name: String, name_range: Range<usize>) -> Result<Expr, Fault> {
        let (mut arguments, end) = self.arguments()?;
        let at = receiver.range.start..end;
        let Some(which) = Macro::called(&name) else {
            arguments.insert(0, receiver);
            return self.node(at, call(name, name_range, true, arguments));
        };
        let count = arguments.len();
        let is_right = count == 2 || (count == 3 && which == Macro::Map);
        let mut arguments = arguments.into_iter();
        match arguments.next().map(|first| first.kind) {
            Some(ExprKind::Name(each)) if is_right => {
                let body = arguments.collect();
                let list = receiver.into();
                self.node(
                    at,
                    ExprKind::Macro {
                        which,
                        list,
                        each,
                        body,
                    },
                )
            }
            _ => {
                let message =
                    format!("`{name}` takes a name for each element and an expression, as in `{name}(each, …)`");
                Err(Fault::new(name_range, message))
            }
        }
    }

    /// Parses arguments up to the closing parenthesis, and returns its end.
    fn arguments(&mut self) -> Result<(Vec<Expr>, usize), Fault> {
        let mut all = Vec::new();
        if self.is(")") {
            return Ok((all, self.expect(")")?.end));
        }
        loop {
            all.push(self.expression()?);
            if !self.eat(",") {
                return Ok((all, self.expect(")")?.end));
            }
        }
    }

    fn name(&mut self, wanted: &str) -> Result<(String, Range<usize>), Fault> {
        let at = self.place();
        match self.peek() {
            Token::Name(name) if !["in", "true", "false", "null"].contains(&name.as_str()) => {
                let name = name.clone();
                self.next += 1;
                Ok((name, at))
            }
            Token::Quoted(name) => {
                let name = name.clone();
                self.next += 1;
                Ok((name, at))
            }
            _ => Err(self.unexpected(wanted)),
        }
    }

    fn primary(&mut self) -> Result<Expr, Fault> {
        let at = self.place();
        let kind = match self.peek().clone() {
            Token::Int(number) => ExprKind::Int(number),
            Token::TooLarge => return Err(Fault::new(at, "the number is too large")),
            Token::Text(text) => ExprKind::Text(text),
            Token::Name(name) => match name.as_str() {
                "true" => ExprKind::Bool(true),
                "false" => ExprKind::Bool(false),
                "null" => ExprKind::Null,
                "in" => return Err(self.unexpected("a value")),
                _ => return self.named(name, at),
            },
            Token::Sign("(") => {
                self.next += 1;
                let inner = self.expression()?;
                let end = self.expect(")")?.end;
                return Ok(Expr {
                    range: at.start..end,
                    ..inner
                });
            }
            Token::Sign("[") => {
                self.next += 1;
                return self.list(at.start);
            }
            Token::Sign("{") => {
                return Err(Fault::new(
                    at,
                    "maps cannot be written here; the tags of a resource are one",
                ));
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.next += 1;
        self.node(at, kind)
    }

    fn list(&mut self, start: usize) -> Result<Expr, Fault> {
        let mut all = Vec::new();
        while !self.is("]") {
            all.push(self.expression()?);
            if !self.eat(",") {
                break;
            }
        }
        let end = self.expect("]")?.end;
        self.node(start..end, ExprKind::List(all))
    }

    /// Parses a name, a call or `has(…)`.
    fn named(&mut self, name: String, at: Range<usize>) -> Result<Expr, Fault> {
        self.next += 1;
        if self.is("{") {
            return Err(Fault::new(self.place(), "there are no messages here"));
        }
        if !self.eat("(") {
            return self.node(at, ExprKind::Name(name));
        }
        let (mut arguments, end) = self.arguments()?;
        let whole = at.start..end;
        if name != "has" {
            return self.node(whole, call(name, at, false, arguments));
        }
        match (arguments.pop(), arguments.as_slice()) {
            (Some(field), []) if matches!(field.kind, ExprKind::Field(..)) => {
                self.node(whole, ExprKind::Has(field.into()))
            }
            _ => Err(Fault::new(
                whole,
                "`has` takes a field, as in `has(queue.dead_letter_queue)`",
            )),
        }
    }
}

fn call(name: String, name_range: Range<usize>, is_method: bool, arguments: Vec<Expr>) -> ExprKind {
    ExprKind::Call {
        name,
        name_range,
        is_method,
        arguments,
    }
}
