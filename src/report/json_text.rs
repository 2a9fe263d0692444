//! Writes JSON for reports. Programs read every text unchanged, but characters that would control a terminal or a build
//! log are escaped. Since a report may be long, it is written incrementally.

use super::printable::{ends_mark, is_deceptive};
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use std::io::{self, Write};

/// Writes `value` indented, with a trailing line break.
pub fn write_pretty(out: &mut dyn Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    write(out, value, PrettyFormatter::new())
}

/// Writes `value` on one line.
pub(super) fn write_line(out: &mut dyn Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    write(out, value, CompactFormatter)
}

fn write(mut out: &mut dyn Write, value: &(impl Serialize + ?Sized), layout: impl Formatter) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut out, Escaped(layout)))?;
    out.write_all(b"\n")
}

/// List whose items are created one by one while it is written, so that only one of them is in memory at a time.
pub(super) struct Each<F>(pub(super) F);

impl<F: Fn() -> I, I: IntoIterator<Item: Serialize>> Serialize for Each<F> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// Layout that escapes more characters in strings than JSON requires.
struct Escaped<F>(F);

/// Delegates everything but strings to the layout.
macro_rules! as_laid_out {
    ($($name:ident($($argument:ident)?);)*) => {$(
        fn $name<W: ?Sized + Write>(&mut self, out: &mut W $(, $argument: bool)?) -> io::Result<()> {
            self.0.$name(out $(, $argument)?)
        }
    )*};
}

impl<F: Formatter> Formatter for Escaped<F> {
    as_laid_out! {
        begin_array();
        end_array();
        begin_array_value(first);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first);
        begin_object_value();
        end_object_value();
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut written = 0;
        let mut before = ' ';
        for (at, character) in fragment.char_indices() {
            let rest = fragment.get(at..).unwrap_or("");
            if is_deceptive(character) || ends_mark(before, rest) {
                out.write_all(fragment.get(written..at).unwrap_or("").as_bytes())?;
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
                written = at + character.len_utf8();
            }
            before = character;
        }
        out.write_all(fragment.get(written..).unwrap_or("").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_texts_are_read_back_unchanged() {
        let texts = ["a\u{1b}\u{9b}\u{202e}b", "##[error]x\n##vso[a]", "\"\\\u{7f}日本"];
        let mut written = Vec::new();
        write_line(&mut written, &texts).expect("writing to memory cannot fail");
        let written = String::from_utf8(written).expect("JSON is text");
        let expected = r##"["a\u001b\u009b\u202eb","#\u0023[error]x\n#\u0023vso[a]","\"\\\u007f日本"]"##;
        assert_eq!(written.trim_end(), expected);
        assert_eq!(
            serde_json::from_str::<Vec<String>>(&written).expect("it is JSON"),
            texts
        );
    }
}
