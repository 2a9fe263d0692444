//! Parses one item, expression or template and converts the parser's tree to ours. Repairs input that Terraform accepts
//! but the parser rejects.

use super::broken::{self, Line};
use super::literal::{self, Style};
use super::{
    Attribute, Block, Body, Expression, ExpressionKind, Fault, For, ObjectItem, Problem, Step, TemplatePart, scan,
};
use crate::limits;
use crate::number::Number;
use hcl_edit::Span as _;
use hcl_edit::expr::{Expression as Parsed, ObjectKey, TraversalOperator};
use hcl_edit::structure::{BlockLabel, Structure};
use hcl_edit::template::{Directive, Element, Template};
use source::{FileId, Span};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Prefix of renamed keys, which no author writes.
const MARK: &str = "sqslint__";

/// Parses `item` of `text`.
pub(crate) fn item(file: FileId, text: &str, item: &scan::ScannedItem, body: &mut Body, problems: &mut Vec<Problem>) {
    let Some(original) = text.get(item.range.clone()) else {
        return;
    };
    let mut source = with_other_names(original, item);
    if let Some(joined) = with_joined_lines(&source, file, item) {
        source = Cow::Owned(joined);
    }
    let mut places = Places::new(file, item.range.clone());
    let mut read = Body::default();
    let mut blanked: Vec<Line> = Vec::new();
    // Lines after a bracket that is not closed are errors only because of it.
    let mut is_unclosed = false;
    loop {
        match places.parse(&mut source, hcl_edit::parser::parse_body) {
            Ok(parsed) => {
                for structure in parsed {
                    places.structure(structure, &mut read);
                }
                for line in &blanked {
                    broken::mark(&mut read, line);
                }
                problems.append(&mut places.old);
                break;
            }
            Err((offset, problem)) => {
                // The brackets of an item are balanced. If it ends too early, a line that was blanked, and reported
                // already, contained a closing bracket.
                let is_left_open = !blanked.is_empty() && offset >= source.trim_end().len();
                if !is_left_open && !is_unclosed {
                    is_unclosed = ["`]`", "`)`", "`}`"]
                        .iter()
                        .any(|bracket| problem.message.contains(bracket));
                    problems.push(problem);
                }
                let mut text = source.into_owned();
                let line = (blanked.len() < limits::MAX_BLANKED_LINES)
                    .then(|| blank_line(&mut text, offset))
                    .flatten();
                let Some(line) = line else {
                    let at = |range: Range<usize>| Span::new(file, places.base + range.start..places.base + range.end);
                    let lost = broken::lost(original, at);
                    read.lost = lost.is_none();
                    read.blocks.extend(lost);
                    break;
                };
                blanked.push(Line {
                    span: places.span(Some(line.0), places.whole()),
                    text: line.1,
                });
                source = Cow::Owned(text);
            }
        }
    }
    body.attributes.append(&mut read.attributes);
    body.blocks.append(&mut read.blocks);
    body.lost |= read.lost;
}

/// Renames heredocs whose name also begins a line of their text, which the parser would take for the end. The new names
/// have the same length, so offsets do not change. A heredoc keeps its name if no unused one is found.
fn with_other_names<'t>(original: &'t str, item: &scan::ScannedItem) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(original);
    for names in &item.ambiguous {
        let candidates = (b'A'..=b'Z').map(|letter| char::from(letter).to_string().repeat(names[0].len()));
        let Some(other) = candidates.into_iter().find(|name| !text.contains(name.as_str())) else {
            continue;
        };
        for name in names {
            let range = name.start - item.range.start..name.end - item.range.start;
            text.to_mut().replace_range(range, &other);
        }
    }
    text
}

/// Replaces the line breaks in `for` expressions of objects by spaces, so offsets do not change; `None` if the parser
/// does not get further with that.
fn with_joined_lines(source: &str, file: FileId, item: &scan::ScannedItem) -> Option<String> {
    let error_in = |text: &str| {
        let mut places = Places::new(file, item.range.clone());
        let parsed = places.parse(&mut Cow::Borrowed(text), hcl_edit::parser::parse_body);
        parsed.err().map_or(usize::MAX, |(offset, _)| offset)
    };
    let before = (!item.breaks.is_empty()).then(|| error_in(source))?;
    if before == usize::MAX {
        return None;
    }
    let mut text = source.to_owned();
    for range in &item.breaks {
        let range = range.start - item.range.start..range.end - item.range.start;
        let spaces = " ".repeat(range.len());
        text.replace_range(range, &spaces);
    }
    (error_in(&text) > before).then_some(text)
}

/// Maps a decoded text to the file: the escapes in a JSON string make the two differ in length.
#[derive(Debug)]
pub(crate) struct Drift {
    /// Range of the text in the file.
    pub(crate) range: Range<usize>,
    /// Offsets in the text after each escape, with the corresponding offsets from the start of `range`; ascending.
    pub(crate) steps: Vec<(usize, usize)>,
}

/// Parses a separate expression.
pub(crate) fn expression(file: FileId, text: &str, drift: Drift) -> Result<Expression, Problem> {
    let mut source = Cow::Borrowed(text);
    let mut places = Places::new(file, drift.range);
    places.drift = drift.steps;
    let parsed = places.parse(&mut source, hcl_edit::parser::parse_expr);
    parsed
        .map(|parsed| places.expression(&parsed, places.whole()))
        .map_err(|(_, problem)| problem)
}

/// Parses a separate template: a file, or the value of a JSON string.
pub(crate) fn template(file: FileId, text: &str, drift: Drift) -> Result<Expression, Problem> {
    let mut source = Cow::Borrowed(text);
    let mut places = Places::new(file, drift.range);
    places.drift = drift.steps;
    let parsed = places.parse(&mut source, hcl_edit::parser::parse_template);
    let span = places.whole();
    parsed
        .map(|parsed| {
            Expression::new(
                places.template(&parsed.iter().collect::<Vec<_>>(), Style::Lines, span),
                span,
            )
        })
        .map_err(|(_, problem)| problem)
}

/// Returns the range of the number at `offset` if it is too large for the parser.
fn large_number(text: &str, offset: usize) -> Option<Range<usize>> {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E');
    let before = text.get(..offset)?;
    let start = before.trim_end_matches(is_of_number).len();
    let (digits, exponent) = text.get(start..)?.split_once(['e', 'E'])?;
    let sign = usize::from(exponent.starts_with('+'));
    let length = exponent.get(sign..)?.bytes().take_while(u8::is_ascii_digit).count();
    let end = start + digits.len() + 1 + sign + length;
    let value: f64 = text.get(start..end)?.parse().ok()?;
    (value.is_infinite() && end >= offset).then_some(start..end)
}

/// Returns `true` if a name followed by `steps` is a reference that could also be intended as text.
fn is_reference(root: &Expression, steps: &[Step]) -> bool {
    let is_written = |step: &Step| match step {
        Step::Attribute(_) | Step::LegacyIndex(_) => true,
        Step::Index(index) => matches!(index.kind, ExpressionKind::Text(_) | ExpressionKind::Number(_)),
        Step::Splat | Step::AttributeSplat => false,
    };
    matches!(root.kind, ExpressionKind::Variable(_)) && steps.iter().all(is_written)
}

/// Returns the range of the quoted name at `offset` that begins an argument or a block, which Terraform 0.11 allowed.
fn quoted_name(text: &str, offset: usize) -> Option<Range<usize>> {
    let before = text.get(..offset)?;
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let start = line + text.get(line..)?.find(|c: char| c != ' ' && c != '\t')?;
    let name = text.get(start..)?.strip_prefix('"')?;
    let (name, following) = name.split_once('"')?;
    let mut letters = name.chars();
    let is_name = letters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'));
    let is_first = is_name && following.trim_start_matches([' ', '\t']).starts_with(['=', '{']);
    is_first.then_some(start..start + name.len() + 2)
}

/// Replaces the line at `offset`, together with everything in the brackets that it opens at its end, by spaces. Returns
/// the range and the text of the line, unless it is blank.
fn blank_line(text: &mut String, offset: usize) -> Option<(Range<usize>, String)> {
    let before = text.get(..offset).unwrap_or("");
    let mut start = before.rfind('\n').map_or(0, |at| at + 1);
    let mut end = text
        .get(offset..)
        .and_then(|rest| rest.find('\n'))
        .map_or(text.len(), |at| offset + at);
    if text.get(start..end).is_none_or(|line| line.trim().is_empty()) {
        // The parser reports some errors only after the end of the line.
        let content = before.trim_end();
        (start, end) = (content.rfind('\n').map_or(0, |at| at + 1), content.len());
    }
    let line = text.get(start..end).filter(|line| !line.trim().is_empty())?;
    let from = start + (line.len() - line.trim_start().len());
    let content = line.trim().to_owned();
    let opened = start + line.trim_end().len();
    if content.ends_with(['{', '[', '(']) {
        end = scan::end_of_group(text, opened).unwrap_or(end);
    }
    let blank: String = text
        .get(start..end)?
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
        .collect();
    text.replace_range(start..end, &blank);
    Some((from..from + content.len(), content))
}

/// Maps offsets in the parsed text of an item to spans in the file.
struct Places {
    file: FileId,
    base: usize,
    end: usize,
    /// Offset and length of each insertion, in the order they were made. Each offset refers to the text at that time.
    inserted: Vec<(usize, usize)>,
    /// See [`Drift::steps`].
    drift: Vec<(usize, usize)>,
    /// Problems with Terraform 0.11 syntax.
    old: Vec<Problem>,
    /// Numbers that are too large for the parser, by their offset in the file.
    large: Vec<(usize, String)>,
    /// The text that was parsed.
    text: String,
}

impl Places {
    fn new(file: FileId, range: Range<usize>) -> Places {
        Places {
            file,
            base: range.start,
            end: range.end,
            inserted: Vec::new(),
            drift: Vec::new(),
            old: Vec::new(),
            large: Vec::new(),
            text: String::new(),
        }
    }

    /// Parses `source`, and repairs it as often as necessary. An error comes with its offset in `source`.
    fn parse<T>(
        &mut self,
        source: &mut Cow<'_, str>,
        parser: fn(&str) -> Result<T, hcl_edit::parser::Error>,
    ) -> Result<T, (usize, Problem)> {
        loop {
            let error = match parser(source) {
                Ok(parsed) => {
                    self.text = source.to_string();
                    return Ok(parsed);
                }
                Err(error) => error,
            };
            let offset = error.location().offset().min(source.len());
            if error.message().contains("redefined object key") && self.inserted.len() < limits::MAX_RENAMED_KEYS {
                let number = self.inserted.len() + 1;
                if self.rename(source.to_mut(), offset, number) {
                    continue;
                }
            }
            if self.large.len() < limits::MAX_RENAMED_KEYS
                && let Some(range) = large_number(source, offset)
            {
                let text = source.to_mut();
                let zeros = "0".repeat(range.len());
                self.large.push((
                    self.original(range.start),
                    text.get(range.clone()).unwrap_or("").to_owned(),
                ));
                text.replace_range(range, &zeros);
                continue;
            }
            if self.old.len() < limits::MAX_RENAMED_KEYS
                && let Some(range) = quoted_name(source, offset)
            {
                self.unquote(source.to_mut(), range);
                continue;
            }
            let at = self.original(offset);
            let problem = Problem {
                span: Span::new(self.file, at..at + 1),
                message: in_words(error.message(), source, offset),
                fault: Fault::Syntax,
            };
            return Err((offset, problem));
        }
    }

    /// Removes the quotes from the name at `range`, as Terraform 0.11 did.
    fn unquote(&mut self, text: &mut String, range: Range<usize>) {
        let name = text.get(range.start + 1..range.end - 1).unwrap_or("").to_owned();
        let at = self.original(range.start);
        self.old.push(Problem {
            span: Span::new(self.file, at..at + range.len()),
            message: format!("Terraform has refused quotes around a name since 0.12; write `{name}`"),
            fault: Fault::Before012,
        });
        text.replace_range(range, &format!(" {name} "));
    }

    /// Makes the key at `offset` unique. Returns `true` on success.
    fn rename(&mut self, text: &mut String, offset: usize, number: usize) -> bool {
        let quoted = text.get(offset..).is_some_and(|rest| rest.starts_with('"'));
        let at = offset + usize::from(quoted);
        if !text.is_char_boundary(at) {
            return false;
        }
        let mark = format!("{MARK}{number}__");
        text.insert_str(at, &mark);
        self.inserted.push((at, mark.len()));
        true
    }

    /// Returns the offset in the file for an offset in the parsed text.
    fn original(&self, mut offset: usize) -> usize {
        for &(at, length) in self.inserted.iter().rev() {
            if offset > at {
                offset = offset.saturating_sub(length).max(at);
            }
        }
        let step = self.drift.partition_point(|(text, _)| *text <= offset).checked_sub(1);
        if let Some((text, written)) = step.and_then(|step| self.drift.get(step)) {
            offset = written + (offset - text);
        }
        (self.base + offset).min(self.end)
    }

    fn span(&self, range: Option<Range<usize>>, or: Span) -> Span {
        range.map_or(or, |range| {
            Span::new(self.file, self.original(range.start)..self.original(range.end))
        })
    }

    /// Returns the source text of an expression.
    fn written(&self, parsed: &Parsed) -> &str {
        parsed.span().and_then(|range| self.text.get(range)).unwrap_or("")
    }

    fn whole(&self) -> Span {
        Span::new(self.file, self.base..self.end)
    }

    fn structure(&self, structure: Structure, body: &mut Body) {
        match structure {
            Structure::Attribute(attribute) => {
                let key = self.span(attribute.key.span(), self.whole());
                let value = self.expression(&attribute.value, key);
                body.attributes.push(Attribute {
                    name: attribute.key.as_str().into(),
                    span: key.to(value.span),
                    value: Arc::new(value),
                });
            }
            Structure::Block(block) => {
                let span = self.span(block.span(), self.whole());
                let mut header = self.span(block.ident.span(), span);
                for label in &block.labels {
                    let place = match label {
                        BlockLabel::Ident(ident) => ident.span(),
                        BlockLabel::String(text) => text.span(),
                    };
                    header = header.to(self.span(place, header));
                }
                let mut inner = Body::default();
                let labels = block.labels.iter().map(|label| label.as_str().into()).collect();
                let kind = block.ident.as_str().into();
                for structure in block.body {
                    self.structure(structure, &mut inner);
                }
                body.blocks.push(Arc::new(Block {
                    kind,
                    labels,
                    body: inner,
                    header,
                    span,
                }));
            }
        }
    }

    fn expression(&self, parsed: &Parsed, or: Span) -> Expression {
        let span = self.span(parsed.span(), or);
        let kind = match parsed {
            Parsed::Null(_) => ExpressionKind::Null,
            Parsed::Bool(value) => ExpressionKind::Bool(*value.value()),
            // The number type of the parser has too little precision.
            Parsed::Number(_) => ExpressionKind::Number(self.number(parsed, span)),
            Parsed::String(text) => ExpressionKind::Text(text.as_str().into()),
            Parsed::StringTemplate(template) => {
                self.template(&template.iter().collect::<Vec<_>>(), Style::Quoted, span)
            }
            Parsed::HeredocTemplate(heredoc) => {
                // The parser does not expose `<<-` otherwise.
                let indented = self.written(parsed).starts_with("<<-");
                let style = if indented { Style::Indented } else { Style::Lines };
                self.template(&heredoc.template.iter().collect::<Vec<_>>(), style, span)
            }
            Parsed::Array(items) => {
                ExpressionKind::Tuple(items.iter().map(|item| self.expression(item, span)).collect())
            }
            Parsed::Object(object) => ExpressionKind::Object(
                object
                    .iter()
                    .map(|(key, value)| self.item(key, value.expr(), span))
                    .collect(),
            ),
            Parsed::Parenthesis(inner) => return self.expression(inner.inner(), span),
            Parsed::Variable(name) => ExpressionKind::Variable(name.as_str().into()),
            Parsed::Conditional(conditional) => ExpressionKind::Conditional(Box::new([
                self.expression(&conditional.cond_expr, span),
                self.expression(&conditional.true_expr, span),
                self.expression(&conditional.false_expr, span),
            ])),
            Parsed::FuncCall(call) => {
                let mut name = String::new();
                for part in &call.name.namespace {
                    name.push_str(part.as_str());
                    name.push_str("::");
                }
                name.push_str(call.name.name.as_str());
                ExpressionKind::Call {
                    // `core::upper` is `upper`.
                    name: name.strip_prefix("core::").unwrap_or(&name).into(),
                    arguments: call.args.iter().map(|item| self.expression(item, span)).collect(),
                    expand: call.args.expand_final(),
                }
            }
            Parsed::Traversal(traversal) => ExpressionKind::Traversal(
                Box::new(self.expression(&traversal.expr, span)),
                traversal
                    .operators
                    .iter()
                    .map(|operator| self.step(operator.value(), span))
                    .collect(),
            ),
            Parsed::UnaryOp(operation) => ExpressionKind::Unary(
                *operation.operator.value(),
                Box::new(self.expression(&operation.expr, span)),
            ),
            Parsed::BinaryOp(operation) => ExpressionKind::Binary(
                *operation.operator.value(),
                Box::new([
                    self.expression(&operation.lhs_expr, span),
                    self.expression(&operation.rhs_expr, span),
                ]),
            ),
            Parsed::ForExpr(parsed) => ExpressionKind::For(Box::new(For {
                key_name: parsed.intro.key_var.as_ref().map(|name| name.as_str().into()),
                value_name: parsed.intro.value_var.as_str().into(),
                collection: self.expression(&parsed.intro.collection_expr, span),
                key: parsed.key_expr.as_ref().map(|key| self.expression(key, span)),
                value: self.expression(&parsed.value_expr, span),
                grouping: parsed.grouping,
                condition: parsed
                    .cond
                    .as_ref()
                    .map(|condition| self.expression(&condition.expr, span)),
            })),
        };
        Expression { kind, span }
    }

    /// Returns a number with all of its digits. Spaces may separate the sign from them.
    fn number(&self, parsed: &Parsed, span: Span) -> Option<Number> {
        let large = self.large.iter().find(|(at, _)| *at == span.range().start);
        let written = large.map_or_else(|| self.written(parsed), |(_, number)| number);
        Number::parse(&written.split_whitespace().collect::<String>())
    }

    fn item(&self, written: &ObjectKey, value: &Parsed, or: Span) -> ObjectItem {
        let mut key = match written {
            ObjectKey::Ident(name) => Expression {
                span: self.span(name.span(), or),
                kind: ExpressionKind::Text(name.as_str().into()),
            },
            ObjectKey::Expression(key) => {
                let mut converted = self.expression(key, or);
                // Terraform reads a bare name in front of `=` as text, and a name in parentheses as a reference.
                match (key, &converted.kind) {
                    (Parsed::Variable(_), ExpressionKind::Variable(name)) => {
                        converted.kind = ExpressionKind::Text(name.clone());
                    }
                    (Parsed::Null(_), _) => converted.kind = ExpressionKind::Text("null".into()),
                    _ => {}
                }
                converted
            }
        };
        // A renamed key in parentheses parses as a call.
        if let ExpressionKind::Call { name, arguments, .. } = &mut key.kind
            && name.starts_with(MARK)
            && let Some(inner) = arguments.pop()
        {
            key = inner;
        }
        if let ExpressionKind::Text(text) = &mut key.kind
            && let Some(marked) = text.strip_prefix(MARK)
            && let Some((_, name)) = marked.split_once("__")
        {
            *text = name.into();
        }
        let value = self.expression(value, or);
        let span = key.span.to(value.span);
        let is_bare_reference = match (written, &key.kind) {
            (ObjectKey::Expression(Parsed::Traversal(_)), ExpressionKind::Traversal(root, steps)) => {
                is_reference(root, steps)
            }
            _ => false,
        };
        ObjectItem {
            key,
            value,
            span,
            is_bare_reference,
        }
    }

    fn step(&self, operator: &TraversalOperator, or: Span) -> Step {
        match operator {
            TraversalOperator::AttrSplat(_) => Step::AttributeSplat,
            TraversalOperator::FullSplat(_) => Step::Splat,
            TraversalOperator::GetAttr(name) => Step::Attribute(name.as_str().into()),
            TraversalOperator::Index(index) => Step::Index(self.expression(index, or)),
            TraversalOperator::LegacyIndex(index) => Step::LegacyIndex(Expression::new(
                ExpressionKind::Number(i64::try_from(*index.value()).ok().map(Number::from)),
                or,
            )),
        }
    }

    fn template(&self, elements: &[&Element], style: Style, or: Span) -> ExpressionKind {
        let mut literals = literal::literals(elements, style, &self.text);
        let mut parts = self.parts(elements, &mut literals, or);
        match parts.as_slice() {
            [] => ExpressionKind::Text("".into()),
            [TemplatePart::Literal(text)] => ExpressionKind::Text(text.clone()),
            // `"${x}"` is `x` itself.
            [TemplatePart::Value(_)] => match parts.pop() {
                Some(TemplatePart::Value(expression)) => expression.kind,
                _ => ExpressionKind::Null,
            },
            _ => ExpressionKind::Template(parts),
        }
    }

    fn parts(&self, elements: &[&Element], literals: &mut VecDeque<String>, or: Span) -> Vec<TemplatePart> {
        let mut parts: Vec<TemplatePart> = Vec::new();
        for element in elements {
            parts.push(match element {
                Element::Literal(_) => TemplatePart::Literal(literals.pop_front().unwrap_or_default().into()),
                Element::Interpolation(inner) => TemplatePart::Value(self.expression(&inner.expr, or)),
                Element::Directive(directive) => match &**directive {
                    Directive::If(block) => TemplatePart::If(
                        self.expression(&block.if_expr.cond_expr, or),
                        self.nested(&block.if_expr.template, literals, or),
                        block
                            .else_expr
                            .as_ref()
                            .map_or_else(Vec::new, |part| self.nested(&part.template, literals, or)),
                    ),
                    Directive::For(block) => TemplatePart::For {
                        key: block.for_expr.key_var.as_ref().map(|name| name.as_str().into()),
                        value: block.for_expr.value_var.as_str().into(),
                        collection: self.expression(&block.for_expr.collection_expr, or),
                        body: self.nested(&block.for_expr.template, literals, or),
                    },
                },
            });
        }
        parts
    }

    fn nested(&self, template: &Template, literals: &mut VecDeque<String>, or: Span) -> Vec<TemplatePart> {
        self.parts(&template.iter().collect::<Vec<_>>(), literals, or)
    }
}

/// Rewords a message of the parser about `offset` in `source`.
fn in_words(message: &str, source: &str, offset: usize) -> String {
    let found = source.get(offset..).and_then(|rest| rest.chars().next());
    match (message.trim_end_matches('.'), found) {
        ("expected newline or eof", Some(found)) if !found.is_whitespace() => {
            format!("unexpected `{found}`: an argument or block ends at the end of its line")
        }
        (message, found) if message.starts_with("invalid expression; expected `\"`") => match found {
            Some(found) if !found.is_whitespace() => format!("unexpected `{found}`: no expression begins with it"),
            _ => "an expression is missing".to_owned(),
        },
        (message, _) if message.ends_with("redefined attribute") => "the block already sets this argument".to_owned(),
        (message, _) => message.to_owned(),
    }
}
