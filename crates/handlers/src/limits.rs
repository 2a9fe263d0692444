//! Bounds of reading source code. A file or function that exceeds one is not read or not judged. Inputs come from
//! strangers, so that each search and each recursion has a bound.

// Files

/// Maximum size of a file in bytes. Larger files are not read.
pub(crate) const MAX_SOURCE_SIZE: u64 = 512 << 10;
/// Maximum number of bytes of one file that are analysed, once per handler: 160 handlers of a file of 50 KiB.
pub(crate) const MAX_ANALYSED_PER_FILE: usize = 8 << 20;
/// Number of bytes of sources above which those that were read are analysed and released before more are read.
pub(crate) const MAX_HELD: usize = 16 << 20;
/// Maximum length of a line. Longer ones are written by bundlers, not by people.
pub(crate) const MAX_LINE_LENGTH: usize = 2_000;
/// Maximum number of files that are followed from one that exports a name to the one that defines it.
pub(crate) const MAX_EXPORT_HOPS: usize = 6;
/// Maximum number of imports of a file whose types are read.
pub(crate) const MAX_IMPORTS: usize = 40;
/// Maximum number of files and directories that are searched for a `main` function.
pub(crate) const MAX_MAIN_CANDIDATES: usize = 200;
/// Maximum size of a `tsconfig.json` in bytes.
pub(crate) const MAX_TSCONFIG_SIZE: u64 = 256 << 10;
/// Maximum number of files that may configure bundlers, and of the bundles in them.
pub(crate) const MAX_BUNDLERS: usize = 400;
pub(crate) const MAX_BUNDLES: usize = 2_000;
/// Maximum number of directories of workspaces or layers that an import is looked for in.
pub(crate) const MAX_WORKSPACES: usize = 200;
/// Maximum size of a Dockerfile in bytes.
pub(crate) const MAX_DOCKERFILE_SIZE: u64 = 64 << 10;
/// Maximum size of a lock file in bytes.
pub(crate) const MAX_LOCK_SIZE: u64 = 2 << 20;
/// Maximum number of files that extend each other.
pub(crate) const MAX_TSCONFIG_EXTENDS: usize = 4;
/// Maximum number of files that are searched for programs. In a larger repository, none are found.
pub(crate) const MAX_PROGRAM_FILES: usize = 10_000;

/// Maximum number of functions of workers that are executed per repository.
pub(crate) const MAX_CONSUMERS: usize = 64;
/// Maximum number of source files. In a larger repository, nothing is found by name alone.
pub(crate) const MAX_SEARCHED_FILES: usize = 50_000;
/// Maximum number of files that one name is compared with.
pub(crate) const MAX_NAME_CANDIDATES: usize = 400;

// Syntax

/// Maximum sum of open brackets and tokens since their last separators.
pub(crate) const MAX_NESTING: usize = 600;
/// Maximum indentation in Python, in bytes.
pub(crate) const MAX_INDENTATION: usize = 200;
/// Maximum depth of syntax.
pub(crate) const MAX_SYNTAX_DEPTH: usize = 200;
/// Maximum number of tokens that a program passes to its runtime.
pub(crate) const MAX_START_LENGTH: usize = 32;
/// Maximum number of tokens before the name in a signature, and after it.
pub(crate) const MAX_SIGNATURE_LENGTH: usize = 200;
/// Maximum length of a text that is kept.
pub(crate) const MAX_KEPT_TEXT: usize = 2_000;

// Execution

/// Maximum number of names that are followed to a value.
pub(crate) const MAX_CONSTANT_HOPS: usize = 8;
/// Maximum depth of calls.
pub(crate) const MAX_CALL_DEPTH: usize = 8;
/// Maximum number of times that a function calls itself before its result is unknown.
pub(crate) const MAX_RECURSION: usize = 3;
/// Maximum number of iterations of a loop with a test.
pub(crate) const MAX_ITERATIONS: usize = 8;
/// Maximum number of steps of one run.
pub(crate) const MAX_RUN_STEPS: u32 = 6_000;
/// Maximum number of texts that a run notes.
pub(crate) const MAX_NOTED_TEXTS: usize = 60;
/// Maximum number of items that one run, or the loading of a module, copies or looks through in lists and objects.
pub(crate) const MAX_COPIED: usize = 60_000;
/// Number of copied items that count as a step of all paths.
pub(crate) const COPIED_PER_STEP: usize = 16;
/// Maximum number of functions in a table of which one is called.
pub(crate) const MAX_TABLE: usize = 6;
/// Maximum depth of nested execution.
pub(crate) const MAX_EXECUTION_DEPTH: u32 = 160;
/// Maximum number of paths.
pub(crate) const MAX_RUNS: usize = 600;
/// Maximum number of steps on all paths.
pub(crate) const MAX_SCENARIO_STEPS: usize = 400_000;
