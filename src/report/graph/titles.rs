//! Titles of boxes, in lines. Nothing of a title is left out, so that two boxes never look the same, but of one that fills
//! more lines than anybody reads.

/// Lines of a title at most.
const MOST_LINES: usize = 5;

/// `title` in lines of at most `room` characters, broken where its parts meet.
///
/// Addresses are pairs of a kind and a name with dots between them, constructs are paths: a line ends behind a pair or a
/// slash, if it can.
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

/// The parts that stay on one line, each with the dot or slash behind it. In brackets and quotes nothing is parted.
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

/// A piece that is wider than a line, in several.
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

/// `text` with its middle left out where it is too long: addresses differ at their ends.
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
    fn titles_break_where_their_parts_meet() {
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
