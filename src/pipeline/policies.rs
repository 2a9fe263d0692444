//! Maps units to their configurations.

use crate::config::Config;
use crate::graph::{Graph, UnitId};
use crate::rules::{self, Settings};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Configurations by unit.
#[derive(Debug, Default, Clone)]
pub(crate) struct Policies {
    by_name: FxHashMap<String, Arc<Config>>,
    built_in: Arc<Config>,
}

impl Policies {
    pub(crate) fn insert(&mut self, unit: &str, config: Arc<Config>) {
        self.by_name.insert(unit.to_owned(), config);
    }

    /// Sets the configuration for findings about a file that belongs to no unit.
    pub(crate) fn insert_missing(&mut self, unit: &str, config: Arc<Config>) {
        self.by_name.entry(unit.to_owned()).or_insert(config);
    }

    /// Returns `true` if there is a unit named `unit`.
    pub(crate) fn knows(&self, unit: &str) -> bool {
        self.by_name.contains_key(unit)
    }

    /// Returns the configuration of the unit named `unit`.
    pub(crate) fn of(&self, unit: &str) -> &Config {
        self.by_name.get(unit).unwrap_or(&self.built_in)
    }

    /// Returns the settings of the rules, by unit.
    pub(super) fn settings(&self, graph: &Graph) -> Settings {
        let mut settings = Settings::default();
        for (at, unit) in graph.units().iter().enumerate() {
            let config = self.of(&unit.name);
            let id = UnitId(u32::try_from(at).unwrap_or(u32::MAX));
            for rule in rules::RULES {
                let values = config.rule(rule).map(|set| &set.values);
                for setting in rule.settings {
                    if let Some(value) = values.and_then(|values| values.get(setting.name)) {
                        settings.set(id, rule.id, setting.name, *value);
                    }
                }
            }
        }
        settings
    }
}
