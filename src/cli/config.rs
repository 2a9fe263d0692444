//! Defines the configuration flags, `sqslint config` and `sqslint init`.

mod workers;

use super::{Exit, Streams};
use clap::{Args, Subcommand};
use source::Span;
use source::files::{self, Files};
use sqslint::config::{Config, Configs, FailLevel, NAMES, SCHEMA, Source};
use sqslint::published::Published;
use sqslint::report::{counted, printable, printable_error};
use sqslint::rules::{RULES, Rule};
use sqslint::{Options, check};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// File that `sqslint init` writes, without the settings of the rules.
const TEMPLATE: &str = include_str!("config/sqslint.toml");

/// Placeholder in the template for the settings of the rules.
const RULE_SETTINGS: &str = "# {rules}\n";

/// Maximum column at which the origins are aligned.
const WIDEST: usize = 90;

#[derive(Debug, Clone, Args)]
pub(super) struct ConfigArgs {
    /// Use this file instead of the nearest sqslint.toml, or override one key (repeatable)
    #[arg(
        long,
        value_name = "PATH|KEY=VALUE",
        env = "SQSLINT_CONFIG",
        hide_env_values = true,
        help_heading = "Config"
    )]
    config: Vec<String>,
    /// Use no configuration file, not even a named one
    #[arg(long, help_heading = "Config")]
    isolated: bool,
    /// Also skip files and directories that match (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Inputs")]
    exclude: Vec<String>,
}

impl ConfigArgs {
    /// Converts the flags into the library's type.
    pub(super) fn source(&self) -> Source {
        let mut source = Source {
            isolated: self.isolated,
            ..Source::default()
        };
        for text in &self.config {
            // A file name may contain an equals sign, so only text that is not an existing file is a `KEY=VALUE`.
            if text.contains('=') && !files::is_file(Path::new(text)) {
                source.lines.push(text.clone());
            } else {
                source.file = Some(PathBuf::from(text));
            }
        }
        if !self.exclude.is_empty() {
            let globs: Vec<String> = self.exclude.iter().map(|glob| quoted(glob)).collect();
            source.lines.push(format!("exclude = [{}]", globs.join(", ")));
        }
        source
    }
}

/// Quotes `text` for TOML, whose basic strings are those of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print the settings that apply to a path
    Show {
        /// File or directory
        #[arg(default_value = ".")]
        path: PathBuf,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Print the configuration file that applies to a path
    Path {
        /// File or directory
        #[arg(default_value = ".")]
        path: PathBuf,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Print the JSON Schema of the configuration
    Schema,
    /// Replace former ids of rules in configurations, suppressions and baselines
    Migrate {
        /// Files and directories
        #[arg(default_value = ".")]
        paths: Vec<PathBuf>,
    },
}

pub(super) fn run(command: &ConfigCommand, streams: &mut Streams<'_>) -> io::Result<Exit> {
    match command {
        ConfigCommand::Show { path, config } => with_config(path, config, streams, |config, streams| {
            streams.out.write_all(shown(config).as_bytes())?;
            Ok(Exit::Clean)
        }),
        ConfigCommand::Path { path, config } => with_config(path, config, streams, |config, streams| {
            match config.files.first() {
                Some(file) => writeln!(streams.out, "{}", printable(&sqslint::config::shown(file)))?,
                None => writeln!(
                    streams.err,
                    "sqslint: no configuration file; the built-in settings apply"
                )?,
            }
            Ok(Exit::Clean)
        }),
        ConfigCommand::Schema => {
            streams.out.write_all(SCHEMA.as_bytes())?;
            Ok(Exit::Clean)
        }
        ConfigCommand::Migrate { paths } => migrate(paths, streams),
    }
}

/// Runs `sqslint config migrate`.
fn migrate(paths: &[PathBuf], streams: &mut Streams<'_>) -> io::Result<Exit> {
    let options = Options {
        paths: paths.to_vec(),
        ..Options::default()
    };
    match sqslint::migrate(&options) {
        Ok(files) => {
            for file in &files {
                writeln!(streams.out, "rewrote {}", printable(file))?;
            }
            if files.is_empty() {
                writeln!(streams.err, "sqslint: no former id of a rule")?;
            }
            Ok(Exit::Clean)
        }
        Err(errors) => {
            streams.tell_errors(&errors)?;
            Ok(Exit::Failed)
        }
    }
}

/// Calls `print` with the settings that apply to `path`.
pub(super) fn with_config(
    path: &Path,
    arguments: &ConfigArgs,
    streams: &mut Streams<'_>,
    print: impl FnOnce(&Config, &mut Streams<'_>) -> io::Result<Exit>,
) -> io::Result<Exit> {
    let absolute = match files::named(path) {
        Ok(absolute) => absolute,
        Err(refusal) => return streams.refuse(&sqslint::discover::unreadable(path, &refusal)),
    };
    let repository = files::repository_root(&absolute);
    let here = || files::real(&std::env::current_dir().ok()?).ok();
    let root = repository.clone().or_else(here);
    let source = arguments.source();
    let files = Files::new(repository, Vec::new()).trusting(source.file.as_deref());
    let configs = Configs::new(source, root.into_iter().collect(), &files);
    match configs.for_path(&absolute) {
        Ok(config) => print(&config, streams),
        Err(error) => {
            writeln!(streams.err, "sqslint: {}", printable_error(&error.to_string()))?;
            Ok(Exit::Failed)
        }
    }
}

/// Formats the settings as a configuration would, each with its origin.
fn shown(config: &Config) -> String {
    let mut lines = Vec::new();
    let mut line = |key: &str, value: String| {
        let origin = config
            .origin(key)
            .map_or_else(|| "built in".to_owned(), ToOwned::to_owned);
        lines.push((format!("{key} = {value}"), origin));
    };
    let list = |items: &[String]| {
        format!(
            "[{}]",
            items.iter().map(|item| quoted(item)).collect::<Vec<_>>().join(", ")
        )
    };
    let level = match config.fail_level.unwrap_or_default() {
        FailLevel::At(severity) => severity.name(),
        FailLevel::Never => "never",
    };
    line("fail-level", quoted(level));
    if let Some(harms) = &config.fail_on {
        let names: Vec<String> = harms.iter().map(|harm| harm.name().to_owned()).collect();
        line("fail-on", list(&names));
    }
    line(
        "select",
        list(config.select.as_deref().unwrap_or(&["default".to_owned()])),
    );
    line("ignore", list(&config.ignore));
    line("exclude", list(&config.exclude_patterns));
    line("require-reason", config.require_reason.to_string());
    line("fail-on-unjudged", config.fail_on_unjudged.to_string());
    let environments = if config.default_environment_only {
        "default"
    } else {
        "found"
    };
    line("environments", quoted(environments));
    if let Some(baseline) = &config.baseline {
        line("baseline", quoted(&sqslint::config::shown(baseline)));
    }
    for rule in config.catalogue().rules() {
        let set = config.rule(&rule);
        if let Some(severity) = set.and_then(|set| set.severity) {
            line(&format!("rules.{}.severity", rule.id), quoted(severity.name()));
        }
        if let Some(suppressible) = set.and_then(|set| set.suppressible) {
            line(&format!("rules.{}.suppressible", rule.id), suppressible.to_string());
        }
        for setting in rule.settings {
            let value = set.and_then(|set| set.values.get(setting.name).copied());
            let value = value.unwrap_or(setting.default).to_string();
            line(&format!("rules.{}.{}", rule.id, setting.name), value);
        }
    }
    for environment in &config.environments {
        line(&format!("environment.{}", environment.name), environment.described());
    }
    for (_, rules) in &config.overrides {
        line("override", list(&rules.ignore));
    }
    for consumer in &config.consumers {
        line("consumer", consumer.described());
    }
    for external in &config.externals {
        line("external", quoted(&external.name.value.written));
    }
    for policy in &config.policies {
        line("policy", quoted(policy.rule().id));
    }
    // A single long line does not move the origins of all others out of sight.
    let lengths = lines.iter().map(|(text, _)| text.chars().count());
    let width = lengths.filter(|length| *length <= WIDEST).max().unwrap_or(0);
    let lines = lines
        .into_iter()
        .map(|(text, origin)| format!("{text:width$}  # {origin}\n"));
    printable_lines(&lines.collect::<String>())
}

fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}

/// Returns the file that `sqslint init` writes: every key with its default, explained and commented out.
pub(super) fn template() -> String {
    let table = |rule: &Rule<'_>| {
        let settings = rule.settings.iter().map(|setting| {
            let (name, default, summary) = (setting.name, setting.default, setting.summary);
            format!("# {name} = {default}  # {summary}\n")
        });
        format!("# [rules.{}]\n{}", rule.id, settings.collect::<String>())
    };
    let rules = RULES.iter().filter(|rule| !rule.settings.is_empty());
    let tables: Vec<String> = rules.map(|rule| table(rule)).collect();
    // Without a published URL, only a local copy can be named, and it does not exist yet.
    let schema = Published::HERE.schema().map_or_else(
        || {
            "# Completion in editors: `sqslint config schema > sqslint.schema.json`, and `#:schema sqslint.schema.json` here."
                .to_owned()
        },
        |schema| format!("#:schema {schema}"),
    );
    TEMPLATE
        .replace("#:schema SCHEMA", &schema)
        .replace(RULE_SETTINGS, &tables.join("\n"))
}

/// Runs `sqslint init`.
pub(super) fn init(external: bool, consumers: bool, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let is_extended = external || consumers;
    let there = NAMES.iter().find(|name| files::exists(Path::new(name)));
    if let (Some(there), false) = (there, is_extended) {
        writeln!(streams.err, "sqslint: `{there}` already exists and was not changed")?;
        return Ok(Exit::Failed);
    }
    let name = there.unwrap_or(&NAMES[0]);
    let stubs = is_extended.then(|| {
        let mut all = if external { stubs() } else { Vec::new() };
        if consumers {
            all.extend(workers::stubs());
        }
        all
    });
    if stubs.as_ref().is_some_and(Vec::is_empty) {
        writeln!(streams.out, "a run meets nothing that other files own")?;
        return Ok(Exit::Clean);
    }
    let text = stubs.as_ref().map_or_else(template, |stubs| stubs.concat());
    let written = match there {
        Some(_) => files::write::append(Path::new(name), &text),
        None => files::write::create(Path::new(name), &text),
    };
    if let Err(error) = written {
        writeln!(streams.err, "sqslint: cannot write `{name}`: {error}")?;
        return Ok(Exit::Failed);
    }
    match stubs {
        Some(stubs) => {
            let count = counted(stubs.len(), "stub");
            writeln!(
                streams.out,
                "wrote {count} to {name}: state what is known, and the reasons"
            )?;
        }
        None => writeln!(
            streams.out,
            "wrote {name}: every setting with its default, commented out"
        )?,
    }
    Ok(Exit::Clean)
}

/// Returns an entry for each queue, module and source that other files own, as a run of the working directory finds them.
fn stubs() -> Vec<String> {
    let outcome = check(&Options {
        paths: vec![PathBuf::from(".")],
        ..Options::default()
    });
    let stub = |table: &str, name: &str, rest: &str, span: Option<Span>| {
        let place = span.map(|span| {
            let file = outcome.sources.file(span.file);
            format!("# {}:{}\n", file.shown(), file.position(span.start as usize).line)
        });
        let (place, name) = (place.unwrap_or_default(), quoted(name));
        printable_lines(&format!(
            "\n{place}[[{table} = {name}\n{rest}reason = \"TODO: who owns it?\"\n"
        ))
    };
    let queues = outcome.graph.undeclared_queues().into_iter().map(|(queue, span)| {
        // The unknown parts of an ARN are those of a pattern, so its name is all that can be stated.
        let is_open = queue.contains(['{', '*', '?']);
        let name = queue.rsplit([':', '/']).next().filter(|_| is_open).unwrap_or(&queue);
        let rest = "# visibility-timeout = \"30s\"\n# retention = \"4d\"\n# dead-letter = true\n";
        stub("external]]\nqueue", name, rest, Some(span))
    });
    let units = outcome.graph.units().iter();
    let modules: BTreeSet<&String> = units.flat_map(|unit| unit.unread_modules.keys()).collect();
    let modules =
        (modules.into_iter()).map(|source| stub("external]]\nmodule", source, "# path = \"../modules\"\n", None));
    let unread = outcome.coverage.handlers.iter().filter(|handler| handler.read.is_err());
    let functions: BTreeMap<&str, Span> = unread.map(|one| (&*one.function.address, one.span)).collect();
    let functions = functions.into_iter().map(|(function, span)| {
        let rest = "# path = \"src\"\nelsewhere = true\n";
        stub("source]]\nfunction", function, rest, Some(span))
    });
    queues.chain(modules).chain(functions).collect()
}
