//! Evaluates nested stacks: templates that a template deploys from a local file. Each is evaluated once per call, with
//! the arguments of the call, and returns its outputs.
//!
//! `handover.rs` passes the values between templates. Only local files inside the repository are read, and without a
//! repository also templates at a relative path without links. A local template that is not read is reported. A URL
//! under which templates are uploaded (`${Bucket}/fragments/queue.yaml`) names the file of the repository at the end of
//! its path, if that file exists and declares every parameter that the call sets.
//! <https://docs.aws.amazon.com/cli/latest/reference/cloudformation/package.html>

use super::sections::Declared;
use super::surroundings::Project;
use super::surroundings::UsedName;
use super::template::Template;
use super::unit::{Unit, UnreadStack};
use super::value::{Evaluated, Outcome, Outcomes, Part, always};
use super::{Environment, cdk, local};
use crate::limits;
use conditions::Condition;
use knowledge::Cause;
use rustc_hash::FxHashMap;
use source::{Sources, Span};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use trees::Node;

/// Context of a template: its file, the project, its callers and their arguments.
pub(crate) struct Context<'s> {
    pub(crate) sources: &'s Sources,
    pub(crate) project: &'s Project,
    /// The file, canonical.
    pub(crate) path: &'s Path,
    /// Templates in the chain of calls, outermost first.
    pub(crate) callers: Vec<PathBuf>,
    /// Arguments of the call; `None` if no template calls it.
    pub(crate) arguments: Option<Outputs>,
    /// The target environment, if a CDK app deploys the stack.
    pub(crate) environment: Option<&'s Environment>,
    /// The condition under which it is deployed.
    pub(crate) assumed: Condition,
    pub(crate) collected: &'s Collected,
    /// Receives each evaluated template.
    pub(crate) show: &'s Show<'s>,
    /// Loads a nested stack.
    pub(crate) load: Load,
}

/// Receives a unit and an evaluated template of it.
pub(crate) type Show<'v> = dyn Fn(&Unit, &Template<'_>) + 'v;

/// Outputs of a template by name.
pub(crate) type Outputs = FxHashMap<Arc<str>, Outcomes<'static>>;

/// Evaluates the template of a call and returns its outputs; an error is the reason why the template is not read, if it
/// has to be reported.
pub(crate) type Load = fn(Call<'_, '_>) -> Result<Outputs, Option<String>>;

/// A call of a nested stack.
pub(crate) struct Call<'c, 't> {
    pub(crate) caller: &'c Template<'t>,
    pub(crate) declared: &'c Declared<'t>,
    pub(crate) nested: Nested,
    /// The condition under which it is deployed.
    pub(crate) assumed: Condition,
    pub(crate) around: &'c Context<'c>,
}

/// Results collected while one template and all templates that it calls are evaluated.
#[derive(Default)]
pub(crate) struct Collected {
    /// Units of the called templates.
    pub(crate) called: RefCell<Vec<Unit>>,
    /// Files of the called templates.
    pub(crate) files: RefCell<BTreeSet<PathBuf>>,
    /// Exports.
    pub(crate) exports: RefCell<Vec<super::surroundings::Export>>,
    /// Nested stacks whose templates are not read.
    pub(crate) unread: RefCell<Vec<UnreadStack>>,
    /// Names of imports.
    pub(crate) imports: RefCell<BTreeSet<String>>,
    /// Names that the template uses and does not declare.
    pub(crate) undeclared: RefCell<BTreeSet<UsedName>>,
    /// `true` if the template is one into which fragments are merged.
    pub(crate) is_frame: Cell<bool>,
    calls: Cell<usize>,
}

/// A nested stack.
#[derive(Debug, Clone)]
pub enum Stack {
    /// A template that is not read: not local, or already being evaluated.
    Unread,
    /// A local template, with its outputs.
    Outputs(Rc<Outputs>),
}

/// The file of a nested template.
#[derive(Clone)]
pub(crate) enum Nested {
    /// The file that the call names.
    Named(PathBuf),
    /// The file that the call names, above the named directory. Only without a repository.
    Above(PathBuf),
    /// A file whose path matches the URL of the upload.
    Uploaded(PathBuf),
}

/// Returns `true` if resources of this type deploy a template.
pub fn is_stack(kind: &str) -> bool {
    matches!(kind, "AWS::CloudFormation::Stack" | "AWS::Serverless::Application")
}

/// Returns the paths with which the URL of an uploaded template ends, longest first. If its beginning is unresolved,
/// the longest is its known end.
fn uploaded_as(url: &Evaluated<'_>) -> Vec<String> {
    let Evaluated::Text(parts) = url else {
        return Vec::new();
    };
    let Some(Part::Text(end)) = parts.last() else {
        return Vec::new();
    };
    let end = match end.split_once("://") {
        Some((_, address)) => address.split_once('/').map_or("", |(_, path)| path),
        None if parts.len() > 1 => end,
        None => return Vec::new(),
    };
    // Text directly after an unresolved part may be only the end of a longer file name.
    let is_cut = parts.len() > 1 && !end.starts_with('/') && !end.contains('/');
    if is_cut { Vec::new() } else { tails(end) }
}

/// Returns `path` and the paths that remain without its first components, longest first.
fn tails(path: &str) -> Vec<String> {
    let is_name = |part: &&str| !matches!(*part, "" | "." | "..");
    let components: Vec<&str> = path.split('/').filter(is_name).collect();
    let starts = 0..components.len();
    starts
        .filter_map(|start| components.get(start..))
        .map(|rest| rest.join("/"))
        .collect()
}

/// Returns `true` if every argument of a call is a parameter of `document`; otherwise `document` cannot be the deployed
/// template.
pub(crate) fn takes(document: &Node, names: &[&str]) -> bool {
    let declared = document.get("Parameters").and_then(Node::entries).unwrap_or_default();
    let is_declared = |name: &&str| declared.iter().any(|entry| *entry.key == **name);
    document.get("Resources").is_some() && names.iter().all(is_declared)
}

/// Returns the file of the template that CDK uploads under its hash, by its URL.
fn uploaded(url: &Evaluated<'_>, around: &Context<'_>) -> Option<String> {
    let Evaluated::Text(parts) = url else { return None };
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        Part::Unresolved { .. } | Part::Reference(_) => None,
    });
    let mut words = texts.flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()));
    let hash = words.find(|word| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    let root = around.callers.first().map_or(around.path, PathBuf::as_path);
    cdk::asset(hash, root, around.sources)
}

/// Returns the file of the repository that is uploaded as one of `paths`. It searches the directory of the template and
/// its parents; for a bare file name, only the directory itself. A template is not taken for one that it deploys.
fn uploaded_from(paths: &[String], around: &Context<'_>) -> Option<PathBuf> {
    let is_caller = |found: &PathBuf| found == around.path || around.callers.contains(found);
    let find = |location: &str| local::file(location, around.path, around.sources).ok();
    let find = |location: &str| find(location).filter(|found| !is_caller(found));
    paths
        .iter()
        .filter(|path| !path.contains("node_modules"))
        .find_map(|path| {
            let levels = if path.contains('/') {
                limits::MAX_STACK_PARENTS
            } else {
                1
            };
            (0..levels).find_map(|up| find(&format!("{}{path}", "../".repeat(up))))
        })
}

/// Records that the template of the nested stack `declared` is not read.
fn note_unread(declared: &Declared<'_>, reason: &str, around: &Context<'_>) {
    let unread = UnreadStack {
        unit: around.sources.name_of(around.path),
        id: declared.id.clone(),
        reason: reason.into(),
        span: declared.header,
    };
    let mut all = around.collected.unread.borrow_mut();
    if !all.contains(&unread) {
        all.push(unread);
    }
}

/// Returns the bound that a call of the stack at `path` exceeds.
fn exceeded_bound(path: &Path, around: &Context<'_>) -> Option<String> {
    if path == around.path || around.callers.iter().any(|caller| caller == path) {
        return Some("nested stacks call each other in a circle".to_owned());
    }
    if around.callers.len() >= limits::MAX_STACK_DEPTH {
        return Some(format!("stacks are nested more than {} deep", limits::MAX_STACK_DEPTH));
    }
    let is_last = around.collected.calls.get() >= limits::MAX_STACK_CALLS;
    is_last.then(|| format!("more than {} nested stacks are called", limits::MAX_STACK_CALLS))
}

impl<'t> Template<'t> {
    /// Returns the nested stack that the resource `id` deploys.
    pub fn stack(&self, id: &str) -> Stack {
        if let Some(known) = self.stacks.borrow().get(id) {
            return known.clone();
        }
        let Some(declared) = self.resource(id).filter(|declared| is_stack(&declared.kind)) else {
            return Stack::Unread;
        };
        // A cycle that reaches this stack again finds it unresolved.
        self.stacks.borrow_mut().insert(id.into(), Stack::Unread);
        let stack = self
            .follow(declared)
            .map_or(Stack::Unread, |outputs| Stack::Outputs(Rc::new(outputs)));
        self.stacks.borrow_mut().insert(id.into(), stack.clone());
        stack
    }

    /// Returns the output `Outputs.X` of a nested stack, or `None` if the stack is not read.
    pub(crate) fn output_of(&self, id: &str, attribute: &str, at: Span, assumed: &Condition) -> Option<Outcomes<'t>> {
        let name = attribute.strip_prefix("Outputs.")?;
        let Stack::Outputs(outputs) = self.stack(id) else {
            return None;
        };
        let Some(outcomes) = outputs.get(name) else {
            let reason = Cause::Invalid.because(format!("stack `{id}` has no output `{name}`"));
            return Some(always(Evaluated::Unresolved(reason), at));
        };
        let here = outcomes.clone().restrict(assumed);
        Some(here.map(|outcome| Outcome { span: at, ..outcome }))
    }

    /// Evaluates the template that `declared` deploys.
    fn follow(&self, declared: &Declared<'t>) -> Option<Outputs> {
        let around = self.context?;
        let assumed = self.deployed(&self.existence(declared).0);
        if !assumed.is_possible() {
            return None;
        }
        let unread = |reason: &str| {
            note_unread(declared, reason, around);
            None
        };
        let nested = match self.nested_path(declared, around) {
            Ok(nested) => nested,
            Err(reason) => return unread(&reason),
        };
        let (Nested::Named(path) | Nested::Above(path) | Nested::Uploaded(path)) = nested.clone();
        if let Some(bound) = exceeded_bound(&path, around) {
            self.note_limit(declared.header, bound);
            return None;
        }
        around.collected.calls.set(around.collected.calls.get() + 1);
        let call = Call {
            caller: self,
            declared,
            nested,
            assumed,
            around,
        };
        match (around.load)(call) {
            Ok(outputs) => Some(outputs),
            Err(reason) => unread(&reason?),
        }
    }

    /// Returns the file of the template that `declared` deploys, or the reason why it is not read.
    fn nested_path(&self, declared: &Declared<'t>, around: &Context<'_>) -> Result<Nested, Arc<str>> {
        let key = match &*declared.kind {
            "AWS::CloudFormation::Stack" => "TemplateURL",
            _ => "Location",
        };
        // CDK uploads the template and records its path in the metadata.
        let asset = declared
            .metadata
            .and_then(|metadata| metadata.get("aws:asset:path")?.as_str());
        let written = if let Some(asset) = asset {
            asset.to_string()
        } else {
            let outcomes = self.field(&self.properties_of(declared), key, &Condition::always());
            let local = |value: &Evaluated<'_>| value.text().ok().filter(|text| !text.contains("://"));
            let [only] = &*outcomes else {
                let choices: Vec<String> = outcomes.iter().filter_map(|one| local(&one.value)).collect();
                return match choices.as_slice() {
                    [] => Err("a condition chooses its URL".into()),
                    all => Err(format!("a condition chooses among `{}`", all.join("`, `")).into()),
                };
            };
            if let Some(written) = uploaded(&only.value, around).or_else(|| local(&only.value)) {
                written
            } else {
                let paths = uploaded_as(&only.value);
                let found = uploaded_from(&paths, around).map(Nested::Uploaded);
                return found.ok_or_else(|| match (&only.value, paths.first()) {
                    (Evaluated::Tree(_), _) => "it is an application of a repository".into(),
                    (_, Some(path)) => format!("no file matches the end of its URL, `{path}`").into(),
                    (_, None) => "these files do not determine its URL".into(),
                });
            }
        };
        let files = around.sources.files();
        local::file(&written, around.path, around.sources)
            .map(Nested::Named)
            .or_else(|reason| {
                let directory = around.path.parent().unwrap_or(around.path);
                let is_relative = files.repository().is_none() && Path::new(&written).is_relative();
                let found = is_relative
                    .then(|| files.find(&directory.join(&written)).ok())
                    .flatten();
                let found = found.filter(|found| files.is_file(found));
                found.map(Nested::Above).ok_or(reason)
            })
            .or_else(|reason| {
                // A path in a build directory, into which the templates are copied.
                let tails = tails(&written);
                uploaded_from(tails.get(1..).unwrap_or_default(), around)
                    .map(Nested::Uploaded)
                    .ok_or(reason)
            })
    }

    /// Returns the names of the call's arguments.
    pub(crate) fn argument_names(&self, declared: &Declared<'t>) -> Vec<&'t str> {
        let passed = declared.properties.and_then(|properties| properties.get("Parameters"));
        let entries = passed.and_then(Node::entries).unwrap_or_default();
        entries
            .iter()
            .map(|entry| &*entry.key)
            .filter(|name| !name.starts_with("Fn::"))
            .collect()
    }

    /// Returns the argument of the call for each parameter that `document` declares; it is absent if the call does not
    /// set it.
    pub(crate) fn arguments(&self, declared: &Declared<'t>, document: &Node, assumed: &Condition) -> Outputs {
        let object = self.field(&self.properties_of(declared), "Parameters", assumed);
        let names = document.get("Parameters").and_then(Node::entries).unwrap_or_default();
        let arguments = names.iter().map(|entry| {
            let outcomes = self.field(&object, &entry.key, assumed);
            let what = format!("parameter `{}` of stack `{}`", entry.key, declared.id);
            (entry.key.clone(), self.hand_over(outcomes, assumed, Some(&what)))
        });
        arguments.collect()
    }

    /// Returns the part of `when` under which the template is deployed.
    pub fn deployed(&self, when: &Condition) -> Condition {
        self.context
            .map_or_else(|| when.clone(), |around| around.assumed.and(when))
    }
}
