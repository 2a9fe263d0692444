//! Addresses of remote modules: parses every spelling of a `source` to a package of the public registry.
//!
//! The Git address of a module's repository on GitHub refers to the same package. Nothing is fetched.

use std::sync::Arc;

/// Registries that serve the public modules.
const HOSTS: [&str; 2] = ["registry.terraform.io", "registry.opentofu.org"];

/// A module in a public registry, or its repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// `namespace/name/provider`.
    pub(crate) package: Arc<str>,
    /// The directory after `//`; empty for the package itself.
    pub(crate) submodule: Arc<str>,
    pub(crate) revision: Revision,
}

/// The source of the version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Revision {
    /// The `version` argument.
    Argument,
    /// The tag, branch or commit after `?ref=`.
    Named(Arc<str>),
    /// The newest commit of a repository.
    Head,
}

impl Address {
    /// Parses a `source`; `None` if it does not refer to a package of a public registry.
    pub(super) fn read(source: &str) -> Option<Address> {
        let source = source.trim();
        repository(source).or_else(|| registry(source))
    }

    /// Returns the address as the registry shows it.
    pub(super) fn shown(&self) -> String {
        match &*self.submodule {
            "" => self.package.to_string(),
            inner => format!("{}//{inner}", self.package),
        }
    }
}

fn registry(source: &str) -> Option<Address> {
    let (package, submodule) = split_submodule(source);
    let parts: Vec<&str> = package.split('/').collect();
    let parts = match parts.as_slice() {
        [host, rest @ ..] if rest.len() == 3 && HOSTS.contains(host) => rest,
        rest => rest,
    };
    let [namespace, name, provider] = parts else {
        return None;
    };
    let plain = |part: &&str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    [namespace, name, provider].into_iter().all(plain).then(|| Address {
        package: format!("{namespace}/{name}/{provider}").into(),
        submodule: submodule.into(),
        revision: Revision::Argument,
    })
}

/// Parses `git::https://github.com/acme/terraform-aws-queue.git//modules/x?ref=v1` and its other spellings.
fn repository(source: &str) -> Option<Address> {
    let (address, query) = source.split_once('?').unwrap_or((source, ""));
    let rest = address.strip_prefix("git::").unwrap_or(address);
    let rest = ["https://", "http://", "ssh://", "git://"]
        .iter()
        .find_map(|scheme| rest.strip_prefix(scheme))
        .unwrap_or(rest);
    let rest = rest.strip_prefix("git@").unwrap_or(rest);
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    let path = rest.strip_prefix("github.com")?;
    let path = path.strip_prefix('/').or_else(|| path.strip_prefix(':'))?;
    let (path, submodule) = split_submodule(path);
    let (namespace, name) = path.split_once('/')?;
    let name = name.strip_suffix(".git").unwrap_or(name);
    let (provider, name) = name.strip_prefix("terraform-")?.split_once('-')?;
    if name.contains('/') {
        return None;
    }
    let revision = query.split('&').find_map(|pair| pair.strip_prefix("ref="));
    Some(Address {
        package: format!("{namespace}/{name}/{provider}").into(),
        submodule: submodule.into(),
        revision: revision.map_or(Revision::Head, |name| Revision::Named(name.into())),
    })
}

fn split_submodule(source: &str) -> (&str, &str) {
    let (package, inner) = source.split_once("//").unwrap_or((source, ""));
    (package, inner.trim_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_source_is_parsed_to_its_package() {
        let table = [
            (
                "terraform-aws-modules/sqs/aws",
                "terraform-aws-modules/sqs/aws",
                "argument",
            ),
            (
                "registry.terraform.io/terraform-aws-modules/sqs/aws",
                "terraform-aws-modules/sqs/aws",
                "argument",
            ),
            (
                "registry.opentofu.org/terraform-aws-modules/sqs/aws",
                "terraform-aws-modules/sqs/aws",
                "argument",
            ),
            (
                "terraform-aws-modules/lambda/aws//modules/alias",
                "terraform-aws-modules/lambda/aws//modules/alias",
                "argument",
            ),
            (
                "github.com/terraform-aws-modules/terraform-aws-sqs",
                "terraform-aws-modules/sqs/aws",
                "head",
            ),
            (
                "git::https://github.com/terraform-aws-modules/terraform-aws-sqs.git?ref=v4.2.0",
                "terraform-aws-modules/sqs/aws",
                "v4.2.0",
            ),
            (
                "git::ssh://git@github.com/terraform-aws-modules/terraform-aws-sqs.git?depth=1&ref=4.0.0",
                "terraform-aws-modules/sqs/aws",
                "4.0.0",
            ),
            (
                "git@github.com:cloudposse/terraform-aws-sns-topic.git",
                "cloudposse/sns-topic/aws",
                "head",
            ),
            (
                "git::https://github.com/cloudposse/terraform-aws-lambda-function.git//modules/x?ref=a",
                "cloudposse/lambda-function/aws//modules/x",
                "a",
            ),
        ];
        for (source, package, revision) in table {
            let address = Address::read(source).expect(source);
            assert_eq!(address.shown(), package, "{source}");
            let shown = match address.revision {
                Revision::Argument => "argument".into(),
                Revision::Named(name) => name,
                Revision::Head => "head".into(),
            };
            assert_eq!(&*shown, revision, "{source}");
        }
    }

    #[test]
    fn other_sources_are_not_packages() {
        for source in [
            "",
            "sqs",
            "acme/sqs",
            "app.terraform.io/acme/sqs/aws",
            "s3::https://s3.amazonaws.com/b/m.zip",
            "https://example.com/m.zip",
            "git::https://gitlab.com/terraform-aws-modules/terraform-aws-sqs.git",
            "github.com/acme/infrastructure//queue",
            "a/b/c/d/e",
            "a/b/${var.c}",
            "//",
            "github.com",
        ] {
            assert_eq!(Address::read(source), None, "{source}");
        }
    }
}
