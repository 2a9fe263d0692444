//! Functions that read files. The files must be inside the repository or, without one, inside the root module or the
//! current module, after symbolic links are resolved, and no larger than a megabyte. A template sees only the variables
//! that it is passed.

use super::FunctionResult;
use crate::eval::{Evaluator, Scope};
use crate::limits;
use crate::syntax::{self, ExpressionKind};
use crate::types::{self, Type};
use crate::value::{Value, ValueKind};
use knowledge::{Cause, Reason};
use regex::Regex;
use source::Span;
use source::files::{EntryKind, Refusal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::base64;

/// Evaluates `pathexpand`.
pub(crate) fn path_expand(path: &str) -> Value {
    if path.starts_with('~') {
        return Value::unknown(Cause::RunContext.because("a home directory is not known"));
    }
    Value::text(path)
}

/// Evaluates `abspath`.
pub(crate) fn absolute(path: &str) -> Value {
    if path.starts_with('/') {
        return Value::text(clean(path));
    }
    Value::unknown(Cause::RunContext.because("the working directory is not known"))
}

/// Evaluates `fileexists`.
pub(crate) fn exists(eval: &Evaluator, path: &Value, scope: &Scope) -> FunctionResult {
    let path = path.to_text()?;
    Some(match eval.locate(&path, scope.module) {
        Ok(found) if eval.sources.files().is_file(&found) => Value::bool(true),
        Ok(_) => Value::error(format!("`{path}` is not a file")),
        Err(Absent::Missing) => Value::bool(false),
        Err(Absent::Outside(reason)) => Value::unknown(reason),
    })
}

/// Evaluates `file`.
pub(crate) fn text(eval: &mut Evaluator, path: &Value, scope: &Scope) -> FunctionResult {
    let path = path.to_text()?;
    Some(match eval.contents(&path, scope.module) {
        Ok(bytes) => String::from_utf8(bytes).map_or_else(
            |_| Value::error(format!("`{path}` is not UTF-8")),
            |text| Value::text(text.as_str()),
        ),
        Err(refused) => refused,
    })
}

/// Evaluates `filebase64`.
pub(crate) fn in_base64(eval: &mut Evaluator, path: &Value, scope: &Scope) -> FunctionResult {
    Some(match eval.contents(&path.to_text()?, scope.module) {
        Ok(bytes) => Value::text(base64::encoded(&bytes)),
        Err(refused) => refused,
    })
}

/// Evaluates `fileset`.
pub(crate) fn set(eval: &mut Evaluator, path: &Value, pattern: &Value, scope: &Scope) -> FunctionResult {
    Some(eval.file_set(&path.to_text()?, &pattern.to_text()?, scope.module))
}

/// Evaluates `templatefile`.
pub(crate) fn template(eval: &mut Evaluator, path: &Value, variables: &Value, scope: &Scope) -> FunctionResult {
    eval.template_file(&path.to_text()?, variables, scope)
}

/// Evaluates `templatestring`, which requires a reference to its template.
pub(crate) fn template_text(
    eval: &mut Evaluator,
    written: &syntax::Expression,
    variables: &Value,
    scope: &Scope,
) -> Value {
    if !matches!(written.kind, ExpressionKind::Traversal(..)) {
        return Value::error("the template of `templatestring` is not a reference");
    }
    let template = eval.eval(written, scope);
    let rendered = eval.lift(vec![template, variables.clone()], &mut |eval, values| {
        let [template, variables] = values.as_slice() else {
            return Value::null();
        };
        if let Some(unknown) = values.iter().find(|value| value.as_unknown().is_some()) {
            return unknown.clone();
        }
        let template = super::super::json::settled(eval.plain(template.clone()));
        // Values of other types are not converted to strings here.
        let is_text = !matches!(template.kind, ValueKind::Bool(_) | ValueKind::Number(_));
        let Some(text) = template.to_text().filter(|_| is_text) else {
            return super::refuse("templatestring", &[template]);
        };
        if !eval.spend(text.len() / 16 + 1) {
            return Value::beyond(super::super::eval::TOO_MANY_STEPS);
        }
        let span = template.span.unwrap_or(written.span);
        let rendered = match syntax::template(span, &text) {
            Ok(parsed) => eval.rendered(&Arc::new(parsed), variables, scope),
            Err(problem) => Some(Value::error(problem.message)),
        };
        rendered.unwrap_or_else(|| super::refuse("templatestring", &[template, variables.clone()]))
    });
    types::convert(&rendered, &Type::Text)
}

/// The reason why a file is not available.
enum Absent {
    Missing,
    Outside(Reason),
}

impl Evaluator<'_> {
    /// Returns the file that `path` refers to in `module`, if it may be read.
    fn locate(&self, path: &str, module: usize) -> Result<PathBuf, Absent> {
        let (root, own) = (
            &self.instances[0].module.directory,
            &self.instances[module].module.directory,
        );
        let outside = || Absent::Outside(Cause::Elsewhere.because(format!("`{path}` is outside the project")));
        if path.contains('\0') || path.starts_with('~') {
            return Err(outside());
        }
        // Terraform runs in the root module. A missing file outside of the bounds counts as outside, not as missing.
        let wanted = root.join(path);
        let files = self.sources.files();
        let modules = files.repository().is_none().then_some([root.as_path(), own]);
        let allowed = |path: &Path| {
            let mut bounds = files.bounds().chain(modules.into_iter().flatten());
            bounds.any(|bound| path.starts_with(bound))
        };
        match files.real(&wanted) {
            Ok(found) if allowed(&found) && files.allows(&found) => Ok(found),
            Ok(_) => Err(outside()),
            Err(_) if allowed(Path::new(&clean(&wanted.to_string_lossy()))) => Err(Absent::Missing),
            Err(_) => Err(outside()),
        }
    }

    /// Returns the name of the unit of the file `path`.
    pub(crate) fn named_file(&self, path: &str, module: usize) -> Option<String> {
        Some(self.sources.name_of(&self.locate(path, module).ok()?))
    }

    /// Like `locate`, with the value of what a file would contain that is not available.
    fn located(&self, path: &str, module: usize) -> Result<PathBuf, Value> {
        self.locate(path, module).map_err(|absent| match absent {
            Absent::Missing => Value::unknown(Cause::NotRead.because(format!("there is no file `{path}`"))),
            Absent::Outside(reason) => Value::unknown(reason),
        })
    }

    /// Returns the content of a file.
    pub(crate) fn contents(&mut self, path: &str, module: usize) -> Result<Vec<u8>, Value> {
        let found = self.located(path, module)?;
        let bytes = self
            .sources
            .files()
            .read(&found, limits::MAX_TEXT as u64)
            .map_err(|refusal| match refusal {
                Refusal::TooLarge(_) => {
                    Value::unknown(Cause::NotRead.because(format!("`{path}` has more than a megabyte")))
                }
                Refusal::NotAFile => Value::error(format!("`{path}` is not a file")),
                _ => Value::unknown(Cause::NotRead.because(format!("`{path}` cannot be read"))),
            })?;
        if !self.spend(bytes.len() / 64 + 16) {
            return Err(Value::beyond(super::super::eval::TOO_MANY_STEPS));
        }
        Ok(bytes)
    }

    fn template_file(&mut self, path: &str, variables: &Value, scope: &Scope) -> FunctionResult {
        let found = match self.located(path, scope.module) {
            Ok(found) => found,
            Err(refused) => return Some(refused),
        };
        if !self.templates.contains_key(&found) {
            let parsed = match self.contents(path, scope.module) {
                Ok(bytes) => match String::from_utf8(bytes) {
                    Ok(text) => {
                        let file = self.sources.add(&found, text);
                        // Other environments and calls render the same template.
                        let parsed = self.sources.file(file).derived(|text| {
                            syntax::template(Span::new(file, 0..text.len()), text)
                                .map(Arc::new)
                                .map_err(|problem| Arc::<str>::from(problem.message))
                        });
                        (*parsed).clone()
                    }
                    Err(_) => Err("it is not UTF-8".into()),
                },
                Err(refused) => return Some(refused),
            };
            self.templates.insert(found.clone(), parsed);
        }
        match self.templates.get(&found) {
            Some(Ok(template)) => {
                let template = template.clone();
                self.rendered(&template, variables, scope)
            }
            Some(Err(reason)) => Some(Value::unknown(
                Cause::NotRead.because(format!("the template `{path}` cannot be read: {reason}")),
            )),
            None => None,
        }
    }

    /// Renders a template with the entries of `given`.
    fn rendered(&mut self, template: &Arc<syntax::Expression>, variables: &Value, scope: &Scope) -> FunctionResult {
        // A template cannot read another one.
        if scope.alone {
            return None;
        }
        let scope = Scope {
            module: scope.module,
            names: variables.entries()?.to_vec(),
            key: scope.key.clone(),
            alone: true,
            tried: scope.tried,
            ..Scope::default()
        };
        // A template that consists of a single value, without text around it, has the type of that value.
        Some(self.eval(template, &scope)).filter(|value| !value.is_null())
    }

    fn file_set(&mut self, path: &str, pattern: &str, module: usize) -> Value {
        let root = match self.locate(path, module) {
            Ok(root) => root,
            Err(Absent::Missing) => return Value::set_of(Vec::new(), &Type::Text),
            Err(Absent::Outside(reason)) => return Value::unknown(reason),
        };
        let Some(pattern) = glob(pattern) else {
            return Value::unknown(Cause::Unsupported.because("a pattern of `fileset` is not supported"));
        };
        let mut names = Vec::new();
        let mut next = vec![(root, String::new(), 0)];
        let mut seen = 0;
        while let Some((directory, prefix, level)) = next.pop() {
            let Ok(listed) = self.sources.files().list(&directory) else {
                continue;
            };
            for entry in listed {
                seen += 1;
                if seen > limits::MAX_FILESET_ENTRIES || level > limits::MAX_FILESET_DEPTH || !self.spend(1) {
                    return self.reached("`fileset` looks at more than 20000 files");
                }
                let name = format!("{prefix}{}", entry.name.to_string_lossy());
                match entry.kind {
                    EntryKind::Directory => next.push((directory.join(&entry.name), format!("{name}/"), level + 1)),
                    EntryKind::File(_) if pattern.is_match(&name) => names.push(name),
                    // A symbolic link may point anywhere.
                    EntryKind::Link if pattern.is_match(&name) => {
                        return Value::unknown(Cause::Unsupported.because("`fileset` meets a symbolic link"));
                    }
                    _ => {}
                }
            }
        }
        names.sort();
        Value::set_of(names.into_iter().map(Value::text).collect(), &Type::Text)
    }
}

/// Converts a file name pattern to a regular expression.
fn glob(pattern: &str) -> Option<Regex> {
    let mut translated = String::from("^");
    let mut rest = pattern.strip_prefix("./").unwrap_or(pattern);
    let mut braces = 0_usize;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**/") {
            translated.push_str("(?:[^/]*/)*");
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix("**") {
            translated.push_str(".*");
            rest = after;
            continue;
        }
        match c {
            '*' => translated.push_str("[^/]*"),
            '?' => translated.push_str("[^/]"),
            '{' => {
                braces += 1;
                translated.push_str("(?:");
            }
            '}' if braces > 0 => {
                braces -= 1;
                translated.push(')');
            }
            ',' if braces > 0 => translated.push('|'),
            '[' | '\\' => return None,
            _ => translated.push_str(&regex::escape(&c.to_string())),
        }
        rest = rest.get(c.len_utf8()..)?;
    }
    translated.push('$');
    Regex::new(&translated).ok()
}

pub(crate) fn base(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    match (trimmed, path) {
        ("", "") => ".".to_owned(),
        ("", _) => "/".to_owned(),
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed).to_owned(),
    }
}

pub(crate) fn directory(path: &str) -> String {
    clean(
        path.rsplit_once('/')
            .map_or("", |(before, _)| if before.is_empty() { "/" } else { before }),
    )
}

/// Returns `path` relative to `base`.
pub(crate) fn relative(path: &Path, base: &Path) -> String {
    let shared = path
        .components()
        .zip(base.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = base.components().skip(shared).map(|_| "..".to_owned());
    let down = path
        .components()
        .skip(shared)
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<String> = up.chain(down).collect();
    if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join("/")
    }
}

/// Returns the shortest equivalent path.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let absolute = path.starts_with('/');
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            _ => parts.push(part),
        }
    }
    match (absolute, parts.join("/")) {
        (true, joined) => format!("/{joined}"),
        (false, joined) if joined.is_empty() => ".".to_owned(),
        (false, joined) => joined,
    }
}

impl Evaluator<'_> {
    /// Returns `path.module`, `path.root` or `path.cwd`.
    pub(crate) fn path(&mut self, module: usize, name: &str) -> Value {
        match name {
            "root" => Value::text("."),
            "module" => {
                let [root, own] = [0, module].map(|at| &self.instances[at].module.directory);
                Value::text(relative(own, root))
            }
            "cwd" => Value::unknown(Cause::RunContext.because("`path.cwd` is the working directory of a run")),
            _ => Value::unknown(Cause::Unsupported.because(format!("`path.{name}` is not supported"))),
        }
    }
}
