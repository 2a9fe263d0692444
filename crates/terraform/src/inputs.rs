//! Values for the variables of root modules from the command line: `--var` and `--var-file`. Later ones take
//! precedence.
//!
//! Strings are kept as typed: only the declared type of a variable determines whether one is a string or an expression.
//! Nothing is read from the environment of the process.

use super::module::Module;
use super::syntax::{self, Block, Body, Code, Expression, ExpressionKind, Fault, Problem, Step, TemplatePart};
use rustc_hash::FxHasher;
use source::files;
use source::reading::{ReadError, read};
use source::{Dependencies, FileId, SourceFile, Sources, Span};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the file that represents the command line in locations.
const COMMAND_LINE: &str = "command line";

/// Source of values for variables. The order on the command line is the order of precedence.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Variable {
    /// An assignment, `--var name=value`, as written.
    Assignment(String),
    /// A file, `--var-file path`.
    File(PathBuf),
}

/// Inputs of a run, as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Inputs {
    /// Values for root modules; later ones take precedence.
    pub variables: Vec<Variable>,
    /// Value of `terraform.workspace`; `None` for `default`.
    pub workspace: Option<String>,
    /// `true` if the workspace is one of several, without a way to know which. Used without `workspace`.
    pub is_workspace_unresolved: bool,
    /// Region of providers that do not set one; unresolved if absent.
    pub region: Option<String>,
    /// Account of the caller; unresolved if absent.
    pub account: Option<String>,
    /// Local directories of modules, each with a pattern of their sources.
    pub modules: Vec<(String, PathBuf)>,
}

/// Inputs of a run, read.
#[derive(Debug, Default)]
pub struct RootInputs {
    values: BTreeMap<Arc<str>, Input>,
    pub(crate) typed: Inputs,
    /// Hash of the inputs, valid while their files are unchanged.
    pub fingerprint: u64,
    /// Files that were consulted to read the inputs.
    pub noted: Arc<Dependencies>,
}

/// A value for a variable.
#[derive(Debug)]
pub(crate) struct Input {
    /// Its source, as a noun phrase.
    pub(crate) what: Arc<str>,
    pub(crate) span: Span,
    value: Raw,
}

#[derive(Debug)]
enum Raw {
    /// The value of a `--var`, as typed.
    Text(FileId, Arc<str>, Range<usize>),
    Expression(Arc<Expression>),
}

fn fingerprint(inputs: &Inputs) -> u64 {
    let mut hasher = FxHasher::default();
    inputs.hash(&mut hasher);
    hasher.finish()
}

/// Returns the virtual file that contains the typed assignments. Each environment has its own, because its assignments
/// differ.
fn typed_file(text: &str, sources: &Sources) -> FileId {
    let first = sources.add(Path::new(COMMAND_LINE), text);
    if sources.file(first).text() == text {
        return first;
    }
    let name = format!("{COMMAND_LINE}: {}", text.replace('\n', ", "));
    sources.add(Path::new(&name), text)
}

impl Variable {
    /// Returns the error about an assignment without a name.
    pub fn fault(&self) -> Option<String> {
        match self {
            Variable::Assignment(text) => assigned_name(text).err(),
            Variable::File(_) => None,
        }
    }
}

fn assigned_name(text: &str) -> Result<&str, String> {
    match text.split_once('=') {
        Some((name, _)) if !name.trim().is_empty() => Ok(name),
        _ => Err(format!("`--var {text}`: write it as `--var name=value`")),
    }
}

impl RootInputs {
    /// Reads the inputs; also returns a message for each that cannot be read.
    pub fn read(inputs: &Inputs, sources: &Sources) -> (RootInputs, Vec<String>) {
        let ((read, errors), noted) = sources.recording_dependencies(|sources| RootInputs::read_here(inputs, sources));
        (RootInputs { noted, ..read }, errors)
    }

    fn read_here(inputs: &Inputs, sources: &Sources) -> (RootInputs, Vec<String>) {
        let mut read = RootInputs {
            typed: inputs.clone(),
            fingerprint: fingerprint(inputs),
            ..RootInputs::default()
        };
        let mut errors = Vec::new();
        let typed: Vec<&str> = inputs
            .variables
            .iter()
            .filter_map(|variable| match variable {
                Variable::Assignment(text) => Some(text.as_str()),
                Variable::File(_) => None,
            })
            .collect();
        let mut typed_text: Arc<str> = typed.join("\n").into();
        let mut file = None;
        if !typed.is_empty() {
            file = Some(typed_file(&typed_text, sources));
            typed_text = file.map_or(typed_text, |id| sources.file(id).text().into());
        }
        let mut at = 0;
        for variable in &inputs.variables {
            match (variable, file) {
                (Variable::Assignment(text), Some(file)) => {
                    let range = at..at + text.len();
                    at = range.end + 1;
                    if let Err(error) = read.assign(text, file, &typed_text, range) {
                        errors.push(error);
                    }
                }
                (Variable::Assignment(_), None) => {}
                (Variable::File(path), _) => errors.extend(read.file(path, sources)),
            }
        }
        (read, errors)
    }

    fn assign(&mut self, text: &str, file: FileId, typed: &Arc<str>, range: Range<usize>) -> Result<(), String> {
        let name = assigned_name(text)?;
        let value = range.start + name.len() + 1..range.end;
        let input = Input {
            what: format!("`--var {}`", name.trim()).into(),
            span: Span::new(file, range),
            value: Raw::Text(file, typed.clone(), value),
        };
        self.values.insert(name.trim().into(), input);
        Ok(())
    }

    /// Adds the values of a variable file.
    fn file(&mut self, path: &Path, sources: &Sources) -> Vec<String> {
        let canonical = match sources.files().named(path) {
            Ok(canonical) => canonical,
            Err(refusal) => return vec![format!("`{}`: {refusal}", sources.shown_of(&files::absolute(path)))],
        };
        let shown = sources.shown_of(&canonical);
        let file = match read(&canonical, sources) {
            Ok(file) => file,
            Err(ReadError::Io(error)) => return vec![error],
            Err(ReadError::Unfit(found)) => return vec![format!("`{shown}`: {}", found.message)],
        };
        let source = sources.file(file);
        let base_name = source.base_name();
        let (body, problems) = values(file, &source);
        let stated = |problem: &Problem| {
            let place = sources.start(problem.span);
            format!("`{shown}`:{}:{}: {}", place.line, place.column, problem.message)
        };
        for attribute in body.attributes {
            let input = Input {
                what: format!("`{}` in `{base_name}`", attribute.name).into(),
                span: attribute.span,
                value: Raw::Expression(attribute.value),
            };
            self.values.insert(attribute.name, input);
        }
        problems.iter().map(stated).collect()
    }

    /// Explains why these inputs do not fit `roots`: variables that none of them declares, and strings that are not
    /// valid expressions.
    pub fn misfits(&self, roots: &[impl Borrow<Arc<Module>>]) -> Vec<String> {
        let mut errors = Vec::new();
        for (name, input) in &self.values {
            if matches!(input.value, Raw::Expression(_)) {
                continue; // Terraform only warns about undeclared variables in a file.
            }
            let mut declared = roots
                .iter()
                .filter_map(|root| root.borrow().variables.get(name))
                .peekable();
            if declared.peek().is_none() {
                let what = &input.what;
                errors.push(format!("{what}: no Terraform root module declares a variable `{name}`"));
            }
            let broken = declared.find_map(|block| input.expression(block).err());
            errors.extend(broken.map(|problem| format!("{}: {}", input.what, problem.message)));
        }
        errors
    }

    /// Returns the input for a variable.
    pub(crate) fn get(&self, name: &str) -> Option<&Input> {
        self.values.get(name)
    }
}

impl Input {
    /// Returns the value as an expression for the variable that `block` declares.
    pub(crate) fn expression(&self, block: &Block) -> Result<Arc<Expression>, Problem> {
        match &self.value {
            Raw::Expression(expression) => Ok(expression.clone()),
            Raw::Text(file, text, range) if is_primitive(block) => Ok(Arc::new(Expression::new(
                ExpressionKind::Text(text.get(range.clone()).unwrap_or("").into()),
                Span::new(*file, range.clone()),
            ))),
            Raw::Text(file, text, range) => {
                let expression = syntax::expression(*file, text, range.clone())?;
                refuse_references(&expression)?;
                Ok(Arc::new(expression))
            }
        }
    }
}

/// Returns `true` if Terraform takes the text for a variable literally: its type is absent or primitive.
fn is_primitive(block: &Block) -> bool {
    match block.body.attribute("type").map(|attribute| &attribute.value.kind) {
        None => true,
        Some(ExpressionKind::Variable(name) | ExpressionKind::Text(name)) => {
            matches!(&**name, "string" | "number" | "bool")
        }
        Some(_) => false,
    }
}

/// Parses a variable file. A value that is not a constant becomes unknown.
pub(crate) fn values(id: FileId, file: &SourceFile) -> (Body, Vec<Problem>) {
    let code = Code::of_values(id, file);
    let (mut body, mut problems) = (code.body.clone(), code.problems.clone());
    for block in &body.blocks {
        problems.push(Problem {
            span: block.header,
            message: "a variable file holds values, not blocks".to_owned(),
            fault: Fault::Syntax,
        });
    }
    body.blocks.clear();
    for attribute in body.attributes.iter_mut().filter(|known| !known.value.is_unread()) {
        if let Err(problem) = refuse_references(&attribute.value) {
            problems.push(problem);
            attribute.value = Arc::new(syntax::unread(attribute.value.span));
        }
    }
    (body, problems)
}

/// Rejects references and function calls, which values for variables must not contain. Names bound by a `for`
/// expression of the value are allowed.
fn refuse_references(expression: &Expression) -> Result<(), Problem> {
    let refused = || {
        Err(Problem {
            span: expression.span,
            message: "a value for a variable can hold no variables and no function calls".to_owned(),
            fault: Fault::Syntax,
        })
    };
    let all = |all: &[Expression]| all.iter().try_for_each(refuse_references);
    match &expression.kind {
        ExpressionKind::Variable(_) | ExpressionKind::Call { .. } => refused(),
        ExpressionKind::Null
        | ExpressionKind::Bool(_)
        | ExpressionKind::Number(_)
        | ExpressionKind::Text(_)
        | ExpressionKind::For(_)
        | ExpressionKind::Known(_) => Ok(()),
        ExpressionKind::Template(parts) => parts.iter().try_for_each(|part| match part {
            TemplatePart::Value(value) => refuse_references(value),
            TemplatePart::Literal(_) | TemplatePart::If(..) | TemplatePart::For { .. } => Ok(()),
        }),
        ExpressionKind::Tuple(items) => all(items),
        ExpressionKind::Object(items) => items.iter().try_for_each(|item| refuse_references(&item.value)),
        ExpressionKind::Traversal(base, steps) => {
            refuse_references(base)?;
            steps.iter().try_for_each(|step| match step {
                Step::Index(index) | Step::LegacyIndex(index) => refuse_references(index),
                _ => Ok(()),
            })
        }
        ExpressionKind::Conditional(parts) => all(&parts[..]),
        ExpressionKind::Unary(_, operand) => refuse_references(operand),
        ExpressionKind::Binary(_, operands) => all(&operands[..]),
    }
}
