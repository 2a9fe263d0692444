//! Writes a [`Topology`] as SVG: a plain drawing that requires no other tool.

use super::layout::{ArrowPath, BACK, HEAD, Layout, Outline, PORT};
use super::titles;
use super::topology::{Edge, Node, Shape, Topology};
use crate::report::markup::escaped;
use crate::report::printable;
use std::io::{self, Write};

/// Margin around the drawing, and height of a drawing's title.
const MARGIN: usize = 12;
const TITLE: usize = 32;
/// Padding around the text of a box.
const PADDING: usize = 10;
/// Maximum number of characters in a line of a title.
const TITLE_ROOM: usize = 42;
/// Maximum number of characters in a label.
const LABEL_ROOM: usize = 30;
/// Width of a character in titles and in details, in tenths of a pixel, and height of their lines in pixels.
const TITLE_CHARACTER: usize = 79;
const DETAIL_CHARACTER: usize = 67;
const TITLE_LINE: usize = 17;
const DETAIL_LINE: usize = 15;

const STYLE: &str = "<style>.sqs text{font:13px ui-monospace,monospace;fill:#1b1f24}.sqs .d{fill:#59636e;font-size:11px}\
.sqs .b{fill:#f6f8fa;stroke:#59636e}.sqs .q{stroke-width:2}.sqs .o{stroke-dasharray:4 3}\
.sqs .e{stroke:#59636e;fill:none}.sqs .f{stroke-dasharray:6 4}.sqs .h{fill:#59636e}.sqs .p{fill:#fff}\
.sqs .error{stroke:#c62828;stroke-width:3}.sqs .warning{stroke:#b26a00;stroke-width:3}.sqs .info{stroke:#0b57a4}\
.sqs .h.error{fill:#c62828;stroke:none}.sqs .h.warning{fill:#b26a00;stroke:none}\
@media screen and (prefers-color-scheme:dark){.sqs text{fill:#e6edf3}.sqs .d{fill:#9198a1}.sqs .b{fill:#151b23;stroke:#9198a1}\
.sqs .e{stroke:#9198a1}.sqs .h{fill:#9198a1}.sqs .p{fill:#0d1117}\
.sqs .error{stroke:#ff8a80}.sqs .warning{stroke:#e3b341}.sqs .info{stroke:#79b8ff}\
.sqs .h.error{fill:#ff8a80}.sqs .h.warning{fill:#e3b341}}</style>";

/// Writes several drawings, one below the other, as a self-contained document.
pub fn write(topologies: &[Topology], out: &mut dyn Write) -> io::Result<()> {
    let drawings: Vec<Drawing> = topologies.iter().map(Drawing::new).collect();
    let width = drawings.iter().map(|drawing| drawing.layout.width).max();
    let width = width.unwrap_or(0).max(TITLE_ROOM * TITLE_CHARACTER / 10);
    let titles = drawings.iter().map(|drawing| {
        let title = title(&drawing.topology.units);
        titles::in_lines(&printable(&title), width * 10 / TITLE_CHARACTER)
    });
    let titles: Vec<Vec<String>> = titles.collect();
    let head = |title: &[String]| TITLE + title.len().saturating_sub(1) * TITLE_LINE;
    let heights = drawings.iter().zip(&titles);
    let heights = heights.map(|(drawing, title)| head(title) + drawing.layout.height + 2 * MARGIN);
    begin(out, width, heights.sum::<usize>())?;
    let mut top = MARGIN;
    for (drawing, title) in drawings.iter().zip(&titles) {
        for (line, text) in title.iter().enumerate() {
            let y = top + 16 + line * TITLE_LINE;
            writeln!(out, "<text x=\"{MARGIN}\" y=\"{y}\">{}</text>", escaped(text))?;
        }
        top += head(title);
        write!(
            out,
            "<g transform=\"translate({MARGIN} {top})\">\n{}</g>\n",
            drawing.draw()
        )?;
        top += drawing.layout.height + 2 * MARGIN;
    }
    out.write_all(END)
}

/// Writes one drawing, without its title.
pub fn write_one(topology: &Topology, out: &mut dyn Write) -> io::Result<()> {
    let drawing = Drawing::new(topology);
    begin(out, drawing.layout.width, drawing.layout.height)?;
    write!(
        out,
        "<g transform=\"translate({MARGIN} {MARGIN})\">\n{}</g>\n",
        drawing.draw()
    )?;
    out.write_all(END)
}

/// Returns the names of the units, shortened to the first three.
fn title(units: &[String]) -> String {
    match units {
        [first, second, third, _, ..] => format!("{first}, {second}, {third} and {} more", units.len() - 3),
        few => few.join(", "),
    }
}

fn begin(out: &mut dyn Write, width: usize, height: usize) -> io::Result<()> {
    let (width, height) = (width + 2 * MARGIN, height + 2 * MARGIN);
    write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sqs\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\
         <title>Queues and what reads them</title>\n{STYLE}\n<rect class=\"p\" width=\"100%\" height=\"100%\"/>\n"
    )
}

const END: &[u8] = b"</svg>\n";

struct Drawing<'t> {
    topology: &'t Topology,
    texts: Vec<BoxText>,
    /// Label of each arrow.
    labels: Vec<String>,
    layout: Layout,
}

/// Text of a box, in lines.
struct BoxText {
    title: Vec<String>,
    details: Vec<String>,
}

impl BoxText {
    fn of(node: &Node, topology: &Topology) -> BoxText {
        let mut details: Vec<String> = node.details.iter().map(|text| printable(text)).collect();
        if let (Some(unit), 2..) = (topology.units.get(node.unit), topology.units.len()) {
            let lines = titles::in_lines(&printable(&format!("in {unit}")), TITLE_ROOM);
            details.extend(lines);
        }
        BoxText {
            title: titles::in_lines(&printable(&node.title), TITLE_ROOM),
            details,
        }
    }

    /// Returns the size in pixels of a box with `ports` arrows on one side.
    fn size(&self, ports: usize) -> (usize, usize) {
        let longest = |lines: &[String]| lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let width = (longest(&self.title) * TITLE_CHARACTER).max(longest(&self.details) * DETAIL_CHARACTER) / 10;
        let height = self.title.len() * TITLE_LINE + self.details.len() * DETAIL_LINE;
        (width + 2 * PADDING, (height + 2 * PADDING).max(ports * PORT + PADDING))
    }
}

impl<'t> Drawing<'t> {
    fn new(topology: &'t Topology) -> Drawing<'t> {
        let texts: Vec<BoxText> = topology.nodes.iter().map(|node| BoxText::of(node, topology)).collect();
        let labels: Vec<String> = topology.edges.iter().map(label).collect();
        let ports = |at: usize| {
            let leaving = topology.edges.iter().filter(|edge| edge.from == at).count();
            let arriving = topology.edges.iter().filter(|edge| edge.to == at).count();
            leaving.max(arriving)
        };
        let layout = Layout::new(&Outline {
            boxes: texts
                .iter()
                .enumerate()
                .map(|(at, texts)| texts.size(ports(at)))
                .collect(),
            arrows: topology
                .edges
                .iter()
                .zip(&labels)
                .map(|(edge, label)| (edge.from, edge.to, label_width(label)))
                .collect(),
        });
        Drawing {
            topology,
            texts,
            labels,
            layout,
        }
    }

    fn draw(&self) -> String {
        let arrows = self.topology.edges.iter().zip(&self.labels).zip(&self.layout.ways);
        let (lines, labels): (Vec<String>, Vec<String>) =
            arrows.map(|((edge, label), way)| arrow(edge, label, way)).unzip();
        let boxes = (0..self.texts.len()).map(|at| self.node(at));
        lines.into_iter().chain(labels).chain(boxes).collect()
    }

    fn node(&self, at: usize) -> String {
        let (node, texts, (x, y)) = (&self.topology.nodes[at], &self.texts[at], self.layout.corners[at]);
        let ports = self.topology.edges.iter();
        let leaving = ports.clone().filter(|edge| edge.from == at).count();
        let (width, height) = texts.size(leaving.max(ports.filter(|edge| edge.to == at).count()));
        let (class, radius) = match node.shape {
            Shape::Queue => (" q", 2),
            Shape::Function => ("", 14),
            Shape::Sender => ("", 2),
            Shape::External => (" o", 2),
        };
        let worst = node.worst.map_or_else(String::new, |severity| format!(" {severity}"));
        let mut text = format!(
            "<rect class=\"b{class}{worst}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\">\
             <title>{}</title></rect>\n",
            escaped(&node.title),
        );
        let lines = texts.title.len() * TITLE_LINE + texts.details.len() * DETAIL_LINE;
        let mut line = y + (height - lines) / 2;
        for (said, class, tall) in texts
            .title
            .iter()
            .map(|said| (said, "", TITLE_LINE))
            .chain(texts.details.iter().map(|said| (said, " class=\"d\"", DETAIL_LINE)))
        {
            line += tall;
            text.push_str(&format!(
                "<text{class} x=\"{}\" y=\"{}\">{}</text>\n",
                x + PADDING,
                line - 4,
                escaped(said)
            ));
        }
        text
    }
}

/// Returns the width of a label in pixels.
fn label_width(label: &str) -> usize {
    label.chars().count() * DETAIL_CHARACTER / 10
}

/// Returns the label of an arrow, limited to the available room.
fn label(edge: &Edge) -> String {
    let mut said = String::new();
    for part in &edge.labels {
        let part = printable(part);
        let more = if said.is_empty() { part } else { format!(", {part}") };
        if said.chars().count() + more.chars().count() > LABEL_ROOM {
            break;
        }
        said.push_str(&more);
    }
    said
}

/// Draws an arrow along its path, and its label. Arrows to boxes that do not exist are skipped.
fn arrow(edge: &Edge, label: &str, way: &ArrowPath) -> (String, String) {
    let (Some(first), Some(last)) = (way.stretches.first(), way.stretches.last()) else {
        return (String::new(), String::new());
    };
    let (start, end) = (first.start, last.end);
    let head = if way.is_back {
        end.0 + HEAD
    } else {
        end.0.saturating_sub(HEAD)
    };
    let mut path = format!("M{} {}", start.0, start.1);
    for (at, stretch) in way.stretches.iter().enumerate() {
        let (from_x, from_y, to_y) = (stretch.bend, stretch.start.1, stretch.end.1);
        let is_last = at + 1 == way.stretches.len();
        let (to_x, bend) = if way.is_back {
            (head, from_x.max(head) + BACK)
        } else {
            let last = if is_last { head } else { stretch.unbend };
            let to_x = last.min(stretch.unbend);
            (to_x, from_x + to_x.saturating_sub(from_x) / 2)
        };
        path.push_str(&format!(
            "L{from_x} {from_y}C{bend} {from_y} {bend} {to_y} {to_x} {to_y}"
        ));
    }
    path.push_str(&format!("L{head} {}", end.1));
    let failed = if edge.failed { " f" } else { "" };
    let worst = edge.worst.map_or_else(String::new, |severity| format!(" {severity}"));
    let line = format!(
        "<path class=\"e{failed}{worst}\" d=\"{path}\"/><path class=\"h{worst}\" d=\"M{} {y} L{head} {} L{head} {}Z\"/>\n",
        end.0,
        end.1.saturating_sub(5),
        end.1 + 5,
        y = end.1,
    );
    if label.is_empty() {
        return (line, String::new());
    }
    let ((x, y), anchor) = if way.label_at_start {
        ((start.0 + 4, start.1), "start")
    } else {
        ((head.saturating_sub(4), end.1), "end")
    };
    let label = format!(
        "<text class=\"d\" text-anchor=\"{anchor}\" x=\"{x}\" y=\"{}\">{}</text>\n",
        y.saturating_sub(5),
        escaped(label),
    );
    (line, label)
}
