//! The literal texts of a template after what `~` and `<<-` take away, as Terraform's own scanner sees them: a
//! heredoc and a file line by line, a quoted text whole. So `~` eats one line break, not the indentation after it,
//! and a line that follows such a `~` keeps its indentation in `<<-`.

use hcl_edit::Span as _;
use hcl_edit::template::{Directive, Element, Strip};
use std::collections::VecDeque;

/// How a template is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Between quotes.
    Quoted,
    /// In a heredoc or a file of its own.
    Lines,
    /// In a heredoc that loses the indentation its lines share.
    Indented,
}

enum Piece {
    /// A text, and whether it is the last of its literal.
    Text(String, bool),
    /// `${…}` or `%{…}`, and whether it strips before and after.
    Mark { before: bool, after: bool },
}

/// The literals of `elements` in order, those in directives included; `source` is the text that was parsed.
pub(super) fn literals(elements: &[&Element], style: Style, source: &str) -> VecDeque<String> {
    let mut pieces = Vec::new();
    for element in elements {
        collect(element, style, source, &mut pieces);
    }
    strip(&mut pieces);
    if style == Style::Indented {
        dedent(&mut pieces);
    }
    let mut all = VecDeque::new();
    let mut text = String::new();
    for piece in pieces {
        if let Piece::Text(part, last) = piece {
            text.push_str(&part);
            if last {
                all.push_back(std::mem::take(&mut text));
            }
        }
    }
    all
}

fn mark(strip: Strip) -> Piece {
    Piece::Mark {
        before: matches!(strip, Strip::Start | Strip::Both),
        after: matches!(strip, Strip::End | Strip::Both),
    }
}

fn collect(element: &Element, style: Style, source: &str, pieces: &mut Vec<Piece>) {
    match element {
        Element::Literal(literal) => {
            let raw = match style {
                // The parser has taken indentation away already, by rules of its own.
                Style::Indented => literal.span().and_then(|range| source.get(range)),
                Style::Quoted | Style::Lines => None,
            };
            let text = raw.map_or_else(
                || literal.as_str().to_owned(),
                |raw| raw.replace("$${", "${").replace("%%{", "%{"),
            );
            let mut lines: Vec<&str> = match style {
                Style::Quoted => Vec::new(),
                Style::Lines | Style::Indented => text.split_inclusive('\n').collect(),
            };
            let last = lines.pop().unwrap_or(if style == Style::Quoted { &text } else { "" });
            pieces.extend(lines.into_iter().map(|line| Piece::Text(line.to_owned(), false)));
            pieces.push(Piece::Text(last.to_owned(), true));
        }
        Element::Interpolation(inner) => pieces.push(mark(inner.strip)),
        Element::Directive(directive) => match &**directive {
            Directive::If(block) => {
                pieces.push(mark(block.if_expr.strip));
                for element in block.if_expr.template.iter() {
                    collect(element, style, source, pieces);
                }
                if let Some(otherwise) = &block.else_expr {
                    pieces.push(mark(otherwise.strip));
                    for element in otherwise.template.iter() {
                        collect(element, style, source, pieces);
                    }
                }
                pieces.push(mark(block.endif_expr.strip));
            }
            Directive::For(block) => {
                pieces.push(mark(block.for_expr.strip));
                for element in block.for_expr.template.iter() {
                    collect(element, style, source, pieces);
                }
                pieces.push(mark(block.endfor_expr.strip));
            }
        },
    }
}

fn strip(pieces: &mut [Piece]) {
    for at in 0..pieces.len() {
        let Some(&Piece::Mark { before, after }) = pieces.get(at) else {
            continue;
        };
        if before && let Some(Piece::Text(text, _)) = at.checked_sub(1).and_then(|at| pieces.get_mut(at)) {
            text.truncate(text.trim_end().len());
        }
        if after && let Some(Piece::Text(text, _)) = pieces.get_mut(at + 1) {
            *text = text.trim_start().to_owned();
        }
    }
}

/// Takes the indentation away that every line has; a line that begins after a stripped break has none to take.
fn dedent(pieces: &mut [Piece]) {
    let mut least = usize::MAX;
    let mut lines = Vec::new();
    let mut begins = true;
    for (at, piece) in pieces.iter().enumerate() {
        if begins {
            begins = false;
            let spaces = match piece {
                Piece::Text(text, _) if text.ends_with('\n') && text.trim().is_empty() => usize::MAX,
                Piece::Text(text, _) => {
                    lines.push(at);
                    text.chars().take_while(|c| c.is_whitespace()).count()
                }
                Piece::Mark { .. } => 0,
            };
            least = least.min(spaces);
        }
        begins |= matches!(piece, Piece::Text(text, _) if text.ends_with('\n'));
    }
    for at in lines {
        if let Some(Piece::Text(text, _)) = pieces.get_mut(at) {
            *text = text.chars().skip(least).collect();
        }
    }
}
