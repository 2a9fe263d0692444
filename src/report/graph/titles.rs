//! Breaks titles of boxes into lines. Titles are kept complete, so that no two boxes look the same, unless they exceed
//! the maximum number of lines.

/// Maximum number of lines of a title.
const MOST_LINES: usize = 5;

/// Breaks `title` into lines of at most `room` characters, between its parts if possible.
///
/// Addresses are pairs of a kind and a name, separated by dots, and constructs are paths. Lines preferably end after a
/// pair or a slash.
pub(super) fn in_lines(title: &str, room: usize) -> Vec<String> {
    let title = middle_left_out(title, room * MOST_LINES);
    let mut lines: Vec<String> = vec![String::new()];
    let mut used = 0;
    for piece in pieces(&title).into_iter().flat_map(|piece| cut(piece, room)) {
        let width = piece.chars().count();
        if used > 0 && used + width > room {
            lines.push(String::new());
            used = 0;
        }
        used += width;
        if let Some(line) = lines.last_mut() {
            line.push_str(piece);
        }
    }
    lines
}

/// Splits a title into parts that stay on one line, each including its trailing dot or slash. Text in brackets and
/// quotes is not split.
fn pieces(title: &str) -> Vec<&str> {
    let mut ends = Vec::new();
    let (mut depth, mut dots) = (0_usize, 0_usize);
    for (at, character) in title.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '.' if depth == 0 => {
                dots += 1;
                if dots.is_multiple_of(2) {
                    ends.push(at + 1);
                }
            }
            '/' if depth == 0 => ends.push(at + 1),
            _ => {}
        }
    }
    between(title, ends)
}

/// Splits a part that is wider than a line.
fn cut(piece: &str, room: usize) -> Vec<&str> {
    let mut ends = Vec::new();
    let (mut width, mut last) = (0, None);
    let mut before = ' ';
    for (at, character) in piece.char_indices() {
        if before.is_lowercase() && character.is_uppercase() {
            last = Some(at);
        }
        before = character;
        if width == room {
            let end = last.take().unwrap_or(at);
            ends.push(end);
            width = piece.get(end..at).unwrap_or("").chars().count();
        }
        width += 1;
        if matches!(character, '.' | '-' | '_' | ':' | '/' | '[' | ' ') {
            last = Some(at + character.len_utf8());
        }
    }
    between(piece, ends)
}

fn between(text: &str, ends: Vec<usize>) -> Vec<&str> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let parts = starts.zip(ends.iter().copied().chain([text.len()]));
    parts
        .filter_map(|(start, end)| text.get(start..end))
        .filter(|part| !part.is_empty())
        .collect()
}

/// Replaces the middle of an overlong `text` by an ellipsis, because addresses differ at their ends.
fn middle_left_out(text: &str, room: usize) -> String {
    let count = text.chars().count();
    if count <= room {
        return text.to_owned();
    }
    let half = (room - 1) / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_break_between_their_parts() {
        for (title, expected) in [
            ("", ""),
            ("aws_sqs_queue.orders", "aws_sqs_queue.orders"),
            (
                "module.shop[\"eu.west\"].aws_sqs_queue.orders",
                "module.shop[\"eu.west\"].|aws_sqs_queue.orders",
            ),
            (
                "Shop/Orders/Queue/Resource/Of/A/Stack",
                "Shop/Orders/Queue/Resource/Of/|A/Stack",
            ),
            (
                "RawInvoiceTextractDataStorageSubscription",
                "RawInvoiceTextractDataStorage|Subscription",
            ),
            (
                "arn:aws:sqs:eu-west-1:123456789012:orders",
                "arn:aws:sqs:eu-west-1:|123456789012:orders",
            ),
        ] {
            assert_eq!(in_lines(title, 30).join("|"), expected);
        }
        let long = in_lines(&"é".repeat(1000), 30);
        assert!(long.len() <= MOST_LINES && long.iter().all(|line| line.chars().count() <= 30));
        assert!(long.concat().contains('…'));
    }
}
