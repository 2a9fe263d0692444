//! Determines the unit of a single file from its name and the beginning of its content.

use super::Input;
use super::content::{self, Kind};
use super::names::{
    SAMCONFIG, SERVICES, TERRAGRUNT, holds_terraform, is_service_in_code, is_state, is_terraform, is_variables,
    may_be_template, name_of,
};
use super::walk::ASSEMBLY;
use source::files::{EntryKind, Files, Refusal};
use std::path::Path;

/// File name that marks the output directory of a CDK app.
pub(super) const MANIFEST: &str = "manifest.json";

/// Maximum size of a template that a walk reads, in bytes. CloudFormation accepts 1 MB; much larger files are read only
/// if they are named.
pub(super) const LARGEST_TEMPLATE: u64 = 16 << 20;

/// Message for a plan that is not the output of `terraform show`.
pub(super) const UNSHOWN_PLAN: &str = "is a plan that sqslint cannot read; save it with `terraform plan -out=FILE`, and check the output of \
                                       `terraform show -json FILE`";
/// Message for a file that sqslint cannot check.
pub(super) const NO_UNIT: &str = "is not something sqslint can check; it looks for Terraform (`*.tf`, `*.tofu`, `terragrunt.hcl`; `terraform show -json` of a \
    plan or state, a state file), a template (`AWSTemplateFormatVersion`, `Transform`, or `Resources` with an `AWS::` \
    type) and a `serverless.yml` (`service`, `provider` or `functions`)";

/// Maximum size of a plan, in bytes.
pub(super) const LARGEST_PLAN: u64 = 512 << 20;

/// Describes why a path cannot be opened.
pub fn unreadable(path: &Path, refusal: &Refusal) -> String {
    match refusal {
        Refusal::Missing => format!("`{}`: no such file or directory", path.display()),
        other => format!("`{}`: {other}", path.display()),
    }
}

/// Returns `true` if `directory` is the output of a CDK app. A manifest in a `cdk.out` counts whatever its content, so
/// that errors in it are reported.
pub(super) fn is_assembly(directory: &Path, files: &Files) -> bool {
    let manifest = directory.join(MANIFEST);
    if name_of(directory) == ASSEMBLY {
        return files.is_file(&manifest);
    }
    has_manifest(directory, files)
}

/// Returns `true` if `directory` has the manifest of a CDK app.
pub(super) fn has_manifest(directory: &Path, files: &Files) -> bool {
    let bytes = files.read(&directory.join(MANIFEST), LARGEST_TEMPLATE);
    bytes.is_ok_and(|bytes| content::kind(MANIFEST, &bytes) == Some(Kind::CloudAssembly))
}

/// Returns the units that a changed file belongs to.
pub(super) fn touched_file(file: &Path, repository: Option<&Path>, files: &Files) -> Vec<Input> {
    let name = name_of(file);
    if is_variables(name) {
        // Variable files of environments are often in directories below their module.
        let above = file
            .ancestors()
            .skip(1)
            .take_while(|above| repository.is_none_or(|root| above.starts_with(root)));
        let module = above.into_iter().find(|above| holds_terraform(above, files));
        return module
            .map(|module| Input::TerraformModule(module.to_owned()))
            .into_iter()
            .collect();
    }
    if is_terraform(name) {
        let directory = file.parent().filter(|directory| holds_terraform(directory, files));
        return directory
            .map(|directory| Input::TerraformModule(directory.to_owned()))
            .into_iter()
            .collect();
    }
    if SAMCONFIG.contains(&name) {
        return file
            .parent()
            .map_or_else(Vec::new, |directory| templates_in(directory, files));
    }
    if !files.is_file(file) || !(may_be_template(name) || name == TERRAGRUNT) {
        return Vec::new();
    }
    // Generated plans and cloud assemblies are checked only if they are named.
    let input = named_file(file, file, files).ok();
    input
        .into_iter()
        .filter(|input| !matches!(input, Input::Plan(_) | Input::Snapshot(_) | Input::CdkApp(_)))
        .collect()
}

/// Returns the templates directly in `directory`.
pub(super) fn templates_in(directory: &Path, files: &Files) -> Vec<Input> {
    let listed = files.list(directory).unwrap_or_default().into_iter();
    let candidates = listed
        .map(|listed| directory.join(listed.name))
        .filter(|file| may_be_template(name_of(file)) && files.is_file(file));
    let inputs = candidates.filter_map(|file| recognise(&file, files).ok().flatten());
    inputs.filter(|input| matches!(input, Input::Template(_))).collect()
}

/// Returns the unit of a file that the user named.
pub(super) fn named_file(file: &Path, shown: &Path, files: &Files) -> Result<Input, String> {
    let name = name_of(file);
    let directory = file.parent().filter(|_| is_terraform(name) || is_variables(name));
    if let Some(directory) = directory {
        if is_terraform(name) || holds_terraform(directory, files) {
            return Ok(Input::TerraformModule(directory.to_owned()));
        }
        return Err(format!(
            "`{0}`: there is no Terraform file (`*.tf`, `*.tofu`) beside it; `--var-file {0}` gives its values to a module",
            shown.display()
        ));
    }
    if is_service_in_code(name) {
        return Err(format!(
            "`{}` is code, which sqslint does not run; package the service and name the template in `.serverless`",
            shown.display()
        ));
    }
    if name == TERRAGRUNT {
        return Ok(Input::Terragrunt(file.to_owned()));
    }
    let head = head(file, files).map_err(|refusal| unreadable(shown, &refusal))?;
    if content::is_plan(&head) {
        return Ok(Input::Plan(file.to_owned()));
    }
    // A template that is too large is reported when it is read.
    let read = match files.read(file, LARGEST_PLAN) {
        Err(Refusal::TooLarge(_)) => Err(head),
        read => Ok(read.map_err(|refusal| unreadable(shown, &refusal))?),
    };
    let (Ok(bytes) | Err(bytes)) = &read;
    let found = input_of(file, bytes).or_else(|| renamed_service(file, bytes));
    let found = found.ok_or_else(|| {
        let is_plan = content::is_unshown_plan(bytes);
        format!("`{}` {}", shown.display(), if is_plan { UNSHOWN_PLAN } else { NO_UNIT })
    })?;
    if let Ok(whole) = read {
        hold(&found, whole, files);
    }
    Ok(found)
}

/// Returns the unit of a Serverless Framework service in a renamed file, such as `serverless.example.yml`.
fn renamed_service(file: &Path, bytes: &[u8]) -> Option<Input> {
    let name = name_of(file).strip_prefix("serverless")?;
    let (_, ending) = name.rsplit_once('.')?;
    let is_service = content::kind(&format!("serverless.{ending}"), bytes) == Some(Kind::Serverless);
    is_service.then(|| Input::ServerlessService(file.to_owned()))
}

/// Returns the unit of a service that is deployed from a file next to a `serverless.yml`, such as
/// `serverless.prod.yml`. A part of another service lacks the service's name or its provider.
fn service_of_stage(file: &Path, bytes: &[u8], files: &Files) -> Option<Input> {
    let service = renamed_service(file, bytes)?;
    let is_beside = |name: &&str| files.is_file(&file.with_file_name(name));
    let is_whole = content::is_whole_service(bytes) && SERVICES.iter().any(is_beside);
    is_whole.then_some(service)
}

/// Returns the unit that a file with these bytes is.
pub(crate) fn input_of(file: &Path, bytes: &[u8]) -> Option<Input> {
    match content::kind(name_of(file), bytes)? {
        Kind::Template => Some(Input::Template(file.to_owned())),
        Kind::Serverless => Some(Input::ServerlessService(file.to_owned())),
        Kind::Plan => Some(Input::Plan(file.to_owned())),
        Kind::Snapshot => Some(Input::Snapshot(file.to_owned())),
        Kind::CloudAssembly => file.parent().map(|directory| Input::CdkApp(directory.to_owned())),
    }
}

/// Reads the first bytes of a file.
pub(super) fn head(file: &Path, files: &Files) -> Result<Vec<u8>, Refusal> {
    files.head(file, u64::try_from(content::HEAD).unwrap_or(u64::MAX))
}

pub(super) fn recognise(file: &Path, files: &Files) -> Result<Option<Input>, String> {
    let is_large = matches!(files.kind(file), Some(EntryKind::File(size)) if size > LARGEST_TEMPLATE);
    if is_large || is_state(name_of(file)) {
        let head = head(file, files).map_err(|refusal| unreadable(file, &refusal))?;
        let plan = content::is_plan(&head).then(|| Input::Plan(file.to_owned()));
        return Ok(plan.or_else(|| input_of(file, &head)));
    }
    let bytes = files
        .read(file, LARGEST_TEMPLATE)
        .map_err(|refusal| unreadable(file, &refusal))?;
    // A walk finds the templates of an assembly themselves; its manifest is a unit only if it is named.
    let input = input_of(file, &bytes).or_else(|| service_of_stage(file, &bytes, files));
    let input = input.filter(|input| !matches!(input, Input::CdkApp(_)));
    if let Some(input) = &input {
        hold(input, bytes, files);
    }
    Ok(input)
}

/// Caches the bytes of a file that is about to be read as `input`.
fn hold(input: &Input, bytes: Vec<u8>, files: &Files) {
    if let Input::Template(path) | Input::ServerlessService(path) = input {
        files.store_read_ahead(path, bytes);
    }
}
