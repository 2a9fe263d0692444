//! Nested stacks: templates that a template deploys from a file beside it, each evaluated once a call, with the
//! arguments of the call, and its outputs handed back.
//!
//! What crosses from one template to another is told in `handover.rs`. Only local files are read, inside the
//! repository, and nothing that was downloaded (`node_modules`). A URL under which templates are uploaded
//! (`${Bucket}/fragments/queue.yaml`) names the file of the repository at the end of its path, where there is one that
//! takes what the call hands over.
//! <https://docs.aws.amazon.com/cli/latest/reference/cloudformation/package.html>

use super::eval::intrinsic;
use super::project::Project;
use super::sections::{Declared, Dialect, Sections};
use super::template::Template;
use super::value::{Evaluated, Outcome, Outcomes, Part, always};
use super::{Environment, Loaded, Read, cdk, definitions, faults_of, includes, local, loops, lower, open, sam};
use crate::conditions::Condition;
use crate::frontend::tree::{Node, Value};
use crate::graph::{Cause, UnitKind};
use crate::source::{Sources, Span};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Stacks in stacks are followed this deep.
const MAX_DEPTH: usize = 8;
/// Calls that are followed from one template.
const MAX_CALLS: usize = 1_000;

/// What lies around a template: its file, the project, and who calls it with what.
pub(super) struct Surroundings<'s> {
    pub(super) sources: &'s Sources,
    pub(super) project: &'s Project,
    /// The file, canonical.
    pub(super) path: &'s Path,
    /// The templates that it is called through, outermost first.
    pub(super) callers: Vec<PathBuf>,
    /// What the call hands over; `None` where nothing calls it.
    pub(super) arguments: Option<FxHashMap<Arc<str>, Outcomes<'static>>>,
    /// What a CDK app says of the stack.
    pub(super) environment: Option<&'s Environment>,
    /// The condition under which it is deployed.
    pub(super) assumed: Condition,
    pub(super) met: &'s Met,
}

/// What was met on the way, for one template and all that it calls.
#[derive(Default)]
pub(super) struct Met {
    /// The called templates as evaluated.
    pub(super) called: RefCell<Vec<Loaded>>,
    /// Their files.
    pub(super) files: RefCell<BTreeSet<PathBuf>>,
    /// What is exported.
    pub(super) exports: RefCell<Vec<super::handover::Export>>,
    /// Names that are imported.
    pub(super) imports: RefCell<BTreeSet<String>>,
    /// Whether a name is used that the template does not declare.
    pub(super) is_fragment: Cell<bool>,
    /// Whether the template is what fragments are put into.
    pub(super) is_frame: Cell<bool>,
    calls: Cell<usize>,
}

impl Met {
    /// With the unit itself.
    pub(super) fn into_read(self, loaded: Loaded) -> Read {
        let is_frame = self.is_frame.get();
        let called = self.called.into_inner();
        Read {
            loaded: std::iter::once(loaded).chain(called).collect(),
            called: self.files.into_inner(),
            exports: self.exports.into_inner(),
            imports: self.imports.into_inner(),
            is_fragment: self.is_fragment.get() || is_frame,
        }
    }
}

/// Whether a build step puts fragments into `document`: it holds `Globals` and no resource, or its resources are
/// written in a way that CloudFormation does not know (`Resources: !YAMLInclude queues.yaml`).
pub(super) fn is_frame(document: &Node) -> bool {
    let Some(resources) = document.get("Resources") else {
        return document.get("Globals").is_some();
    };
    match (&resources.value, intrinsic(resources)) {
        (Value::String(_) | Value::Sequence(_), _) => true,
        (_, Some((name, _))) => name != "Fn::Transform",
        _ => false,
    }
}

/// A nested stack.
#[derive(Debug, Clone)]
pub(super) enum Stack {
    /// It is not read: not local, or being evaluated already.
    Away,
    /// Its outputs.
    Here(Rc<FxHashMap<Arc<str>, Outcomes<'static>>>),
}

/// How many directories up a template is looked for that is uploaded from there.
const MAX_UP: usize = 8;

/// The file of a nested template.
enum Nested {
    /// The call names it.
    Named(PathBuf),
    /// The call names what it is uploaded as.
    Uploaded(PathBuf),
}

/// Whether resources of this type deploy a template.
pub(super) fn is_stack(kind: &str) -> bool {
    matches!(kind, "AWS::CloudFormation::Stack" | "AWS::Serverless::Application")
}

/// The paths that a URL of an uploaded template ends with, the longest first: where its beginning is not known, all of
/// its known end.
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
    // What stands directly behind what is not known may be the end of a longer name.
    let is_cut = parts.len() > 1 && !end.starts_with('/') && !end.contains('/');
    let components: Vec<&str> = end.split('/').filter(|part| !part.is_empty()).collect();
    let starts = if is_cut { 0..0 } else { 0..components.len() };
    starts
        .filter_map(|start| components.get(start..))
        .map(|rest| rest.join("/"))
        .collect()
}

/// Whether every name that a call hands over is a parameter of `document`: it cannot be what is deployed otherwise.
fn takes(document: &Node, names: &[&str]) -> bool {
    let declared = document.get("Parameters").and_then(Node::entries).unwrap_or_default();
    let is_declared = |name: &&str| declared.iter().any(|entry| *entry.key == **name);
    document.get("Resources").is_some() && names.iter().all(is_declared)
}

/// The file behind the URL of a template that CDK uploads under its hash.
fn uploaded(url: &Evaluated<'_>, around: &Surroundings<'_>) -> Option<String> {
    let Evaluated::Text(parts) = url else { return None };
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        Part::Open { .. } | Part::Reference(_) => None,
    });
    let mut words = texts.flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()));
    let hash = words.find(|word| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    let root = around.callers.first().map_or(around.path, PathBuf::as_path);
    cdk::asset(hash, root, around.sources)
}

/// The file of the repository that is uploaded as one of `paths`: at or above the template, a lone name beside it.
fn uploaded_from(paths: &[String], around: &Surroundings<'_>) -> Option<PathBuf> {
    let find = |location: &str| local::file(location, around.path, around.sources).ok();
    paths
        .iter()
        .filter(|path| !path.contains("node_modules"))
        .find_map(|path| {
            let levels = if path.contains('/') { MAX_UP } else { 1 };
            (0..levels).find_map(|up| find(&format!("{}{path}", "../".repeat(up))))
        })
}

impl<'t> Template<'t> {
    /// The nested stack that the resource `id` is.
    pub(super) fn stack(&self, id: &str) -> Stack {
        if let Some(known) = self.stacks.borrow().get(id) {
            return known.clone();
        }
        let Some(declared) = self.resource(id).filter(|declared| is_stack(&declared.kind)) else {
            return Stack::Away;
        };
        // Met again while it is evaluated, it is not known.
        self.stacks.borrow_mut().insert(id.into(), Stack::Away);
        let stack = self
            .follow(declared)
            .map_or(Stack::Away, |outputs| Stack::Here(Rc::new(outputs)));
        self.stacks.borrow_mut().insert(id.into(), stack.clone());
        stack
    }

    /// `Outputs.X` of a nested stack; `None` where that stack is not here.
    pub(super) fn output_of(&self, id: &str, attribute: &str, at: Span, assumed: &Condition) -> Option<Outcomes<'t>> {
        let name = attribute.strip_prefix("Outputs.")?;
        let Stack::Here(outputs) = self.stack(id) else {
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
    fn follow(&self, declared: &Declared<'t>) -> Option<FxHashMap<Arc<str>, Outcomes<'static>>> {
        let around = self.surroundings?;
        let (path, is_found) = match self.nested_path(declared, around)? {
            Nested::Named(path) => (path, false),
            Nested::Uploaded(path) => (path, true),
        };
        let is_circle = path == around.path || around.callers.contains(&path);
        let calls = around.met.calls.get() + 1;
        let bound = match () {
            () if is_circle => Some("nested stacks call each other in a circle".to_owned()),
            () if around.callers.len() >= MAX_DEPTH => Some(format!("stacks are nested more than {MAX_DEPTH} deep")),
            () if calls > MAX_CALLS => Some(format!("more than {MAX_CALLS} nested stacks are called")),
            () => None,
        };
        if let Some(bound) = bound {
            self.note_limit(declared.header, bound);
            return None;
        }
        around.met.calls.set(calls);
        let assumed = self.deployed(&self.existence(declared).0);
        let sources = around.sources;
        let (mut loaded, parsed) = open(&path, sources, UnitKind::Template, Some(self.key_of_call(&declared.id)));
        if is_found
            && !parsed
                .documents
                .first()
                .is_some_and(|found| takes(found, &self.handed_names(declared)))
        {
            return None;
        }
        let is_new = around.met.files.borrow_mut().insert(path.clone());
        let name = loaded.graph.unit.name.clone();
        let mut is_whole = loaded.diagnostics.is_empty();
        if !is_new {
            loaded.diagnostics.clear();
        }
        let outputs = parsed.documents.first().map(|document| {
            let values = self.surroundings_values();
            let (document, of_includes) = includes::included(document, &path, sources, &name);
            let document = definitions::placed(document, &path, sources, &name);
            let (document, of_loops) = loops::written_out(document, &name, &values);
            for problems in [&of_includes, &of_loops] {
                is_whole &= problems.refused.is_empty() && problems.limits.is_empty();
            }
            for problems in [of_includes, of_loops].iter().filter(|_| is_new) {
                let faults = faults_of(&problems.refused, &problems.limits, sources, &name);
                loaded.diagnostics.extend(faults);
            }
            let document = sam::transform(&document, &values).map_or(document, Cow::Owned);
            let document = &*document;
            let callers = around.callers.iter().cloned().chain([around.path.to_owned()]);
            let inside = Surroundings {
                sources,
                project: around.project,
                path: &path,
                callers: callers.collect(),
                arguments: Some(self.arguments(declared, document, &assumed)),
                environment: None,
                assumed,
                met: around.met,
            };
            let key = loaded.graph.unit.key().to_owned();
            let sections = Sections::new(&key, Dialect::Template, &[document], values);
            let template = Template::from(sections.read_in_full(is_whole).within(&inside, &key));
            let found = lower(&template, &mut loaded.graph, sources);
            loaded.diagnostics.extend(found);
            template.handed_back()
        });
        around.met.called.borrow_mut().push(loaded);
        outputs
    }

    /// The file of the template that `declared` deploys, where it is a local one.
    fn nested_path(&self, declared: &Declared<'t>, around: &Surroundings<'_>) -> Option<Nested> {
        let key = match &*declared.kind {
            "AWS::CloudFormation::Stack" => "TemplateURL",
            _ => "Location",
        };
        // CDK uploads it, and says from where.
        let written = if let Some(asset) = &declared.asset {
            asset.to_string()
        } else {
            let outcomes = self.path(&self.properties_of(declared), &[key], &Condition::always());
            let [only] = &*outcomes else { return None };
            match uploaded(&only.value, around) {
                Some(asset) => asset,
                None => match only.value.text() {
                    Ok(text) if !text.contains("://") => text,
                    _ => return uploaded_from(&uploaded_as(&only.value), around).map(Nested::Uploaded),
                },
            }
        };
        let downloaded = Path::new(&written)
            .components()
            .any(|part| part.as_os_str() == "node_modules");
        if downloaded || written.is_empty() {
            return None;
        }
        local::file(&written, around.path, around.sources)
            .ok()
            .map(Nested::Named)
    }

    /// The names of what the call hands over.
    fn handed_names(&self, declared: &Declared<'t>) -> Vec<&'t str> {
        let handed = declared.properties.and_then(|properties| properties.get("Parameters"));
        let entries = handed.and_then(Node::entries).unwrap_or_default();
        entries
            .iter()
            .map(|entry| &*entry.key)
            .filter(|name| !name.starts_with("Fn::"))
            .collect()
    }

    /// What the call hands to each parameter that `document` declares; absent where it does not name it.
    fn arguments(
        &self,
        declared: &Declared<'t>,
        document: &Node,
        assumed: &Condition,
    ) -> FxHashMap<Arc<str>, Outcomes<'static>> {
        let object = self.path(&self.properties_of(declared), &["Parameters"], assumed);
        let names = document.get("Parameters").and_then(Node::entries).unwrap_or_default();
        let arguments = names.iter().map(|entry| {
            let outcomes = self.field(&object, &entry.key, assumed);
            let what = format!("parameter `{}` of stack `{}`", entry.key, declared.id);
            (entry.key.clone(), self.hand_over(outcomes, assumed, Some(&what)))
        });
        arguments.collect()
    }

    /// The part of `when` under which the template is deployed at all.
    pub(super) fn deployed(&self, when: &Condition) -> Condition {
        self.surroundings
            .map_or_else(|| when.clone(), |around| around.assumed.and(when))
    }
}
