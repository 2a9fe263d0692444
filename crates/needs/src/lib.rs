//! Programs and data outside of this repository that some tests need. Such a test queries this module first, and does
//! nothing if they are missing; `tests/skipped.rs` lists the skipped tests at the end of a run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Root of the checkout.
const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Program or data that is not available on every machine.
#[derive(Debug)]
pub struct Need {
    /// Name of the program or data.
    pub name: &'static str,
    /// Description of the tests that are skipped without it.
    pub tests: &'static str,
    /// Ways to find it, in order of preference.
    ways: &'static [Way],
}

/// Way to find a program or data.
#[derive(Debug)]
enum Way {
    /// This command succeeds. The path of a program with a slash is relative to the checkout.
    Runs(&'static [&'static str]),
    /// This path exists in `shared`, a directory next to the checkout or next to the directory of several checkouts.
    Shared(&'static str),
}

impl Need {
    /// Returns the program, or the real path of the directory `shared`.
    pub fn found(&self) -> Option<PathBuf> {
        self.ways.iter().find_map(Way::found)
    }

    /// Returns `true` if it is available.
    pub fn is_available(&self) -> bool {
        self.found().is_some()
    }
}

impl Way {
    fn found(&self) -> Option<PathBuf> {
        let checkout = Path::new(CHECKOUT);
        match self {
            Way::Runs([program, arguments @ ..]) => {
                let program = if program.contains('/') {
                    checkout.join(program)
                } else {
                    PathBuf::from(program)
                };
                let mut command = Command::new(&program);
                command.args(arguments).stdin(Stdio::null());
                let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
                status.is_ok_and(|status| status.success()).then_some(program)
            }
            Way::Runs([]) => None,
            Way::Shared(part) => {
                let places = ["../shared", "../../shared"].map(|place| checkout.join(place));
                let found = places.iter().find(|place| place.join(part).exists());
                found.and_then(|place| place.canonicalize().ok())
            }
        }
    }
}

macro_rules! needs {
    ($($constant:ident: $name:literal, for $tests:literal, $ways:expr;)*) => {
        $(
            #[doc = concat!("For ", $tests, ".")]
            pub static $constant: Need = Need { name: $name, tests: $tests, ways: &$ways };
        )*

        /// All programs and data that tests may need.
        pub static NEEDS: &[&Need] = &[$(&$constant),*];
    };
}

/// Script that tests from the root of the checkout whether they are installed.
const PACKAGES_OF_THE_EXTENSION: &str = concat!(
    "require('",
    env!("CARGO_MANIFEST_DIR"),
    "/../../editors/vscode/node_modules/vscode-languageclient/package.json')"
);

use Way::{Runs, Shared};

needs! {
    GIT: "git", for "baselines, `--since`, `--staged` and hooks", [Runs(&["git", "--version"])];
    PRE_COMMIT: "pre-commit", for "hooks", [Runs(&["pre-commit", "--version"])];
    MATURIN: "maturin", for "the hook of the wheel", [Runs(&["maturin", "--version"])];
    TERRAFORM: "terraform", for "random expressions compared with Terraform's values, and the format of what fixes write",
        [Runs(&["terraform", "version"])];
    SAM_TRANSLATOR: "aws-sam-translator", for "SAM templates compared with what AWS's transform makes of them", [
        Runs(&["target/sam-translator/bin/python", "-c", "import samtranslator, yaml"]),
        Runs(&["python3", "-c", "import samtranslator, yaml"]),
    ];
    MOTO: "moto", for "the model of a queue compared with moto's SQS server", [
        Runs(&["target/moto/bin/python", "-c", "import moto.server, boto3"]),
        Runs(&["python3", "-c", "import moto.server, boto3"]),
    ];
    MOTO_ACCOUNT: "moto with CloudFormation", for "snapshots of an account that moto imitates", [
        Runs(&["target/moto/bin/python", "-c", "import moto.server, moto.cloudformation.parsing, moto.awslambda.models, boto3"]),
        Runs(&["python3", "-c", "import moto.server, moto.cloudformation.parsing, moto.awslambda.models, boto3"]),
    ];
    REGOPY: "regopy", for "the Rego of docs/policies.md over a graph", [
        Runs(&["target/regopy/bin/python", "-c", "import regopy"]),
        Runs(&["python3", "-c", "import regopy"]),
    ];
    DUCKDB: "duckdb", for "the queries of docs/fleet.md over the records of several repositories", [
        Runs(&["target/duckdb/bin/python", "-c", "import duckdb"]),
        Runs(&["python3", "-c", "import duckdb"]),
    ];
    PYTHON: "python3", for "the comparison of our quotas with AWS's", [Runs(&["python3", "--version"])];
    PYYAML: "PyYAML", for "fixed templates read by another parser", [Runs(&["python3", "-c", "import yaml"])];
    JQ: "jq", for "the comment and the upload of the action", [Runs(&["jq", "--version"])];
    BASH: "bash", for "the script of the action, and completions", [Runs(&["bash", "--version"])];
    ZSH: "zsh", for "completions", [Runs(&["zsh", "--version"])];
    FISH: "fish", for "completions", [Runs(&["fish", "--version"])];
    GROFF: "groff", for "the manual page", [Runs(&["groff", "--version"])];
    TERMINAL: "a `script` that gives a terminal", for "output to terminals", [Runs(&["script", "-qec", "true", "/dev/null"])];
    PRLIMIT: "prlimit", for "runs where the system allows few threads, or little memory and time", [Runs(&["prlimit", "--nproc=1000", "true"])];
    NEOVIM: "nvim", for "the language server in Neovim", [Runs(&["nvim", "--version"])];
    PYTEST_LSP: "pytest-lsp", for "the language server as pytest-lsp sees it", [
        Runs(&["target/pytest-lsp/bin/python", "-c", "import pytest_lsp"]),
        Runs(&["python3", "-c", "import pytest_lsp"]),
    ];
    NODE: "node, and the packages of editors/vscode", for "the client of the extension", [
        Runs(&["node", "-e", PACKAGES_OF_THE_EXTENSION]),
    ];
    PROJECTS: "../shared/corpus/dev", for "runs over real projects", [Shared("corpus/dev")];
    RECORDINGS: "../shared/corpus/expected", for "graphs compared with those of Terraform and the SAM transform",
        [Shared("corpus/expected")];
    EXPRESSIONS: "../shared/terraform", for "expressions compared with values that Terraform gave",
        [Shared("terraform/expressions.jsonl")];
}
