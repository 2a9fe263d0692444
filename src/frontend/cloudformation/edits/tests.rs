#![allow(clippy::unwrap_used)]

use crate::Options;
use crate::diagnostic::{Change, Edit, Place};
use crate::source::{Sources, Span};
use crate::testing::TemporaryDirectory;

/// Where of `text` the `nth` `word` stands, in a file of `sources`.
fn span_of(sources: &Sources, text: &str, word: &str, nth: usize) -> Span {
    let at = text.match_indices(word).nth(nth).unwrap().0;
    let file = sources.all().iter().find(|(_, file)| file.text() == text).unwrap().0;
    Span::new(file, at..at + word.len())
}

/// `text` with `edits` made.
fn applied(text: &str, edits: &[Edit]) -> String {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.span.range(), &edit.text);
    }
    text
}

/// The file called `name` with `text` after the change that `change` makes of it.
fn edited(name: &str, text: &str, change: impl Fn(&Sources) -> Change) -> Option<String> {
    let sources = Sources::new(None, "/".into());
    sources.add(&std::path::Path::new("/").join(name), text);
    let edits = crate::frontend::edits::edits(&change(&sources), &sources)?;
    Some(applied(text, &edits))
}

fn absent(header: Span, name: &str) -> Place {
    Place {
        header,
        name: name.to_owned(),
        written: None,
        origins: Vec::new(),
        value: None,
    }
}

/// `text` with `name: 360` put into the resource at the first `header`.
fn with_number(file: &str, text: &str, header: &str, name: &str) -> Option<String> {
    edited(file, text, |sources| Change::Number {
        place: absent(span_of(sources, text, header, 0), name),
        value: 360,
    })
}

/// Cases of data: `---` lines part texts from what they become, `===` lines part cases; `!` stands for a refusal.
fn cases(data: &str) -> Vec<(String, Option<String>)> {
    let cases = data.split("===\n").filter(|case| !case.trim().is_empty());
    cases
        .map(|case| {
            let (before, after) = case.split_once("---\n").unwrap();
            (before.to_owned(), (after.trim() != "!").then(|| after.to_owned()))
        })
        .collect()
}

#[test]
fn a_number_goes_into_the_properties_of_its_resource() {
    for (before, after) in cases(include_str!("tests/numbers.txt")) {
        let name = if before.trim_start().starts_with('{') {
            "t.json"
        } else {
            "t.yaml"
        };
        let header = ["\"Orders\"", "Orders"].into_iter().find(|word| before.contains(word));
        let header = header.unwrap();
        let found = with_number(name, &before, header, "VisibilityTimeout");
        assert_eq!(found, after, "\n{before}");
        let windows = before.replace('\n', "\r\n");
        let found = with_number(name, &windows, header, "VisibilityTimeout");
        assert_eq!(found, after.map(|after| after.replace('\n', "\r\n")), "\n{windows:?}");
    }
}
