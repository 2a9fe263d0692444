//! Comments, and the elements around them: blocks, attributes, items of objects and tuples. An element ends with its
//! line, or, within brackets, at a comma or the closing bracket. That requires no grammar, so comments are found even
//! in files with syntax errors.

use std::ops::Range;

/// A comment, including its delimiters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Range of the comment.
    pub range: Range<usize>,
    /// Range of the elements it applies to: the one that follows, or those that begin on its line in front of it.
    pub about: Option<Range<usize>>,
    /// `true` if nothing but comments precedes it in the file.
    pub leading: bool,
}

/// The content between two brackets, or outside of all brackets.
#[derive(Debug)]
struct Level {
    /// `true` if a line break ends an element: between braces and at the outermost level.
    by_line: bool,
    /// The element that has not ended yet.
    element: Option<usize>,
}

impl Level {
    const OUTERMOST: Level = Level {
        by_line: true,
        element: None,
    };
    const INTERPOLATION: Level = Level {
        by_line: false,
        element: None,
    };
}

/// Elements and comments recorded by a scanner.
#[derive(Debug)]
pub(super) struct Tracer {
    /// Ranges in the order of their starts, which are distinct.
    elements: Vec<Range<usize>>,
    levels: Vec<Level>,
    comments: Vec<Comment>,
    /// Comments that precede the next element.
    waiting: Vec<usize>,
    /// Comments with the elements that they apply to.
    about: Vec<(usize, Range<usize>)>,
    /// The first element that begins on the current line.
    first_of_line: usize,
    /// `true` if the current line contains code so far.
    code_on_line: bool,
}

impl Tracer {
    pub(super) fn new() -> Self {
        Tracer {
            elements: Vec::new(),
            levels: vec![Level::OUTERMOST],
            comments: Vec::new(),
            waiting: Vec::new(),
            about: Vec::new(),
            first_of_line: 0,
            code_on_line: false,
        }
    }

    pub(super) fn comment(&mut self, range: Range<usize>) {
        let at = self.comments.len();
        self.comments.push(Comment {
            range,
            about: None,
            leading: self.elements.is_empty(),
        });
        if self.code_on_line {
            self.about.push((at, self.first_of_line..self.elements.len()));
        } else {
            self.waiting.push(at);
        }
    }

    /// Records code that none of the following methods records.
    pub(super) fn token(&mut self, at: usize) {
        self.code_on_line = true;
        let waiting = std::mem::take(&mut self.waiting);
        let Some(level) = self.levels.last_mut().filter(|level| level.element.is_none()) else {
            // An element has begun already.
            return;
        };
        let element = self.elements.len();
        level.element = Some(element);
        let about = waiting.into_iter().map(|comment| (comment, element..element + 1));
        self.about.extend(about);
        self.elements.push(at..at);
    }

    pub(super) fn open(&mut self, at: usize, bracket: u8) {
        self.token(at);
        self.levels.push(Level {
            by_line: bracket == b'{',
            element: None,
        });
    }

    /// Begins an interpolation in a string, which is within an element.
    pub(super) fn open_interpolation(&mut self) {
        self.levels.push(Level::INTERPOLATION);
    }

    pub(super) fn close(&mut self, at: usize) {
        self.code_on_line = true;
        self.waiting.clear();
        self.end(at);
        if self.levels.len() > 1 {
            self.levels.pop();
        }
    }

    pub(super) fn comma(&mut self, at: usize) {
        self.code_on_line = true;
        self.end(at);
    }

    /// Records the end of a line of code.
    pub(super) fn newline(&mut self, at: usize) {
        if self.levels.last().is_some_and(|level| level.by_line) {
            self.end(at);
        }
        self.line();
    }

    /// Begins a line, in code or in a string.
    pub(super) fn line(&mut self) {
        self.first_of_line = self.elements.len();
        self.code_on_line = false;
    }

    /// Ends everything that has not ended, because a closing bracket is missing.
    pub(super) fn reset(&mut self, at: usize) {
        while !self.levels.is_empty() {
            self.end(at);
            self.levels.pop();
        }
        self.levels.push(Level::OUTERMOST);
    }

    fn end(&mut self, at: usize) {
        let element = self.levels.last_mut().and_then(|level| level.element.take());
        if let Some(range) = element.and_then(|element| self.elements.get_mut(element)) {
            range.end = at.max(range.start);
        }
    }

    /// Returns the comments and elements of a text with the length `end`.
    pub(super) fn finish(mut self, end: usize) -> (Vec<Comment>, Vec<Range<usize>>) {
        self.reset(end);
        // Several comments on one line apply to growing ranges that begin at the same element. Continuing from the
        // previous one keeps this linear.
        let mut seen: (Range<usize>, usize) = (0..0, 0);
        for (comment, elements) in &self.about {
            let Some(first) = self.elements.get(elements.start).filter(|_| !elements.is_empty()) else {
                continue;
            };
            if seen.0.start != elements.start || seen.0.end > elements.end {
                seen = (elements.start..elements.start, 0);
            }
            let more = self.elements.get(seen.0.end..elements.end).unwrap_or_default();
            let furthest = more.iter().map(|element| element.end).fold(seen.1, usize::max);
            seen = (elements.clone(), furthest);
            if let Some(comment) = self.comments.get_mut(*comment) {
                comment.about = Some(first.start..furthest);
            }
        }
        (self.comments, self.elements)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::traced;

    /// Returns the text that each comment of `text` applies to.
    fn about(text: &str) -> Vec<String> {
        let (comments, _) = traced(text);
        let shown = comments.iter().map(|comment| {
            let about = comment.about.clone().map_or("-", |range| &text[range]);
            let leading = if comment.leading { "^" } else { "" };
            format!("{leading}{}", about.split_whitespace().collect::<Vec<_>>().join(" "))
        });
        shown.collect()
    }

    #[test]
    fn comment_applies_to_the_next_element_or_those_on_its_line() {
        let cases: &[(&str, &[&str])] = &[
            ("# c\na \"b\" {\n x = 1\n}\ny = 2\n", &["^a \"b\" { x = 1 }"]),
            (
                "a {\n # c\n # d\n\n x = [1,\n2]\n y = 2\n}\n",
                &["x = [1, 2]", "x = [1, 2]"],
            ),
            ("a {\n x = 1 # c\n y = 2\n}\n", &["x = 1 # c"]),
            ("a { # c\n x = 1\n}\nb = 1", &["a { # c x = 1 }"]),
            ("a {\n} # c\nb = 1\n", &["-"]),
            ("a {\n x = 1\n # c\n}\nb = 1\n", &["-"]),
            (
                "x = { a = 1, b = 2, # c\n d = 4 }\n",
                &["x = { a = 1, b = 2, # c d = 4 }"],
            ),
            ("x = {\n a = 1, b = [\n2] # c\n d = 4 }\n", &["2"]),
            ("x = {\n a = 1, b = [ # c\n2]\n d = 4 }\n", &["a = 1, b = [ # c 2]"]),
            ("x = [\n # c\n { a = 1 },\n 2]\n", &["{ a = 1 }"]),
            ("x = (1 +\n # c\n 2)\n", &["-"]),
            ("x = /* c */ 1\n/* d */ y = 2\n", &["x = /* c */ 1", "y = 2"]),
            ("x = <<E\n# no\nE\n# c\ny = 1\n", &["y = 1"]),
            ("x = <<E # no\ny\nE\n", &["x = <<E # no y E"]),
            (
                "x = \"# no ${ f( # c\n1) } # no\" # d\n",
                &["x = \"# no ${ f( # c 1) } # no\" # d", "1"],
            ),
            ("x = [\n# c\nresource \"a\" \"b\" {\n}\n", &["resource \"a\" \"b\" { }"]),
            ("// c", &["^-"]),
        ];
        for (text, expected) in cases {
            assert_eq!(&about(text), expected, "{text}");
        }
    }

    #[test]
    fn many_comments_on_one_line_take_linear_time() {
        let many = format!("x = [{}]", "1, /* c */".repeat(50_000));
        assert_eq!(traced(&many).0.len(), 50_000);
    }
}
