//! A file to edit: its blocks and arguments with their lines, its line breaks and its indentation.

use crate::frontend::comments::Syntax;
use source::{FileId, SourceFile, Sources, Span};
use std::ops::Range;
use std::sync::Arc;
use terraform::module::is_code;
use terraform::syntax::{Attribute, Block, Body, Code, Trace};

/// A file without unreadable parts.
pub(super) struct Document {
    pub(super) id: FileId,
    file: Arc<SourceFile>,
    code: Arc<Code>,
    trace: Arc<Trace>,
}

/// A top-level block with the location of its braces.
pub(super) struct FoundBlock<'d> {
    pub(super) block: &'d Block,
    /// Indentation of its first line.
    pub(super) indent: &'d str,
    /// Range of the content between its braces.
    pub(super) inside: Range<usize>,
}

/// An argument that shares its lines with nothing else.
#[derive(Debug)]
pub(super) struct Argument<'d> {
    pub(super) attribute: &'d Attribute,
    /// Range of its lines, including their breaks.
    pub(super) lines: Range<usize>,
    /// Indentation of its name.
    pub(super) indent: &'d str,
    /// Number of characters between the start of its name and the `=`; `None` if brackets stay unclosed at the end of
    /// the line, because `terraform fmt` does not align such arguments. It treats a heredoc as one line.
    pub(super) sign: Option<usize>,
}

impl Argument<'_> {
    /// Returns the width of its name.
    pub(super) fn width(&self) -> usize {
        self.attribute.name.chars().count()
    }
}

impl Document {
    /// Parses the file again; `None` if a part of it cannot be read, or if it is not in native syntax.
    pub(super) fn read(id: FileId, sources: &Sources) -> Option<Document> {
        let file = sources.file(id);
        if Syntax::of(file.name()) != Some(Syntax::Hcl) {
            return None;
        }
        let (code, trace) = (Code::of(id, &file), Trace::of(&file));
        code.is_whole().then_some(Document { id, file, code, trace })
    }

    pub(super) fn text(&self) -> &str {
        self.file.text()
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &str {
        self.text().get(range).unwrap_or("")
    }

    /// Returns the line break that the file uses.
    pub(super) fn line_break(&self) -> &'static str {
        let first = self.file.line_range(0);
        if self.slice(first).ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    /// Returns one step of indentation, taken from the file's first indented argument.
    pub(super) fn step(&self) -> &str {
        let first = self
            .code
            .body
            .blocks
            .iter()
            .find_map(|block| block.body.attributes.first());
        let indent = first.and_then(|attribute| self.indent(attribute.span.start as usize));
        indent.filter(|indent| !indent.is_empty()).unwrap_or("  ")
    }

    /// Returns the indentation in front of `at`; `None` if anything else precedes it on its line.
    pub(super) fn indent(&self, at: usize) -> Option<&str> {
        let start = self.file.line_range(self.file.line_index(at)).start;
        let before = self.text().get(start..at)?;
        before.trim_matches([' ', '\t']).is_empty().then_some(before)
    }

    /// Returns the line that contains `at`, including its break.
    pub(super) fn line(&self, at: usize) -> Range<usize> {
        self.file.line_range(self.file.line_index(at))
    }

    /// Returns the resource with this header.
    pub(super) fn resource(&self, header: Span) -> Option<FoundBlock<'_>> {
        self.block(header).filter(|found| &*found.block.kind == "resource")
    }

    /// Returns the resource that contains `span`, which may be the header of a block in it.
    pub(super) fn around(&self, span: Span) -> Option<FoundBlock<'_>> {
        let mut blocks = self.code.body.blocks.iter();
        self.found(blocks.find(|block| block.span.contains(span) && &*block.kind == "resource")?)
    }

    /// Returns the top-level block with this header.
    pub(super) fn block(&self, header: Span) -> Option<FoundBlock<'_>> {
        let mut blocks = self.code.body.blocks.iter();
        self.found(blocks.find(|block| block.header == header)?)
    }

    fn found<'d>(&'d self, block: &'d Block) -> Option<FoundBlock<'d>> {
        let after = self.text().get(block.header.end as usize..)?;
        let open = after.trim_start_matches([' ', '\t']);
        let start = self.text().len() - open.strip_prefix('{')?.len();
        let within = self.text().get(start..block.span.end as usize)?;
        let inside = within.trim_end().strip_suffix('}')?;
        Some(FoundBlock {
            block,
            indent: self.indent(block.header.start as usize)?,
            inside: start..start + inside.len(),
        })
    }

    /// Returns the start of the line after `block`, if nothing but a comment follows the block on its last line.
    pub(super) fn after(&self, block: &Block) -> Option<usize> {
        let end = block.span.start as usize + self.slice(block.span.range()).trim_end().len();
        let line = self.line(end);
        let following = self.element(block.span.start as usize)?;
        let rest = self.text().get(following.end.max(end)..line.end)?;
        rest.trim().is_empty().then_some(line.end)
    }

    /// Returns the arguments of `body` in file order; `None` if one shares a line with something else.
    pub(super) fn arguments<'d>(&'d self, body: &'d Body) -> Option<Vec<Argument<'d>>> {
        let arguments = body.attributes.iter().map(|attribute| self.argument(attribute));
        let mut arguments: Vec<Argument<'d>> = arguments.collect::<Option<_>>()?;
        arguments.sort_by_key(|argument| argument.lines.start);
        Some(arguments)
    }

    fn argument<'d>(&'d self, attribute: &'d Attribute) -> Option<Argument<'d>> {
        let start = attribute.span.start as usize;
        let element = self.element(start)?;
        let indent = self.indent(start)?;
        if !self.text().get(element.end..)?.starts_with('\n') {
            return None;
        }
        let written = self.text().get(element.clone())?;
        let sign = written.find('=')?;
        let is_line = !written.contains('\n');
        let is_heredoc = written.get(sign + 1..)?.trim_start().starts_with("<<");
        Some(Argument {
            attribute,
            lines: start - indent.len()..element.end + 1,
            indent,
            sign: (is_line || is_heredoc).then(|| written.chars().take_while(|c| *c != '=').count()),
        })
    }

    /// Returns the source text of an argument's value, without a comment at its end.
    pub(super) fn value(&self, attribute: &Attribute) -> Option<&str> {
        let element = self.element(attribute.span.start as usize)?;
        let start = element.start + self.slice(element.clone()).find('=')? + 1;
        let end = self
            .trailing_comment(&element)
            .map_or(element.end, |comment| comment.start);
        self.text().get(start..end).map(str::trim)
    }

    /// Returns the comment at the end of an element.
    pub(super) fn trailing_comment(&self, element: &Range<usize>) -> Option<Range<usize>> {
        let last = self.comments(element.clone()).last()?;
        self.text()
            .get(last.end..element.end)?
            .trim()
            .is_empty()
            .then_some(last)
    }

    /// Returns the element that begins at `start`, up to the end of its last line.
    pub(super) fn element(&self, start: usize) -> Option<Range<usize>> {
        let elements = &self.trace.elements;
        let at = elements.binary_search_by_key(&start, |element| element.start).ok()?;
        elements.get(at).cloned()
    }

    /// Returns the ranges of the comments that begin in `range`.
    pub(super) fn comments(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let comments = self.trace.comments.iter().map(|comment| comment.range.clone());
        comments.filter(move |comment| range.start <= comment.start && comment.start < range.end)
    }
}

/// Returns the files of the module that contains the file `id`, including that file.
pub(super) fn module_of(id: FileId, sources: &Sources) -> Vec<(FileId, Arc<SourceFile>)> {
    let mut files = sources.in_directory_of(id);
    files.retain(|(_, file)| is_code(file.base_name()));
    files
}

/// Returns `true` if an override file of the module with the file `of` may change the resource.
pub(super) fn is_overridden(of: FileId, block: &Block, sources: &Sources) -> bool {
    let labels: Vec<String> = block.labels.iter().map(|label| format!("\"{label}\"")).collect();
    let files = module_of(of, sources);
    let mut others = files.iter().filter(|(id, _)| *id != of);
    others.any(|(_, file)| {
        let name = file.path().file_name().unwrap_or_default().to_string_lossy();
        let stem = name.split('.').next().unwrap_or("");
        let overrides = stem == "override" || stem.ends_with("_override");
        overrides && labels.iter().all(|label| file.text().contains(label))
    })
}
