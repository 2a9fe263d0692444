//! Edits references: replaces a queue's URL by its ARN, and checks whether a reference is the only one to its target.

use super::Page;
use crate::diagnostic::Edit;
use crate::frontend::edits::tree::Step;
use source::{FileId, Sources, Span};
use trees::{Entry, Node, Value};

/// Constraints on the values of a parameter, which might reject a new value.
const CONSTRAINTS: [&str; 6] = [
    "AllowedValues",
    "AllowedPattern",
    "MinValue",
    "MaxValue",
    "MinLength",
    "MaxLength",
];

/// Prefix of variables that refer to the service itself.
const SELF: &str = "self:";
/// Separator between a file and an address in it.
const OF_FILE: &str = "):";

impl Page<'_> {
    /// Replaces the reference at `span` by the ARN of its queue.
    pub(super) fn arn(&self, span: Span) -> Option<Vec<Edit>> {
        // References in a branch of a condition may be replaced, too.
        let path = self.editor.path(self.root, span)?;
        let in_loop = |step: &Step<'_>| step.key().is_some_and(|key| key.starts_with("Fn::") && key != "Fn::If");
        if path.split_last()?.1.iter().any(in_loop) {
            return None;
        }
        let node = written_value(*path.last()?);
        let [function] = node.entries()? else {
            return None;
        };
        match &*function.key {
            "Ref" if self.is_queue(function.value.as_str()?) => self.attribute_for_reference(node, function),
            "Fn::GetAtt" => self.another_attribute(&function.value),
            "Fn::Sub" => self.attribute_in_text(&function.value),
            _ => None,
        }
    }

    /// Replaces the text at `span` by a reference to the resource `id`.
    pub(super) fn reference(&self, span: Span, id: &str) -> Option<Vec<Edit>> {
        let node = written_value(*self.path(span)?.last()?);
        node.as_str()?;
        let text = if self.editor.is_json {
            format!("{{\"Ref\": \"{id}\"}}")
        } else {
            format!("!Ref {id}")
        };
        Some(vec![Edit::new(node.span, text)])
    }

    /// Returns `true` if the resource `id` of this document is a queue.
    fn is_queue(&self, id: &str) -> bool {
        let resources = [Some(self.root), self.root.get("resources")].into_iter().flatten();
        let mut found = resources.filter_map(|section| section.get("Resources")?.get(id)?.get("Type")?.as_str());
        found.any(|kind| kind == "AWS::SQS::Queue")
    }

    /// Replaces `!Ref Q` by `!GetAtt Q.Arn`, in the short or the long form.
    fn attribute_for_reference(&self, node: &Node, reference: &Entry) -> Option<Vec<Edit>> {
        let id = reference.value.as_str()?;
        let replace = |span: Span, text: String| Edit { span, text };
        let key = self.editor.text.get(reference.key_span.range())?;
        if key.starts_with('!') {
            return Some(vec![replace(node.span, format!("!GetAtt {id}.Arn"))]);
        }
        let quote = |text: &str, like: Span| {
            let quote = self.editor.text.get(like.range()).and_then(|text| text.chars().next());
            let quote = quote.filter(|c| matches!(c, '"' | '\''));
            let quote = quote.map(String::from).unwrap_or_default();
            format!("{quote}{text}{quote}")
        };
        let value = reference.value.span;
        let comma = if self.editor.is_json && self.editor.style.colon == ":" {
            ","
        } else {
            ", "
        };
        let list = format!("[{}{comma}{}]", quote(id, value), quote("Arn", value));
        Some(vec![
            replace(reference.key_span, quote("Fn::GetAtt", reference.key_span)),
            replace(value, list),
        ])
    }

    /// Replaces `${Q}` by `${Q.Arn}`, if it is the whole text.
    fn attribute_in_text(&self, argument: &Node) -> Option<Vec<Edit>> {
        let id = argument.as_str()?.strip_prefix("${")?.strip_suffix('}')?;
        let written = self
            .editor
            .text
            .get(argument.span.range())
            .filter(|_| self.is_queue(id))?;
        let at = argument.span.start as usize + written.find(&format!("${{{id}}}"))? + 2 + id.len();
        Some(vec![Edit::insertion(argument.span, at, ".Arn".to_owned())])
    }

    /// Replaces another attribute of a queue by `Arn`.
    fn another_attribute(&self, argument: &Node) -> Option<Vec<Edit>> {
        let (id, attribute, span) = match &argument.value {
            Value::Sequence(items) => {
                let [id, attribute] = items.as_slice() else {
                    return None;
                };
                (id.as_str()?, attribute.as_str()?, attribute.span)
            }
            Value::String(text) => {
                let (id, attribute) = text.split_once('.')?;
                (id, attribute, argument.span)
            }
            _ => return None,
        };
        if attribute == "Arn" || !self.is_queue(id) {
            return None;
        }
        let written = self.editor.text.get(span.range())?;
        let at = span.start as usize + written.rfind(attribute)?;
        Some(vec![Edit::new(Span::new(span.file, at..at + attribute.len()), "Arn")])
    }

    /// Returns whether the plain reference at `span` is the only one to its parameter or mapping.
    pub(super) fn is_only_use(&self, span: Span, sources: &Sources) -> Option<bool> {
        let path = self.editor.path(self.root, span)?;
        let is_made = |step: &Step<'_>| step.key().is_some_and(|key| key.starts_with("Fn::"));
        if path.split_last()?.1.iter().any(is_made) {
            return None;
        }
        let last = *path.last()?;
        let is_key = matches!(last, Step::Entry(_, entry) if entry.key_span == span);
        if is_key || path.first()?.key() == Some("Globals") {
            return None;
        }
        let named = match &written_value(last).value {
            Value::String(text) => return self.is_only_variable(text, span.file, sources),
            Value::Mapping(entries) => match entries.as_slice() {
                [function] if &*function.key == "Ref" => function.value.as_str()?,
                [function] if &*function.key == "Fn::FindInMap" => {
                    let keys: Option<Vec<&str>> = function.value.items()?.iter().map(Node::as_str).collect();
                    keys.filter(|keys| keys.len() == 3)?.first().copied()?
                }
                _ => return None,
            },
            _ => return None,
        };
        let declared = self.declaration(named)?;
        let is_free = !CONSTRAINTS.iter().any(|key| declared.value.entry(key).is_some());
        let metadata = self.root.get("Metadata").map(|metadata| metadata.span);
        let skipped = [Some(declared.span()), metadata];
        let skipped: Vec<Span> = skipped.into_iter().flatten().collect();
        Some(is_free && mentions(self.root, named, &skipped) == 1)
    }

    /// Returns the parameter or mapping called `name`.
    fn declaration(&self, name: &str) -> Option<&Entry> {
        let sections = [Some(self.root), self.root.get("resources")].into_iter().flatten();
        let mut found =
            sections.flat_map(|all| ["Parameters", "Mappings"].map(|section| all.get(section)?.entry(name)));
        found.find_map(|entry| entry)
    }

    /// Returns whether `text` is only a variable of the service's own file, and no other variable reaches its target.
    fn is_only_variable(&self, text: &str, own: FileId, sources: &Sources) -> Option<bool> {
        let address = text.strip_prefix("${")?.strip_suffix('}')?.trim().strip_prefix(SELF)?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if address.is_empty() || !address.chars().all(is_plain) {
            return None;
        }
        let steps: Vec<&str> = address.split('.').collect();
        let mut node = self.root;
        for step in &steps {
            node = node.get(step)?;
        }
        let reaches = |other: &str| {
            let length = other.find(|c| !is_plain(c)).unwrap_or(other.len());
            let (path, rest) = other.split_at_checked(length).unwrap_or((other, ""));
            // A path with a variable in it may lead anywhere below the part before that.
            let path = if rest.starts_with('$') {
                path.rsplit_once('.').map_or("", |(path, _)| path)
            } else {
                path
            };
            let other = path.split('.').filter(|step| !step.is_empty());
            other.zip(&steps).all(|(a, b)| a == *b)
        };
        let mut uses = 0;
        for (id, file) in sources.all() {
            let text = file.text();
            let is_other = id != own && is_service(text);
            // In another service `self` refers to that service.
            let marks: &[&str] = if is_other { &[OF_FILE] } else { &[SELF, OF_FILE] };
            for mark in marks {
                let following = text
                    .match_indices(mark)
                    .filter_map(|(at, _)| text.get(at + mark.len()..));
                uses += following.filter(|rest| reaches(rest)).count();
            }
        }
        Some(uses == 1)
    }
}

/// Returns the value at the end of a path; if the path ends inside a function, returns the function.
fn written_value(last: Step<'_>) -> &Node {
    match last {
        Step::Entry(function, entry) if entry.key.starts_with("Fn::") || &*entry.key == "Ref" => function,
        _ => last.node(),
    }
}

/// Returns `true` if the file is a whole service and not a part of one.
fn is_service(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("service:"))
}

/// Counts the occurrences of `word` in texts under `node`, outside `skipped`. Keys are not references.
fn mentions(node: &Node, word: &str, skipped: &[Span]) -> usize {
    let mut open = vec![node];
    let mut count = 0;
    while let Some(node) = open.pop() {
        match &node.value {
            Value::String(text) if !skipped.iter().any(|span| span.contains(node.span)) => count += words(text, word),
            Value::Sequence(items) => open.extend(items),
            Value::Mapping(entries) => open.extend(entries.iter().map(|entry| &entry.value)),
            _ => {}
        }
    }
    count
}

/// Counts the occurrences of `word` in `text` as a whole word.
fn words(text: &str, word: &str) -> usize {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let all = text.match_indices(word).filter(|(at, _)| {
        let before = text.get(..*at).is_some_and(|before| before.ends_with(is_part));
        let after = text
            .get(at + word.len()..)
            .is_some_and(|after| after.starts_with(is_part));
        !before && !after
    });
    all.count()
}
