//! Splits a file into its top-level items and checks their bounds before they are parsed.
//!
//! The parser stops at the first error, is quadratic in the number of keys of an object, and rejects a whole file
//! because of deep nesting. With the file split, these affect only one item. This module knows strings, templates,
//! heredocs, comments and brackets, but nothing else of HCL.

mod trace;

use crate::limits;
use std::ops::Range;
pub(crate) use trace::Comment;
use trace::Tracer;

/// Block types that begin a line at column 1 only at the top level. If a closing brace is missing, the item ends before
/// such a line.
const BLOCKS: [&str; 13] = [
    "resource",
    "module",
    "variable",
    "output",
    "locals",
    "data",
    "provider",
    "terraform",
    "moved",
    "import",
    "check",
    "removed",
    "ephemeral",
];

/// A top-level item.
#[derive(Debug)]
pub(crate) struct ScannedItem {
    pub(crate) range: Range<usize>,
    /// The bound that it exceeds.
    pub(crate) limit: Option<&'static str>,
    /// Start and kind of a comment or heredoc that is not closed, and so extends to the end of the file.
    pub(crate) unclosed: Option<(usize, Unclosed)>,
    /// Ranges of heredoc names, at the start and at the end, that also begin a line of the heredoc. The parser would
    /// take that line for the end.
    pub(crate) ambiguous: Vec<[Range<usize>; 2]>,
    /// Line breaks and comments that are only space, in `for` expressions of objects. The parser would take such a line
    /// break for the end of an entry.
    pub(crate) breaks: Vec<Range<usize>>,
}

/// A construct that extends to the end of the file if it is not closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unclosed {
    Comment,
    Heredoc,
}

enum Context<'a> {
    /// Code between brackets.
    Code {
        /// Number of entries, if it is an object.
        object: Option<usize>,
        /// `true` for the `for` expression of an object.
        is_for: bool,
    },
    Quoted,
    Heredoc(Heredoc<'a>),
}

impl Context<'_> {
    const CODE: Self = Context::Code {
        object: None,
        is_for: false,
    };
}

#[derive(Clone, Copy)]
struct Heredoc<'a> {
    name: &'a str,
    /// Offset of the name at the start.
    at: usize,
    /// `true` if a line begins with the name but contains more.
    is_ambiguous: bool,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    start: usize,
    stack: Vec<Context<'a>>,
    /// Heredocs with a text that begins on the next line.
    pending: Vec<Heredoc<'a>>,
    limit: Option<&'static str>,
    unclosed: Option<(usize, Unclosed)>,
    ambiguous: Vec<[Range<usize>; 2]>,
    breaks: Vec<Range<usize>>,
    /// Start of the last heredoc.
    heredoc_at: usize,
    /// End of the last heredoc.
    heredoc_end: usize,
    /// The last byte of code that is not whitespace.
    last: u8,
    blank: bool,
    items: Vec<ScannedItem>,
    /// Records comments and elements, if requested.
    trace: Option<Tracer>,
}

/// Returns the items of `text`, in order.
pub(crate) fn items(text: &str) -> Vec<ScannedItem> {
    scan(text, None).items
}

/// Returns the comments of `text`, and its elements in the order of their starts.
pub(crate) fn traced(text: &str) -> (Vec<Comment>, Vec<Range<usize>>) {
    let trace = scan(text, Some(Tracer::new())).trace;
    trace.map(|trace| trace.finish(text.len())).unwrap_or_default()
}

fn scan(text: &str, trace: Option<Tracer>) -> Scanner<'_> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut scanner = Scanner {
        at: start,
        start,
        last: b'\n',
        trace,
        stack: Vec::new(),
        ..Scanner::within(text, Context::CODE)
    };
    while scanner.at < text.len() {
        scanner.step();
    }
    scanner.finish(text.len());
    scanner
}

/// Returns the source text of an expression without comments and line breaks.
pub fn one_line(text: &str) -> String {
    let mut scanner = Scanner::within(text, Context::CODE);
    let mut line: Vec<u8> = Vec::with_capacity(text.len());
    // Whether whitespace precedes this position, and whether it contains a line break or a comment.
    let (mut is_apart, mut is_broken) = (false, false);
    while scanner.at < text.len() {
        let in_code = matches!(scanner.stack.last(), Some(Context::Code { .. }) | None);
        let is_comment = in_code && matches!(scanner.rest(), [b'#', ..] | [b'/', b'/' | b'*', ..]);
        let start = scanner.at;
        scanner.step();
        let piece = text.as_bytes().get(start..scanner.at).unwrap_or(&[]);
        let breaks = is_comment || piece == b"\n" || piece == b"\r";
        if breaks || (in_code && piece.iter().all(u8::is_ascii_whitespace)) {
            is_apart = true;
            is_broken |= breaks;
            continue;
        }
        // A line break next to a bracket does not become a space.
        let is_inner = matches!(line.last(), None | Some(b'(' | b'[')) || matches!(piece, [b')' | b']', ..]);
        if is_apart && !(is_broken && is_inner) && !line.is_empty() {
            line.push(b' ');
        }
        (is_apart, is_broken) = (false, false);
        line.extend(piece);
    }
    String::from_utf8_lossy(&line).into_owned()
}

/// Returns the end of the bracket that is the last character before `opened`; `None` if it is not closed.
pub(crate) fn end_of_group(text: &str, opened: usize) -> Option<usize> {
    let rest = text.get(opened..)?;
    let mut scanner = Scanner::within(rest, Context::CODE);
    while scanner.at < rest.len() {
        scanner.step();
        if scanner.stack.is_empty() {
            return Some(opened + scanner.at);
        }
    }
    None
}

/// Returns `true` if every offset in `places` is within a comment of `text`.
pub fn are_in_comments(text: &str, places: impl IntoIterator<Item = usize>) -> bool {
    let (comments, _) = traced(text);
    let is_in = |at: usize| comments.iter().any(|comment| comment.range.contains(&at));
    places.into_iter().all(is_in)
}

/// Returns the bound that a template exceeds; `text` contains nothing else.
pub(crate) fn limit_of_template(text: &str) -> Option<&'static str> {
    // No line can end a heredoc with this name.
    let outermost = Heredoc {
        name: "\0",
        at: 0,
        is_ambiguous: false,
    };
    limit_within(text, Context::Heredoc(outermost))
}

/// Returns the bound that an expression exceeds; `text` contains nothing else.
pub(crate) fn limit_of_expression(text: &str) -> Option<&'static str> {
    limit_within(text, Context::CODE)
}

fn limit_within(text: &str, outermost: Context<'_>) -> Option<&'static str> {
    let mut scanner = Scanner::within(text, outermost);
    let mut limit = None;
    while scanner.at < text.len() {
        scanner.step();
        limit = limit.or(scanner.limit);
    }
    limit
}

/// Returns `true` if the code after an opening brace begins with the word `for`.
fn begins_for(rest: &[u8]) -> bool {
    let after = rest.trim_ascii_start().strip_prefix(b"for");
    after.is_some_and(|after| after.first().is_some_and(|byte| !is_word(*byte)))
}

/// Returns `true` if a byte of code is part of a name or a number.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl<'a> Scanner<'a> {
    /// Returns a scanner of `text`, which is nested in `outermost`.
    fn within(text: &'a str, outermost: Context<'a>) -> Self {
        Scanner {
            text,
            at: 0,
            start: 0,
            stack: vec![outermost],
            pending: Vec::new(),
            limit: None,
            unclosed: None,
            ambiguous: Vec::new(),
            breaks: Vec::new(),
            heredoc_at: 0,
            heredoc_end: 0,
            last: b'=',
            blank: true,
            items: Vec::new(),
            trace: None,
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or(&[])
    }

    fn finish(&mut self, end: usize) {
        if matches!(self.stack.last(), Some(Context::Heredoc(_))) {
            self.unclosed = Some((self.heredoc_at, Unclosed::Heredoc));
        }
        if !self.blank || self.unclosed.is_some() {
            self.items.push(ScannedItem {
                range: self.start..end,
                limit: self.limit,
                unclosed: self.unclosed.take(),
                ambiguous: std::mem::take(&mut self.ambiguous),
                breaks: std::mem::take(&mut self.breaks),
            });
        }
        self.start = end;
        self.blank = true;
        self.limit = None;
        self.stack.clear();
        self.pending.clear();
        self.last = b'\n';
        if let Some(trace) = &mut self.trace {
            trace.reset(end);
        }
    }

    fn push(&mut self, context: Context<'a>) {
        self.stack.push(context);
        if self.stack.len() > limits::MAX_BRACKET_DEPTH {
            self.limit = Some("it is nested more than 60 levels deep");
        }
    }

    fn step(&mut self) {
        match self.stack.last() {
            Some(Context::Quoted) => self.quoted(),
            Some(Context::Heredoc(heredoc)) => self.heredoc(*heredoc),
            Some(Context::Code { .. }) | None => self.code(),
        }
    }

    fn quoted(&mut self) {
        match self.rest() {
            [b'\\', _, ..] => self.at += 2,
            [b'$', b'$', b'{', ..] | [b'%', b'%', b'{', ..] => self.at += 3,
            [b'$' | b'%', b'{', ..] => {
                self.at += 2;
                self.push(Context::CODE);
                if let Some(trace) = &mut self.trace {
                    trace.open_interpolation();
                }
            }
            [b'"', ..] => {
                self.at += 1;
                self.stack.pop();
                self.last = b'"';
            }
            // A quoted string ends with its line even if the closing quote is missing.
            [b'\n', ..] => {
                self.stack.pop();
            }
            _ => self.skip(|byte| !matches!(byte, b'\\' | b'$' | b'%' | b'"' | b'\n')),
        }
    }

    /// Skips one byte, and all following bytes that are `plain`, which need no further attention.
    fn skip(&mut self, plain: impl Fn(u8) -> bool) {
        let following = self.rest().iter().skip(1);
        self.at += 1 + following.take_while(|byte| plain(**byte)).count();
    }

    fn heredoc(&mut self, heredoc: Heredoc<'a>) {
        let at_line_start = self.at == 0 || self.text.as_bytes().get(self.at - 1) == Some(&b'\n');
        if at_line_start {
            let line = self.text.get(self.at..).unwrap_or("").split('\n').next().unwrap_or("");
            if line.trim() == heredoc.name {
                self.at += line.trim_end().len();
                self.heredoc_end = self.at;
                self.stack.pop();
                self.last = b'"';
                if heredoc.is_ambiguous {
                    let length = heredoc.name.len();
                    let names = [heredoc.at..heredoc.at + length, self.at - length..self.at];
                    self.ambiguous.push(names);
                }
                return;
            }
            if line.trim_start().starts_with(heredoc.name)
                && let Some(Context::Heredoc(heredoc)) = self.stack.last_mut()
            {
                heredoc.is_ambiguous = true;
            }
        }
        match self.rest() {
            [b'$', b'$', b'{', ..] | [b'%', b'%', b'{', ..] => self.at += 3,
            [b'$' | b'%', b'{', ..] => {
                self.at += 2;
                self.push(Context::CODE);
                if let Some(trace) = &mut self.trace {
                    trace.open_interpolation();
                }
            }
            [b'\n', ..] => self.at += 1,
            _ => self.skip(|byte| !matches!(byte, b'$' | b'%' | b'\n')),
        }
    }

    fn code(&mut self) {
        let rest = self.rest();
        let byte = rest.first().copied().unwrap_or(b'\n');
        match rest {
            [b'#', ..] | [b'/', b'/', ..] => {
                let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                self.comment(self.at + length);
                return;
            }
            [b'/', b'*', ..] => {
                let end = self.text.get(self.at + 2..).and_then(|rest| rest.find("*/"));
                if end.is_none() {
                    self.unclosed = Some((self.at, Unclosed::Comment));
                }
                self.comment(end.map_or(self.text.len(), |end| self.at + 2 + end + 2));
                return;
            }
            [b'<', b'<', ..] => {
                self.heredoc_header();
                return;
            }
            [b'\n', ..] => {
                self.newline();
                return;
            }
            _ => {}
        }
        if let Some(trace) = &mut self.trace {
            match byte {
                b'{' | b'(' | b'[' => trace.open(self.at, byte),
                b'}' | b')' | b']' => trace.close(self.at),
                b',' => trace.comma(self.at),
                _ if byte.is_ascii_whitespace() => {}
                _ => trace.token(self.at),
            }
        }
        match byte {
            b' ' | b'\t' => self.skip(|byte| matches!(byte, b' ' | b'\t')),
            _ if is_word(byte) => self.skip(is_word),
            _ => self.at += 1,
        }
        match byte {
            b'"' => self.push(Context::Quoted),
            b'{' => {
                let object = matches!(self.last, b'=' | b'(' | b'[' | b',' | b':' | b'?' | b'{').then_some(0);
                let is_for = (object.is_some() || self.last == b'>') && begins_for(self.rest());
                self.push(Context::Code { object, is_for });
            }
            b'(' | b'[' => self.push(Context::CODE),
            b'}' | b')' | b']' => {
                self.stack.pop();
            }
            b',' => self.entry(),
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            self.last = byte;
            self.blank = false;
        }
    }

    fn comment(&mut self, end: usize) {
        if self.is_in_for() {
            self.breaks.push(self.at..end);
        }
        if let Some(trace) = &mut self.trace {
            trace.comment(self.at..end);
        }
        self.at = end;
    }

    /// Returns `true` directly within the `for` expression of an object.
    fn is_in_for(&self) -> bool {
        matches!(self.stack.last(), Some(Context::Code { is_for: true, .. }))
    }

    fn entry(&mut self) {
        if let Some(Context::Code { object: Some(keys), .. }) = self.stack.last_mut() {
            *keys += 1;
            if *keys > limits::MAX_OBJECT_KEYS {
                self.limit = Some("an object has more than 4096 keys");
            }
        }
    }

    fn heredoc_header(&mut self) {
        let after = self.text.get(self.at + 2..).unwrap_or("");
        let name = after.strip_prefix('-').unwrap_or(after);
        let end = name
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .unwrap_or(name.len());
        let at = self.at + 2 + (after.len() - name.len());
        let name = name.get(..end).unwrap_or("");
        if !name.is_empty() {
            self.pending.push(Heredoc {
                name,
                at,
                is_ambiguous: false,
            });
            self.heredoc_at = self.at;
        }
        if let Some(trace) = &mut self.trace {
            trace.token(self.at);
        }
        self.at = at + end;
        self.blank = false;
    }

    fn newline(&mut self) {
        self.at += 1;
        if let Some(heredoc) = self.pending.pop() {
            self.pending.clear();
            self.push(Context::Heredoc(heredoc));
            if let Some(trace) = &mut self.trace {
                trace.line();
            }
            return;
        }
        if self.is_in_for() && self.heredoc_end + 1 != self.at {
            let has_return = self
                .text
                .as_bytes()
                .get(..self.at - 1)
                .is_some_and(|text| text.ends_with(b"\r"));
            self.breaks.push(self.at - 1 - usize::from(has_return)..self.at);
        }
        if let Some(trace) = &mut self.trace {
            trace.newline(self.at - 1);
        }
        if self.last != b',' {
            self.entry();
        }
        if self.stack.is_empty() || self.at_block() {
            self.finish(self.at);
        }
    }

    /// Returns `true` if the line that begins here can only be a top-level block.
    fn at_block(&self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or("");
        BLOCKS.iter().any(|name| {
            let after = rest.strip_prefix(name).unwrap_or("");
            after.starts_with(" \"") || after.starts_with(" {")
        })
    }
}
