//! A [`Topology`] as SVG, in columns along the way of a message: a plain drawing that needs no other tool.

use super::topology::{Edge, Node, Shape, Topology};
use crate::report::markup::escaped;
use crate::report::printable;
use std::io::{self, Write};

const WIDTH: usize = 300;
const HEIGHT: usize = 48;
const GAP_X: usize = 170;
const GAP_Y: usize = 24;
const MARGIN: usize = 12;
const TITLE: usize = 32;
/// Characters that fit into a box, and beside an arrow.
const TITLE_ROOM: usize = 35;
const LABEL_ROOM: usize = 24;

const STYLE: &str = "<style>text{font:13px ui-monospace,monospace;fill:#1b1f24}.d{fill:#59636e;font-size:11px}\
.b{fill:#f6f8fa;stroke:#59636e}.m{stroke:#c62828;stroke-width:3}.o{stroke-dasharray:4 3}\
.e{stroke:#59636e;fill:none}.f{stroke-dasharray:6 4}.h{fill:#59636e}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.d{fill:#9198a1}.b{fill:#151b23;stroke:#9198a1}\
.m{stroke:#ff8a80}.e{stroke:#9198a1}.h{fill:#9198a1}}</style>";

/// Writes several units, one below the other, as a document of its own.
pub fn write(units: &[Topology], out: &mut dyn Write) -> io::Result<()> {
    let layouts: Vec<Layout> = units.iter().map(Layout::new).collect();
    let width = layouts.iter().map(Layout::width).max().unwrap_or(0).max(200);
    let heights = layouts.iter().map(|layout| TITLE + layout.height() + MARGIN);
    begin(out, width, MARGIN + heights.sum::<usize>())?;
    let mut top = MARGIN;
    for (unit, layout) in units.iter().zip(&layouts) {
        write!(
            out,
            "<text x=\"{MARGIN}\" y=\"{}\">{}</text>\n<g transform=\"translate(0 {})\">\n{}</g>\n",
            top + 16,
            escaped(&unit.unit),
            top + TITLE,
            layout.draw(unit)
        )?;
        top += TITLE + layout.height() + MARGIN;
    }
    out.write_all(END)
}

/// Writes one unit, without its name.
pub fn write_one(unit: &Topology, out: &mut dyn Write) -> io::Result<()> {
    let layout = Layout::new(unit);
    begin(out, layout.width(), layout.height())?;
    out.write_all(layout.draw(unit).as_bytes())?;
    out.write_all(END)
}

fn begin(out: &mut dyn Write, width: usize, height: usize) -> io::Result<()> {
    write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\
         <title>Queues and what reads them</title>\n{STYLE}\n"
    )
}

const END: &[u8] = b"</svg>\n";

/// Column and row of each box.
struct Layout {
    places: Vec<(usize, usize)>,
}

impl Layout {
    fn new(unit: &Topology) -> Layout {
        let columns = columns(unit);
        let mut rows = vec![0_usize; columns.iter().max().map_or(0, |most| most + 1)];
        let places = columns.into_iter().map(|column| {
            let row = rows.get_mut(column).map_or(0, |next| {
                *next += 1;
                *next - 1
            });
            (column, row)
        });
        Layout {
            places: places.collect(),
        }
    }

    fn width(&self) -> usize {
        let columns = self.places.iter().map(|place| place.0 + 1).max().unwrap_or(1);
        2 * MARGIN + columns * WIDTH + (columns - 1) * GAP_X
    }

    fn height(&self) -> usize {
        let rows = self.places.iter().map(|place| place.1 + 1).max().unwrap_or(1);
        2 * MARGIN + rows * HEIGHT + (rows - 1) * GAP_Y
    }

    fn corner(&self, at: usize) -> (usize, usize) {
        let (column, row) = self.places.get(at).copied().unwrap_or_default();
        (MARGIN + column * (WIDTH + GAP_X), MARGIN + row * (HEIGHT + GAP_Y))
    }

    fn draw(&self, unit: &Topology) -> String {
        let edges = unit.edges.iter().map(|edge| self.edge(edge));
        let nodes = unit
            .nodes
            .iter()
            .enumerate()
            .map(|(at, node)| self.node(node, self.corner(at)));
        edges.chain(nodes).collect()
    }

    fn node(&self, node: &Node, (x, y): (usize, usize)) -> String {
        let radius = if node.shape == Shape::Function { 14 } else { 2 };
        let outside = if node.shape == Shape::Outside { " o" } else { "" };
        let marked = if node.marked { " m" } else { "" };
        let lines = if node.detail.is_empty() { 29 } else { 20 };
        let mut text = format!(
            "<rect class=\"b{outside}{marked}\" x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"{radius}\">\
             <title>{}</title></rect>\n<text x=\"{}\" y=\"{}\">{}</text>\n",
            escaped(&node.title),
            x + 10,
            y + lines,
            escaped(&shortened(&printable(&node.title), TITLE_ROOM)),
        );
        if !node.detail.is_empty() {
            let detail = if node.marked {
                format!("{} — see findings", node.detail)
            } else {
                node.detail.clone()
            };
            text.push_str(&format!(
                "<text class=\"d\" x=\"{}\" y=\"{}\">{}</text>\n",
                x + 10,
                y + 38,
                escaped(&detail)
            ));
        }
        text
    }

    fn edge(&self, edge: &Edge) -> String {
        let ((from_x, from_y), (to_x, to_y)) = (self.corner(edge.from), self.corner(edge.to));
        let is_forward = from_x < to_x;
        let class = if edge.failed { "e f" } else { "e" };
        let start = (from_x + WIDTH, from_y + HEIGHT / 2);
        // Backwards, into the same column or to itself, an arrow bends around on the right.
        let (end, bend) = if is_forward {
            ((to_x, to_y + HEIGHT / 2), to_x.saturating_sub(GAP_X / 2))
        } else {
            (
                (to_x + WIDTH, to_y + HEIGHT / 2 + 8),
                start.0.max(to_x + WIDTH) + GAP_X / 3,
            )
        };
        let head = if is_forward { end.0.saturating_sub(8) } else { end.0 + 8 };
        let (first, second) = if is_forward {
            (start.0 + GAP_X / 2, bend)
        } else {
            (bend, bend)
        };
        // Several arrows leave a box at one point, and most arrive alone.
        let (label, anchor) = if is_forward {
            // On the side that the arrow does not come from.
            let beside = if from_y < to_y {
                end.1 + 16
            } else {
                end.1.saturating_sub(6)
            };
            ((head.saturating_sub(4), beside), "end")
        } else {
            ((start.0 + 8, start.1.saturating_sub(6)), "start")
        };
        format!(
            "<path class=\"{class}\" d=\"M{} {} C{first} {} {second} {} {head} {}\"/>\
             <path class=\"h\" d=\"M{} {} L{head} {} L{head} {}Z\"/>\n<text class=\"d\" text-anchor=\"{anchor}\" x=\"{}\" y=\"{}\">{}</text>\n",
            start.0,
            start.1,
            start.1,
            end.1,
            end.1,
            end.0,
            end.1,
            end.1.saturating_sub(4),
            end.1 + 4,
            label.0,
            label.1,
            escaped(&shortened(&printable(&edge.label), LABEL_ROOM)),
        )
    }
}

/// The column of each box: one behind the farthest that sends to it. In a circle somebody has to be first.
fn columns(unit: &Topology) -> Vec<usize> {
    let count = unit.nodes.len();
    let mut columns = vec![0_usize; count];
    let mut open = vec![0_usize; count];
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); count];
    for edge in unit.edges.iter().filter(|edge| edge.from != edge.to) {
        if let (Some(list), Some(open)) = (followers.get_mut(edge.from), open.get_mut(edge.to)) {
            list.push(edge.to);
            *open += 1;
        }
    }
    let mut ready: Vec<usize> = (0..count).filter(|&at| open.get(at) == Some(&0)).rev().collect();
    let mut is_done = vec![false; count];
    let mut rest = 0..count;
    loop {
        let next = ready.pop().or_else(|| rest.find(|&at| is_done.get(at) == Some(&false)));
        let Some(at) = next else { break };
        if is_done.get(at) != Some(&false) {
            continue;
        }
        if let Some(done) = is_done.get_mut(at) {
            *done = true;
        }
        let column = columns.get(at).copied().unwrap_or(0) + 1;
        for &to in followers.get(at).map_or(&[][..], Vec::as_slice) {
            if is_done.get(to) == Some(&true) {
                continue;
            }
            if let Some(known) = columns.get_mut(to) {
                *known = column.max(*known);
            }
            if let Some(left) = open.get_mut(to) {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    ready.push(to);
                }
            }
        }
    }
    columns
}

/// `text` with its middle left out where it is too long: addresses differ at their ends.
fn shortened(text: &str, room: usize) -> String {
    let count = text.chars().count();
    if count <= room {
        return text.to_owned();
    }
    let half = (room - 1) / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{start}…{end}")
}
