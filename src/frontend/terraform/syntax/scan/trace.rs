//! Comments, and the elements around them: blocks, attributes, items of objects and tuples. An element ends with its
//! line, or with a comma or bracket where it stands between brackets; no grammar is needed for that, so a file with
//! errors has its comments too.

use std::ops::Range;

/// A comment, with its signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::frontend) struct Comment {
    /// Where it stands.
    pub(in crate::frontend) range: Range<usize>,
    /// The elements it is about: the one that follows, or those that begin before it on its line.
    pub(in crate::frontend) about: Option<Range<usize>>,
    /// Whether nothing but comments stands before it in the file.
    pub(in crate::frontend) leading: bool,
}

/// What is between two brackets, or in none.
#[derive(Debug)]
struct Level {
    /// Whether a line's end ends an element: between braces, and outermost.
    by_line: bool,
    /// The element that is not at its end.
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

/// What a scanner saw.
#[derive(Debug)]
pub(super) struct Tracer {
    /// In the order of their beginnings, no two of which are the same.
    elements: Vec<Range<usize>>,
    levels: Vec<Level>,
    comments: Vec<Comment>,
    /// Comments that wait for the element after them.
    waiting: Vec<usize>,
    /// Comments with the elements that they are about.
    about: Vec<(usize, Range<usize>)>,
    /// The first element that begins on the line.
    first_of_line: usize,
    /// Whether code stands before here on the line.
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

    /// Code other than what is told below.
    pub(super) fn token(&mut self, at: usize) {
        self.code_on_line = true;
        let waiting = std::mem::take(&mut self.waiting);
        let Some(level) = self.levels.last_mut().filter(|level| level.element.is_none()) else {
            // In the middle of an element nothing begins.
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

    /// In a text, which is in the middle of an element.
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

    /// The end of a line of code.
    pub(super) fn newline(&mut self, at: usize) {
        if self.levels.last().is_some_and(|level| level.by_line) {
            self.end(at);
        }
        self.line();
    }

    /// A line begins, in code or in a text.
    pub(super) fn line(&mut self) {
        self.first_of_line = self.elements.len();
        self.code_on_line = false;
    }

    /// Whatever is open ends here, as a bracket was forgotten.
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

    /// The comments and elements of a text of this length.
    pub(super) fn finish(mut self, end: usize) -> (Vec<Comment>, Vec<Range<usize>>) {
        self.reset(end);
        // Comments of one line ask for the same elements and more.
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

    /// What each comment of `text` is about.
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
    fn a_comment_is_about_what_follows_or_begins_on_its_line() {
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
