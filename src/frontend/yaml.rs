//! Reads YAML into the tree: events from the parser, everything above them here, by the rules of YAML 1.1 as `PyYAML`
//! applies them, because CloudFormation's own tools stand on it. Short tags (`!Ref x`) become their long form
//! (`Ref: x`). It does not know what any intrinsic means.

mod frame;
mod origin;
mod scalar;

use super::tree::{Node, Parsed, SyntaxError, Value, keep_last};
use crate::source::FileId;
use frame::{Children, Frame, Meaning, Measured, Pending, UNKNOWN_ALIAS, fold, meaning, merge, pair};
use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle, Tag};
use origin::{Origin, REPAIR};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Levels of nodes in one document, aliases written out.
const MAX_DEPTH: usize = 256;
/// Nodes that may be copied for anchors and aliases in one file.
const MAX_COPIES: usize = 100_000;

/// Reads every document of a file. A document that is broken is left out; those after it are read.
pub(super) fn parse(text: &str, file: FileId) -> Parsed {
    #[cfg(test)]
    crate::source::parsed(text);
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut origin = Origin {
        file,
        base: text.len() - body.len(),
        inserted: Vec::new(),
    };
    let mut body = Cow::Borrowed(body);
    loop {
        let (parsed, short_line) = Builder::new(&body, &origin).run();
        let Some(at) = short_line.filter(|&at| origin.may_repair(at)) else {
            return parsed;
        };
        body.to_mut().insert_str(at, REPAIR);
        origin.inserted.push(at);
    }
}

struct Builder<'t> {
    text: &'t str,
    origin: &'t Origin,
    parsed: Parsed,
    frames: Vec<Frame>,
    anchors: FxHashMap<usize, Measured>,
    copies: usize,
    root: Option<Node>,
}

/// The document cannot be read further.
struct TooDeep(Range<usize>);

impl<'t> Builder<'t> {
    fn new(text: &'t str, origin: &'t Origin) -> Self {
        Builder {
            text,
            origin,
            parsed: Parsed::default(),
            frames: Vec::new(),
            anchors: FxHashMap::default(),
            copies: 0,
            root: None,
        }
    }

    /// Reads all documents; the second value is the first place where a quoted line is indented too little.
    fn run(mut self) -> (Parsed, Option<usize>) {
        let options = granit_parser::options! { max_buffered_comment_events: 1_000_000, emit_unresolved_aliases: true };
        let mut parser = Parser::new_from_str_with_options(self.text, options);
        loop {
            let failed = match parser.next_event() {
                None => break,
                Some(Ok((event, span))) => self.event(event, &span).err().map(|TooDeep(range)| {
                    let message = format!("values are nested more than {MAX_DEPTH} levels deep");
                    let limit = self.problem(&range, message);
                    self.parsed.limits.push(limit);
                }),
                Some(Err(error)) => {
                    if let Some(at) = self.short_line(&error) {
                        return (self.parsed, Some(at));
                    }
                    self.scan_error(&error);
                    Some(())
                }
            };
            if failed.is_some() {
                self.frames.clear();
                self.root = None;
                if !matches!(parser.proceed_next_document(), Ok(true)) {
                    break;
                }
            }
        }
        (self.parsed, None)
    }

    fn short_line(&self, error: &ScanError) -> Option<usize> {
        let at = error.marker().byte_offset()?;
        let repairable = matches!(error.kind(), ErrorKind::InvalidQuotedScalarIndent) && self.origin.may_repair(at);
        (repairable && self.text.is_char_boundary(at)).then_some(at)
    }

    fn scan_error(&mut self, error: &ScanError) {
        let at = error
            .marker()
            .byte_offset()
            .unwrap_or(self.text.len())
            .min(self.text.len());
        if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
            let limit = self.problem(&(at..at), "values are nested more than 255 levels deep".to_owned());
            self.parsed.limits.push(limit);
        } else {
            let failure = self.problem(&(at..at), error.kind().to_string());
            self.parsed.errors.push(failure);
        }
    }

    fn problem(&self, range: &Range<usize>, message: String) -> SyntaxError {
        SyntaxError {
            span: self.origin.span(range),
            message,
        }
    }

    fn error(&mut self, range: &Range<usize>, message: String) {
        let problem = self.problem(range, message);
        self.parsed.errors.push(problem);
    }

    fn event(&mut self, event: Event<'_>, span: &granit_parser::Span) -> Result<(), TooDeep> {
        let range = span.byte_range().unwrap_or(0..0);
        let tag_range = span.tag_span().and_then(|tag| tag.byte_range());
        match event {
            Event::DocumentStart(..) => {
                self.frames.clear();
                self.anchors.clear();
                self.root = None;
            }
            Event::DocumentEnd => self.parsed.documents.extend(self.root.take()),
            Event::Scalar(text, style, anchor, tag) => {
                let meaning = meaning(tag.as_deref());
                self.scalar(&text, style, anchor, &meaning, range, tag_range)?;
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(
                    Children::Sequence(Vec::new()),
                    style,
                    anchor,
                    tag.as_deref(),
                    range,
                    tag_range,
                )?;
            }
            Event::MappingStart(style, anchor, tag) => {
                let children = Children::Mapping {
                    entries: Vec::new(),
                    merged: Vec::new(),
                    pending: Pending::Key,
                };
                self.open(children, style, anchor, tag.as_deref(), range, tag_range)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(&range)?,
            Event::Alias(id) => self.alias(id, &range)?,
            Event::Comment(..) => self.parsed.comments.push(self.origin.span(&range)),
            Event::UnresolvedAlias(name) => {
                self.error(&range, format!("there is no anchor `&{name}` before this alias"));
                self.unknown(&range)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn open(
        &mut self,
        children: Children,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        range: Range<usize>,
        tag_range: Option<Range<usize>>,
    ) -> Result<(), TooDeep> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(TooDeep(range));
        }
        self.frames.push(Frame {
            children,
            anchor,
            meaning: meaning(tag),
            tag: tag_range,
            // A block collection's own span is empty and may lie elsewhere; a flow collection's is its bracket.
            extent: (style == StructureStyle::Flow).then_some(range),
            size: 1,
            height: 1,
        });
        Ok(())
    }

    fn close(&mut self, end: &Range<usize>) -> Result<(), TooDeep> {
        let Some(mut frame) = self.frames.pop() else {
            return Ok(());
        };
        if !end.is_empty() {
            frame.cover(end);
        }
        let range = frame.extent.clone().unwrap_or_else(|| end.clone());
        let value = match frame.children {
            Children::Sequence(items) => Value::Sequence(items),
            Children::Mapping { entries, merged, .. } => {
                let mut entries = keep_last(entries, &mut self.parsed.duplicates);
                merge(&mut entries, merged);
                Value::Mapping(entries)
            }
        };
        let node = Measured {
            node: Node {
                span: self.origin.span(&range),
                value,
            },
            text: None,
            size: frame.size,
            height: frame.height,
        };
        self.finish(node, range, frame.anchor, &frame.meaning, frame.tag)
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        meaning: &Meaning,
        range: Range<usize>,
        tag: Option<Range<usize>>,
    ) -> Result<(), TooDeep> {
        let plain = style == ScalarStyle::Plain;
        // The parser says `~` where nothing is written.
        let nothing = plain && range.is_empty();
        let text = if nothing { "" } else { text };
        let range = if nothing {
            self.nothing_at(range.start, tag.as_ref())
        } else {
            self.trim(range, style)
        };
        if self.awaits_key() {
            let span = self.origin.span(&range);
            if anchor != 0 {
                let value = Value::String(Arc::from(text));
                let node = Node { span, value };
                self.anchors.insert(anchor, Measured::leaf(node, Some(Arc::from(text))));
            }
            let key = if plain && text == "<<" {
                Pending::Merge
            } else {
                Pending::Value(Arc::from(text), span)
            };
            let whole = tag.map_or(range.clone(), |tag| tag.start..range.end);
            self.take_key(key, &whole);
            return Ok(());
        }
        let value = match meaning {
            Meaning::Function(_) if nothing => Value::Null,
            Meaning::Function(_) | Meaning::Plain => Value::String(Arc::from(text)),
            Meaning::Core(kind) => scalar::convert(text, kind),
            Meaning::None if plain => scalar::resolve(text),
            Meaning::None => Value::String(Arc::from(text)),
        };
        let node = Node {
            span: self.origin.span(&range),
            value,
        };
        self.finish(Measured::leaf(node, Some(Arc::from(text))), range, anchor, meaning, tag)
    }

    /// Whether the next node is a key.
    fn awaits_key(&self) -> bool {
        self.frames.last().is_some_and(|frame| {
            matches!(
                frame.children,
                Children::Mapping {
                    pending: Pending::Key,
                    ..
                }
            )
        })
    }

    fn take_key(&mut self, key: Pending, range: &Range<usize>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.cover(range);
            if let Children::Mapping { pending, .. } = &mut frame.children {
                *pending = key;
            }
        }
    }

    /// A value that is not written lies behind its key, or where the dash or the tag ends.
    fn nothing_at(&self, at: usize, tag: Option<&Range<usize>>) -> Range<usize> {
        let at = tag.map_or(at, |tag| tag.end).min(self.text.len());
        let end = self.text.get(..at).map_or(at, |before| before.trim_end().len());
        end..end
    }

    /// The span of a block scalar reaches into the next line.
    fn trim(&self, range: Range<usize>, style: ScalarStyle) -> Range<usize> {
        if matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) {
            return range;
        }
        let written = self.text.get(range.clone()).unwrap_or("").trim_end().len();
        range.start..range.start + written
    }

    fn alias(&mut self, id: usize, range: &Range<usize>) -> Result<(), TooDeep> {
        let Some(target) = self.anchors.get(&id) else {
            // What was too large to keep is said already.
            if self.copies <= MAX_COPIES {
                self.error(range, "this alias is inside the value that it refers to".to_owned());
            }
            return self.unknown(range);
        };
        if let Some(text) = &target.text
            && self.awaits_key()
        {
            let key = Pending::Value(text.clone(), self.origin.span(range));
            self.take_key(key, range);
            return Ok(());
        }
        if self.frames.len() + target.height > MAX_DEPTH {
            return Err(TooDeep(range.clone()));
        }
        self.copies = self.copies.saturating_add(target.size);
        if self.copies > MAX_COPIES {
            self.copies_exceeded(range);
            return self.unknown(range);
        }
        let mut copy = target.clone();
        copy.node.span = self.origin.span(range);
        self.place(copy, range)
    }

    fn copies_exceeded(&mut self, range: &Range<usize>) {
        let message = format!("its aliases expand to more than {MAX_COPIES} nodes");
        let limit = self.problem(range, message);
        if !self.parsed.limits.iter().any(|known| known.message == limit.message) {
            self.parsed.limits.push(limit);
        }
    }

    /// A value that nobody can know.
    fn unknown(&mut self, range: &Range<usize>) -> Result<(), TooDeep> {
        let span = self.origin.span(range);
        let name = self.text.get(range.clone()).unwrap_or("");
        let text = Node {
            span,
            value: Value::String(Arc::from(name)),
        };
        let node = fold(Arc::from(UNKNOWN_ALIAS), span, span, text);
        self.place(Measured::leaf(node, None), range)
    }

    /// Applies the tag, remembers the anchor, and puts the node in its place.
    fn finish(
        &mut self,
        mut node: Measured,
        mut range: Range<usize>,
        anchor: usize,
        meaning: &Meaning,
        tag: Option<Range<usize>>,
    ) -> Result<(), TooDeep> {
        if let Some(tag) = tag {
            let tag_span = self.origin.span(&tag);
            range = tag.start.min(range.start)..range.end.max(tag.end);
            let whole = self.origin.span(&range);
            if let Meaning::Function(name) = meaning {
                node.node = fold(name.clone(), tag_span, whole, node.node);
                node.size += 1;
                node.height += 1;
            } else {
                node.node.span = whole;
            }
        }
        if self.frames.len() + node.height > MAX_DEPTH {
            return Err(TooDeep(range));
        }
        if anchor != 0 {
            // Anchors inside anchors are copied once for each level.
            self.copies = self.copies.saturating_add(node.size);
            if self.copies > MAX_COPIES {
                self.copies_exceeded(&range);
            } else {
                self.anchors.insert(anchor, node.clone());
            }
        }
        self.place(node, &range)
    }

    fn place(&mut self, node: Measured, range: &Range<usize>) -> Result<(), TooDeep> {
        if self.frames.len() + node.height > MAX_DEPTH {
            return Err(TooDeep(range.clone()));
        }
        let mut refused = None;
        match self.frames.last_mut() {
            None => self.root = Some(node.node),
            Some(frame) => {
                frame.cover(range);
                frame.size += node.size;
                frame.height = frame.height.max(node.height + 1);
                match &mut frame.children {
                    Children::Sequence(items) => items.push(node.node),
                    Children::Mapping {
                        entries,
                        merged,
                        pending,
                    } => {
                        refused = pair(entries, merged, pending, node.node);
                    }
                }
            }
        }
        if let Some(message) = refused {
            self.error(range, message.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
