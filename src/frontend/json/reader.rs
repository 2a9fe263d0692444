//! Reads JSON text straight into the tree, in one pass and without a tree of its own beside it: templates of a CDK app
//! have many megabytes. Strictly RFC 8259, but for control characters inside strings, which AWS takes too. It does not
//! know where the text stands: places are byte ranges that `Place` turns into spans.

use super::Place;
use crate::frontend::tree::{Entry, Node, Value, keep_last};
use crate::source::Span;
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// How deep values may be nested; a mapping counts twice, for its property is a level too.
const MAX_DEPTH: usize = 512;
/// Longer strings are rarely written twice.
const LONGEST_SHARED: usize = 48;

/// Why the text could not be read, and where.
pub(super) struct Failure {
    pub(super) range: Range<usize>,
    pub(super) message: &'static str,
    /// Whether a bound was reached.
    pub(super) limit: bool,
}

fn fail<T>(range: Range<usize>, message: &'static str) -> Result<T, Failure> {
    Err(Failure {
        range,
        message,
        limit: false,
    })
}

/// Reads one value. Without `duplicates`, repeated keys are kept.
pub(super) fn read(text: &str, place: &Place, duplicates: Option<&mut Vec<Span>>) -> Result<Node, Failure> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
        place,
        duplicates,
        shared: FxHashSet::default(),
        entries: Vec::new(),
        items: Vec::new(),
    };
    reader.skip_space();
    if reader.peek().is_none() {
        return fail(0..0, "it is empty");
    }
    let node = reader.value()?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(node),
        Some(_) => fail(reader.here(), "text cannot contain more than one JSON value"),
    }
}

struct Reader<'t, 'a> {
    text: &'t str,
    at: usize,
    depth: usize,
    place: &'a Place,
    duplicates: Option<&'a mut Vec<Span>>,
    /// Keys and short strings, each once: templates of megabytes have few of them.
    shared: FxHashSet<Arc<str>>,
    /// Those of the collections that are being read, the innermost last; each takes its own when it ends, in a list
    /// of just the room they need.
    entries: Vec<Entry>,
    items: Vec<Node>,
}

impl<'t> Reader<'t, '_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// The character that is next.
    fn here(&self) -> Range<usize> {
        let next = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        self.at..self.at + next.map_or(0, char::len_utf8)
    }

    fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or("")
    }

    /// The value that begins here. The depth bounds the recursion.
    fn value(&mut self) -> Result<Node, Failure> {
        if self.depth > MAX_DEPTH {
            return Err(Failure {
                range: self.here(),
                message: "values are nested more than 512 levels deep",
                limit: true,
            });
        }
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.mapping()?,
            Some(b'[') => self.sequence()?,
            Some(b'"') => {
                let text = self.string()?;
                Value::String(self.share(text))
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node {
            span: self.place.span(start..self.at),
            value,
        })
    }

    fn mapping(&mut self) -> Result<Value, Failure> {
        let open = self.at..self.at + 1;
        let first = self.entries.len();
        self.depth += 2;
        let mut more = self.opened(b'}');
        while more {
            let entry = self.entry(&open)?;
            self.entries.push(entry);
            more = self.continues(b'}', &open)?;
        }
        self.depth -= 2;
        let entries = self.entries.split_off(first);
        Ok(Value::Mapping(match self.duplicates.as_deref_mut() {
            Some(duplicates) => keep_last(entries, duplicates),
            None => entries,
        }))
    }

    fn entry(&mut self, open: &Range<usize>) -> Result<Entry, Failure> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => {}
            None => return fail(open.clone(), "unterminated object"),
            Some(b'/') => return fail(self.here(), "comments are not allowed"),
            Some(_) => return fail(self.here(), "expected string for object property"),
        }
        let key = self.string()?;
        let key_span = self.place.span(start..self.at);
        let key = self.share(key);
        self.skip_space();
        if self.peek() != Some(b':') {
            return fail(self.here(), "expected colon after the string in object property");
        }
        self.at += 1;
        self.skip_space();
        if self.peek().is_none() {
            return fail(open.clone(), "unterminated object");
        }
        let value = self.value()?;
        Ok(Entry { key, key_span, value })
    }

    fn sequence(&mut self) -> Result<Value, Failure> {
        let open = self.at..self.at + 1;
        let first = self.items.len();
        self.depth += 1;
        let mut more = self.opened(b']');
        while more {
            if self.peek().is_none() {
                return fail(open, "unterminated array");
            }
            let item = self.value()?;
            self.items.push(item);
            more = self.continues(b']', &open)?;
        }
        self.depth -= 1;
        Ok(Value::Sequence(self.items.split_off(first)))
    }

    /// Steps into a collection; whether anything is in it.
    fn opened(&mut self, close: u8) -> bool {
        self.at += 1;
        self.skip_space();
        let more = self.peek() != Some(close);
        if !more {
            self.at += 1;
        }
        more
    }

    /// What follows a member: a comma and another one, or the end.
    fn continues(&mut self, close: u8, open: &Range<usize>) -> Result<bool, Failure> {
        let end = self.at;
        self.skip_space();
        match self.peek() {
            Some(b',') => {
                let comma = self.here();
                self.at += 1;
                self.skip_space();
                if self.peek() == Some(close) {
                    return fail(comma, "trailing commas are not allowed");
                }
                Ok(true)
            }
            Some(next) if next == close => {
                self.at += 1;
                Ok(false)
            }
            None if close == b'}' => fail(open.clone(), "unterminated object"),
            None => fail(open.clone(), "unterminated array"),
            Some(b'/') => fail(self.here(), "comments are not allowed"),
            Some(b'}') => fail(self.here(), "unexpected close brace"),
            Some(b']') => fail(self.here(), "unexpected close bracket"),
            Some(b':') => fail(self.here(), "unexpected colon"),
            Some(_) => fail(end..end, "expected comma"),
        }
    }

    /// The string that begins here, decoded.
    fn string(&mut self) -> Result<Cow<'t, str>, Failure> {
        let start = self.at;
        self.at += 1;
        let mut decoded = String::new();
        loop {
            let from = self.at;
            let rest = self.text.as_bytes().get(from..).unwrap_or(&[]);
            let Some(length) = memchr::memchr2(b'"', b'\\', rest) else {
                return fail(start..self.text.len(), "unterminated string literal");
            };
            let plain = self.slice(from..from + length);
            self.at = from + length + 1;
            if rest.get(length) == Some(&b'"') {
                if from == start + 1 {
                    return Ok(Cow::Borrowed(plain));
                }
                decoded.push_str(plain);
                return Ok(Cow::Owned(decoded));
            }
            decoded.push_str(plain);
            decoded.push(self.escape(start)?);
        }
    }

    /// What stands behind a backslash.
    fn escape(&mut self, string: usize) -> Result<char, Failure> {
        let backslash = self.at.saturating_sub(1);
        let Some(letter) = self.peek() else {
            return fail(string..self.text.len(), "unterminated string literal");
        };
        let end = self.here().end;
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.code_point(backslash),
            _ => return fail(backslash..end, "invalid escape"),
        })
    }

    /// The four digits behind `\u`, or two times four that are halves of one character.
    fn code_point(&mut self, backslash: usize) -> Result<char, Failure> {
        let first = self.four_digits(backslash)?;
        let code = match first {
            0xd800..=0xdbff if self.slice(self.at..self.at + 2) == "\\u" => {
                self.at += 2;
                match self.four_digits(backslash)? {
                    second @ 0xdc00..=0xdfff => 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                    _ => first,
                }
            }
            _ => first,
        };
        match char::from_u32(code) {
            Some(character) => Ok(character),
            None => fail(backslash..self.at, "an escape of half a character"),
        }
    }

    fn four_digits(&mut self, backslash: usize) -> Result<u32, Failure> {
        let digits = self.slice(self.at..self.at + 4);
        match u32::from_str_radix(digits, 16) {
            // `from_str_radix` takes a sign.
            Ok(code) if !digits.starts_with('+') => {
                self.at += 4;
                Ok(code)
            }
            _ => fail(backslash..self.at, "expected four hex digits"),
        }
    }

    fn number(&mut self) -> Result<Value, Failure> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = self.slice(start..self.at);
        if let Ok(whole) = text.parse() {
            return Ok(Value::Integer(whole));
        }
        Ok(text
            .parse()
            .map_or_else(|_| Value::String(Arc::from(text)), Value::Float))
    }

    /// At least one digit.
    fn digits(&mut self) -> Result<(), Failure> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return fail(self.here(), "expected digit");
        }
        Ok(())
    }

    /// `true`, `false`, `null`; or what is no value.
    fn word(&mut self) -> Result<Value, Failure> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let end = self.at + rest.iter().take_while(is_letter).count();
        let value = match self.slice(self.at..end) {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            "" => {
                let message = match self.peek() {
                    Some(b'/') => "comments are not allowed",
                    Some(b'\'') => "single-quoted strings are not allowed",
                    Some(b'}') => "unexpected close brace",
                    Some(b']') => "unexpected close bracket",
                    Some(b',') => "unexpected comma",
                    Some(b':') => "unexpected colon",
                    _ => "unexpected token",
                };
                return fail(self.here(), message);
            }
            _ => return fail(self.at..end, "unexpected word"),
        };
        self.at = end;
        Ok(value)
    }

    fn share(&mut self, text: Cow<'_, str>) -> Arc<str> {
        if text.len() > LONGEST_SHARED {
            return text.into();
        }
        if let Some(known) = self.shared.get(&*text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.shared.insert(new.clone());
        new
    }
}
