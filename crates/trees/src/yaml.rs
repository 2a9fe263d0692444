//! Parses YAML into the syntax tree. The parser crate supplies events; everything above them is done here, by the rules
//! of YAML 1.1 as `PyYAML` applies them, because CloudFormation's own tools are built on it. Short tags (`!Ref x`)
//! become their long form (`Ref: x`). It does not know the meaning of any intrinsic.

mod frame;
mod origin;
mod scalar;

use super::{Node, Parsed, SyntaxError, Value, keep_last};
use frame::{Children, Frame, Meaning, Measured, Pending, UNKNOWN_ALIAS, fold, meaning, merge, pair};
use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle, Tag};
use origin::{Origin, REPAIR, STANDS_FOR_DASH};
use rustc_hash::FxHashMap;
use source::FileId;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Maximum depth of nodes in one document, after the expansion of aliases.
const MAX_DEPTH: usize = 256;
/// Maximum number of nodes copied for anchors and aliases in one file.
const MAX_COPIES: usize = 100_000;

/// Parses every document of a file. A broken document is left out; those after it are parsed.
pub fn parse(text: &str, file: FileId) -> Parsed {
    source::parsed(text);
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut origin = Origin {
        file,
        base: text.len() - body.len(),
        inserted: Vec::new(),
        dashes: Vec::new(),
    };
    let mut body = Cow::Borrowed(body);
    loop {
        let (parsed, repair) = Builder::new(&body, &origin).run();
        match repair {
            None => return parsed,
            Some(Repair::Line(at)) => {
                body.to_mut().insert_str(at, REPAIR);
                origin.inserted.push(at);
            }
            Some(Repair::Dash(at)) => {
                body.to_mut().replace_range(at..=at, STANDS_FOR_DASH);
                origin.dashes.push(at);
            }
        }
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

/// Deviation that `PyYAML` accepts and the parser rejects, with its offset.
enum Repair {
    /// Line of a quoted scalar with too little indentation.
    Line(usize),
    /// Lone dash as a plain scalar in a flow collection: `[-, x]`.
    Dash(usize),
}

/// The rest of the document is not parsed, because it is nested too deeply at this range.
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

    /// Parses all documents; the second value is the first repair that is necessary.
    fn run(mut self) -> (Parsed, Option<Repair>) {
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
                    if let Some(repair) = self.repair(&error) {
                        return (self.parsed, Some(repair));
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

    fn repair(&self, error: &ScanError) -> Option<Repair> {
        let at = error.marker().byte_offset()?;
        match error.kind() {
            ErrorKind::InvalidQuotedScalarIndent => {
                let is_repairable = self.origin.may_repair(at) && self.text.is_char_boundary(at);
                is_repairable.then_some(Repair::Line(at))
            }
            ErrorKind::PlainScalarStartsWithDashFlowIndicator => {
                let is_dash = self.text.as_bytes().get(at) == Some(&b'-');
                (is_dash && self.origin.may_replace(self.text.len())).then_some(Repair::Dash(at))
            }
            _ => None,
        }
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
            let message = match self.placeholder(at) {
                Some(token) => format!("`{token}` is not YAML; replace the placeholders first"),
                None => match error.kind() {
                    ErrorKind::TabInBlockIndentation | ErrorKind::TabInIndentation | ErrorKind::TabNotAllowed => {
                        "YAML is indented with spaces, and this line begins with a tab".to_owned()
                    }
                    ErrorKind::UnclosedQuotedScalar => "the string that begins here is not closed".to_owned(),
                    ErrorKind::SimpleKeyExpected => "`:` is missing after this key".to_owned(),
                    other => other.to_string(),
                },
            };
            let failure = self.problem(&(at..at), message);
            self.parsed.errors.push(failure);
        }
    }

    /// Returns the placeholder of another tool at `at`: `%name%`, `@name@`.
    fn placeholder(&self, at: usize) -> Option<&'t str> {
        let rest = self.text.get(at..)?;
        let mark = rest.chars().next().filter(|mark| matches!(mark, '%' | '@'))?;
        let end = 1 + rest[1..].find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.'))?;
        (end > 1 && rest[end..].starts_with(mark)).then(|| &rest[..=end])
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
            // A block collection's own span is empty and may be elsewhere; a flow collection's is its bracket.
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
        let span = self.origin.span(&range);
        let written = self.text.get(range.clone()).unwrap_or_default();
        let node = if written.starts_with("{{") {
            // `{{ name }}` of a template engine, an error that is reported: what it becomes is unknown.
            fold(
                Arc::from(UNKNOWN_ALIAS),
                span,
                span,
                Node::new(span, Value::String(written.into())),
            )
        } else {
            Node::new(span, value)
        };
        let node = Measured {
            node,
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
        // The parser reports `~` for an empty scalar.
        let nothing = plain && range.is_empty();
        let text = match text {
            _ if nothing => "",
            STANDS_FOR_DASH if plain && self.origin.is_dash(range.start) => "-",
            text => text,
        };
        let range = if nothing {
            self.empty_range(range.start, tag.as_ref())
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
            self.set_pending_key(key, &whole);
            return Ok(());
        }
        let value = match meaning {
            Meaning::Function(_) if nothing => Value::Null,
            Meaning::Function(_) | Meaning::Plain => Value::String(Arc::from(text)),
            Meaning::Core(kind) => scalar::convert(text, kind),
            Meaning::None if plain => scalar::resolve(text),
            Meaning::None => Value::String(Arc::from(text)),
        };
        let node = Node::new(self.origin.span(&range), value);
        self.finish(Measured::leaf(node, Some(Arc::from(text))), range, anchor, meaning, tag)
    }

    /// Returns `true` if the next node is a key.
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

    fn set_pending_key(&mut self, key: Pending, range: &Range<usize>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.cover(range);
            if let Children::Mapping { pending, .. } = &mut frame.children {
                *pending = key;
            }
        }
    }

    /// Returns the empty range of an unwritten value: after its key, or at the end of the dash or the tag.
    fn empty_range(&self, at: usize, tag: Option<&Range<usize>>) -> Range<usize> {
        let at = tag.map_or(at, |tag| tag.end).min(self.text.len());
        let end = self.text.get(..at).map_or(at, |before| before.trim_end().len());
        end..end
    }

    /// Cuts the white space from the end of `range`: the span of a block scalar extends into the next line.
    fn trim(&self, range: Range<usize>, style: ScalarStyle) -> Range<usize> {
        if matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) {
            return range;
        }
        let written = self.text.get(range.clone()).unwrap_or("").trim_end().len();
        range.start..range.start + written
    }

    fn alias(&mut self, id: usize, range: &Range<usize>) -> Result<(), TooDeep> {
        let Some(target) = self.anchors.get(&id) else {
            // A value that was too large to keep is already reported.
            if self.copies <= MAX_COPIES {
                self.error(range, "this alias is inside the value that it refers to".to_owned());
            }
            return self.unknown(range);
        };
        if let Some(text) = &target.text
            && self.awaits_key()
        {
            let key = Pending::Value(text.clone(), self.origin.span(range));
            self.set_pending_key(key, range);
            return Ok(());
        }
        if self.frames.len() + target.height > MAX_DEPTH {
            return Err(TooDeep(range.clone()));
        }
        self.copies = self.copies.saturating_add(target.size);
        if self.copies > MAX_COPIES {
            self.report_excess_copies(range);
            return self.unknown(range);
        }
        let mut copy = target.clone();
        copy.node.span = self.origin.span(range);
        self.attach(copy, range)
    }

    fn report_excess_copies(&mut self, range: &Range<usize>) {
        let message = format!("its aliases expand to more than {MAX_COPIES} nodes");
        let limit = self.problem(range, message);
        if !self.parsed.limits.iter().any(|known| known.message == limit.message) {
            self.parsed.limits.push(limit);
        }
    }

    /// Adds an unresolved value.
    fn unknown(&mut self, range: &Range<usize>) -> Result<(), TooDeep> {
        let span = self.origin.span(range);
        let name = self.text.get(range.clone()).unwrap_or("");
        let text = Node::new(span, Value::String(Arc::from(name)));
        let node = fold(Arc::from(UNKNOWN_ALIAS), span, span, text);
        self.attach(Measured::leaf(node, None), range)
    }

    /// Applies the tag, remembers the anchor, and adds the node to its parent.
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
            // Nested anchors are copied once per level.
            self.copies = self.copies.saturating_add(node.size);
            if self.copies > MAX_COPIES {
                self.report_excess_copies(&range);
            } else {
                self.anchors.insert(anchor, node.clone());
            }
        }
        self.attach(node, &range)
    }

    fn attach(&mut self, node: Measured, range: &Range<usize>) -> Result<(), TooDeep> {
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
