//! References: one to a queue's URL becomes one to its ARN, and whether one is the only one to what it names.

use super::Page;
use crate::diagnostic::Edit;
use crate::frontend::edits::tree::Step;
use crate::frontend::tree::{Entry, Node, Value};
use crate::source::{FileId, Sources, Span};

/// What bounds the values of a parameter: another may be refused.
const CONSTRAINTS: [&str; 6] = [
    "AllowedValues",
    "AllowedPattern",
    "MinValue",
    "MaxValue",
    "MinLength",
    "MaxLength",
];

/// Where a service says that a variable comes from itself.
const SELF: &str = "self:";
/// Behind a file, an address in it.
const OF_FILE: &str = "):";

impl Page<'_> {
    /// The reference at `span`, or what is written there, gives the ARN of its queue.
    pub(super) fn arn(&self, span: Span) -> Option<Vec<Edit>> {
        // Also in a branch of a condition.
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

    /// Whether the resource `id` of this document is a queue.
    fn is_queue(&self, id: &str) -> bool {
        let resources = [Some(self.root), self.root.get("resources")].into_iter().flatten();
        let mut found = resources.filter_map(|section| section.get("Resources")?.get(id)?.get("Type")?.as_str());
        found.any(|kind| kind == "AWS::SQS::Queue")
    }

    /// `!GetAtt Q.Arn` for `!Ref Q`, or the same in the long form.
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

    /// `${Q.Arn}` for `${Q}`, where nothing else is in the text.
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

    /// `Arn` in place of another attribute of a queue.
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
        Some(vec![Edit {
            span: Span::new(span.file, at..at + attribute.len()),
            text: "Arn".to_owned(),
        }])
    }

    /// Whether a plain reference is written at `span`, and no other to the parameter or mapping that it names.
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

    /// The parameter or mapping called `name`.
    fn declaration(&self, name: &str) -> Option<&Entry> {
        let sections = [Some(self.root), self.root.get("resources")].into_iter().flatten();
        let mut found =
            sections.flat_map(|all| ["Parameters", "Mappings"].map(|section| all.get(section)?.entry(name)));
        found.find_map(|entry| entry)
    }

    /// Whether `text` is a variable of the service's own file and nothing else, and no other reaches what it names.
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
            // Where a part of the path is a variable, it may be any.
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
            // What `self` is in another service is another thing.
            let marks: &[&str] = if is_other { &[OF_FILE] } else { &[SELF, OF_FILE] };
            for mark in marks {
                let behind = text
                    .match_indices(mark)
                    .filter_map(|(at, _)| text.get(at + mark.len()..));
                uses += behind.filter(|rest| reaches(rest)).count();
            }
        }
        Some(uses == 1)
    }
}

/// The value at the end of a path: a function where the path ends in it.
fn written_value(last: Step<'_>) -> &Node {
    match last {
        Step::Entry(function, entry) if entry.key.starts_with("Fn::") || &*entry.key == "Ref" => function,
        _ => last.node(),
    }
}

/// Whether the file is a service of its own, not a part of one.
fn is_service(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("service:"))
}

/// How many texts under `node` hold `word`, but for what lies in `skipped`. Keys name nothing.
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

/// How often `word` stands in `text`, not as a part of another word.
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
