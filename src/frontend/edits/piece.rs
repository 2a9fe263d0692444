//! Values to write, and their spelling: in block or flow style in YAML, or in JSON. It knows no file and no resource;
//! the caller passes the indentation and line endings of the file.

/// A value to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::frontend) enum NewValue {
    Number(i64),
    Flag(bool),
    /// A string.
    Text(String),
    /// Text to write unchanged: a short form, or text copied from the file.
    Verbatim(String),
    /// Text after a key elsewhere in the file, including the colon.
    Copied(String),
    /// A list in brackets, also in block style.
    Short(Vec<NewValue>),
    List(Vec<NewValue>),
    Mapping(Vec<(String, NewValue)>),
}

/// Style of the surrounding text.
#[derive(Debug, Clone)]
pub(in crate::frontend) struct Style {
    /// Indentation of one level.
    pub(in crate::frontend) unit: String,
    /// Line ending.
    pub(in crate::frontend) end: &'static str,
    /// `true` if the items of a list are indented more than its key.
    pub(in crate::frontend) deep_items: bool,
    /// Text between a key and its value in JSON.
    pub(in crate::frontend) colon: String,
    /// `true` if JSON has entries on separate lines.
    pub(in crate::frontend) has_lines: bool,
    /// `true` if keys are quoted.
    pub(in crate::frontend) quotes_keys: bool,
}

impl NewValue {
    pub(in crate::frontend) fn text(text: impl Into<String>) -> NewValue {
        NewValue::Text(text.into())
    }

    /// Creates a mapping of `entries`.
    pub(in crate::frontend) fn mapping<const N: usize>(entries: [(&str, NewValue); N]) -> NewValue {
        NewValue::Mapping(
            entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        )
    }

    /// Renders JSON; nested lines are indented more than `indentation`.
    pub(in crate::frontend) fn json(&self, indentation: &str, style: &Style) -> String {
        let inner = format!("{indentation}{}", style.unit);
        let colon = &style.colon;
        let comma = if colon == ":" { "," } else { ", " };
        let parts: Vec<String> = match self {
            NewValue::Text(text) => return quoted(text),
            NewValue::Number(_) | NewValue::Flag(_) | NewValue::Verbatim(_) | NewValue::Copied(_) => {
                return self.scalar();
            }
            NewValue::Short(items) => {
                let items: Vec<String> = items.iter().map(|item| item.json(indentation, style)).collect();
                return format!("[{}]", items.join(comma));
            }
            NewValue::List(items) => items.iter().map(|item| item.json(&inner, style)).collect(),
            NewValue::Mapping(entries) => {
                let entries = entries.iter();
                let spelled = entries.map(|(key, value)| match value {
                    NewValue::Copied(text) => format!("{}{text}", quoted(key)),
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

    /// Renders YAML in flow style, on one line.
    pub(in crate::frontend) fn flow(&self, style: &Style) -> String {
        let parts: Vec<String> = match self {
            NewValue::Short(items) | NewValue::List(items) => items.iter().map(|item| item.flow(style)).collect(),
            NewValue::Mapping(entries) => {
                let entries = entries.iter();
                let spelled = entries.map(|(key, value)| format!("{}: {}", spelled_key(key, style), value.flow(style)));
                spelled.collect()
            }
            _ => return self.scalar(),
        };
        let (open, close) = self.brackets();
        format!("{open}{}{close}", parts.join(", "))
    }

    /// Renders the text after a key and its colon in YAML block style; the key is indented by `indentation`.
    pub(in crate::frontend) fn block(&self, indentation: &str, style: &Style) -> String {
        let inner = format!("{indentation}{}", style.unit);
        match self {
            NewValue::Mapping(entries) if !entries.is_empty() => {
                format!("{}{inner}{}", style.end, block(entries, &inner, style))
            }
            NewValue::List(items) if !items.is_empty() => {
                let dash = if style.deep_items { &inner } else { indentation };
                let below = format!("{dash}  ");
                let items = items.iter().map(|item| match item {
                    NewValue::Mapping(entries) => block(entries, &below, style),
                    other => other.flow(style),
                });
                let items: String = items.map(|item| format!("{}{dash}- {item}", style.end)).collect();
                items
            }
            other => format!(" {}", other.flow(style)),
        }
    }

    fn brackets(&self) -> (char, char) {
        if matches!(self, NewValue::Mapping(_)) {
            ('{', '}')
        } else {
            ('[', ']')
        }
    }

    fn scalar(&self) -> String {
        match self {
            NewValue::Number(value) => value.to_string(),
            NewValue::Flag(value) => value.to_string(),
            NewValue::Text(text) => plain(text),
            NewValue::Verbatim(text) | NewValue::Copied(text) => text.clone(),
            NewValue::Short(_) | NewValue::List(_) | NewValue::Mapping(_) => String::new(),
        }
    }
}

/// Renders entries of a block, without the indentation of the first and the line ending of the last.
pub(in crate::frontend) fn block(entries: &[(String, NewValue)], indentation: &str, style: &Style) -> String {
    let lines = entries.iter().map(|(key, value)| {
        let key = spelled_key(key, style);
        match value {
            NewValue::Copied(text) => format!("{key}{text}"),
            _ => format!("{key}:{}", value.block(indentation, style)),
        }
    });
    let lines: Vec<String> = lines.collect();
    lines.join(&format!("{}{indentation}", style.end))
}

/// Renders a key of YAML.
pub(in crate::frontend) fn spelled_key(key: &str, style: &Style) -> String {
    if style.quotes_keys { quoted(key) } else { plain(key) }
}

/// Renders `text` as a JSON string, which is also valid YAML.
pub(in crate::frontend) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Renders a text of YAML, quoted only if it would otherwise have another meaning.
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
