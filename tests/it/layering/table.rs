//! Lists what every module may import, and which modules may access the disk or use certain crates.

/// Modules, and what each may import: whole modules or single items. As a name, `*` is any one module; as a permission,
/// it is everything. A module may always import itself, and modules below it without a separate row. If a module has a
/// row, each of its siblings needs one.
pub(super) const MAY_IMPORT: &[(&str, &str)] = &[
    ("source", "source::*"),
    ("source::files", ""),
    ("source::cache", "source source::files"),
    ("source::reading", "source source::files"),
    ("conditions", ""),
    ("trees", "source source::reading"),
    ("needs", ""),
    ("knowledge", "source"),
    // Knows programming languages, but no dialects or rules.
    ("handlers", "handlers::* source::files source"),
    ("handlers::limits", ""),
    ("handlers::facts", "source"),
    ("handlers::words", "handlers::read"),
    ("handlers::read", "handlers::limits handlers::words"),
    ("handlers::missing", "handlers::find handlers::read"),
    (
        "handlers::find",
        "handlers::facts handlers::limits handlers::read handlers::words source::files source",
    ),
    (
        "handlers::run",
        "handlers::facts handlers::find handlers::limits handlers::poll handlers::read handlers::words source",
    ),
    (
        "handlers::poll",
        "handlers::facts handlers::find handlers::limits handlers::read handlers::words source",
    ),
    // Knows the AWS provider, but no rules and no graph.
    (
        "terraform",
        "conditions knowledge source::files source::reading source trees",
    ),
    // Knows templates and what tools generate from them, but no rules and no graph.
    (
        "cloudformation",
        "conditions knowledge source::files source::reading source trees",
    ),
    ("inputs", "cloudformation terraform"),
    // Knows SQS and Lambda, and no other module.
    ("sqs_model", ""),
    ("discover", "source::files"),
    ("diagnostic", "sqs_model source"),
    ("graph", "conditions handlers knowledge source"),
    // Entry point: knows the dialects, which only use its types.
    (
        "frontend",
        "diagnostic discover source::files source::reading frontend::* inputs graph source trees",
    ),
    // The position of a suppression is syntax; its content is not.
    ("frontend::comments", "diagnostic frontend::* source suppress trees"),
    ("frontend::edits", "diagnostic frontend::* source trees"),
    // The shared lowering knows no dialect.
    ("frontend::lower", "conditions graph source"),
    ("frontend::outline", "frontend::* source trees"),
    ("frontend::problems", "diagnostic source::reading source"),
    // Never the other dialect, a rule, a report or a suppression.
    (
        "frontend::terraform",
        "conditions terraform diagnostic source::files source::reading frontend frontend::comments frontend::edits \
         frontend::lower inputs graph source trees",
    ),
    (
        "frontend::cloudformation",
        "cloudformation conditions diagnostic source::files frontend frontend::edits frontend::lower inputs graph source \
         trees",
    ),
    ("rules", "diagnostic graph rules::* source::Span source::Sources"),
    ("rules::shared", "diagnostic graph sqs_model rules source::Span"),
    ("rules::prelude", "diagnostic graph rules rules::shared source::Span"),
    // Rules do not import each other: shared questions are methods of the graph.
    (
        "rules::*",
        "diagnostic graph rules rules::prelude rules::shared source::Span",
    ),
    ("published", "rules"),
    ("report", "diagnostic published report::* rules source"),
    (
        "report::review",
        "diagnostic history report report::* review source sqs_model",
    ),
    ("report::timeline", "sqs_model report report::markup"),
    (
        "report::simulation",
        "sqs_model report report::human report::json_text report::timeline",
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
    // Policies: the fields they may use, and their evaluation.
    ("policy", "conditions diagnostic graph rules selection source"),
    (
        "config",
        "diagnostic discover source::files inputs policy rules selection",
    ),
    ("suppress", "diagnostic rules::Catalogue rules::Rule selection source"),
    ("review", "graph source sqs_model"),
    ("history", "config diagnostic source::files rules selection source"),
    // Steps of a run, without the modules that use a run.
    (
        "pipeline",
        "config diagnostic discover source::files frontend inputs graph handlers history policy review rules selection source \
         suppress",
    ),
    (
        "fixes",
        "diagnostic discover source::files frontend graph pipeline source",
    ),
    (
        "ignores",
        "config diagnostic source::files frontend pipeline rules source",
    ),
    ("migrate", "history pipeline selection source::files"),
    (
        "explain",
        "diagnostic frontend graph knowledge pipeline report report::wrapped rules source",
    ),
    ("server", "*"),
    ("trials", "config diagnostic source::files pipeline policy selection"),
    ("lib", "*"),
    ("testing", "*"),
    ("cli", "*"),
    ("main", "cli"),
];

/// Modules of the crate `cloudformation` that import each other: a template in its evaluation, and the loading of all
/// templates. What prepares a document is below both, and imports neither.
pub(super) const CYCLES_OF_TEMPLATES: [&str; 2] =
    ["comparisons sections stacks template", "incomplete loading project"];

/// Modules that may access files; `needs` and `testing` are only for tests.
pub(super) const DISK: &[&str] = &["needs", "source::files", "testing"];

/// Crates that only the listed modules may use, because they wrap their types.
pub(super) const WRAPPED: &[(&str, &str)] = &[
    ("clap", "cli"),
    ("granit_parser", "trees::yaml"),
    ("hcl_edit", "terraform"),
    ("jsonc_parser", "trees::json"),
    ("crossbeam_channel", "server"),
    ("lsp_server", "server"),
    ("lsp_types", "server"),
    ("miette", "report::human"),
    ("num_bigint", "terraform"),
    ("owo_colors", "report::human"),
    ("regex", "policy terraform"),
    ("oxc_allocator", "handlers::read::script"),
    ("oxc_ast", "handlers::read::script"),
    ("oxc_parser", "handlers::read::script"),
    ("oxc_span", "handlers::read::script"),
    ("oxc_syntax", "handlers::read::script"),
    ("ruff_python_ast", "handlers::read::python"),
    ("ruff_python_parser", "handlers::read::python"),
    ("ruff_text_size", "handlers::read::python"),
];
