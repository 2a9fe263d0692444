//! The files of one module: the relevant files of a directory, their order, and what they declare.

use super::overrides::override_block;
use super::{AllowedDirectory, Module, declare, is_pinned_before_012};
use crate::inputs;
use crate::syntax::{self, Attribute, Block, Body, Expression, ExpressionKind, Fault, Problem};
use crate::value::Value;
use knowledge::Cause;
use source::reading::{self, ReadError, read_where};
use source::{Sources, Span};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Returns whether Terraform or `OpenTofu` reads blocks from a file of this name.
pub fn is_code(name: &str) -> bool {
    Code::of(name).is_some()
}

/// A file that contains blocks.
#[derive(Debug, Clone, Copy)]
struct Code<'n> {
    name: &'n str,
    /// The name without its extension.
    stem: &'n str,
    json: bool,
    /// `true` if only `OpenTofu` reads it, instead of the Terraform file with the same stem.
    tofu: bool,
}

impl<'n> Code<'n> {
    fn of(name: &'n str) -> Option<Self> {
        let endings = [
            (".tf", false, false),
            (".tf.json", true, false),
            (".tofu", false, true),
            (".tofu.json", true, true),
        ];
        let (end, json, tofu) = endings.into_iter().find(|(end, ..)| name.ends_with(end))?;
        let stem = name.strip_suffix(end)?;
        Some(Code { name, stem, json, tofu })
    }

    fn is_override(self) -> bool {
        self.stem == "override" || self.stem.ends_with("_override")
    }
}

/// Returns the files that contain blocks among the sorted `names`, in Terraform's order.
fn code<'n>(names: &'n [String]) -> Vec<Code<'n>> {
    let is_editors = |name: &str| name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'));
    let visible = names.iter().filter(|name| !name.starts_with('.') && !is_editors(name));
    let all: Vec<Code<'n>> = visible.filter_map(|name| Code::of(name)).collect();
    let replaced: BTreeSet<(&str, bool)> = all
        .iter()
        .filter(|code| code.tofu)
        .map(|code| (code.stem, code.json))
        .collect();
    all.into_iter()
        .filter(|code| code.tofu || !replaced.contains(&(code.stem, code.json)))
        .collect()
}

/// Returns the precedence of a variable file that Terraform loads automatically; `None` for other files.
fn settings_order(name: &str) -> Option<(u8, &str)> {
    match name {
        "terraform.tfvars" => Some((0, name)),
        "terraform.tfvars.json" => Some((1, name)),
        _ if name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json") => Some((2, name)),
        _ => None,
    }
}

/// Returns `true` if another program may generate a file with blocks from this one: `queues.tf.j2`.
fn is_template(name: &str) -> bool {
    let endings = [
        "erb", "gotmpl", "hbs", "j2", "jinja", "jinja2", "mustache", "template", "tmpl", "tpl",
    ];
    let (stem, ending) = name.rsplit_once('.').unwrap_or_default();
    endings.contains(&ending) && [".tf", ".tf.json", ".tofu"].iter().any(|code| stem.ends_with(code))
}

/// Reads the module in `directory`.
pub(crate) fn read_module(directory: &Path, sources: &Sources, bounds: &AllowedDirectory) -> Module {
    let mut module = Module {
        directory: directory.to_owned(),
        ..Module::default()
    };
    let mut names: Vec<String> = match sources.files().list(directory) {
        Ok(listed) => listed
            .into_iter()
            .map(|listed| listed.name.to_string_lossy().into_owned())
            .collect(),
        // The directory may not exist on disk yet if the editor has an unsaved file in it.
        Err(_) if overlaid(directory, sources).next().is_some() => Vec::new(),
        Err(error) => {
            let shown = sources.shown_of(directory);
            module.errors.push(format!("cannot read `{shown}`: {error}"));
            return module;
        }
    };
    names.extend(overlaid(directory, sources));
    names.sort();
    names.dedup();
    module.has_templates = names.iter().any(|name| is_template(name));
    let (overrides, primary): (Vec<Code<'_>>, Vec<Code<'_>>) =
        code(&names).into_iter().partition(|code| code.is_override());
    let mut blocks: Vec<Arc<Block>> = Vec::new();
    for code in primary {
        blocks.extend(read_file(code.name, Content::Blocks, sources, &mut module).blocks);
    }
    for code in overrides {
        let over = read_file(code.name, Content::Blocks, sources, &mut module);
        for block in over.blocks {
            override_block(&mut blocks, block);
        }
        if over.lost {
            for block in &mut blocks {
                syntax::doubt(Arc::make_mut(block));
            }
        }
    }
    let mut settings: Vec<&String> = names.iter().filter(|name| settings_order(name).is_some()).collect();
    settings.sort_by_key(|name| settings_order(name));
    for name in settings {
        let body = read_file(name, Content::Values, sources, &mut module);
        let file: Arc<str> = name.as_str().into();
        module
            .settings
            .extend(body.attributes.into_iter().map(|attribute| (file.clone(), attribute)));
        module.settings.extend(body.broken.map(|any| (file, any)));
    }
    report_old_syntax(&mut module, &blocks, sources);
    for block in blocks {
        declare(&mut module, block, bounds);
    }
    module
}

/// Reports Terraform 0.11 syntax: as a note if the module requires that version, otherwise as an error.
fn report_old_syntax(module: &mut Module, blocks: &[Arc<Block>], sources: &Sources) {
    let old = std::mem::take(&mut module.old);
    if is_pinned_before_012(blocks.iter()) {
        let files: BTreeSet<String> = old.iter().map(|problem| name_of(problem, sources)).collect();
        let notes = files
            .into_iter()
            .map(|file| format!("`{file}` is in the syntax of Terraform 0.11"));
        module.notes.extend(notes);
    } else {
        let reported = old
            .iter()
            .map(|problem| reading::Problem::invalid(problem.span, problem.message.as_str()));
        module.problems.extend(reported);
    }
}

fn name_of(problem: &Problem, sources: &Sources) -> String {
    sources.file(problem.span.file).base_name().to_owned()
}

/// Returns the files of `directory` whose text the editor overrides.
fn overlaid(directory: &Path, sources: &Sources) -> impl Iterator<Item = String> {
    let inside = sources
        .overlaid()
        .iter()
        .filter(move |path| path.parent() == Some(directory));
    inside.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
}

/// The content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Blocks of a module.
    Blocks,
    /// Values for variables.
    Values,
}

fn read_file(name: &str, content: Content, sources: &Sources, module: &mut Module) -> Body {
    let path = module.directory.join(name);
    let json = Path::new(name).extension().is_some_and(|ending| ending == "json");
    let in_comments = |text: &str| {
        let broken = text.match_indices(char::REPLACEMENT_CHARACTER).map(|(at, _)| at);
        !json && syntax::are_in_comments(text, broken)
    };
    let mut body = match read_where(&path, sources, in_comments) {
        Ok(file) => {
            let text = sources.file(file);
            let (body, problems) = match content {
                Content::Values => inputs::values(file, &text),
                Content::Blocks => {
                    let code = syntax::Code::of(file, &text);
                    (code.body.clone(), code.problems.clone())
                }
            };
            for problem in problems {
                match problem.fault {
                    Fault::Before012 => module.old.push(problem),
                    Fault::Limit | Fault::Syntax => module.problems.push(problem.into()),
                }
            }
            body
        }
        Err(error) => {
            let span = match error {
                ReadError::Io(error) => {
                    module.errors.push(error);
                    None
                }
                ReadError::Unfit(problem) => {
                    let span = problem.span;
                    module.problems.push(problem);
                    Some(span)
                }
            };
            let span = span.unwrap_or_else(|| Span::new(sources.add_unread(&path, ""), 0..0));
            Body {
                broken: Some(syntax::anything(span)),
                lost: true,
                ..Body::default()
            }
        }
    };
    if !body.lost {
        return body;
    }
    let reason = Cause::NotRead.because(format!("a part of `{name}` cannot be read"));
    match content {
        Content::Blocks => module.unread = module.unread.take().or(Some(reason)),
        Content::Values => {
            // The unreadable part may override any value of the preceding files.
            let anything = syntax::anything(first_place(&body, &path, sources));
            let value = ExpressionKind::Known(Box::new(Value::unknown(reason)));
            body.broken = Some(Attribute {
                value: Arc::new(Expression::new(value, anything.span)),
                ..anything
            });
        }
    }
    body
}

/// Returns the span to report for a file that is partly unreadable.
fn first_place(body: &Body, path: &Path, sources: &Sources) -> Span {
    let known = body.broken.as_ref().or(body.attributes.first());
    known.map_or_else(
        || Span::new(sources.add_unread(path, ""), 0..0),
        |attribute| attribute.span,
    )
}
