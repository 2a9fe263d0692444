//! Where boxes and arrows of a drawing stand: columns along the way of a message, each arrow with a way of its own.
//!
//! What hangs together is laid out by itself: a column for each step, an invisible box in every column that an arrow
//! passes, the order in a column by where neighbours stand, and the height of each box likewise. Boxes without arrows
//! stand below.

use std::collections::BTreeMap;

/// Between two boxes of a column.
const GAP_Y: usize = 20;
/// Between two columns, beside the labels there.
const GAP_X: usize = 72;
/// The height that an arrow takes in a column that it passes, and at a box.
pub(super) const PORT: usize = 18;
/// Between what does not hang together.
const GAP: usize = 36;
/// How often the boxes of a column are put into order by those before and behind them.
const SWEEPS: usize = 12;

/// A place in the drawing.
pub(super) type Point = (usize, usize);

/// What is to be laid out: sizes of boxes, and arrows by their places with the widths of their labels.
pub(super) struct Outline {
    pub(super) boxes: Vec<(usize, usize)>,
    pub(super) arrows: Vec<(usize, usize, usize)>,
}

/// Where everything stands.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) width: usize,
    pub(super) height: usize,
    /// The left upper corner of each box.
    pub(super) corners: Vec<Point>,
    /// Where each arrow goes.
    pub(super) ways: Vec<Way>,
}

/// The way of an arrow.
#[derive(Debug, Clone, Default)]
pub(super) struct Way {
    /// Begin and end of each stretch between two columns; it goes straight on through the columns.
    pub(super) stretches: Vec<(Point, Point)>,
    /// True if it leads back, or stays in its column, and so ends at the right of its box.
    pub(super) is_back: bool,
    /// True if fewer arrows leave where it begins than arrive where it ends, so that its label stands there.
    pub(super) label_at_start: bool,
}

impl Layout {
    /// Lays out `outline`; arrows to boxes that do not exist have no way.
    pub(super) fn new(outline: &Outline) -> Layout {
        let mut layout = Layout {
            corners: vec![(0, 0); outline.boxes.len()],
            ways: vec![Way::default(); outline.arrows.len()],
            ..Layout::default()
        };
        let (parts, alone) = parts(outline);
        let mut top = 0;
        for part in &parts {
            let (width, height) = Part::new(outline, part).place(top, &mut layout);
            layout.width = layout.width.max(width);
            layout.height = top + height;
            top += height + GAP;
        }
        layout.rows(outline, &alone, top);
        layout
    }

    /// Boxes without arrows in rows, about as wide as the rest.
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

/// The boxes that hang together, and those that stand alone.
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
            part.sort_unstable();
            parts.push(part);
        }
    }
    (parts, alone)
}

/// What stands in a column: a box, or an arrow that passes.
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

/// Boxes that hang together.
struct Part<'o> {
    outline: &'o Outline,
    /// The boxes, by their places in the outline; their slots come first, in this order.
    boxes: &'o [usize],
    slots: Vec<Slot>,
    /// The arrows by their places in the outline, each with the slots on its way.
    arrows: Vec<(usize, Vec<usize>)>,
    /// The slots of each column, from the top.
    columns: Vec<Vec<usize>>,
}

impl<'o> Part<'o> {
    fn new(outline: &'o Outline, boxes: &'o [usize]) -> Part<'o> {
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
        let mut part = Part {
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

    /// Puts each column into the order, and at the height, of what its slots are linked with.
    fn order(&mut self) {
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
        for column in 0..self.columns.len() {
            self.stack(column, None);
        }
        for sweep in 0..SWEEPS {
            let count = self.columns.len();
            for step in 0..count {
                let column = if sweep % 2 == 0 { step } else { count - 1 - step };
                self.stack(column, Some(&links));
            }
        }
        let top = self.slots.iter().map(|slot| slot.y).min().unwrap_or(0);
        for slot in &mut self.slots {
            slot.y -= top;
        }
    }

    /// Stacks a column, near what its slots are linked with.
    fn stack(&mut self, column: usize, links: Option<&Vec<Vec<usize>>>) {
        // Room above, as a slot may have to rise.
        const BASE: usize = 1 << 32;
        let mut wanted: Vec<(usize, usize)> = Vec::new();
        for &at in &self.columns[column] {
            let near = links.map_or(&[][..], |links| &links[at]);
            let middle = match near.len() {
                0 if links.is_none() => BASE,
                0 => self.slots[at].middle(),
                count => near.iter().map(|&other| self.slots[other].middle()).sum::<usize>() / count,
            };
            wanted.push((middle, at));
        }
        if links.is_some() {
            wanted.sort_by_key(|&(middle, _)| middle);
        }
        let (mut next, mut lowered) = (0, 0);
        for &(middle, at) in &wanted {
            let slot = &mut self.slots[at];
            let y = middle.saturating_sub(slot.height / 2);
            slot.y = y.max(next);
            lowered += slot.y - y;
            next = slot.y + slot.height + GAP_Y;
        }
        // What had to go down brings the whole column up again, by as much on the average.
        let up = lowered / wanted.len().max(1);
        for &(_, at) in &wanted {
            self.slots[at].y = self.slots[at].y.saturating_sub(up);
        }
        self.columns[column] = wanted.into_iter().map(|(_, at)| at).collect();
    }

    /// Whether an arrow leads back, or stays in its column.
    fn is_back(&self, way: &[usize]) -> bool {
        let column = |at: Option<&usize>| at.map(|&at| self.slots[at].column);
        column(way.first()) >= column(way.last())
    }

    /// Writes its places into `layout`, from `top` down, and returns its size.
    fn place(&self, top: usize, layout: &mut Layout) -> (usize, usize) {
        let (lefts, width) = self.lefts();
        for (slot, &at) in self.slots.iter().zip(self.boxes) {
            layout.corners[at] = (lefts[slot.column].0, top + slot.y);
        }
        let (leaving, arriving) = (self.ports(true), self.ports(false));
        for (nth, (at, way)) in self.arrows.iter().enumerate() {
            let (start, end) = (leaving[nth], arriving[nth]);
            let is_back = self.is_back(way);
            let mut stretches = Vec::new();
            for (place, pair) in way.windows(2).enumerate() {
                let (one, other) = (self.slots[pair[0]], self.slots[pair[1]]);
                let (left, width) = lefts[one.column];
                let begin = if place == 0 {
                    (left + one.width, top + start.y)
                } else {
                    (left + width, top + one.middle())
                };
                let (left, _) = lefts[other.column];
                let finish = if is_back {
                    (left + other.width, top + end.y)
                } else if place + 2 == way.len() {
                    (left, top + end.y)
                } else {
                    (left, top + other.middle())
                };
                stretches.push((begin, finish));
            }
            layout.ways[*at] = Way {
                stretches,
                is_back,
                label_at_start: is_back || start.count < end.count,
            };
        }
        let height = self.slots.iter().map(|slot| slot.y + slot.height).max().unwrap_or(0);
        (width, height)
    }

    /// The left of each column with its width, and the width of all.
    fn lefts(&self) -> (Vec<(usize, usize)>, usize) {
        let count = self.columns.len();
        let (mut widths, mut gaps) = (vec![0; count], vec![GAP_X; count]);
        for slot in &self.slots {
            widths[slot.column] = widths[slot.column].max(slot.width);
        }
        for (at, way) in &self.arrows {
            let label = self.outline.arrows[*at].2;
            let (first, last) = (self.slots[way[0]].column, self.slots[way[way.len() - 1]].column);
            // An arrow that leads back bends around on the right of where it begins.
            let ends = if self.is_back(way) {
                [first, first]
            } else {
                [first, last - 1]
            };
            for column in ends {
                gaps[column] = gaps[column].max(GAP_X + label);
            }
        }
        let has_bend = self
            .arrows
            .iter()
            .any(|(_, way)| self.is_back(way) && self.slots[way[0]].column + 1 == count);
        let trailing = if has_bend { gaps[count - 1] } else { 0 };
        let mut left = 0;
        let mut lefts = Vec::with_capacity(count);
        let mut right = 0;
        for (width, gap) in widths.into_iter().zip(gaps) {
            lefts.push((left, width));
            right = left + width;
            left = right + gap;
        }
        (lefts, right + trailing)
    }

    /// Where each arrow leaves or meets its box: below one another, in the order of where they go to or come from.
    fn ports(&self, leaving: bool) -> Vec<Port> {
        let mut at_box: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (nth, (_, way)) in self.arrows.iter().enumerate() {
            let last = way.len() - 1;
            let (own, other) = if leaving {
                (way[0], way[1])
            } else {
                (way[last], way[last - 1])
            };
            at_box.entry(own).or_default().push((self.slots[other].middle(), nth));
        }
        let mut ports = vec![Port::default(); self.arrows.len()];
        for (own, mut arrows) in at_box {
            arrows.sort_unstable();
            let count = arrows.len();
            let first = self.slots[own].middle().saturating_sub(PORT * (count - 1) / 2);
            for (place, (_, nth)) in arrows.into_iter().enumerate() {
                ports[nth] = Port {
                    y: first + PORT * place,
                    count,
                };
            }
        }
        ports
    }
}

/// Where an arrow leaves or meets a box.
#[derive(Debug, Clone, Copy, Default)]
struct Port {
    y: usize,
    /// How many there are at this side of the box.
    count: usize,
}

/// The column of each box: one behind the farthest that sends to it, and what nobody sends to right before what it
/// sends to. In a circle somebody has to be first.
fn columns(count: usize, arrows: &[(usize, usize)]) -> Vec<usize> {
    let mut columns = vec![0_usize; count];
    let mut open = vec![0_usize; count];
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(from, to) in arrows.iter().filter(|(from, to)| from != to) {
        followers[from].push(to);
        open[to] += 1;
    }
    let is_first: Vec<bool> = open.iter().map(|&open| open == 0).collect();
    let mut ready: Vec<usize> = (0..count).filter(|&at| is_first[at]).rev().collect();
    let mut is_done = vec![false; count];
    let mut rest = 0..count;
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

    /// No two boxes overlap, and all lie within the drawing.
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
    fn arrows_go_around_what_they_pass() {
        let layout = laid_out(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]);
        let long = &layout.ways[3];
        assert_eq!(long.stretches.len(), 3);
        for &((_, y), _) in &long.stretches[1..] {
            for passed in [1, 2] {
                let top = layout.corners[passed].1;
                assert!(y < top || y > top + 40, "{y} passes the box at {top}");
            }
        }
    }

    #[test]
    fn neighbours_stand_beside_each_other() {
        // Written crosswise; drawn straight.
        let layout = laid_out(6, &[(0, 5), (1, 4), (2, 3), (0, 3)]);
        let row = |at: usize| layout.corners[at].1;
        assert_eq!(row(0) < row(2), row(5) < row(3));
    }

    #[test]
    fn who_sends_stands_before_who_receives() {
        let columns = columns(4, &[(0, 1), (1, 2), (3, 2)]);
        assert_eq!(columns, [0, 1, 2, 1]);
    }
}
