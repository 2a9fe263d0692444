//! Writes a stack in a dialect.

use super::names::path;
use super::{Dialect, Stack};
use std::fmt::Write as _;

/// Attributes of a resource in a dialect, as a tree of blocks or keys.
#[derive(Debug, Default)]
struct Tree {
    key: String,
    form: Form,
    /// Written value of a leaf.
    value: Option<String>,
    /// `true` if a finding is expected here.
    is_marked: bool,
    children: Vec<Tree>,
}

/// Form of a tree with children.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Form {
    #[default]
    Block,
    /// An object in a text of JSON.
    Json,
    /// A list with one element.
    List,
}

impl Tree {
    /// Expects a finding at the outermost block or key of `path`.
    fn mark(&mut self, path: &str) {
        let key = path.split(['.', '!', '[']).next();
        for child in self.children.iter_mut().filter(|child| Some(&*child.key) == key) {
            child.is_marked = true;
        }
    }

    fn set(&mut self, path: &str, value: String, is_marked: bool) {
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        let (key, form) = match (first.strip_suffix('!'), first.strip_suffix("[]")) {
            (Some(key), _) => (key, Form::Json),
            (_, Some(key)) => (key, Form::List),
            _ => (first, Form::Block),
        };
        let at = self.children.iter().position(|child| child.key == key);
        let at = at.unwrap_or_else(|| {
            self.children.push(Tree {
                key: key.to_owned(),
                form,
                ..Tree::default()
            });
            self.children.len() - 1
        });
        let child = &mut self.children[at];
        if rest.is_empty() {
            child.value = Some(value);
            child.is_marked = is_marked;
        } else {
            child.set(rest, value, is_marked);
        }
    }
}

/// Writer of one stack.
pub(super) struct Writer<'s> {
    stack: &'s Stack,
    dialect: Dialect,
    marker: String,
    places: &'s [&'s str],
    /// Name, path and value of each attribute.
    attributes: Vec<(&'s str, &'static str, String)>,
    text: String,
}

impl<'s> Writer<'s> {
    /// Returns a writer, or `None` if the dialect has no name for an attribute or cannot express its value.
    pub(super) fn new(stack: &'s Stack, dialect: Dialect, id: &str, places: &'s [&'s str]) -> Option<Self> {
        let mut writer = Writer {
            stack,
            dialect,
            marker: format!(" # expect: {id}"),
            places,
            attributes: Vec::new(),
            text: String::new(),
        };
        for (name, value) in &stack.attributes {
            let path = path(name, dialect)?;
            writer.attributes.push((name, path, literal(value, dialect)?));
        }
        let has = |wanted| stack.attributes.iter().any(|(name, _)| name == wanted);
        if (stack.has_dead_letter_queue || has("queue.max_receive_count")) && !has("queue.redrive") {
            let target = if stack.has_dead_letter_queue {
                "dlq.arn"
            } else {
                EXTERNAL
            };
            writer.default("queue.target", target);
        }
        if (stack.has_dead_letter_queue || has("queue.target")) && !has("queue.redrive") {
            writer.default("queue.max_receive_count", "5");
        }
        if stack.has_mapping {
            writer.default("mapping.source", "queue.arn");
            writer.default("mapping.function", "function.arn");
        }
        Some(writer)
    }

    /// Sets an attribute that the test does not set.
    fn default(&mut self, name: &'static str, value: &str) {
        let is_set = self.attributes.iter().any(|(of, ..)| *of == name);
        if !is_set && let (Some(path), Some(value)) = (path(name, self.dialect), literal(value, self.dialect)) {
            self.attributes.push((name, path, value));
        }
    }

    /// Returns the text of the stack, followed by `more`.
    pub(super) fn text(mut self, more: &str) -> Option<String> {
        match self.dialect {
            Dialect::Terraform => self.terraform(),
            Dialect::CloudFormation | Dialect::Sam => {
                self.text.push_str("Parameters:\n  Open: {Type: String}\nResources:\n");
                self.resources("  ");
            }
            Dialect::Serverless => self.service(),
            Dialect::Json => return None,
        }
        let indent = if self.dialect == Dialect::Serverless { "  " } else { "" };
        for line in more.lines() {
            let _ = writeln!(self.text, "{indent}{line}");
        }
        Some(self.text)
    }

    fn has(&self, resource: &str) -> bool {
        match resource {
            "queue" => true,
            "dlq" => self.stack.has_dead_letter_queue,
            _ if self.stack.has_mapping => true,
            _ => self.attributes.iter().any(|(name, ..)| is_of(name, resource)),
        }
    }

    fn tree(&self, resource: &str) -> Tree {
        let mut tree = Tree::default();
        for (name, path, value) in &self.attributes {
            if is_of(name, resource) {
                tree.set(path, value.clone(), self.places.contains(name));
                if self.places.contains(&&*format!("{name} block")) {
                    tree.mark(path);
                }
            }
        }
        if self.dialect == Dialect::Sam && tree.children.iter().any(|child| child.key == "DeadLetterQueue") {
            tree.set("DeadLetterQueue.Type", "SQS".to_owned(), false);
        }
        tree
    }

    /// Returns the marker for the header of `resource` if a finding is expected there.
    fn header(&self, resource: &str) -> &str {
        if self.places.contains(&resource) {
            &self.marker
        } else {
            ""
        }
    }

    fn terraform(&mut self) {
        self.text.push_str("variable \"open\" {}\n");
        for (resource, kind, name) in [
            ("dlq", "aws_sqs_queue", "failed"),
            ("queue", "aws_sqs_queue", "orders"),
            ("function", "aws_lambda_function", "worker"),
            ("mapping", "aws_lambda_event_source_mapping", "orders"),
        ] {
            if self.has(resource) {
                let header = self.header(resource).to_owned();
                let _ = writeln!(self.text, "resource \"{kind}\" \"{name}\" {{{header}");
                self.arguments(&self.tree(resource), "  ");
                self.text.push_str("}\n");
            }
        }
    }

    fn arguments(&mut self, tree: &Tree, indent: &str) {
        for child in &tree.children {
            let key = &child.key;
            let marker = if child.is_marked { &*self.marker } else { "" };
            let _ = match (&child.value, child.form) {
                (Some(value), _) => writeln!(self.text, "{indent}{key} = {value}{marker}"),
                (None, Form::Json) => writeln!(self.text, "{indent}{key} = jsonencode({{{marker}"),
                (None, _) => writeln!(self.text, "{indent}{key} {{{marker}"),
            };
            if child.value.is_none() {
                self.arguments(child, &format!("{indent}  "));
                let end = if child.form == Form::Json { "})" } else { "}" };
                let _ = writeln!(self.text, "{indent}{end}");
            }
        }
    }

    /// Writes the resources of a template; in a service, functions are not among them.
    fn resources(&mut self, indent: &str) {
        let is_sam = self.dialect == Dialect::Sam;
        let function = if is_sam {
            "AWS::Serverless::Function"
        } else {
            "AWS::Lambda::Function"
        };
        for (resource, kind, name) in [
            ("dlq", "AWS::SQS::Queue", "Failed"),
            ("queue", "AWS::SQS::Queue", "Orders"),
            ("function", function, "Worker"),
            ("mapping", "AWS::Lambda::EventSourceMapping", "Mapping"),
        ] {
            let is_elsewhere = match self.dialect {
                Dialect::Sam => resource == "mapping",
                Dialect::Serverless => matches!(resource, "function" | "mapping"),
                _ => false,
            };
            if !self.has(resource) || is_elsewhere {
                continue;
            }
            let header = self.header(resource).to_owned();
            let _ = writeln!(self.text, "{indent}{name}:{header}\n{indent}  Type: {kind}");
            let tree = self.tree(resource);
            let has_event = is_sam && resource == "function" && self.has("mapping");
            if !tree.children.is_empty() || has_event {
                let _ = writeln!(self.text, "{indent}  Properties:");
                self.properties(&tree, &format!("{indent}    "));
            }
            if has_event {
                let header = self.header("mapping").to_owned();
                let _ = writeln!(self.text, "      Events:\n        Orders:{header}\n          Type: SQS");
                self.text.push_str("          Properties:\n");
                self.properties(&self.tree("mapping"), "            ");
            }
        }
    }

    fn properties(&mut self, tree: &Tree, indent: &str) {
        for (at, child) in tree.children.iter().enumerate() {
            let key = &child.key;
            let marker = if child.is_marked { &*self.marker } else { "" };
            let dash = if tree.form == Form::List && at == 0 { "- " } else { "" };
            let start = format!("{}{dash}", &indent[..indent.len() - dash.len()]);
            if let Some(value) = &child.value {
                let _ = writeln!(self.text, "{start}{key}: {value}{marker}");
            } else {
                let _ = writeln!(self.text, "{start}{key}:{marker}");
                let step = if child.form == Form::List { "    " } else { "  " };
                self.properties(child, &format!("{indent}{step}"));
            }
        }
    }

    fn service(&mut self) {
        self.text.push_str("service: shop\nprovider:\n  name: aws\n");
        if self.has("function") {
            let header = self.header("function").to_owned();
            let _ = writeln!(self.text, "functions:\n  worker:{header}\n    handler: app.handler");
            self.properties(&self.tree("function"), "    ");
        }
        if self.has("mapping") {
            let header = self.header("mapping").to_owned();
            let _ = writeln!(self.text, "    events:\n      - sqs:{header}");
            self.properties(&self.tree("mapping"), "          ");
        }
        self.text.push_str("resources:\n  Resources:\n");
        self.resources("    ");
    }
}

/// ARN of a queue in no file.
const EXTERNAL: &str = "arn:aws:sqs:eu-west-1:111122223333:elsewhere";

/// Returns `true` if `name` is an attribute of `resource`.
fn is_of(name: &str, resource: &str) -> bool {
    name.strip_prefix(resource).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns a value of a test in `dialect`, or `None` if the dialect cannot express it.
fn literal(value: &str, dialect: Dialect) -> Option<String> {
    let is_terraform = dialect == Dialect::Terraform;
    if let Some(list) = value.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
        let elements = list.split(", ").filter(|element| !element.is_empty());
        let elements: Option<Vec<String>> = elements.map(|element| literal(element, dialect)).collect();
        return Some(format!("[{}]", elements?.join(", ")));
    }
    let is_bare = value.starts_with('"') || matches!(value, "true" | "false") || value.parse::<f64>().is_ok();
    Some(match value {
        "open" if is_terraform => "var.open".to_owned(),
        "open" if dialect == Dialect::Serverless => "${env:OPEN}".to_owned(),
        "open" => "!Ref Open".to_owned(),
        "null" if is_terraform => "null".to_owned(),
        "null" => "!Ref AWS::NoValue".to_owned(),
        _ if is_bare => value.to_owned(),
        _ if value.starts_with('=') => value.trim_start_matches('=').trim().to_owned(),
        _ if ["queue.", "dlq.", "function."]
            .iter()
            .any(|start| value.starts_with(start)) =>
        {
            reference(value, is_terraform)?
        }
        _ if is_terraform => format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")),
        _ => format!("'{}'", value.replace('\'', "''")),
    })
}

/// Returns a reference such as `queue.arn` in Terraform or a template.
fn reference(value: &str, is_terraform: bool) -> Option<String> {
    let (resource, attribute) = value.split_once('.')?;
    let (address, id) = match resource {
        "queue" => ("aws_sqs_queue.orders", "Orders"),
        "dlq" => ("aws_sqs_queue.failed", "Failed"),
        _ => ("aws_lambda_function.worker", "Worker"),
    };
    Some(match attribute {
        _ if is_terraform => format!("{address}.{attribute}"),
        "arn" => format!("!GetAtt {id}.Arn"),
        "name" => format!("!GetAtt {id}.QueueName"),
        "url" => format!("!Ref {id}"),
        _ => return None,
    })
}
