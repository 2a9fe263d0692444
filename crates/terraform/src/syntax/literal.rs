//! The literal texts of a template after `~` and `<<-` have stripped them. As in Terraform's scanner, a heredoc or a
//! file is processed line by line and a quoted string as a whole. So `~` strips one line break but not the indentation
//! after it, and a line after such a `~` keeps its indentation in `<<-`.

use hcl_edit::Span as _;
use hcl_edit::template::{Directive, Element, Strip};
use std::collections::VecDeque;

/// The notation of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// A quoted string.
    Quoted,
    /// A heredoc or a template file.
    Lines,
    /// A `<<-` heredoc, which removes the indentation that its lines share.
    Indented,
}

enum TemplatePiece {
    /// A text, and whether it is the last of its literal.
    Text(String, bool),
    /// `${…}` or `%{…}`, and whether it strips the text on either side.
    Mark { before: bool, after: bool },
}

/// Returns the literals of `elements` in order, including those in directives; `source` is the text that was parsed.
pub(crate) fn literals(elements: &[&Element], style: Style, source: &str) -> VecDeque<String> {
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
        if let TemplatePiece::Text(part, last) = piece {
            text.push_str(&part);
            if last {
                all.push_back(std::mem::take(&mut text));
            }
        }
    }
    all
}

fn mark(strip: Strip) -> TemplatePiece {
    TemplatePiece::Mark {
        before: matches!(strip, Strip::Start | Strip::Both),
        after: matches!(strip, Strip::End | Strip::Both),
    }
}

fn collect(element: &Element, style: Style, source: &str, pieces: &mut Vec<TemplatePiece>) {
    match element {
        Element::Literal(literal) => {
            let raw = match style {
                // The parser removed indentation already, by different rules.
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
            pieces.extend(
                lines
                    .into_iter()
                    .map(|line| TemplatePiece::Text(line.to_owned(), false)),
            );
            pieces.push(TemplatePiece::Text(last.to_owned(), true));
        }
        Element::Interpolation(inner) => pieces.push(mark(inner.strip)),
        Element::Directive(directive) => match &**directive {
            Directive::If(block) => {
                pieces.push(mark(block.if_expr.strip));
                for element in &block.if_expr.template {
                    collect(element, style, source, pieces);
                }
                if let Some(otherwise) = &block.else_expr {
                    pieces.push(mark(otherwise.strip));
                    for element in &otherwise.template {
                        collect(element, style, source, pieces);
                    }
                }
                pieces.push(mark(block.endif_expr.strip));
            }
            Directive::For(block) => {
                pieces.push(mark(block.for_expr.strip));
                for element in &block.for_expr.template {
                    collect(element, style, source, pieces);
                }
                pieces.push(mark(block.endfor_expr.strip));
            }
        },
    }
}

fn strip(pieces: &mut [TemplatePiece]) {
    for at in 0..pieces.len() {
        let Some(&TemplatePiece::Mark { before, after }) = pieces.get(at) else {
            continue;
        };
        if before && let Some(TemplatePiece::Text(text, _)) = at.checked_sub(1).and_then(|at| pieces.get_mut(at)) {
            text.truncate(text.trim_end().len());
        }
        if after && let Some(TemplatePiece::Text(text, _)) = pieces.get_mut(at + 1) {
            *text = text.trim_start().to_owned();
        }
    }
}

/// Removes the indentation that all lines share. A line that begins after a stripped line break has no indentation to
/// remove.
fn dedent(pieces: &mut [TemplatePiece]) {
    let mut least = usize::MAX;
    let mut lines = Vec::new();
    let mut begins = true;
    for (at, piece) in pieces.iter().enumerate() {
        if begins {
            begins = false;
            let spaces = match piece {
                TemplatePiece::Text(text, _) if text.ends_with('\n') && text.trim().is_empty() => usize::MAX,
                TemplatePiece::Text(text, _) => {
                    lines.push(at);
                    text.chars().take_while(|c| c.is_whitespace()).count()
                }
                TemplatePiece::Mark { .. } => 0,
            };
            least = least.min(spaces);
        }
        begins |= matches!(piece, TemplatePiece::Text(text, _) if text.ends_with('\n'));
    }
    for at in lines {
        if let Some(TemplatePiece::Text(text, _)) = pieces.get_mut(at) {
            *text = text.chars().skip(least).collect();
        }
    }
}
