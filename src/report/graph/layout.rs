//! Computes the positions of boxes and arrows in a drawing, so that messages flow from left to right.
//!
//! Boxes that are connected by arrows form a part. Parts are laid out independently, one below the other, and boxes
//! without arrows fill rows at the bottom. A part is laid out in four steps (a simple form of Sugiyama's method):
//!
//! 1. Columns ([`columns`]): each box is placed to the right of its senders.
//! 2. Slots ([`Component::new`]): an arrow that passes a column reserves an invisible slot there, so that no box is in
//!    its way.
//! 3. Order and heights ([`Component::order`]): alternating sweeps from left to right and back sort the slots of each
//!    column by the average height of their neighbours, and move them towards it.
//! 4. Coordinates ([`Component::place`]): columns get the width of their widest box, gaps that of their labels, and the
//!    arrows at a box are spread over its side.
//!
//! Example: boxes of 100 × 40 with the arrows A → B, B → C and A → C, whose labels are 50 wide:
//!
//! ```text
//! column 0            column 1            column 2
//! x = 0               x = 226             x = 514
//!                     ┌───────┐
//! ┌───────┐ ────────► │   B   │ ────────► ┌───────┐
//! │   A   │           └───────┘           │   C   │
//! └───────┘ ────────────  p  ───────────► └───────┘
//! ```
//!
//! The columns are 0, 1 and 2, because C is to the right of B, its last sender. A → C passes column 1, where it
//! gets the slot p, 18 high. The sweeps leave B at y = 0 and p below it, from 60 to 78, since slots are 20 apart; A and
//! C stay halfway between the two, at y = 24. A gap is 56 wide, plus room for the labels of arrows that leave there
//! (62 for B → C) and of those that arrive (70 for A → B and A → C), so the columns begin at 0, 226 and 514.
//! The two arrows that leave A do so at y = 35 (to B, which is higher) and y = 53, 18 apart. A → C has two stretches:
//! from (100, 53) to (226, 69), and from (326, 69) to (514, 53). In between, it runs straight through p. Arrows bend
//! only between the rooms for labels, so none crosses a label.
//!
//! An arrow back to the same or an earlier column (in a cycle of queues) passes no slots: it leaves its box on the
//! right, and also ends on the right of its target.

use std::collections::BTreeMap;

/// Vertical gap between the slots of a column.
const GAP_Y: usize = 20;
/// Horizontal gap between columns, in addition to the labels there.
const GAP_X: usize = 56;
/// Room around a label, and length of an arrow's head.
const LABEL_MARGIN: usize = 12;
pub(super) const HEAD: usize = 8;
/// Width of the bend of an arrow that leads back.
pub(super) const BACK: usize = 48;
/// Height of an arrow's slot in a column, and vertical distance between the arrows at a box.
pub(super) const PORT: usize = 18;
/// Vertical gap between parts.
const GAP: usize = 36;
/// Number of sweeps, alternately from left to right and from right to left.
const SWEEPS: usize = 12;

/// Position in the drawing: x and y, from the top left corner.
pub(super) type Point = (usize, usize);

/// Input of a layout: the sizes of the boxes, and the arrows as two box indices with the width of the label.
pub(super) struct Outline {
    pub(super) boxes: Vec<(usize, usize)>,
    pub(super) arrows: Vec<(usize, usize, usize)>,
}

/// Positions of all boxes and arrows.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Top left corner of each box.
    pub(super) corners: Vec<Point>,
    /// Path of each arrow.
    pub(super) ways: Vec<ArrowPath>,
}

/// Path of an arrow.
#[derive(Debug, Clone, Default)]
pub(super) struct ArrowPath {
    /// Stretches between two columns. Within a column, the arrow runs straight from one stretch to the next.
    pub(super) stretches: Vec<Stretch>,
    /// `true` if the arrow ends in the same or an earlier column, and therefore on the right of its box.
    pub(super) is_back: bool,
    /// `true` if the label is at the start, because fewer arrows leave the first box than arrive at the last one.
    pub(super) label_at_start: bool,
}

/// Part of a path between two columns. It is straight next to labels, and bends between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) start: Point,
    /// Horizontal positions where it starts and ends to bend.
    pub(super) bend: usize,
    pub(super) unbend: usize,
    pub(super) end: Point,
}

impl Layout {
    /// Lays out `outline`. Arrows to boxes that do not exist get an empty path.
    pub(super) fn new(outline: &Outline) -> Layout {
        let mut layout = Layout {
            corners: vec![(0, 0); outline.boxes.len()],
            ways: vec![ArrowPath::default(); outline.arrows.len()],
            ..Layout::default()
        };
        let (parts, alone) = parts(outline);
        let mut top = 0;
        for part in &parts {
            let (width, height) = Component::new(outline, part).place(top, &mut layout);
            layout.width = layout.width.max(width);
            layout.height = top + height;
            top += height + GAP;
        }
        layout.rows(outline, &alone, top);
        layout
    }

    /// Places boxes without arrows in rows that are about as wide as the rest of the drawing.
    fn rows(&mut self, outline: &Outline, alone: &[usize], mut top: usize) {
        let widest = alone.iter().map(|&at| outline.boxes[at].0).max().unwrap_or(0);
        let most = self.width.max(3 * widest + 2 * GAP_Y);
        let (mut left, mut height) = (0, 0);
        for &at in alone {
            let size = outline.boxes[at];
            if left > 0 && left + size.0 > most {
                top += height + GAP_Y;
                (left, height) = (0, 0);
            }
            self.corners[at] = (left, top);
            height = height.max(size.1);
            self.width = self.width.max(left + size.0);
            self.height = self.height.max(top + height);
            left += size.0 + GAP_Y;
        }
    }
}

/// Splits the boxes into groups that are connected by arrows, and boxes without any arrow.
fn parts(outline: &Outline) -> (Vec<Vec<usize>>, Vec<usize>) {
    let count = outline.boxes.len();
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(from, to, _) in outline.arrows.iter().filter(|arrow| arrow.0.max(arrow.1) < count) {
        neighbours[from].push(to);
        neighbours[to].push(from);
    }
    let (mut parts, mut alone, mut is_seen) = (Vec::new(), Vec::new(), vec![false; count]);
    for start in 0..count {
        if neighbours[start].is_empty() {
            alone.push(start);
        } else if !is_seen[start] {
            // Breadth-first search, with `part` as the queue.
            is_seen[start] = true;
            let mut part = vec![start];
            let mut next = 0;
            while let Some(&at) = part.get(next) {
                next += 1;
                for &other in &neighbours[at] {
                    if !std::mem::replace(&mut is_seen[other], true) {
                        part.push(other);
                    }
                }
            }
            // The order of the boxes in the outline, not that of the search, breaks ties later.
            part.sort_unstable();
            parts.push(part);
        }
    }
    (parts, alone)
}

/// Element of a column: a box, or an arrow that passes the column.
#[derive(Debug, Clone, Copy)]
struct Slot {
    column: usize,
    width: usize,
    height: usize,
    y: usize,
}

impl Slot {
    fn middle(self) -> usize {
        self.y + self.height / 2
    }
}

/// Boxes that are connected by arrows.
struct Component<'o> {
    outline: &'o Outline,
    /// Indices of the boxes in the outline. Their slots precede those of passing arrows, in this order.
    boxes: &'o [usize],
    slots: Vec<Slot>,
    /// Indices of the arrows in the outline, each with the slots on its path.
    arrows: Vec<(usize, Vec<usize>)>,
    /// Slots of each column, from top to bottom.
    columns: Vec<Vec<usize>>,
}

impl<'o> Component<'o> {
    fn new(outline: &'o Outline, boxes: &'o [usize]) -> Component<'o> {
        let slot_of: BTreeMap<usize, usize> = boxes.iter().enumerate().map(|(slot, &at)| (at, slot)).collect();
        let ends = |&(from, to, _): &(usize, usize, usize)| Some((*slot_of.get(&from)?, *slot_of.get(&to)?));
        let inner = outline.arrows.iter().enumerate();
        let inner: Vec<_> = inner.filter_map(|(at, arrow)| Some((at, ends(arrow)?))).collect();
        let pairs: Vec<(usize, usize)> = inner.iter().map(|&(_, pair)| pair).collect();
        let columns = columns(boxes.len(), &pairs);
        let mut slots: Vec<Slot> = boxes
            .iter()
            .zip(&columns)
            .map(|(&at, &column)| Slot {
                column,
                width: outline.boxes[at].0,
                height: outline.boxes[at].1,
                y: 0,
            })
            .collect();
        let mut arrows = Vec::new();
        for (at, (from, to)) in inner {
            let mut way = vec![from];
            // One invisible slot per column in between. The range is empty if the arrow leads back.
            for column in columns[from] + 1..columns[to] {
                way.push(slots.len());
                slots.push(Slot {
                    column,
                    width: 0,
                    height: PORT,
                    y: 0,
                });
            }
            way.push(to);
            arrows.push((at, way));
        }
        let mut part = Component {
            outline,
            boxes,
            columns: vec![Vec::new(); columns.iter().max().map_or(0, |most| most + 1)],
            slots,
            arrows,
        };
        for (at, slot) in part.slots.iter().enumerate() {
            part.columns[slot.column].push(at);
        }
        part.order();
        part
    }

    /// Orders the slots of each column, and determines their heights, by the slots that they are linked to.
    fn order(&mut self) {
        // Links between adjacent columns. Arrows that lead back do not count: they may span several columns.
        let mut links: Vec<Vec<usize>> = vec![Vec::new(); self.slots.len()];
        for (_, way) in &self.arrows {
            for pair in way.windows(2) {
                let (before, behind) = (pair[0], pair[1]);
                if self.slots[before].column < self.slots[behind].column {
                    links[before].push(behind);
                    links[behind].push(before);
                }
            }
        }
        // The initial stacks only serve as a reference for the first sweep.
        for column in 0..self.columns.len() {
            self.stack(column, None);
        }
        // Each column follows the current heights of its neighbours, so that a change spreads through all columns
        // within a sweep. The sweeps need not reach a stable order; a fixed number of them bounds the cost.
        for sweep in 0..SWEEPS {
            let count = self.columns.len();
            for step in 0..count {
                let column = if sweep % 2 == 0 { step } else { count - 1 - step };
                self.stack(column, Some(&links));
            }
        }
        // Heights started at a large offset; the topmost slot of the part is moved to 0.
        let top = self.slots.iter().map(|slot| slot.y).min().unwrap_or(0);
        for slot in &mut self.slots {
            slot.y -= top;
        }
    }

    /// Stacks the slots of a column, each as close as possible to the average height of the slots that it is linked to.
    fn stack(&mut self, column: usize, links: Option<&Vec<Vec<usize>>>) {
        // Initial height, large enough for slots to move up without becoming negative.
        const BASE: usize = 1 << 30;
        let mut wanted: Vec<(usize, usize)> = Vec::new();
        for &at in &self.columns[column] {
            let near = links.map_or(&[][..], |links| &links[at]);
            // The average height of the linked slots. A slot without links keeps its height.
            let middle = match near.len() {
                0 if links.is_none() => BASE,
                0 => self.slots[at].middle(),
                count => {
                    // Such heights of a few slots exceed the numbers of 32 bits that WebAssembly has.
                    let sum: u64 = near.iter().map(|&other| self.slots[other].middle() as u64).sum();
                    usize::try_from(sum / count as u64).unwrap_or(BASE)
                }
            };
            wanted.push((middle, at));
        }
        // A stable sort: slots that want the same height keep their order.
        if links.is_some() {
            wanted.sort_by_key(|&(middle, _)| middle);
        }
        // From top to bottom, each slot gets the height that it wants, or the next free one below the slots above it.
        let (mut next, mut lowered) = (0, 0);
        for &(middle, at) in &wanted {
            let slot = &mut self.slots[at];
            let y = middle.saturating_sub(slot.height / 2);
            slot.y = y.max(next);
            lowered += slot.y - y;
            next = slot.y + slot.height + GAP_Y;
        }
        // Overlapping slots were moved down, which is made up for by moving the column up by the average distance.
        let up = lowered / wanted.len().max(1);
        for &(_, at) in &wanted {
            self.slots[at].y = self.slots[at].y.saturating_sub(up);
        }
        self.columns[column] = wanted.into_iter().map(|(_, at)| at).collect();
    }

    /// Returns `true` if an arrow ends in the same or an earlier column.
    fn is_back(&self, way: &[usize]) -> bool {
        let column = |at: Option<&usize>| at.map(|&at| self.slots[at].column);
        column(way.first()) >= column(way.last())
    }

    /// Writes the positions of the part into `layout`, starting at `top`, and returns the size of the part.
    fn place(&self, top: usize, layout: &mut Layout) -> (usize, usize) {
        let ports = self.ports();
        let (spans, width) = self.spans(&ports);
        for (slot, &at) in self.slots.iter().zip(self.boxes) {
            layout.corners[at] = (spans[slot.column].left, top + slot.y);
        }
        for ((at, way), ports) in self.arrows.iter().zip(&ports) {
            let is_back = self.is_back(way);
            let mut stretches = Vec::new();
            for (place, pair) in way.windows(2).enumerate() {
                let (one, other) = (self.slots[pair[0]], self.slots[pair[1]]);
                let (span, next) = (spans[one.column], spans[other.column]);
                // A stretch starts at the right edge of the first box, and otherwise at that of the column it passed.
                let start = if place == 0 {
                    (span.left + one.width, top + ports[0].y)
                } else {
                    (span.right, top + one.middle())
                };
                // It ends at the left edge of the next column, or at the right of the box if the arrow leads back.
                let end = if is_back {
                    (next.left + other.width, top + ports[1].y)
                } else if place + 2 == way.len() {
                    (next.left, top + ports[1].y)
                } else {
                    (next.left, top + other.middle())
                };
                stretches.push(Stretch {
                    start,
                    bend: span.right + span.leaving,
                    unbend: next.left.saturating_sub(span.arriving),
                    end,
                });
            }
            layout.ways[*at] = ArrowPath {
                stretches,
                is_back,
                label_at_start: self.is_label_at_start(way, ports),
            };
        }
        let height = self.slots.iter().map(|slot| slot.y + slot.height).max().unwrap_or(0);
        (width, height)
    }

    fn is_label_at_start(&self, way: &[usize], [start, end]: &[Port; 2]) -> bool {
        self.is_back(way) || start.count < end.count
    }

    /// Returns the horizontal extent of each column with the labels to its right, and the total width.
    fn spans(&self, ports: &[[Port; 2]]) -> (Vec<ColumnSpan>, usize) {
        let mut spans = vec![ColumnSpan::default(); self.columns.len()];
        for slot in &self.slots {
            let span = &mut spans[slot.column];
            span.right = span.right.max(slot.width);
        }
        // Only arrows that lead back from the last column need room to its right.
        let mut trailing = 0;
        for ((at, way), ports) in self.arrows.iter().zip(ports) {
            let label = self.outline.arrows[*at].2;
            let (first, last) = (self.slots[way[0]].column, self.slots[way[way.len() - 1]].column);
            let room = if label == 0 { 0 } else { label + LABEL_MARGIN };
            if self.is_label_at_start(way, ports) {
                spans[first].leaving = spans[first].leaving.max(room);
            } else {
                spans[last - 1].arriving = spans[last - 1].arriving.max(room + HEAD);
            }
            if self.is_back(way) && first + 1 == spans.len() {
                trailing = BACK;
            }
        }
        let mut left = 0;
        for span in &mut spans {
            (span.left, span.right) = (left, left + span.right);
            left = span.right + span.leaving + GAP_X + span.arriving;
        }
        let width = spans.last().map_or(0, |last| last.right + last.leaving + trailing);
        (spans, width)
    }

    /// Returns the points where each arrow leaves and meets its boxes. On each side of a box, they are sorted by the
    /// height of the next slot on the path, so that arrows do not cross next to the box.
    fn ports(&self) -> Vec<[Port; 2]> {
        let mut at_side: BTreeMap<(usize, bool), Vec<(usize, usize, usize)>> = BTreeMap::new();
        for (nth, (_, way)) in self.arrows.iter().enumerate() {
            let last = way.len() - 1;
            for (end, own, other) in [(0, way[0], way[1]), (1, way[last], way[last - 1])] {
                let is_right = end == 0 || self.is_back(way);
                let side = at_side.entry((own, is_right)).or_default();
                side.push((self.slots[other].middle(), nth, end));
            }
        }
        let mut ports = vec![[Port::default(); 2]; self.arrows.len()];
        for ((own, _), mut arrows) in at_side {
            arrows.sort_unstable();
            // The points are centred on the side of the box, `PORT` apart.
            let count = arrows.len();
            let first = self.slots[own].middle().saturating_sub(PORT * (count - 1) / 2);
            for (place, (_, nth, end)) in arrows.into_iter().enumerate() {
                ports[nth][end] = Port {
                    y: first + PORT * place,
                    count,
                };
            }
        }
        ports
    }
}

/// Point where an arrow leaves or meets a box.
#[derive(Debug, Clone, Copy, Default)]
struct Port {
    y: usize,
    /// Number of arrows on this side of the box.
    count: usize,
}

/// Horizontal extent of a column, and the widths of the labels in the gap to its right.
#[derive(Debug, Clone, Copy, Default)]
struct ColumnSpan {
    left: usize,
    right: usize,
    /// Room for the labels of arrows that leave the column.
    leaving: usize,
    /// Room for the labels of arrows that arrive at the next column.
    arriving: usize,
}

/// Assigns a column to each box: one to the right of its farthest sender. A box without senders is placed directly
/// before its nearest receiver. In a cycle, the first box that remains starts.
fn columns(count: usize, arrows: &[(usize, usize)]) -> Vec<usize> {
    let mut columns = vec![0_usize; count];
    let mut open = vec![0_usize; count];
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(from, to) in arrows.iter().filter(|(from, to)| from != to) {
        followers[from].push(to);
        open[to] += 1;
    }
    // Topological order: a box is ready once all of its senders have a column. `open` counts the remaining senders.
    let is_first: Vec<bool> = open.iter().map(|&open| open == 0).collect();
    let mut ready: Vec<usize> = (0..count).filter(|&at| is_first[at]).rev().collect();
    let mut is_done = vec![false; count];
    let mut rest = 0..count;
    // If no box is ready, all remaining ones are in cycles or depend on one. The first of them then keeps its column,
    // and the arrows that close the cycle lead back.
    while let Some(at) = ready.pop().or_else(|| rest.find(|&at| !is_done[at])) {
        if std::mem::replace(&mut is_done[at], true) {
            continue;
        }
        for &to in &followers[at] {
            if is_done[to] {
                continue;
            }
            columns[to] = columns[to].max(columns[at] + 1);
            open[to] -= 1;
            if open[to] == 0 {
                ready.push(to);
            }
        }
    }
    // Boxes without senders start in column 0, which may be far from their receivers.
    for at in (0..count).filter(|&at| is_first[at]) {
        let nearest = followers[at].iter().map(|&to| columns[to]).min();
        columns[at] = nearest.unwrap_or(1).saturating_sub(1);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(count: usize, arrows: &[(usize, usize)]) -> Layout {
        Layout::new(&Outline {
            boxes: vec![(100, 40); count],
            arrows: arrows.iter().map(|&(from, to)| (from, to, 50)).collect(),
        })
    }

    /// Checks that no two boxes overlap, and that all are within the drawing.
    fn check(layout: &Layout, name: &str) {
        for (at, &(x, y)) in layout.corners.iter().enumerate() {
            assert!(x + 100 <= layout.width && y + 40 <= layout.height, "{name}: box {at}");
            for &(other_x, other_y) in layout.corners.iter().take(at) {
                let apart = x.abs_diff(other_x) >= 100 || y.abs_diff(other_y) >= 40;
                assert!(apart, "{name}: box {at} at {x}, {y}");
            }
        }
    }

    #[test]
    fn boxes_never_overlap() {
        let fan: Vec<_> = (1..9).map(|to| (0, to)).collect();
        let both: Vec<_> = (0..6).flat_map(|from| (6..9).map(move |to| (from, to))).collect();
        let cases: [(&str, usize, &[(usize, usize)]); 9] = [
            ("nothing", 0, &[]),
            ("one", 1, &[]),
            ("alone", 7, &[]),
            ("a chain, and one past it", 4, &[(0, 1), (1, 2), (2, 3), (0, 3)]),
            ("a circle", 3, &[(0, 1), (1, 2), (2, 0)]),
            ("itself", 2, &[(0, 0), (0, 1), (1, 1)]),
            ("a fan", 9, &fan),
            ("each with each", 9, &both),
            ("a box that does not exist", 2, &[(0, 1), (1, 7)]),
        ];
        for (name, count, arrows) in cases {
            check(&laid_out(count, arrows), name);
        }
    }

    #[test]
    fn arrows_go_around_boxes_in_between() {
        let layout = laid_out(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]);
        let long = &layout.ways[3];
        assert_eq!(long.stretches.len(), 3);
        for &Stretch { start: (_, y), .. } in &long.stretches[1..] {
            for passed in [1, 2] {
                let top = layout.corners[passed].1;
                assert!(y < top || y > top + 40, "{y} passes the box at {top}");
            }
        }
    }

    #[test]
    fn connected_boxes_have_similar_heights() {
        // The arrows cross in the input, but not in the drawing.
        let layout = laid_out(6, &[(0, 5), (1, 4), (2, 3), (0, 3)]);
        let row = |at: usize| layout.corners[at].1;
        assert_eq!(row(0) < row(2), row(5) < row(3));
    }

    #[test]
    fn senders_are_left_of_receivers() {
        let columns = columns(4, &[(0, 1), (1, 2), (3, 2)]);
        assert_eq!(columns, [0, 1, 2, 1]);
    }
}
