//! Reads the output of `cdk synth`: the stacks that `manifest.json` names, those of its stages (assemblies in
//! subdirectories) and the templates of nested stacks, which are assets of their parents.
//!
//! It finds the templates and the environment that each deploys to; it does not interpret the templates. Nothing
//! outside the directory is read, whatever a manifest names.
//! <https://github.com/aws/aws-cdk-cli/tree/main/packages/%40aws-cdk/cloud-assembly-schema>

use super::parameters::Values;
use super::unit::{Unit, UnitKind};
use crate::limits;
use source::reading::{Problem, ReadError, read};
use source::{Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::parsed;
use trees::{Entry, Node};

/// Target of a stack, as stated by its app.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Environment {
    account: Option<String>,
    region: Option<String>,
    /// Name of the stack.
    stack: Option<String>,
    /// Constructs of resources, by logical id.
    constructs: BTreeMap<String, Arc<str>>,
}

impl Environment {
    /// Parses `aws://account/region`; an environment-agnostic app has `unknown-account` and `unknown-region`.
    fn parse(text: &str) -> Environment {
        let (account, region) = text
            .strip_prefix("aws://")
            .and_then(|rest| rest.split_once('/'))
            .unwrap_or_default();
        let known = |part: &str| (!part.is_empty() && !part.starts_with("unknown-")).then(|| part.to_owned());
        Environment {
            account: known(account),
            region: known(region),
            ..Environment::default()
        }
    }

    /// Returns the name of the stack, or `None` for a nested stack.
    pub(crate) fn stack(&self) -> Option<&str> {
        self.stack.as_deref()
    }

    /// Returns the construct of the resource `id`.
    pub(crate) fn construct(&self, id: &str) -> Option<&Arc<str>> {
        self.constructs.get(id)
    }

    /// Sets the account and the Region; values that the app does not state stay unchanged.
    pub(crate) fn settle(&self, values: &mut Values) {
        let known = |part: &Option<String>| part.as_deref().map(Arc::from);
        values.account = known(&self.account).or(values.account.take());
        values.region = known(&self.region).or(values.region.take());
    }
}

/// Returns the files that list the assets of `stack`: artifacts that it depends on.
fn asset_manifests<'a>(stack: &'a Node, all: &'a [Entry]) -> impl Iterator<Item = &'a str> {
    let needed = stack.get("dependencies").and_then(Node::items).unwrap_or_default();
    let needed: BTreeSet<&str> = needed.iter().filter_map(Node::as_str).collect();
    let needed = all.iter().filter(move |artifact| needed.contains(&*artifact.key));
    needed.filter_map(|artifact| {
        let is_list = artifact.value.get("type").and_then(Node::as_str) == Some("cdk:asset-manifest");
        artifact
            .value
            .get("properties")?
            .get("file")?
            .as_str()
            .filter(|_| is_list)
    })
}

/// The templates of an app, and the manifests that could not be read.
#[derive(Debug, Default)]
pub struct App {
    /// Templates with their environments.
    pub stacks: BTreeMap<PathBuf, Environment>,
    /// A unit with diagnostics for each faulty manifest.
    pub broken: Vec<Unit>,
}

/// Reads the manifests below `directory`.
pub fn read_app(directory: &Path, sources: &Sources) -> App {
    let mut reader = AppReader {
        root: directory,
        sources,
        seen: BTreeSet::new(),
        app: App::default(),
    };
    reader.assembly(directory, 0);
    reader.app
}

struct AppReader<'a> {
    /// Directory outside which nothing is read.
    root: &'a Path,
    sources: &'a Sources,
    /// Assemblies already read.
    seen: BTreeSet<PathBuf>,
    app: App,
}

impl AppReader<'_> {
    /// Reads the manifest in `directory`.
    fn assembly(&mut self, directory: &Path, depth: usize) {
        if !self.seen.insert(directory.to_owned()) {
            return;
        }
        let path = directory.join("manifest.json");
        let mut unit = Unit::new(self.sources.name_of(&path), UnitKind::CdkStack, None);
        match read(&path, self.sources) {
            Err(ReadError::Io(error)) => unit.errors.push(error),
            Err(ReadError::Unfit(problem)) => unit.problems.push(problem),
            Ok(file) => {
                let source = self.sources.file(file);
                let parsed = parsed::settings(file, &source);
                unit.problems.extend(parsed.problems());
                let root = parsed.documents.first();
                let artifacts = root.and_then(|root| root.get("artifacts")?.entries());
                match (root, artifacts) {
                    (_, Some(artifacts)) => {
                        for artifact in artifacts {
                            if let Err((span, message)) = self.artifact(artifact, artifacts, directory, depth) {
                                unit.problems.push(Problem::invalid(span, message));
                            }
                        }
                    }
                    (Some(root), None) => {
                        let message = "it has no `artifacts`, so it is not the manifest of a CDK app";
                        unit.problems.push(Problem::invalid(root.span, message));
                    }
                    (None, None) => {}
                }
            }
        }
        if !(unit.problems.is_empty() && unit.errors.is_empty()) {
            self.app.broken.push(unit);
        }
    }

    /// Reads a stack or a stage; returns an error with its span.
    fn artifact(
        &mut self,
        artifact: &Entry,
        all: &[Entry],
        directory: &Path,
        depth: usize,
    ) -> Result<(), (Span, String)> {
        let (id, artifact) = (&artifact.key, &artifact.value);
        let kind = artifact.get("type").and_then(Node::as_str).unwrap_or_default();
        let key = match kind {
            "aws:cloudformation:stack" => "templateFile",
            "cdk:cloud-assembly" => "directoryName",
            _ => return Ok(()),
        };
        let Some(named) = artifact.get("properties").and_then(|properties| properties.get(key)) else {
            return Err((artifact.span, format!("an artifact of type `{kind}` has no `{key}`")));
        };
        let file = named.as_str().unwrap_or_default();
        let path = self
            .inside(directory, file)
            .map_err(|message| (named.span, format!("`{file}` {message}")))?;
        if key == "directoryName" {
            if depth >= limits::MAX_ASSEMBLY_DEPTH {
                return Err((
                    named.span,
                    format!("assemblies are nested deeper than {}", limits::MAX_ASSEMBLY_DEPTH),
                ));
            }
            self.assembly(&path, depth + 1);
        } else {
            let environment = artifact.get("environment").and_then(Node::as_str).unwrap_or_default();
            let environment = Environment::parse(environment);
            let name = artifact
                .get("properties")
                .and_then(|properties| properties.get("stackName"));
            let of_stack = Environment {
                stack: Some(name.and_then(Node::as_str).unwrap_or(id).to_owned()),
                constructs: self.constructs(artifact, directory),
                ..environment.clone()
            };
            self.stack(path, &of_stack);
            for manifest in asset_manifests(artifact, all) {
                let nested = self.inside(directory, manifest).map(|manifest| self.nested(&manifest));
                for template in nested.unwrap_or_default() {
                    self.stack(template, &environment);
                }
            }
        }
        Ok(())
    }

    /// Returns the construct of each resource of a stack, from the manifest or from its metadata file.
    fn constructs(&self, artifact: &Node, directory: &Path) -> BTreeMap<String, Arc<str>> {
        let mut all = BTreeMap::new();
        add_constructs(artifact.get("metadata"), &mut all);
        let beside = artifact.get("additionalMetadataFile").and_then(Node::as_str);
        let beside = beside.and_then(|name| self.inside(directory, name).ok());
        let read = beside.and_then(|path| read(&path, self.sources).ok());
        if let Some(file) = read {
            let parsed = parsed::settings(file, &self.sources.file(file));
            add_constructs(parsed.documents.first(), &mut all);
        }
        all
    }

    /// Resolves `name` relative to `directory`, following symbolic links, if it is inside the app.
    fn inside(&self, directory: &Path, name: &str) -> Result<PathBuf, &'static str> {
        let files = self.sources.files();
        let path = files
            .real(&directory.join(name))
            .or_else(|_| files.real(&self.in_other_case(directory, name).unwrap_or_default()))
            .map_err(|_| "is not there")?;
        if name.is_empty() || !path.starts_with(self.root) {
            return Err("lies outside the app and is not read");
        }
        Ok(path)
    }

    /// Returns the only file in `directory` whose name differs from `name` in its case: on macOS and Windows `cdk synth`
    /// overwrites the file of a stack that was renamed from `Orders-Dev` to `Orders-dev`.
    fn in_other_case(&self, directory: &Path, name: &str) -> Option<PathBuf> {
        let listed = self.sources.files().list(directory).ok()?;
        let mut same = listed.iter().filter(|entry| entry.name.eq_ignore_ascii_case(name));
        let only = same.next().filter(|_| same.next().is_none())?;
        Some(directory.join(&only.name))
    }

    /// Returns the templates of nested stacks among the assets that `manifest` lists.
    fn nested(&self, manifest: &Path) -> Vec<PathBuf> {
        let (Some(directory), Ok(file)) = (manifest.parent(), read(manifest, self.sources)) else {
            return Vec::new();
        };
        let parsed = parsed::settings(file, &self.sources.file(file));
        let root = parsed.documents.first();
        let assets = root.and_then(|root| root.get("files")?.entries()).unwrap_or_default();
        let paths = assets.iter().filter_map(|asset| {
            let path = asset.value.get("source")?.get("path")?.as_str()?;
            let is_template = path.ends_with(".template.json");
            is_template.then(|| self.inside(directory, path).ok()).flatten()
        });
        paths.collect()
    }

    fn stack(&mut self, template: PathBuf, environment: &Environment) {
        if self.app.stacks.len() < limits::MAX_ASSEMBLY_STACKS {
            self.app.stacks.entry(template).or_insert_with(|| environment.clone());
        }
    }
}

/// Adds the logical ids in `metadata`, which is a list of entries per construct.
fn add_constructs(metadata: Option<&Node>, all: &mut BTreeMap<String, Arc<str>>) {
    for construct in metadata.and_then(Node::entries).unwrap_or_default() {
        let entries = construct.value.items().unwrap_or_default().iter();
        let ids = entries.filter(|entry| entry.get("type").and_then(Node::as_str) == Some("aws:cdk:logicalId"));
        let path = construct.key.trim_start_matches('/');
        let path: Arc<str> = path.strip_suffix("/Resource").unwrap_or(path).into();
        for id in ids.filter_map(|entry| entry.get("data")?.as_str()) {
            all.insert(id.to_owned(), path.clone());
        }
    }
}

/// Returns the path of the asset `hash`, from the asset list of the stack whose template is `template`.
pub(crate) fn asset(hash: &str, template: &Path, sources: &Sources) -> Option<String> {
    let stack = template.file_name()?.to_str()?.strip_suffix(".template.json")?;
    let list = template.with_file_name(format!("{stack}.assets.json"));
    let file = read(&list, sources).ok()?;
    let parsed = parsed::settings(file, &sources.file(file));
    let asset = parsed.documents.first()?.get("files")?.get(hash)?;
    Some(asset.get("source")?.get("path")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests;
