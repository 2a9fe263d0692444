//! Splits an expression into tokens: names, numbers, strings and signs, each with its byte range.

use super::Fault;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    /// A field between backquotes, as in `` tags.`cost-center` ``.
    Quoted(String),
    Int(i64),
    /// 2⁶³, which is valid only after a minus sign.
    TooLarge,
    Text(String),
    Sign(&'static str),
    End,
}

/// Signs; longer ones precede their prefixes.
const SIGNS: [&str; 25] = [
    "&&", "||", "<=", ">=", "==", "!=", "?", ":", "(", ")", "[", "]", "{", "}", ".", ",", "<", ">", "+", "-", "*", "/",
    "%", "!", "=",
];

/// Returns the tokens of `text`, followed by an end token.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, Fault> {
    let mut lexer = Lexer { text, at: 0 };
    let mut words = Vec::new();
    loop {
        lexer.skip();
        let start = lexer.at;
        let word = lexer.word()?;
        let is_end = word == Token::End;
        words.push((word, start..lexer.at));
        if is_end {
            return Ok(words);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Skips whitespace, and comments up to the end of their line.
    fn skip(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if !self.rest().starts_with("//") {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn word(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            return Ok(Token::End);
        };
        if let Some((prefix, quote)) = self.string_ahead() {
            return self.string(prefix, quote);
        }
        if first == '_' || first.is_ascii_alphabetic() {
            let name = self.take_while(|c| c == '_' || c.is_ascii_alphanumeric());
            return Ok(Token::Name(name.to_owned()));
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        if first == '`' {
            return self.quoted();
        }
        if let Some(sign) = SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
            self.at += sign.len();
            if *sign == "=" {
                return Err(Fault::new(start..self.at, "`=` is not an operator; `==` compares"));
            }
            return Ok(Token::Sign(sign));
        }
        let at = start..start + first.len_utf8();
        Err(Fault::new(
            at,
            format!("unexpected character `{}`", first.escape_default()),
        ))
    }

    /// Reads a field name in backquotes.
    fn quoted(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        self.at += 1;
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ' '));
        if !self.rest().starts_with('`') || name.is_empty() {
            let message = "between backquotes stands a name of letters, digits and `_.-/ `";
            return Err(Fault::new(start..self.at, message));
        }
        self.at += 1;
        Ok(Token::Quoted(name.to_owned()))
    }

    fn number(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        let written = self.take_while(|c| c.is_ascii_alphanumeric());
        let is_fraction = {
            let mut rest = self.rest().chars();
            rest.next() == Some('.') && rest.next().is_some_and(|c| c.is_ascii_digit())
        };
        let at = start..self.at;
        let is_exponent = !written.starts_with("0x") && written.contains(['e', 'E']);
        if is_fraction || is_exponent {
            return Err(Fault::new(at, "numbers are whole here"));
        }
        if written.ends_with(['u', 'U']) {
            return Err(Fault::new(
                at,
                "there are no unsigned numbers here; write it without `u`",
            ));
        }
        let (digits, radix) = match written.strip_prefix("0x").or(written.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None => (written, 10),
        };
        match u64::from_str_radix(digits, radix) {
            Ok(number) if number == 1 << 63 => Ok(Token::TooLarge),
            Ok(number) => i64::try_from(number)
                .map(Token::Int)
                .map_err(|_| Fault::new(at, "the number is too large")),
            Err(_) if digits.chars().all(|c| c.is_digit(radix)) && !digits.is_empty() => {
                Err(Fault::new(at, "the number is too large"))
            }
            Err(_) => Err(Fault::new(at, "not a number")),
        }
    }

    /// Returns the prefix and the quotes of a string that starts here.
    fn string_ahead(&self) -> Option<(&'t str, &'static str)> {
        let rest = self.rest();
        let length = rest.find(['"', '\'']).filter(|length| *length <= 2)?;
        let (prefix, quoted) = rest.split_at(length);
        if !prefix.chars().all(|c| matches!(c, 'r' | 'R' | 'b' | 'B')) {
            return None;
        }
        let all = ["\"\"\"", "'''", "\"", "'"];
        all.into_iter()
            .find(|quote| quoted.starts_with(quote))
            .map(|quote| (prefix, quote))
    }

    fn string(&mut self, prefix: &str, quote: &str) -> Result<Token, Fault> {
        let start = self.at;
        self.at += prefix.len();
        if prefix.contains(['b', 'B']) {
            let at = start..self.at + quote.len();
            return Err(Fault::new(at, "there are no bytes here; a string is enough"));
        }
        let is_raw = prefix.contains(['r', 'R']);
        self.at += quote.len();
        let mut text = String::new();
        loop {
            let rest = self.rest();
            if rest.starts_with(quote) {
                self.at += quote.len();
                return Ok(Token::Text(text));
            }
            let Some(next) = rest.chars().next().filter(|c| quote.len() == 3 || *c != '\n') else {
                return Err(Fault::new(start..self.at, "the string is not closed"));
            };
            if next == '\\' && !is_raw {
                text.push(self.escape()?);
            } else {
                self.at += next.len_utf8();
                text.push(next);
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 1;
        let letter = self.rest().chars().next();
        self.at += letter.map_or(0, char::len_utf8);
        let digits = |lexer: &mut Self, count: usize, radix: u32| {
            let digits = lexer.rest().get(..count)?;
            let code = u32::from_str_radix(digits, radix)
                .ok()
                .filter(|_| !digits.starts_with('+'))?;
            lexer.at += count;
            char::from_u32(code)
        };
        let escaped = match letter {
            Some('a') => Some('\x07'),
            Some('b') => Some('\x08'),
            Some('f') => Some('\x0c'),
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('v') => Some('\x0b'),
            Some(same @ ('\\' | '?' | '"' | '\'' | '`')) => Some(same),
            Some('x' | 'X') => digits(self, 2, 16),
            Some('u') => digits(self, 4, 16),
            Some('U') => digits(self, 8, 16),
            Some('0'..='3') => {
                self.at -= 1;
                digits(self, 3, 8)
            }
            _ => None,
        };
        escaped.ok_or_else(|| {
            let message = "unknown escape; `\\\\` is a backslash, and a raw string, as in `r\"…\"`, has no escapes";
            Fault::new(start..self.at, message)
        })
    }
}
