//! Refuses source that is nested too deeply, before it is parsed: the parsers recurse without a limit.
//!
//! A linear scan of the tokens counts brackets that are open, and the tokens since the last separator within each of
//! them. Their sum bounds the depth of the syntax tree, since everything that nests without brackets (operators,
//! ternaries, arrows, `else if`, calls of calls) takes a token per level.

use crate::limits;
use crate::words::{Words, words};

/// Reason that a text is not parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    TooDeep,
    /// A syntax error, or a construct that is ambiguous to the scan.
    Syntax,
}

/// Words after which an expression or statement continues, even on the next line.
static PREFIXES: Words = Words::new(|| {
    words(
        "abstract as asserts async await case class const declare default delete do else export extends for function \
     if implements import in infer instanceof is keyof let new readonly return satisfies throw typeof unique var \
     void while yield",
    )
});
/// Words that continue the statement before them.
static CONTINUING: Words = Words::new(|| words("as catch else extends finally in instanceof satisfies while"));

/// Kind of the previous token, as far as it decides about the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Previous {
    /// An operator, an opening bracket, or the beginning of the file.
    Operator,
    /// A word that an operand or statement follows.
    Prefix,
    /// `if`, `for`, `while` or `with`.
    Head,
    /// An operand, or a bracket that closes one.
    Operand,
    /// The bracket that closes the head of a statement.
    HeadEnd,
    /// `}`, or a token that may precede or follow an operand.
    Ambiguous,
    Dot,
}

/// An open bracket.
struct Level {
    /// Tokens since the last separator.
    run: usize,
    /// `<` since the last statement; type arguments contain commas.
    angles: usize,
    kind: Bracket,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bracket {
    File,
    Plain,
    /// The bracket after `if`, `for`, `while` or `with`.
    Head,
    /// Expression in a template literal, or in an f-string with this quote and number of quotes.
    Interpolated(u8, usize),
}

/// Scan of one text.
struct Scan<'s> {
    text: &'s str,
    bytes: &'s [u8],
    at: usize,
    levels: Vec<Level>,
    total: usize,
    /// `true` if the next token begins a statement, unless it continues the previous one.
    may_end: bool,
}

type Checked = Result<(), Refusal>;

/// Refuses Python that is nested too deeply.
pub(crate) fn check_python(text: &str) -> Checked {
    Scan::new(text).python()
}

/// Refuses JavaScript or TypeScript that is nested too deeply.
pub(crate) fn check_script(text: &str) -> Checked {
    Scan::new(text).script()
}

impl<'s> Scan<'s> {
    fn new(text: &'s str) -> Self {
        let file = Level {
            run: 0,
            angles: 0,
            kind: Bracket::File,
        };
        Scan {
            text,
            bytes: text.as_bytes(),
            at: 0,
            levels: vec![file],
            total: 0,
            may_end: false,
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or_default()
    }

    fn starts(&self, text: &str) -> bool {
        self.bytes[self.at.min(self.bytes.len())..].starts_with(text.as_bytes())
    }

    fn count(&mut self) -> Checked {
        if let Some(level) = self.levels.last_mut() {
            level.run += 1;
        }
        self.total += 1;
        if self.total > limits::MAX_NESTING {
            Err(Refusal::TooDeep)
        } else {
            Ok(())
        }
    }

    fn angle(&mut self) -> Checked {
        if let Some(level) = self.levels.last_mut() {
            level.angles += 1;
        }
        self.total += 1;
        self.count()
    }

    fn open(&mut self, kind: Bracket) -> Checked {
        if !matches!(kind, Bracket::Interpolated(..)) {
            self.count()?;
        }
        let (run, angles) = (0, 0);
        self.levels.push(Level { run, angles, kind });
        self.count()
    }

    /// Closes a bracket and returns its kind; an unmatched one closes nothing.
    fn close(&mut self) -> Bracket {
        if self.levels.len() == 1 {
            return Bracket::Plain;
        }
        self.levels.pop().map_or(Bracket::Plain, |level| {
            self.total -= level.run + level.angles;
            level.kind
        })
    }

    /// Begins a new operand of a list.
    fn separate(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.total -= std::mem::take(&mut level.run);
        }
    }

    /// Begins a new statement.
    fn end(&mut self) {
        self.separate();
        if let Some(level) = self.levels.last_mut() {
            self.total -= std::mem::take(&mut level.angles);
        }
    }

    /// Skips to the end of the line.
    fn line(&mut self) {
        while self.at < self.bytes.len() && !self.is_newline() {
            self.at += 1;
        }
    }

    /// Returns `true` at a line terminator, which includes U+2028 and U+2029.
    fn is_newline(&self) -> bool {
        matches!(self.peek(0), b'\n' | b'\r') || self.starts("\u{2028}") || self.starts("\u{2029}")
    }

    /// Skips a string that ends with `count` quotes.
    fn string(&mut self, quote: u8, count: usize) {
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\\' => self.at += 1,
                b'\n' | b'\r' if count == 1 => return,
                _ if self.is_closing(quote, count) => {
                    self.at += count;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn is_closing(&self, quote: u8, count: usize) -> bool {
        (0..count).all(|ahead| self.peek(ahead) == quote)
    }

    /// Takes a word, or a single character that is not a letter.
    fn word(&mut self) -> &'s str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let end = rest.find(|letter: char| !is_letter(letter)).unwrap_or(rest.len());
        self.at += end.max(first);
        rest.get(..end.max(first)).unwrap_or_default()
    }

    /// Returns the length of a character outside of ASCII that separates words without ending a line.
    fn space(&self) -> Option<usize> {
        let letter = self.text.get(self.at..)?.chars().next()?;
        let is_space = letter.is_whitespace() || matches!(letter, '\u{feff}' | '\u{180e}' | '\u{200b}');
        (is_space && !letter.is_ascii()).then(|| letter.len_utf8())
    }

    fn python(mut self) -> Checked {
        self.indentation()?;
        while self.at < self.bytes.len() {
            let byte = self.peek(0);
            match byte {
                b'#' => self.line(),
                b'\n' | b'\r' => {
                    self.at += 1;
                    if self.levels.len() == 1 {
                        self.end();
                        self.indentation()?;
                    }
                }
                b'\\' if matches!(self.peek(1), b'\n' | b'\r') => self.at += 2,
                b' ' | b'\t' | b'\x0c' => self.at += 1,
                b'"' | b'\'' => self.quoted(false)?,
                b'(' | b'[' | b'{' => {
                    self.at += 1;
                    self.open(Bracket::Plain)?;
                }
                b')' | b']' | b'}' => {
                    self.at += 1;
                    if let Bracket::Interpolated(quote, count) = self.close() {
                        self.f_string(quote, count)?;
                    }
                }
                b',' | b';' => {
                    self.at += 1;
                    self.separate();
                }
                b':' if matches!(
                    self.levels.last().map(|level| level.kind),
                    Some(Bracket::Interpolated(..))
                ) =>
                {
                    self.at += 1;
                    self.format()?;
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => {
                    let word = self.word().to_ascii_lowercase();
                    let is_prefix = matches!(word.as_str(), "f" | "fr" | "rf" | "t" | "tr" | "rt");
                    match self.peek(0) {
                        b'"' | b'\'' if word.len() <= 2 => self.quoted(is_prefix)?,
                        _ => self.count()?,
                    }
                }
                _ => {
                    self.at += 1;
                    self.count()?;
                }
            }
        }
        Ok(())
    }

    fn indentation(&mut self) -> Checked {
        let from = self.at;
        while matches!(self.peek(0), b' ' | b'\t' | b'\x0c') {
            self.at += 1;
        }
        if self.at - from > limits::MAX_INDENTATION && !matches!(self.peek(0), b'\n' | b'\r' | b'#') {
            return Err(Refusal::TooDeep);
        }
        Ok(())
    }

    /// Skips a string of Python, or enters the first expression of an f-string.
    fn quoted(&mut self, is_interpolated: bool) -> Checked {
        let quote = self.peek(0);
        let count = if self.is_closing(quote, 3) { 3 } else { 1 };
        self.at += count;
        if is_interpolated {
            return self.f_string(quote, count);
        }
        self.string(quote, count);
        Ok(())
    }

    /// Skips the literal part of an f-string.
    fn f_string(&mut self, quote: u8, count: usize) -> Checked {
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\\' => self.at += 1,
                b'\n' | b'\r' if count == 1 => return Ok(()),
                b'{' | b'}' if self.peek(1) == self.peek(0) => self.at += 1,
                b'{' => {
                    self.at += 1;
                    return self.open(Bracket::Interpolated(quote, count));
                }
                _ if self.is_closing(quote, count) => {
                    self.at += count;
                    return Ok(());
                }
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Skips the format after the `:` of an f-string's expression.
    fn format(&mut self) -> Checked {
        let Some(Bracket::Interpolated(quote, _)) = self.levels.last().map(|level| level.kind) else {
            return Ok(());
        };
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'{' | b'}' => return Ok(()),
                // It may be code after all.
                b'(' | b'[' | b'\n' | b'\r' => return Err(Refusal::Syntax),
                byte if byte == quote => return Err(Refusal::Syntax),
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    fn script(mut self) -> Checked {
        let mut previous = Previous::Operator;
        if self.starts("#!") {
            self.line();
        }
        while self.at < self.bytes.len() {
            let byte = self.peek(0);
            if self.is_newline() {
                self.may_end |= matches!(previous, Previous::Operand | Previous::Ambiguous);
                self.at += self.space().unwrap_or(1);
                continue;
            }
            if let Some(length) = self.space() {
                self.at += length;
                continue;
            }
            match byte {
                b' ' | b'\t' | b'\x0b' | b'\x0c' => self.at += 1,
                b'/' => previous = self.slash(previous)?,
                b'"' | b'\'' => {
                    self.begin();
                    self.at += 1;
                    self.string(byte, 1);
                    previous = Previous::Operand;
                }
                b'`' => {
                    self.at += 1;
                    self.count()?;
                    previous = self.template()?;
                }
                b'(' | b'[' | b'{' | b')' | b']' | b'}' => previous = self.bracket(byte, previous)?,
                // The parser goes on after it, so it must not look like a word.
                b'\\' if self.peek(1) != b'u' => return Err(Refusal::Syntax),
                b',' | b';' => {
                    self.at += 1;
                    self.may_end = false;
                    if byte == b',' {
                        self.separate();
                    } else {
                        self.end();
                    }
                    previous = Previous::Operator;
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | b'\\' | 0x80.. => {
                    previous = self.script_word(previous)?;
                }
                _ => previous = self.operator(previous)?,
            }
        }
        Ok(())
    }

    fn bracket(&mut self, byte: u8, previous: Previous) -> Result<Previous, Refusal> {
        self.at += 1;
        if matches!(byte, b'(' | b'[' | b'{') {
            if byte == b'{' {
                self.begin();
            }
            self.may_end = false;
            let kind = match previous {
                Previous::Head if byte == b'(' => Bracket::Head,
                _ => Bracket::Plain,
            };
            self.open(kind)?;
            return Ok(Previous::Operator);
        }
        self.may_end = byte == b'}';
        Ok(match (self.close(), byte) {
            (Bracket::Interpolated(..), _) => self.template()?,
            (Bracket::Head, _) => Previous::HeadEnd,
            (_, b'}') => Previous::Ambiguous,
            _ => Previous::Operand,
        })
    }

    /// Reads a comment, a division or a regular expression.
    fn slash(&mut self, previous: Previous) -> Result<Previous, Refusal> {
        match self.peek(1) {
            b'/' => {
                self.line();
                return Ok(previous);
            }
            b'*' => {
                self.at += 2;
                while self.at < self.bytes.len() && !self.starts("*/") {
                    self.at += 1;
                }
                self.at += 2;
                return Ok(previous);
            }
            _ => self.at += 1,
        }
        match previous {
            Previous::Ambiguous => Err(Refusal::Syntax),
            Previous::Operand | Previous::Dot => {
                self.count()?;
                Ok(Previous::Operator)
            }
            _ => {
                self.regex();
                Ok(Previous::Operand)
            }
        }
    }

    fn script_word(&mut self, previous: Previous) -> Result<Previous, Refusal> {
        let is_escape = self.peek(0) == b'\\';
        let word = if is_escape { "" } else { self.word() };
        self.at += usize::from(is_escape);
        if !CONTINUING.contains(word) {
            self.begin();
        }
        self.may_end = false;
        self.count()?;
        Ok(match word {
            _ if previous == Previous::Dot => Previous::Operand,
            "if" | "for" | "while" | "with" => Previous::Head,
            // `for await (`
            "await" if previous == Previous::Head => Previous::Head,
            "of" => Previous::Ambiguous,
            _ if PREFIXES.contains(word) => Previous::Prefix,
            _ => Previous::Operand,
        })
    }

    fn operator(&mut self, previous: Previous) -> Result<Previous, Refusal> {
        let byte = self.peek(0);
        self.may_end = false;
        let is_step = matches!(byte, b'+' | b'-') && self.peek(1) == byte;
        self.at += 1 + usize::from(is_step);
        if byte == b'<' {
            self.angle()?;
        } else {
            self.count()?;
        }
        Ok(match byte {
            b'.' | b'#' => Previous::Dot,
            // `a! / b`
            b'!' if previous == Previous::Operand => Previous::Ambiguous,
            // `a++ / b`; without an operand before it, its operand follows, even on the next line.
            _ if is_step && matches!(previous, Previous::Operand | Previous::Ambiguous) => Previous::Ambiguous,
            _ => Previous::Operator,
        })
    }

    /// Begins a new statement if the previous one may be complete.
    fn begin(&mut self) {
        if std::mem::take(&mut self.may_end) {
            self.end();
        }
    }

    /// Skips the text of a template literal, up to its end or its next expression.
    fn template(&mut self) -> Result<Previous, Refusal> {
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\\' => self.at += 1,
                b'`' => {
                    self.at += 1;
                    return Ok(Previous::Operand);
                }
                b'$' if self.peek(1) == b'{' => {
                    self.at += 2;
                    self.open(Bracket::Interpolated(b'`', 1))?;
                    return Ok(Previous::Operator);
                }
                _ => {}
            }
            self.at += 1;
        }
        Ok(Previous::Operand)
    }

    /// Skips a regular expression after its first `/`.
    fn regex(&mut self) {
        let mut is_in_class = false;
        while self.at < self.bytes.len() && !self.is_newline() {
            match self.peek(0) {
                b'\\' => self.at += 1,
                b'[' => is_in_class = true,
                b']' => is_in_class = false,
                b'/' if !is_in_class => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}
