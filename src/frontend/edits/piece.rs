//! Values that are to be written, and how they are spelled: as a block or in brackets in YAML, or in JSON. It knows no
//! file and no resource; what indentation and line ends a file has, it is told.

/// A value to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::frontend) enum Piece {
    Number(i64),
    Flag(bool),
    /// A string.
    Text(String),
    /// Written as it stands: a short form, or what the file says elsewhere.
    Verbatim(String),
    /// What stands behind a key elsewhere, from its colon on.
    Copied(String),
    /// A list in brackets, also in a block.
    Short(Vec<Piece>),
    List(Vec<Piece>),
    Mapping(Vec<(String, Piece)>),
}

/// How a text looks around what is written into it.
#[derive(Debug, Clone)]
pub(in crate::frontend) struct Style {
    /// One level of indentation.
    pub(in crate::frontend) unit: String,
    /// How lines end.
    pub(in crate::frontend) end: &'static str,
    /// Whether the items of a list stand deeper than its key.
    pub(in crate::frontend) deep_items: bool,
    /// What stands between a key and its value in JSON.
    pub(in crate::frontend) colon: String,
    /// Whether JSON has entries on lines of their own.
    pub(in crate::frontend) has_lines: bool,
    /// Whether keys stand in quotes.
    pub(in crate::frontend) quotes_keys: bool,
}

impl Piece {
    pub(in crate::frontend) fn text(text: impl Into<String>) -> Piece {
        Piece::Text(text.into())
    }

    /// A mapping of these.
    pub(in crate::frontend) fn mapping<const N: usize>(entries: [(&str, Piece); N]) -> Piece {
        Piece::Mapping(
            entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        )
    }

    /// As JSON, where what belongs to it is indented deeper than `indentation`.
    pub(in crate::frontend) fn json(&self, indentation: &str, style: &Style) -> String {
        let inner = format!("{indentation}{}", style.unit);
        let colon = &style.colon;
        let comma = if colon == ":" { "," } else { ", " };
        let parts: Vec<String> = match self {
            Piece::Text(text) => return quoted(text),
            Piece::Number(_) | Piece::Flag(_) | Piece::Verbatim(_) | Piece::Copied(_) => return self.scalar(),
            Piece::Short(items) => {
                let items: Vec<String> = items.iter().map(|item| item.json(indentation, style)).collect();
                return format!("[{}]", items.join(comma));
            }
            Piece::List(items) => items.iter().map(|item| item.json(&inner, style)).collect(),
            Piece::Mapping(entries) => {
                let entries = entries.iter();
                let spelled = entries.map(|(key, value)| match value {
                    Piece::Copied(text) => format!("{}{text}", quoted(key)),
                    _ => format!("{}{colon}{}", quoted(key), value.json(&inner, style)),
                });
                spelled.collect()
            }
        };
        let (open, close) = self.brackets();
        let end = style.end;
        if parts.is_empty() || !style.has_lines {
            return format!("{open}{}{close}", parts.join(comma));
        }
        let parts = parts.join(&format!(",{end}{inner}"));
        format!("{open}{end}{inner}{parts}{end}{indentation}{close}")
    }

    /// In brackets on one line, as YAML.
    pub(in crate::frontend) fn flow(&self, style: &Style) -> String {
        let parts: Vec<String> = match self {
            Piece::Short(items) | Piece::List(items) => items.iter().map(|item| item.flow(style)).collect(),
            Piece::Mapping(entries) => {
                let entries = entries.iter();
                let spelled = entries.map(|(key, value)| format!("{}: {}", spelled_key(key, style), value.flow(style)));
                spelled.collect()
            }
            _ => return self.scalar(),
        };
        let (open, close) = self.brackets();
        format!("{open}{}{close}", parts.join(", "))
    }

    /// What follows a key and its colon in a block whose key is indented by `indentation`.
    pub(in crate::frontend) fn block(&self, indentation: &str, style: &Style) -> String {
        let inner = format!("{indentation}{}", style.unit);
        match self {
            Piece::Mapping(entries) if !entries.is_empty() => {
                format!("{}{inner}{}", style.end, block(entries, &inner, style))
            }
            Piece::List(items) if !items.is_empty() => {
                let dash = if style.deep_items { &inner } else { indentation };
                let below = format!("{dash}  ");
                let items = items.iter().map(|item| match item {
                    Piece::Mapping(entries) => block(entries, &below, style),
                    other => other.flow(style),
                });
                let items: String = items.map(|item| format!("{}{dash}- {item}", style.end)).collect();
                items
            }
            other => format!(" {}", other.flow(style)),
        }
    }

    fn brackets(&self) -> (char, char) {
        if matches!(self, Piece::Mapping(_)) {
            ('{', '}')
        } else {
            ('[', ']')
        }
    }

    fn scalar(&self) -> String {
        match self {
            Piece::Number(value) => value.to_string(),
            Piece::Flag(value) => value.to_string(),
            Piece::Text(text) => plain(text),
            Piece::Verbatim(text) | Piece::Copied(text) => text.clone(),
            Piece::Short(_) | Piece::List(_) | Piece::Mapping(_) => String::new(),
        }
    }
}

/// Entries of a block, without the first one's indentation and the last one's line end.
pub(in crate::frontend) fn block(entries: &[(String, Piece)], indentation: &str, style: &Style) -> String {
    let lines = entries.iter().map(|(key, value)| {
        let key = spelled_key(key, style);
        match value {
            Piece::Copied(text) => format!("{key}{text}"),
            _ => format!("{key}:{}", value.block(indentation, style)),
        }
    });
    let lines: Vec<String> = lines.collect();
    lines.join(&format!("{}{indentation}", style.end))
}

/// A key of YAML.
pub(in crate::frontend) fn spelled_key(key: &str, style: &Style) -> String {
    if style.quotes_keys { quoted(key) } else { plain(key) }
}

/// `text` in quotes of JSON, which are those of YAML too.
pub(in crate::frontend) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text of YAML, in quotes only where it would mean something else without.
fn plain(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/' | b'.' | b':' | b' ');
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let word = text.to_ascii_lowercase();
    let means = matches!(
        &*word,
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
    );
    let parts = text.contains(": ") || text.ends_with([':', ' ']);
    if begins && text.bytes().all(is_plain) && !parts && !means {
        text.to_owned()
    } else {
        quoted(text)
    }
}
