//! Writes a self-contained page: a summary, the findings with their lines, and a drawing of each unit.
//!
//! The page loads and runs nothing, which its content security policy enforces, so it can be archived as an artifact.

use super::excerpt::{Excerpt, ExcerptLimits, Group, Mark};
use super::graph::{Topology, svg};
use super::markup::escaped;
use super::region::Paths;
use super::suppressed::why;
use super::{Report, counted, prose, summary, timeline};
use crate::diagnostic::{Diagnostic, Severity};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::Range;

/// Maximum number of characters of a line.
const LINE_WIDTH: usize = 160;
/// Maximum number of lines of a label; longer ones mark only their first line.
const MOST_LINES: usize = 6;

const STYLE: &str = "\
:root{color-scheme:light dark;--text:#1b1f24;--page:#fff;--faint:#59636e;--line:#d1d9e0;--code:#f6f8fa;--mark:#fff1b8;\
--error:#b3261e;--warning:#8a5a00;--info:#0b57a4}
@media screen and (prefers-color-scheme:dark){:root{--text:#e6edf3;--page:#0d1117;--faint:#9198a1;--line:#3d444d;--code:#151b23;\
--mark:#5a4a00;--error:#ff8a80;--warning:#e3b341;--info:#79b8ff}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--text);background:var(--page);max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.2rem;border-bottom:1px solid var(--line);margin-top:2.5rem;overflow-wrap:anywhere;break-after:avoid}
article{border:1px solid var(--line);border-left-width:6px;border-radius:6px;padding:.5rem 1rem;margin:1rem 0;break-inside:avoid}
article.error{border-left-color:var(--error)}article.warning{border-left-color:var(--warning)}article.info{border-left-color:var(--info)}
.error b{color:var(--error)}.warning b{color:var(--warning)}.info b{color:var(--info)}
h3{font-size:1rem;font-weight:600;margin:.3rem 0;overflow-wrap:anywhere}p{margin:.4rem 0;overflow-wrap:anywhere}li{overflow-wrap:anywhere}
code{font-family:ui-monospace,monospace;font-size:.9em}
figure{margin:.8rem 0;border:1px solid var(--line);border-radius:6px;overflow:hidden}
figcaption{padding:.2rem .6rem;font-size:.85rem;color:var(--faint);background:var(--code);border-bottom:1px solid var(--line);overflow-wrap:anywhere}
pre{margin:0;padding:.5rem 0;overflow-x:auto;font:13px/1.5 ui-monospace,monospace}
pre i{color:var(--faint);font-style:normal;user-select:none}mark{background:var(--mark);color:inherit;border-radius:2px}
figure ul{margin:0;padding:.3rem .6rem;list-style:none;font-size:.9rem;border-top:1px solid var(--line);overflow-wrap:anywhere}
.note{color:var(--faint);font-weight:400}dt{font-weight:600;float:left;clear:left;margin-right:.5rem}dd{margin:0 0 .2rem;overflow-wrap:anywhere}
a{color:inherit}a:focus-visible,[tabindex]:focus-visible,article:target{outline:2px solid var(--info);outline-offset:2px}
.counts ul{margin:0;padding:0;list-style:none}.counts td:nth-child(2){overflow-wrap:normal}
@media(max-width:40rem){.counts,.counts tbody,.counts tr,.counts td{display:block}.counts tr:first-child{display:none}.counts tr{border:1px solid var(--line);margin:.5rem 0;padding:.3rem .6rem}.counts td{border:0;padding:0}}
table{border-collapse:collapse}td,th{border:1px solid var(--line);padding:.2rem .6rem;text-align:left;vertical-align:top}
th,td:first-child{white-space:nowrap}td{overflow-wrap:anywhere}section>ul{padding-left:1.2rem}section>ul li{margin:.3rem 0;overflow-wrap:anywhere}
.timeline{padding:.4rem .6rem}.timeline svg{width:100%;max-width:45rem;display:block}
.timeline table{font-size:.9rem}.timeline :is(th,td){border:0;padding:.1rem .6rem .1rem 0}.timeline th{text-align:right}
.timeline .harm{font-weight:600}.timeline .harm td{color:var(--error)}.timeline .again{fill:var(--error)}
.drawing{overflow-x:auto}.drawing svg{max-width:max(100%,70rem);height:auto}
@media print{html{font-size:12px}body{margin:0;max-width:none;font-size:1rem}pre{font-size:10px;white-space:pre-wrap;overflow-wrap:anywhere}figure{break-inside:avoid}\
.drawing svg{max-width:100%}mark{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
";

/// Origin of a page, which is archived and read without other context.
#[derive(Debug, Default)]
pub struct Origin {
    /// Name of the repository where it was cloned from.
    pub repository: Option<String>,
    /// Commit that was checked out.
    pub commit: Option<String>,
}

impl Origin {
    /// Formats the title of a page: `sqslint: shop/orders at 1f2e3d4c5b6a`.
    fn title(&self) -> String {
        let commit = self.commit.iter().map(|commit| {
            let short: String = commit.chars().take(12).collect();
            format!("at {short}")
        });
        let named: Vec<String> = self.repository.iter().cloned().chain(commit).collect();
        let title = if named.is_empty() {
            "sqslint".to_owned()
        } else {
            format!("sqslint: {}", named.join(" "))
        };
        escaped(&title)
    }
}

/// Writes the page.
pub fn write(report: &Report<'_>, drawings: &[Topology], origin: &Origin, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<p>{}</p>\n",
        sentence(&summary::found(report)),
        title = origin.title(),
    )?;
    if let Some(judged) = summary::judged(report) {
        let items = summary::unjudged(report);
        let items: String = items
            .iter()
            .map(|item| format!("<li>{}</li>", sentence(item)))
            .collect();
        writeln!(out, "<p>{}</p>\n<ul>{items}</ul>", sentence(&judged))?;
    }
    for line in summary::unread(report) {
        writeln!(out, "<p>{}</p>", sentence(&line))?;
    }
    for error in report.errors {
        writeln!(out, "<p class=\"error\"><b>error</b> {}</p>", escaped(error))?;
    }
    let findings = Numbered::new(report);
    counts(out, &findings)?;
    let mut units: BTreeMap<&str, (Vec<&Topology>, Vec<(usize, &Diagnostic)>)> = BTreeMap::new();
    for &(number, found) in &findings.0 {
        units.entry(&found.subject.unit).or_default().1.push((number, found));
    }
    for drawing in drawings {
        // A drawing of several units appears with the first of them.
        for unit in drawing.units.iter().take(1) {
            units.entry(unit).or_default().0.push(drawing);
        }
    }
    for (name, (drawings, findings)) in units {
        let title = counted(findings.len(), "finding");
        writeln!(
            out,
            "<section>\n<h2>{} <span class=\"note\">{title}</span></h2>",
            escaped(name)
        )?;
        for drawing in drawings {
            writeln!(
                out,
                "<div class=\"drawing\" tabindex=\"0\" role=\"region\" aria-label=\"drawing of {}\">",
                escaped(&drawing.units.join(", "))
            )?;
            svg::write_one(drawing, out)?;
            out.write_all(b"</div>\n")?;
        }
        for (number, found) in findings {
            article(out, report, number, found)?;
        }
        out.write_all(b"</section>\n")?;
    }
    silenced(out, report)?;
    not_evaluated(out, report)?;
    write!(
        out,
        "</main>\n<p class=\"note\">sqslint {}</p>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Findings with their numbers, most severe first.
struct Numbered<'a>(Vec<(usize, &'a Diagnostic)>);

impl<'a> Numbered<'a> {
    fn new(report: &Report<'a>) -> Self {
        Numbered(report.by_severity().into_iter().enumerate().collect())
    }

    /// Groups the findings by severity and rule.
    fn by_rule(&self) -> BTreeMap<(Reverse<Severity>, &'a str), Vec<(usize, &'a Diagnostic)>> {
        let mut rules: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for &(number, found) in &self.0 {
            let key = (Reverse(found.severity), &*found.rule);
            rules.entry(key).or_default().push((number, found));
        }
        rules
    }
}

/// Writes a table of the rules with links to their findings.
fn counts(out: &mut dyn Write, findings: &Numbered<'_>) -> io::Result<()> {
    let rules = findings.by_rule();
    if rules.is_empty() {
        return Ok(());
    }
    out.write_all(b"<table class=\"counts\">\n<tr><th>severity</th><th>rule</th><th>findings</th></tr>\n")?;
    for ((Reverse(severity), rule), findings) in rules {
        let mut units: FxHashMap<&str, BTreeSet<&str>> = FxHashMap::default();
        for (_, Diagnostic { subject, .. }) in &findings {
            units.entry(&subject.address).or_default().insert(&subject.unit);
        }
        let links = findings.iter().map(|(number, Diagnostic { subject, .. })| {
            // Resources of several units have the same address.
            let is_shared = units.get(&*subject.address).is_some_and(|units| units.len() > 1);
            let unit = is_shared.then(|| format!(" <span class=\"note\">in {}</span>", escaped(&subject.unit)));
            let (address, unit) = (escaped(&subject.address), unit.unwrap_or_default());
            format!("<li><a href=\"#finding-{number}\">{address}</a>{unit}</li>")
        });
        writeln!(
            out,
            "<tr class=\"{severity}\"><td><b>{severity}</b></td><td>{}</td><td><ul>{}</ul></td></tr>",
            escaped(rule),
            links.collect::<String>()
        )?;
    }
    out.write_all(b"</table>\n")
}

fn article(out: &mut dyn Write, report: &Report<'_>, number: usize, found: &Diagnostic) -> io::Result<()> {
    writeln!(
        out,
        "<article class=\"{severity}\" id=\"finding-{number}\" tabindex=\"-1\">\n<p><b>{severity}</b> <code>{}</code> <span class=\"note\">{}</span></p>\n<h3>{}</h3>",
        escaped(&found.rule),
        escaped(&found.subject.address),
        sentence(&found.headline),
        severity = found.severity,
    )?;
    let extent = ExcerptLimits {
        around: true,
        most_lines: MOST_LINES,
        room: LINE_WIDTH,
    };
    let excerpt = Excerpt::new(report.sources, found.labels(), extent, "…");
    for group in &excerpt.groups {
        lines(out, &excerpt, group)?;
    }
    if let Some(timeline) = found.timeline() {
        writeln!(
            out,
            "<figure class=\"timeline\">{}</figure>",
            timeline::figure(&timeline)
        )?;
    }
    out.write_all(b"<dl>\n")?;
    let notes = prose::notes(found, excerpt.left_out).into_iter();
    for (name, note) in notes.chain(prose::advice(found)) {
        writeln!(out, "<dt>{name}</dt><dd>{}</dd>", sentence(&note))?;
    }
    let explain = escaped(&format!("sqslint explain {}", found.rule));
    writeln!(out, "<dt>explain</dt><dd><code>{explain}</code></dd>")?;
    out.write_all(b"</dl>\n</article>\n")
}

/// Formats a sentence of sqslint, with text in backticks as code.
fn sentence(text: &str) -> String {
    let text = escaped(text);
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text;
    }
    let parts = parts.into_iter().enumerate();
    let shown = parts.map(|(at, part)| match at % 2 {
        1 => format!("<code>{part}</code>"),
        _ => part.to_owned(),
    });
    shown.collect()
}

/// Writes numbered lines with marked labels, and the texts of the labels below.
fn lines(out: &mut dyn Write, excerpt: &Excerpt, group: &Group) -> io::Result<()> {
    let marks: Vec<&Mark> = excerpt
        .marks
        .iter()
        .filter(|mark| group.range.start <= mark.range.start && mark.range.end <= group.range.end)
        .collect();
    let first = marks
        .first()
        .map_or(group.first_line + 1, |mark| mark.position.line as usize);
    write!(
        out,
        "<figure>\n<figcaption>{}:{first}</figcaption>\n<pre tabindex=\"0\">",
        escaped(group.file.name())
    )?;
    let text = excerpt.text.get(group.range.clone()).unwrap_or("");
    let mut at = group.range.start;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let end = at + line.trim_end_matches('\n').len();
        writeln!(
            out,
            "<i>{:>5}  </i>{}",
            group.first_line + index + 1,
            marked(excerpt, at..end, &marks)
        )?;
        at += line.len();
    }
    out.write_all(b"</pre>\n")?;
    let said: Vec<String> = marks
        .iter()
        .filter(|mark| !mark.message.is_empty())
        .map(|mark| format!("<li>line {}: {}</li>\n", mark.position.line, sentence(&mark.message)))
        .collect();
    if !said.is_empty() {
        writeln!(out, "<ul>\n{}</ul>", said.concat())?;
    }
    out.write_all(b"</figure>\n")
}

/// Formats a line with its marks. Of overlapping labels, only the first is marked.
fn marked(excerpt: &Excerpt, line: Range<usize>, marks: &[&Mark]) -> String {
    let text = |range: Range<usize>| escaped(excerpt.text.get(range).unwrap_or(""));
    let mut here: Vec<_> = marks
        .iter()
        .map(|mark| mark.range.start.max(line.start)..mark.range.end.min(line.end))
        .filter(|range| range.start < range.end)
        .collect();
    here.sort_by_key(|range| range.start);
    let (mut shown, mut written) = (String::new(), line.start);
    for range in here {
        let start = range.start.max(written);
        if start < range.end {
            shown += &text(written..start);
            shown += &format!("<mark>{}</mark>", text(start..range.end));
            written = range.end;
        }
    }
    shown + &text(written..line.end)
}

fn silenced(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    if report.shown_suppressed().is_empty() {
        return Ok(());
    }
    out.write_all(b"<section>\n<h2>Suppressed</h2>\n<ul>\n")?;
    for one in report.shown_suppressed() {
        let found = &one.finding;
        let file = report.sources.file(found.primary().span.file);
        let line = file.position(found.primary().span.start as usize).line;
        writeln!(
            out,
            "<li class=\"{severity}\"><b>{severity}</b> <code>{}</code><br/>{}<br/><span class=\"note\">{}:{line} — {}</span></li>",
            escaped(&found.rule),
            sentence(&found.headline),
            escaped(file.name()),
            sentence(&why(one, report.sources, Paths::FromRepository)),
            severity = found.severity,
        )?;
    }
    out.write_all(b"</ul>\n</section>\n")
}

fn not_evaluated(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    if report.not_evaluated.is_empty() {
        return Ok(());
    }
    out.write_all(b"<section>\n<h2>Not fully judged</h2>\n<ul>\n")?;
    for entry in report.not_evaluated {
        let file = report.sources.file(entry.span.file);
        let line = file.position(entry.span.start as usize).line;
        writeln!(
            out,
            "<li><code>{}</code> {}: {} <span class=\"note\">{}:{line}</span></li>",
            escaped(&entry.subject.address),
            escaped(&entry.rule),
            sentence(&entry.reason),
            escaped(file.name()),
        )?;
    }
    out.write_all(b"</ul>\n</section>\n")
}
