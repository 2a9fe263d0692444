//! What every module may import, and what does not keep to that yet.

/// Modules, and what each may import: whole modules, or single items. `*` is any one module as a name, and
/// everything as a permission. A module may import itself and what is below it without a row of its own. Where one
/// module has a row, each beside it needs one.
pub(super) const MAY_IMPORT: &[(&str, &str)] = &[
    ("files", ""),
    ("source", "files::Asked files::Files files::Paths files::counts"),
    ("conditions", ""),
    ("given", ""),
    // It knows SQS and Lambda, and nothing of ours.
    ("model", ""),
    ("discover", "files"),
    ("diagnostic", "model source"),
    ("graph", "conditions source"),
    // It knows programming languages, and neither dialects nor rules.
    ("handlers", "files graph source"),
    // The entrance: it knows the dialects, and no dialect knows it more than by its types.
    ("frontend", "diagnostic discover files frontend::* given graph source"),
    ("frontend::tree", "source"),
    ("frontend::json", "frontend::tree source"),
    ("frontend::toml", "frontend::tree source"),
    ("frontend::yaml", "frontend::tree source"),
    (
        "frontend::parsed",
        "frontend::json frontend::toml frontend::tree frontend::yaml source",
    ),
    // Where a suppression stands is syntax; what it says is not.
    ("frontend::comments", "diagnostic frontend::* source suppress"),
    ("frontend::edits", "diagnostic frontend::* source"),
    // The one lowering knows no dialect.
    ("frontend::lower", "conditions graph source"),
    ("frontend::outline", "frontend::* source"),
    ("frontend::terraform", DIALECT),
    ("frontend::cloudformation", DIALECT),
    ("rules", "diagnostic graph rules::* source::Span source::Sources"),
    ("rules::shared", "diagnostic graph model rules source::Span"),
    ("rules::prelude", "diagnostic graph rules rules::shared source::Span"),
    // No rule knows another: what two need is a question of the graph.
    (
        "rules::*",
        "diagnostic graph rules rules::prelude rules::shared source::Span",
    ),
    ("published", "rules"),
    ("report", "diagnostic published report::* rules source"),
    ("report::timeline", "model report report::markup"),
    (
        "report::simulation",
        "model report report::human report::json_text report::timeline",
    ),
    (
        "report::graph",
        "conditions diagnostic graph report report::json_text report::markup source",
    ),
    (
        "report::*",
        "diagnostic published report report::* rules::Catalogue rules::RULES rules::Rule source",
    ),
    ("selection", "rules"),
    // Rules of teams: what they may ask of the graph, and how that is judged.
    ("policy", "conditions diagnostic graph rules selection source"),
    ("config", "diagnostic discover files given policy rules selection"),
    ("suppress", "diagnostic rules::Catalogue rules::Rule selection source"),
    ("history", "config diagnostic files rules source"),
    // The steps of a run, and nothing that uses a run.
    (
        "pipeline",
        "config diagnostic discover files frontend given graph handlers history policy rules selection source suppress",
    ),
    ("fixes", "diagnostic discover files frontend graph pipeline source"),
    ("ignores", "config diagnostic files frontend pipeline rules source"),
    (
        "explain",
        "diagnostic frontend graph pipeline report report::wrapped rules source",
    ),
    ("server", "*"),
    ("trials", "config files pipeline policy selection"),
    ("lib", "*"),
    ("testing", "*"),
    ("cli", "*"),
    ("main", "cli"),
];

/// What a dialect may import: never the other one, a rule, a report or a suppression.
const DIALECT: &str = "conditions diagnostic files frontend frontend::comments frontend::edits \
    frontend::json frontend::lower frontend::parsed frontend::tree frontend::yaml given graph source";

/// Modules that may touch files: the tests' own.
pub(super) const DISK: &[&str] = &["files", "testing"];

/// Crates whose types stay where they are wrapped, in one module or in several.
pub(super) const WRAPPED: &[(&str, &str)] = &[
    ("clap", "cli"),
    ("granit_parser", "frontend::yaml"),
    ("hcl_edit", "frontend::terraform"),
    ("jsonc_parser", "frontend::json"),
    ("lsp_server", "server"),
    ("lsp_types", "server"),
    ("miette", "report::human"),
    ("num_bigint", "frontend::terraform"),
    ("owo_colors", "report::human"),
    ("regex", "frontend::terraform policy"),
    ("tree_sitter", "handlers"),
    ("tree_sitter_go", "handlers"),
    ("tree_sitter_java", "handlers"),
    ("tree_sitter_python", "handlers"),
    ("tree_sitter_typescript", "handlers"),
];
