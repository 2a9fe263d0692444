//! Bounds of the evaluation: values, steps, files and nesting that an input may take. What exceeds one is unresolved or
//! reported, never cut off silently. Inputs come from strangers, so that each search and each recursion has a bound.

// Evaluation of a unit

/// Maximum number of evaluation steps per unit.
pub(crate) const MAX_EVALUATION_STEPS: usize = 2_000_000;
/// Maximum depth of evaluations that wait for each other.
pub(crate) const MAX_EVALUATION_DEPTH: usize = 200;
/// Maximum number of instances of a block, and of module instances.
pub(crate) const MAX_INSTANCES: usize = 20_000;
/// Maximum number of blocks in module instances, plus instances of blocks.
pub(crate) const MAX_EXPANDED_BLOCKS: usize = 100_000;
/// Length in bytes up to which an address is ordinary and costs nothing.
pub(crate) const ORDINARY_ADDRESS_LENGTH: usize = 200;
/// Maximum total of the bytes by which addresses exceed [`ORDINARY_ADDRESS_LENGTH`].
pub(crate) const MAX_EXCESS_OF_ADDRESSES: usize = 8 << 20;
/// Maximum depth of module calls.
pub(crate) const MAX_CALL_DEPTH: usize = 32;
/// Maximum number of keys of a map that are distinguished by conditions.
pub(crate) const MAX_DISTINGUISHED_KEYS: usize = 8;
/// Maximum length of the outline of a loop. A loop with a longer outline is identified by its span.
pub(crate) const MAX_LOOP_OUTLINE: usize = 4096;
/// Maximum number of references that are followed.
pub(crate) const MAX_SETTER_STEPS: usize = 16;
/// Maximum number of allowed values that are distinguished.
pub(crate) const MAX_ALLOWED_VALUES: usize = 16;

// Values

/// Maximum length in bytes of a computed string.
pub(crate) const MAX_TEXT: usize = 1 << 20;
/// Maximum number of values in one computed value. Lists of lists of themselves could otherwise double without end.
pub(crate) const MAX_VALUE_WEIGHT: u32 = 1_000_000;
/// Maximum nesting depth of a computed value. Recursive functions would overflow the stack on deeper ones.
pub(crate) const MAX_VALUE_DEPTH: u8 = 128;
/// Maximum number of parts of a template string.
pub(crate) const MAX_TEMPLATE_PARTS: usize = 256;
/// Maximum length of an identity's key. Longer ones are replaced by a digest, because each key may become part of the
/// next.
pub(crate) const MAX_IDENTITY_KEY: usize = 200;
/// Maximum number of operands of an identity. If there are more, it may depend on any value (`ANY_OPERAND`).
pub(crate) const MAX_IDENTITY_OPERANDS: usize = 32;
/// Maximum length of a name that is shown.
pub(crate) const MAX_SHOWN_NAME: usize = 100;
/// Maximum absolute exponent. A sum needs as many bits as the exponents are apart.
pub(crate) const MAX_EXPONENT: i64 = 2048;
/// Maximum number of digits after the decimal point that `format` can request.
pub(crate) const MAX_FORMATTED_DIGITS: usize = 1000;

// Functions

/// Maximum number of elements of a list that is built.
pub(crate) const MAX_LIST_ITEMS: usize = 100_000;
/// Maximum number of elements with which an unknown value is compared.
pub(crate) const MAX_COMPARED_ITEMS: usize = 64;
/// Maximum number of bytes of files that are hashed for one unit: `fileset` may include all modules that `terraform
/// init` installed.
pub(crate) const MAX_HASHED_BYTES: usize = 16 << 20;
/// Maximum depth of values that are encoded as YAML.
pub(crate) const MAX_ENCODED_DEPTH: usize = 64;
/// Maximum number of directory entries that `fileset` examines.
pub(crate) const MAX_FILESET_ENTRIES: usize = 20_000;
/// Maximum depth of directories that `fileset` searches.
pub(crate) const MAX_FILESET_DEPTH: usize = 32;
/// Maximum width and precision.
pub(crate) const MAX_FORMAT_WIDTH: usize = 1000;
/// Terraform's own limit for `range`.
pub(crate) const MAX_RANGE: usize = 1024;
/// Maximum size of a compiled pattern in bytes.
pub(crate) const MAX_PATTERN_SIZE: usize = 1 << 20;
/// Maximum depth of locals and arguments of calls that refer to one another.
pub(crate) const MAX_SENSITIVITY_DEPTH: usize = 32;
/// Maximum number of elements of a product of sets.
pub(crate) const MAX_PRODUCT_ITEMS: usize = 100_000;
/// Maximum number of strings that `split` returns.
pub(crate) const MAX_SPLIT_PIECES: usize = 100_000;

// Syntax

/// Maximum nesting of brackets, which is the parser's own limit.
pub(crate) const MAX_BRACKET_DEPTH: usize = 60;
/// Maximum number of keys of an object.
pub(crate) const MAX_OBJECT_KEYS: usize = 4096;
/// Maximum depth of nested blocks; no resource nests even half as deep.
pub(crate) const MAX_JSON_BLOCK_DEPTH: usize = 16;
/// Maximum number of lines of an item that are blanked to parse it again.
pub(crate) const MAX_BLANKED_LINES: usize = 16;
/// Maximum number of repeated keys of an item that are renamed to parse it again.
pub(crate) const MAX_RENAMED_KEYS: usize = 256;

// Files around a root

/// Maximum depth of directories searched, below a root or a sibling of it.
pub(crate) const MAX_VARIABLE_FILE_DEPTH: usize = 3;
/// Maximum number of variable files that are read for one root.
pub(crate) const MAX_VARIABLE_FILES: usize = 1_000;
/// Maximum number of directories that are listed for one root.
pub(crate) const MAX_VARIABLE_DIRECTORIES: usize = 1_000;
/// Maximum number of sibling directories that are searched. A root with more of them is one of many roots, and its
/// siblings hold no variables for it.
pub(crate) const MAX_SIBLING_DIRECTORIES: usize = 16;
/// Maximum depth of module calls.
pub(crate) const MAX_SELECTOR_CALL_DEPTH: usize = 6;
/// Maximum number of locals that a reference is followed through.
pub(crate) const MAX_SELECTOR_ALIASES: usize = 6;
/// Maximum number of combinations of a module and its arguments that are searched.
pub(crate) const MAX_SELECTOR_CALLS: usize = 200;
/// Maximum depth of files that read other files.
pub(crate) const MAX_TERRAGRUNT_DEPTH: usize = 8;
/// Maximum number of times that a root reads other files; typical configurations read about a dozen.
pub(crate) const MAX_TERRAGRUNT_READS: usize = 256;
/// Maximum length of a chain of dependencies; the outputs beyond it are unknown.
pub(crate) const MAX_DEPENDENCY_CHAIN: usize = 32;
/// Maximum depth of references that are followed.
pub(crate) const MAX_REGISTRY_REFERENCE_DEPTH: usize = 16;

// Plans

/// Maximum number of resources.
pub(crate) const MAX_PLAN_RESOURCES: usize = 1_000_000;
/// Maximum size in bytes of a plan.
pub(crate) const MAX_PLAN_SIZE: u64 = 512 << 20;
/// Maximum depth of nested blocks and maps.
pub(crate) const MAX_PLAN_DEPTH: usize = 24;
/// Maximum depth of nested blocks.
pub(crate) const MAX_PROVIDER_BLOCK_DEPTH: usize = 8;
/// Maximum depth of calls and outputs that are followed.
pub(crate) const MAX_PLAN_REFERENCE_DEPTH: usize = 32;
/// Maximum number of targets that are collected. Two already leave the reference unresolved.
pub(crate) const MAX_PLAN_REFERENCE_TARGETS: usize = 8;
