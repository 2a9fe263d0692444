//! Tests of the output on terminals: widths, wide characters, links, ASCII.
#![allow(clippy::unwrap_used)]

use super::example::{PUBLISHED, REPOSITORY, TEXT, findings, subject};
use crate::diagnostic::{Coverage, Diagnostic, Severity};
use crate::published::Published;
use crate::report::human::Style;
use crate::report::{Report, Units, concise, human};
use crate::testing::written;
use source::{Sources, Span};
use std::collections::BTreeMap;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

const STYLE: Style = Style {
    width: 80,
    color: false,
    unicode: true,
    graphics: true,
    links: false,
    infos: true,
};

fn human(report: &Report<'_>, style: Style) -> String {
    written(|out| human::write(report, style, out))
}

#[test]
fn lines_fit_narrow_terminals() {
    let sources = Sources::default();
    // Without the hostile finding, whose words are longer than a narrow line.
    let findings = findings(&sources).split_off(1);
    for width in [40, 60, 80, 120] {
        let report = plain(&sources, &findings);
        let text = human(&report, Style { width, ..STYLE });
        for line in text.lines() {
            let is_word = line.trim().split(' ').count() <= 2;
            assert!(line.width() <= width || is_word, "{width}: {line}\n{text}");
        }
        insta::assert_snapshot!(format!("width_{width}"), text);
    }
}

#[test]
fn width_of_wide_characters_and_tabs_is_counted() {
    let text = format!("\t\tname = \"{}\" # {}\n", "注文キュー".repeat(4), "受注".repeat(60));
    for width in [40, 80, 120] {
        let sources = Sources::default();
        let file = sources.add(Path::new("main.tf"), text.as_str());
        let start = text.find("注文").unwrap();
        let span = Span::new(file, start..start + 15);
        let found = [Diagnostic::new("r", Severity::Error, subject("a"), "h", span, "五文字")];
        let report = plain(&sources, &found);
        let drawn = human(&report, Style { width, ..STYLE });
        for line in drawn.lines() {
            let columns = line.replace('\t', "    ").width();
            assert!(columns <= width, "{width}: {columns}\n{drawn}");
        }
        let line = |marker: char| drawn.lines().find(|line| line.contains(marker)).unwrap();
        let before = |line: &str, marker: char| line.split(marker).next().unwrap().replace('\t', "    ").width();
        assert_eq!(before(line('注'), '注'), before(line('─'), '─'), "{drawn}");
    }
}

#[test]
fn hidden_infos_name_the_defaults_that_they_need() {
    let sources = Sources::default();
    let span = Span::new(sources.add(Path::new("main.tf"), "a = 1\n"), 0..5);
    let info = |label: &str| Diagnostic::new("r", Severity::Info, subject("a"), "h", span, "l").label(span, label);
    let style = Style { infos: false, ..STYLE };
    let shown = |found: &[Diagnostic]| human(&plain(&sources, found), style).replace('\n', " ");
    let (by_default, other) = (info("with the default of `var.mail`"), info("written"));
    assert_eq!(
        shown(std::slice::from_ref(&other)),
        "1 info is not shown; `--verbose` shows it "
    );
    assert_eq!(
        shown(&[by_default, other]),
        "2 infos are not shown (with the default of `var.mail`); `--verbose` shows them "
    );
}

#[test]
fn labels_end_before_the_edge() {
    let text = "resource \"aws_sqs_queue\" \"orders\" {\n  a = 1\n  b = 2\n}\n";
    let said = "受注 is not set: SQS's default of 345600 s applies, and what arrives later is not seen by anybody";
    for width in [40, 80, 120] {
        let sources = Sources::default();
        let file = sources.add(Path::new("main.tf"), text);
        let at = |from: &str, to: &str| Span::new(file, text.find(from).unwrap()..text.find(to).unwrap());
        let one_line = Diagnostic::new("r", Severity::Error, subject("a"), "h", at("\"aws", " {"), said);
        let several = Diagnostic::new("r", Severity::Error, subject("a"), "i", at("a =", "}"), said);
        let drawn = human(&plain(&sources, &[one_line, several]), Style { width, ..STYLE });
        assert!(drawn.lines().all(|line| line.width() <= width), "{width}\n{drawn}");
        assert_eq!(drawn.matches("受注").count(), 2, "{drawn}");
    }
}

#[test]
fn labels_with_one_text_are_drawn_once() {
    let text = "queue\nfirst\nsecond\nthird\n";
    let drawn = |entries: &[&str]| {
        let sources = Sources::default();
        let file = sources.add(Path::new("main.tf"), text);
        let at = |word: &str| Span::new(file, text.find(word).unwrap()..text.find(word).unwrap() + word.len());
        let mut found = Diagnostic::new("r", Severity::Error, subject("a"), "h", at("queue"), "too short");
        for entry in entries {
            found.add_label(at(entry), "the value comes from a mapping");
        }
        human(&plain(&sources, &[found]), STYLE)
    };
    let two = drawn(&["first", "second"]);
    assert_eq!(two.matches("from a mapping").count(), 2, "{two}");
    let three = drawn(&["first", "second", "third"]);
    assert!(three.contains("the value comes from a mapping (and 2 more)"), "{three}");
    assert!(three.contains("first") && !three.contains("second"), "{three}");
}

#[test]
fn colour_leaves_the_text_unchanged() {
    let sources = Sources::default();
    let findings = findings(&sources);
    for width in [40, 80, 120] {
        let draw = |color| human(&plain(&sources, &findings), Style { width, color, ..STYLE });
        let coloured = draw(true);
        // Each line of the headline is bold.
        assert!(coloured.contains("\u{1b}[1mhas\u{1b}[0m"), "{coloured}");
        let mut parts = coloured.split("\u{1b}[");
        let first = parts.next().unwrap_or("").to_owned();
        let bare = parts.filter_map(|part| part.split_once('m')).map(|(_, text)| text);
        assert_eq!(first + &bare.collect::<String>(), draw(false));
    }
}

fn plain<'a>(sources: &'a Sources, findings: &'a [Diagnostic]) -> Report<'a> {
    static NOTHING: Units = Units {
        paths: Vec::new(),
        modules: 0,
        templates: 0,
        stacks: 0,
        services: 0,
        plans: 0,
        states: 0,
        snapshots: 0,
        unread_modules: BTreeMap::new(),
        notes: Vec::new(),
    };
    Report {
        sources,
        findings,
        suppressed: &[],
        show_suppressed: false,
        not_evaluated: &[],
        coverage: Coverage::EMPTY,
        errors: &[],
        rules: crate::rules::Catalogue::BUILT_IN,
        units: &NOTHING,
        review: None,
        published: PUBLISHED,
    }
}

#[test]
fn paths_and_rules_are_links_if_requested() {
    let sources = Sources::default();
    let path = "/repository/a b.tf";
    let file = sources.add(Path::new(path), TEXT);
    let span = Span::new(file, 0..8);
    let found = [Diagnostic::new(
        "fifo-queue-false",
        Severity::Error,
        subject("a"),
        "h",
        span,
        "l",
    )];
    let report = plain(&sources, &found);
    let page = format!(
        "\u{1b}]8;;{REPOSITORY}/blob/v{}/rules/fifo-queue-false.md\u{1b}\\fifo-queue-false\u{1b}]8;;\u{1b}\\",
        env!("CARGO_PKG_VERSION")
    );
    let link = format!("\u{1b}]8;;file:///repository/a%20b.tf\u{1b}\\{path}\u{1b}]8;;\u{1b}\\:1:1");
    for links in [true, false] {
        for graphics in [true, false] {
            let style = Style {
                graphics,
                links,
                ..STYLE
            };
            let text = human(&report, style);
            assert_eq!(text.contains(&link), links);
            assert_eq!(text.contains(&page), links);
            let unpublished = Report {
                published: Published::NOWHERE,
                ..report
            };
            assert!(!human(&unpublished, style).contains("]8;;http"));
        }
        assert_eq!(
            written(|out| concise::write(&report, links, out)).contains(&link),
            links
        );
    }
}
