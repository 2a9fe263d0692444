//! Parameters that a `serverless-compose.yml` sets for its services, and the outputs of other services in them:
//! `params: {queueArn: "${queues.QueueArn}"}`.
//! <https://www.serverless.com/framework/docs/guides/compose>

use super::resolve::{Resolved, Resolver, UNRESOLVED};
use super::variables::UNIT_OUTPUT;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::Node;

const FILES: [&str; 2] = ["serverless-compose.yml", "serverless-compose.yaml"];
const SERVICES: [&str; 2] = ["serverless.yml", "serverless.yaml"];
/// Maximum number of directories above a service that are searched.
const MAX_PARENTS: usize = 4;

impl Resolver<'_> {
    /// Returns the parameter `name` that the compose file sets for this service.
    pub(super) fn composed(&mut self, name: &str) -> Resolved {
        let Some((root, services)) = self.compose_file() else {
            return Resolved::Missing;
        };
        let path_of = |service: &Node| service.get("path").and_then(Node::as_str).map(|path| root.join(path));
        let all = services.entries().unwrap_or_default();
        let mut own = all.iter().filter(|service| {
            let path = path_of(&service.value).and_then(|path| self.sources.files().real(&path).ok());
            path.as_ref() == Some(&self.directory)
        });
        let Some(value) = own.find_map(|service| service.value.get("params")?.get(name)) else {
            return Resolved::Missing;
        };
        let Some(variable) = value.as_str().filter(|text| text.contains("${")) else {
            return Resolved::Value(value.clone(), Vec::new());
        };
        let inner = variable.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
        let Some((service, output)) = inner.and_then(|text| text.split_once('.')) else {
            return UNRESOLVED;
        };
        let Some(directory) = services.get(service).and_then(path_of) else {
            return UNRESOLVED;
        };
        let files = SERVICES
            .iter()
            .filter_map(|file| self.sources.files().real(&directory.join(file)).ok());
        let unit = files.map(|file| self.sources.name_of(&file)).next();
        unit.map_or(UNRESOLVED, |unit| {
            Resolved::Unresolved(Some(format!("${{{UNIT_OUTPUT}:{unit}#{output}}}").into()))
        })
    }

    /// Returns the directory of the compose file above the service, and its services.
    fn compose_file(&mut self) -> Option<(PathBuf, Node)> {
        let above: Vec<PathBuf> = self
            .directory
            .ancestors()
            .skip(1)
            .take(MAX_PARENTS)
            .map(Path::to_owned)
            .collect();
        let files = above
            .iter()
            .flat_map(|directory| FILES.map(|name| directory.join(name)));
        let allowed = self.sources.files().clone();
        let mut found = files.filter(|file| allowed.contains(file) && allowed.is_file(file));
        let file = found.next()?;
        let content: Arc<Node> = self.content(&file)?;
        Some((file.parent()?.to_owned(), content.get("services")?.clone()))
    }
}
