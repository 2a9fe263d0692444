//! Renders a rule's page for the terminal: headings at the margin, everything else indented below them and wrapped.
//! Markdown syntax and the parts meant for tests are left out. Colour only repeats what the text already shows.

use sqslint::report::wrapped;

/// Indentation of text below a heading.
const INDENT: usize = 2;
/// Indentation of files.
const FILE: usize = 6;

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const CYAN: &str = "\x1b[36m";
const RESET: &str = "\x1b[0m";

/// Severities with their colours.
const SEVERITIES: [(&str, &str); 3] = [("error", "\x1b[31m"), ("warning", "\x1b[33m"), ("info", "\x1b[34m")];

/// Colours plain text: lines at the margin are bold, and severities, as in `error[rule-id]` or in a column, have their
/// colour.
pub(super) fn painted(text: String, color: bool) -> String {
    if !color {
        return text;
    }
    let mut all = String::with_capacity(text.len() * 2);
    for line in text.lines() {
        let (on, off) = if line.is_empty() || line.starts_with(' ') {
            ("", "")
        } else {
            (BOLD, RESET)
        };
        let words = line.split(' ').map(|word| {
            let (name, rule) = word.split_at(word.find('[').unwrap_or(word.len()));
            let severity = SEVERITIES.iter().find(|(severity, _)| *severity == name);
            match severity.filter(|_| !rule.is_empty() || !on.is_empty()) {
                Some((_, color)) => format!("{color}{name}{RESET}{on}{rule}"),
                None => word.to_owned(),
            }
        });
        all += &format!("{on}{}{off}\n", words.collect::<Vec<_>>().join(" "));
    }
    all
}

/// Style of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageStyle {
    /// Width of the terminal.
    pub(super) width: usize,
    /// `true` if the page is coloured.
    pub(super) color: bool,
}

/// Renders `page`, which is Markdown.
pub(super) fn render(page: &str, look: PageStyle) -> String {
    let mut writer = Writer {
        look,
        text: String::new(),
    };
    let mut paragraph = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let is_item = line.starts_with("- ");
        if line.is_empty() || is_item || line.starts_with(['#', '|']) || line.starts_with("```") {
            writer.paragraph(&std::mem::take(&mut paragraph));
        }
        if let Some(fence) = line.strip_prefix("```") {
            let body = lines.by_ref().take_while(|line| !line.starts_with("```"));
            writer.file(fence, body);
        } else if let Some(heading) = line.strip_prefix("### ") {
            writer.heading(INDENT, heading);
        } else if let Some(heading) = line
            .trim_start_matches('#')
            .strip_prefix(' ')
            .filter(|_| line.starts_with('#'))
        {
            writer.heading(0, heading);
        } else if line.starts_with('|') {
            writer.row(line, &mut lines);
        } else if line.is_empty() {
            writer.blank();
        } else {
            let gap = if paragraph.is_empty() { "" } else { " " };
            paragraph = format!("{paragraph}{gap}{}", line.trim());
        }
    }
    writer.paragraph(&paragraph);
    writer.text.trim_end().to_owned() + "\n"
}

struct Writer {
    look: PageStyle,
    text: String,
}

impl Writer {
    fn heading(&mut self, indent: usize, heading: &str) {
        self.blank();
        let (on, off) = self.colour(BOLD);
        self.text += &format!("{}{on}{heading}{off}\n", " ".repeat(indent));
    }

    /// Appends an empty line, unless there already is one.
    fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Appends a paragraph, or an item of a list.
    fn paragraph(&mut self, paragraph: &str) {
        if !paragraph.is_empty() {
            let is_item = paragraph.starts_with("- ");
            self.wrapped(paragraph, (INDENT, if is_item { INDENT + 2 } else { INDENT }));
        }
    }

    fn wrapped(&mut self, text: &str, indents: (usize, usize)) {
        let mut wrapped = String::new();
        wrapped::write(&mut wrapped, &linked(text), indents, self.look.width);
        let (on, off) = self.colour(CYAN);
        // Code keeps its backticks, which are coloured with it.
        for (at, part) in wrapped.split('`').enumerate() {
            match at {
                0 => self.text += part,
                at if at % 2 == 1 => self.text += &format!("{on}`{part}"),
                _ => self.text += &format!("`{off}{part}"),
            }
        }
    }

    /// Appends the lines of a file, below its name if the fence states one.
    fn file<'p>(&mut self, fence: &str, body: impl Iterator<Item = &'p str>) {
        let (on, off) = self.colour(DIM);
        if let Some((_, name)) = fence.split_once("file=") {
            self.text += &format!("{}{on}{}:{off}\n", " ".repeat(FILE - 2), name.trim());
        }
        for line in body {
            let indent = if line.is_empty() { 0 } else { FILE };
            self.text += &format!("{}{line}\n", " ".repeat(indent));
        }
    }

    /// Appends the rows of the table with the header `head`: the first cell of each row, then the other cells with
    /// their column names.
    fn row<'p>(&mut self, head: &str, lines: &mut impl Iterator<Item = &'p str>) {
        let head = cells(head);
        for line in lines.take_while(|line| line.starts_with('|')).skip(1) {
            let cells = cells(line);
            let mut named = head.iter().zip(&cells).skip(1);
            let second = named.next().map(|(name, cell)| format!(", {name} {cell}"));
            self.wrapped(
                &format!(
                    "{}{}",
                    cells.first().map_or("", |cell| cell),
                    second.unwrap_or_default()
                ),
                (INDENT, INDENT + 2),
            );
            for (_, cell) in named {
                self.wrapped(cell, (INDENT + 2, INDENT + 2));
            }
        }
        self.blank();
    }

    fn colour(&self, on: &'static str) -> (&'static str, &'static str) {
        if self.look.color { (on, RESET) } else { ("", "") }
    }
}

fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}

/// Replaces each `[words](address)` by `words <address>`.
fn linked(text: &str) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let link = after.split_once("](").and_then(|(words, tail)| {
            let (address, tail) = tail.split_once(')')?;
            (!words.contains(['[', ']', '`'])).then_some((words, address, tail))
        });
        all += before;
        if let Some((words, address, tail)) = link {
            all += &format!("{words} <{address}>");
            rest = tail;
        } else {
            all.push('[');
            rest = after;
        }
    }
    all + rest
}

#[cfg(test)]
mod tests {
    use super::{PageStyle, painted, render};

    #[test]
    fn severities_and_titles_are_coloured() {
        let text = "queue q\n  ! error[r]\n  raises an error\nr  warning  safe\n\n";
        assert_eq!(painted(text.to_owned(), false), text);
        let expected = "\x1b[1mqueue q\x1b[0m\n  ! \x1b[31merror\x1b[0m[r]\n  raises an error\n\
                        \x1b[1mr  \x1b[33mwarning\x1b[0m\x1b[1m  safe\x1b[0m\n\n";
        assert_eq!(painted(text.to_owned(), true), expected);
    }

    const PAGE: &str = "# a-rule

Speaks of `queues` with a setting that is far too long for a line of forty
columns, see [the page](https://example.com).

## Settings

| setting | default | what it sets |
| --- | --- | --- |
| `least` | 5, at least 1 | how many are enough |

## Flagged

### One queue
- first item that goes on and on until the line ends

```hcl file=main.tf
resource \"aws_sqs_queue\" \"q\" {

}
```
";

    #[test]
    fn page_is_wrapped_without_its_markup() {
        let look = PageStyle {
            width: 40,
            color: false,
        };
        let expected = "a-rule

  Speaks of `queues` with a setting that
  is far too long for a line of forty
  columns, see the page
  <https://example.com>.

Settings

  `least`, default 5, at least 1
    how many are enough

Flagged

  One queue
  - first item that goes on and on until
    the line ends

    main.tf:
      resource \"aws_sqs_queue\" \"q\" {

      }
";
        assert_eq!(render(PAGE, look), expected);
    }

    #[test]
    fn colour_leaves_the_text_unchanged() {
        let plain = PageStyle {
            width: 60,
            color: false,
        };
        let coloured = render(PAGE, PageStyle { color: true, ..plain });
        assert!(coloured.contains("\x1b[1mFlagged\x1b[0m"));
        assert!(coloured.contains("\x1b[36m`queues`\x1b[0m"));
        let mut bare = coloured;
        for code in ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[36m"] {
            bare = bare.replace(code, "");
        }
        assert_eq!(bare, render(PAGE, plain));
    }
}
