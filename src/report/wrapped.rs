//! Wraps text for terminals between words.

/// Maximum width of a line if the width of the terminal is unknown.
pub const WIDTH: usize = 80;

/// Appends `text` wrapped to `width`, with the first line indented by `first` and the others by `rest`.
pub fn write(out: &mut String, text: &str, (first, rest): (usize, usize), width: usize) {
    let mut column = first;
    out.push_str(&" ".repeat(first));
    for (at, word) in words(text).into_iter().enumerate() {
        let length = word.chars().count();
        if at > 0 && column + 1 + length > width {
            column = rest;
            out.push('\n');
            out.push_str(&" ".repeat(column));
        } else if at > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(&word);
        column += length;
    }
    out.push('\n');
}

/// Units that stay on the line of their number.
const UNITS: [&str; 6] = ["ms", "s", "min", "h", "day", "days"];

/// Splits a text into words. A number stays with its unit, and `line` with its number.
pub fn words(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let bare = word.trim_end_matches([',', ':', ';', ')']);
        let is_number = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
        match all.last_mut() {
            Some(last) if (UNITS.contains(&bare) && is_number(last)) || (last == "line" && is_number(bare)) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => all.push(word.to_owned()),
        }
    }
    all
}
