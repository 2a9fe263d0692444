//! Names for new resources in the style of existing ones. This module knows only names, no queues.

use crate::graph::FIFO_SUFFIX;
use crate::graph::limits::QUEUE_NAME_LENGTH;

/// Common endings of names of dead-letter queues, in lower case and the longest first.
const WORDS: [&str; 12] = [
    "dead_letter_queue",
    "dead-letter-queue",
    "deadletter_queue",
    "deadletter-queue",
    "deadletterqueue",
    "dlqueue",
    "dead_letters",
    "dead-letters",
    "dead_letter",
    "dead-letter",
    "deadletter",
    "dlq",
];

/// Maximum length of a name prefix that the provider completes.
const LONGEST_PREFIX: usize = 54;

/// Returns the ending of `name` that marks a dead-letter queue: `-dlq`. `None` if nothing precedes it.
pub(super) fn ending(name: &str) -> Option<&str> {
    let name = name.strip_suffix(FIFO_SUFFIX).unwrap_or(name);
    let lower = name.to_ascii_lowercase();
    let word = WORDS.iter().find(|word| lower.ends_with(**word))?;
    let start = name.len() - word.len();
    let before = name.get(..start)?;
    let start = if before.ends_with(['-', '_']) { start - 1 } else { start };
    (start > 0).then(|| name.get(start..))?
}

/// Returns the label of a dead-letter queue: `label` with `ending`, by default with `dlq` in the style of the label.
pub(super) fn label(label: &str, ending: Option<&str>) -> String {
    ending.map_or_else(|| joined(label, "dlq"), |ending| ended(label, ending))
}

/// Appends `ending` to `stem`. If both end with `queue`, the word is not repeated.
fn ended(stem: &str, ending: &str) -> String {
    let is_queue = ending.to_ascii_lowercase().ends_with("queue");
    let lower = stem.to_ascii_lowercase();
    let short = lower.strip_suffix("queue").filter(|_| is_queue);
    let short = short.and_then(|short| stem.get(..short.len()));
    let short = short.map(|short| short.trim_end_matches(['_', '-']));
    format!("{}{ending}", short.filter(|short| !short.is_empty()).unwrap_or(stem))
}

/// Appends `word` to `label` in the style of the label.
pub(super) fn joined(label: &str, word: &str) -> String {
    if label.contains('-') && !label.contains('_') {
        return format!("{label}-{word}");
    }
    let is_camel = !label.contains('_') && label.contains(|c: char| c.is_ascii_uppercase());
    if !is_camel {
        return format!("{label}_{word}");
    }
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    format!("{label}{}{}", first.into_iter().collect::<String>(), letters.as_str())
}

/// Returns the name of the dead-letter queue for a queue named `content`, both without quotes. `is_literal` means that
/// `content` is not a template. Returns `None` if the name cannot be determined.
pub(super) fn name(content: &str, ending: Option<&str>, is_literal: bool, fifo: bool) -> Option<Name> {
    let (stem, end) = match content.strip_suffix(FIFO_SUFFIX) {
        Some(stem) if fifo => (stem, FIFO_SUFFIX),
        // The queue is FIFO only under a condition.
        _ if fifo || content.contains(FIFO_SUFFIX) => return None,
        _ => (content, ""),
    };
    let ending = ending.unwrap_or_else(|| default_ending(stem));
    let name = ended(stem, ending) + end;
    let is_too_long = is_literal && name.chars().count() > QUEUE_NAME_LENGTH;
    Some(if is_too_long {
        Name::TooLong
    } else {
        Name::Content(name)
    })
}

/// Like [`name`], for a prefix that the provider completes. The provider also appends `.fifo` for FIFO queues.
pub(super) fn prefix(content: &str, ending: Option<&str>, is_literal: bool) -> Name {
    let stem = content.trim_end_matches(['-', '_', '.']);
    let end = content.get(stem.len()..).unwrap_or("");
    let ending = ending.unwrap_or_else(|| default_ending(stem));
    let name = ended(stem, ending) + if end.is_empty() { "-" } else { end };
    if is_literal && name.chars().count() > LONGEST_PREFIX {
        return Name::TooLong;
    }
    Name::Content(name)
}

/// The name of a new resource.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// The text between the quotes.
    Content(String),
    /// The name exceeds the limit of AWS, so the provider should choose one.
    TooLong,
}

fn default_ending(stem: &str) -> &'static str {
    let literal = without_templates(stem);
    let is_snake = literal.contains('_') && !literal.contains('-');
    if is_snake { "_dlq" } else { "-dlq" }
}

/// Returns the text of a template outside of its `${…}`.
fn without_templates(content: &str) -> String {
    let mut depth = 0_usize;
    let outside = content.chars().filter(|c| {
        let was = depth;
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        was == 0 && depth == 0 && *c != '$'
    });
    outside.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_of_dead_letter_queues_are_recognized() {
        for (name, expected) in [
            ("orders_dlq", Some("_dlq")),
            ("orders-DLQ", Some("-DLQ")),
            ("orders-dlq.fifo", Some("-dlq")),
            ("OrdersDLQueue", Some("DLQueue")),
            ("orders_dead_letter_queue", Some("_dead_letter_queue")),
            ("${var.a}-dead-letter", Some("-dead-letter")),
            ("dlq", None),
            ("orders", None),
            ("", None),
        ] {
            assert_eq!(ending(name), expected, "{name}");
        }
    }

    #[test]
    fn labels_keep_their_style() {
        for (of, ending, expected) in [
            ("orders", None, "orders_dlq"),
            ("my-orders", None, "my-orders-dlq"),
            ("OrdersQueue", None, "OrdersQueueDlq"),
            ("orders_queue", Some("_dead_letter_queue"), "orders_dead_letter_queue"),
            ("OrdersQueue", Some("DLQueue"), "OrdersDLQueue"),
            ("queue", Some("_dead_letter_queue"), "queue_dead_letter_queue"),
            ("orders_queue", Some("_dlq"), "orders_queue_dlq"),
        ] {
            assert_eq!(label(of, ending), expected);
        }
    }

    #[test]
    fn names_receive_an_ending_if_it_is_unambiguous() {
        let content = |text: &str| Some(Name::Content(text.to_owned()));
        assert_eq!(name("orders", None, true, false), content("orders-dlq"));
        assert_eq!(name("my_orders", None, true, false), content("my_orders_dlq"));
        assert_eq!(
            name("orders.fifo", Some("-DLQ"), true, true),
            content("orders-DLQ.fifo")
        );
        assert_eq!(name("${var.a}.fifo", None, false, true), content("${var.a}-dlq.fifo"));
        assert_eq!(name("${a_b.c}", None, false, false), content("${a_b.c}-dlq"));
        assert_eq!(name("a-queue", Some("-dlqueue"), true, false), content("a-dlqueue"));
        assert_eq!(name("${var.a}", None, false, true), None);
        assert_eq!(name("a.fifo", None, true, false), None);
        assert_eq!(name(&"a".repeat(77), None, true, false), Some(Name::TooLong));
        assert_eq!(prefix("orders-", None, true), Name::Content("orders-dlq-".to_owned()));
        assert_eq!(
            prefix("${var.a}", None, false),
            Name::Content("${var.a}-dlq-".to_owned())
        );
    }
}
