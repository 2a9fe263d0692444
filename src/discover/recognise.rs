//! The unit of one file, by its name and by what it begins with.

use super::Input;
use super::content::{self, Kind};
use super::names::{
    SAMCONFIG, TERRAGRUNT, holds_terraform, is_state, is_terraform, is_variables, may_be_template, name_of,
};
use crate::files::{Files, Kind as FileKind, Refusal};
use std::path::Path;

/// What tells where a CDK app was synthesised to.
pub(super) const MANIFEST: &str = "manifest.json";

/// CloudFormation takes 1 MB; what is far larger is read only when it is named.
pub(super) const LARGEST_TEMPLATE: u64 = 16 << 20;

/// What is said of a file that is nothing that can be checked.
pub(super) const NO_UNIT: &str = "is not something sqslint can check; it looks for Terraform (`*.tf`, `*.tofu`, `terragrunt.hcl`; `terraform show -json` of a \
    plan or state, a state file), a template (`AWSTemplateFormatVersion`, `Transform`, or `Resources` with an `AWS::` \
    type) and a `serverless.yml` (`service`, `provider` or `functions`)";

/// A plan that is larger is not read.
pub(super) const LARGEST_PLAN: u64 = 512 << 20;

/// What is said of a path that cannot be opened.
pub fn unreadable(path: &Path, refusal: &Refusal) -> String {
    match refusal {
        Refusal::Missing => format!("`{}`: no such file or directory", path.display()),
        other => format!("`{}`: {other}", path.display()),
    }
}

/// Whether a CDK app was synthesised to `directory`. A manifest in a `cdk.out` is one whatever it holds, so that
/// what is wrong with it is told.
pub(super) fn is_assembly(directory: &Path, files: &Files) -> bool {
    let manifest = directory.join(MANIFEST);
    if name_of(directory) == "cdk.out" {
        return files.is_file(&manifest);
    }
    let bytes = files.read(&manifest, LARGEST_TEMPLATE);
    bytes.is_ok_and(|bytes| content::kind(MANIFEST, &bytes) == Some(Kind::CloudAssembly))
}

/// The units that a changed file belongs to.
pub(super) fn touched_file(file: &Path, repository: Option<&Path>, files: &Files) -> Vec<Input> {
    let name = name_of(file);
    if is_variables(name) {
        // Variables of environments commonly lie below the module they are for.
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
    // Generated plans and clouds are judged where they are named.
    let input = named_file(file, file, files).ok();
    input
        .into_iter()
        .filter(|input| !matches!(input, Input::Plan(_) | Input::CdkApp(_)))
        .collect()
}

/// The templates in `directory`, and not below it.
pub(super) fn templates_in(directory: &Path, files: &Files) -> Vec<Input> {
    let listed = files.list(directory).unwrap_or_default().into_iter();
    let candidates = listed
        .map(|listed| directory.join(listed.name))
        .filter(|file| may_be_template(name_of(file)) && files.is_file(file));
    let inputs = candidates.filter_map(|file| recognise(&file, files).ok().flatten());
    inputs.filter(|input| matches!(input, Input::Template(_))).collect()
}

/// The unit of a file that was named.
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
    if let Some(("serverless", "ts" | "js" | "mjs" | "cjs")) = name.rsplit_once('.') {
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
    // A template that is too large for one is said to be when it is read.
    let read = match files.read(file, LARGEST_PLAN) {
        Err(Refusal::TooLarge(_)) => Err(head),
        read => Ok(read.map_err(|refusal| unreadable(shown, &refusal))?),
    };
    let (Ok(bytes) | Err(bytes)) = &read;
    let found = input_of(file, bytes).or_else(|| renamed_service(file, bytes));
    let found = found.ok_or_else(|| format!("`{}` {NO_UNIT}", shown.display()))?;
    if let Ok(whole) = read {
        hold(&found, whole, files);
    }
    Ok(found)
}

/// A service of the Serverless Framework under another name than its own: `serverless.example.yml`.
fn renamed_service(file: &Path, bytes: &[u8]) -> Option<Input> {
    let name = name_of(file).strip_prefix("serverless")?;
    let (_, ending) = name.rsplit_once('.')?;
    let is_service = content::kind(&format!("serverless.{ending}"), bytes) == Some(Kind::Serverless);
    is_service.then(|| Input::ServerlessService(file.to_owned()))
}

/// The unit that a file with these bytes is, by what they hold.
pub(crate) fn input_of(file: &Path, bytes: &[u8]) -> Option<Input> {
    match content::kind(name_of(file), bytes)? {
        Kind::Template => Some(Input::Template(file.to_owned())),
        Kind::Serverless => Some(Input::ServerlessService(file.to_owned())),
        Kind::Plan => Some(Input::Plan(file.to_owned())),
        Kind::CloudAssembly => file.parent().map(|directory| Input::CdkApp(directory.to_owned())),
    }
}

/// The first bytes of a file.
pub(super) fn head(file: &Path, files: &Files) -> Result<Vec<u8>, Refusal> {
    files.head(file, u64::try_from(content::HEAD).unwrap_or(u64::MAX))
}

pub(super) fn recognise(file: &Path, files: &Files) -> Result<Option<Input>, String> {
    let is_large = matches!(files.kind(file), Some(FileKind::File(size)) if size > LARGEST_TEMPLATE);
    if is_large || is_state(name_of(file)) {
        let head = head(file, files).map_err(|refusal| unreadable(file, &refusal))?;
        let plan = content::is_plan(&head).then(|| Input::Plan(file.to_owned()));
        return Ok(plan.or_else(|| input_of(file, &head)));
    }
    let bytes = files
        .read(file, LARGEST_TEMPLATE)
        .map_err(|refusal| unreadable(file, &refusal))?;
    // The templates of an assembly are found by themselves; its manifest leads to them where it is named.
    let input = input_of(file, &bytes).filter(|input| !matches!(input, Input::CdkApp(_)));
    if let Some(input) = &input {
        hold(input, bytes, files);
    }
    Ok(input)
}

/// Keeps the whole text of what is about to be read as `input`.
fn hold(input: &Input, bytes: Vec<u8>, files: &Files) {
    if let Input::Template(path) | Input::ServerlessService(path) = input {
        files.hold(path, bytes);
    }
}
