//! Bounds of the evaluation: expressions, files and nesting that an input may take. What exceeds one is unresolved or
//! reported, never cut off silently. Inputs come from strangers, so that each search and each recursion has a bound.

// Evaluation of a template

/// Maximum number of expressions evaluated for one template.
pub(crate) const MAX_EVALUATION_STEPS: u32 = 2_000_000;
/// Maximum depth of conditions that refer to each other.
pub(crate) const MAX_CONDITION_DEPTH: usize = 64;
/// Maximum number of compared texts for which a parameter gets a case per text where its value is used.
pub(crate) const MAX_COMPARED_TEXTS: usize = 8;
/// Maximum number of steps of matching a pattern against a text.
pub(crate) const MAX_PATTERN_STEPS: u32 = 1_000;
/// Length in bytes above which expressions are compared by a digest.
pub(crate) const MAX_QUESTION_KEY: usize = 200;
/// Length in bytes up to which an expression is shown.
pub(crate) const MAX_SHOWN_EXPRESSION: usize = 200;
/// Depth up to which an expression is compared and shown.
pub(crate) const MAX_QUESTION_DEPTH: usize = 64;
/// Maximum number of address ranges that `Fn::Cidr` returns.
pub(crate) const MAX_CIDR_RANGES: u64 = 256;
/// Maximum length of a composed text in bytes, which is CloudFormation's limit for a whole template.
pub(crate) const MAX_TEXT: usize = 1 << 20;
/// Number of copied bytes that count as one step of evaluation.
pub(crate) const BYTES_PER_STEP: usize = 32;
/// Maximum number of iterations of all loops of a template. CloudFormation accepts 500 resources.
pub(crate) const MAX_LOOP_ITERATIONS: usize = 5_000;
/// Maximum number of nodes that all loops of a template may copy.
pub(crate) const MAX_LOOP_COPIES: usize = 200_000;
/// Maximum number of aliases that are followed.
pub(crate) const MAX_ALIAS_HOPS: usize = 4;
/// Maximum depth of the search; the YAML and JSON parsers bound it further.
pub(crate) const MAX_NAME_SEARCH_DEPTH: usize = 512;

// Files around a template

/// Maximum depth of includes.
pub(crate) const MAX_INCLUDE_DEPTH: usize = 8;
/// Maximum number of files per template.
pub(crate) const MAX_INCLUDED_FILES: usize = 200;
/// Maximum total size of the files in bytes.
pub(crate) const MAX_INCLUDED_BYTES: usize = 8 << 20;
/// Maximum size of one file in bytes. Step Functions accepts a definition of 1 MB.
pub(crate) const MAX_DEFINITION_SIZE: usize = 1 << 20;
/// Maximum number of files per template.
pub(crate) const MAX_DEFINITION_FILES: usize = 100;
/// Maximum number of placeholders that are replaced in a definition.
pub(crate) const MAX_SUBSTITUTIONS: usize = 1000;
/// Maximum number of files around a template that are searched for declarations. Files of the run do not count.
pub(crate) const MAX_NEIGHBOURS: usize = 100;
/// Maximum depth of the search below its first directory.
pub(crate) const MAX_NEIGHBOUR_DEPTH: usize = 2;
/// Maximum size of a template in CloudFormation, in bytes.
pub(crate) const MAX_TEMPLATE_SIZE: u64 = 1 << 20;
/// Maximum number of candidate files per directory.
pub(crate) const MAX_PARAMETER_FILES: usize = 256;
/// Maximum number of directories above a template in which a project of Sceptre is searched.
pub(crate) const MAX_SCEPTRE_PARENTS: usize = 6;
/// Maximum size in bytes of a candidate file.
pub(crate) const MAX_PARAMETER_FILE_SIZE: u64 = 256 << 10;
/// Maximum number of rounds, and so of imports through which one value is followed.
pub(crate) const MAX_IMPORT_ROUNDS: usize = 4;
/// Maximum number of fragments of one template.
pub(crate) const MAX_FRAGMENTS: usize = 300;
/// Maximum depth of nested stacks.
pub(crate) const MAX_STACK_DEPTH: usize = 8;
/// Maximum number of calls followed from one template.
pub(crate) const MAX_STACK_CALLS: usize = 1_000;
/// Maximum number of parent directories in which the file of an uploaded template is searched.
pub(crate) const MAX_STACK_PARENTS: usize = 8;
/// Maximum depth of nested assemblies; stages are at depth one.
pub(crate) const MAX_ASSEMBLY_DEPTH: usize = 8;
/// Maximum number of templates of one app.
pub(crate) const MAX_ASSEMBLY_STACKS: usize = 10_000;

// Serverless Framework

/// Maximum depth of merges, the maximum depth of a document.
pub(crate) const MAX_MERGE_DEPTH: usize = 128;
/// Maximum depth of variables that refer to variables.
pub(crate) const MAX_VARIABLE_DEPTH: usize = 24;
/// Maximum number of nodes that replace variables.
pub(crate) const MAX_VARIABLE_NODES: usize = 400_000;
/// Number of bytes of text that count as one node.
pub(crate) const BYTES_PER_NODE: usize = 64;
/// Maximum size in bytes of a text that contains variables.
pub(crate) const MAX_VARIABLE_TEXT: usize = 1 << 16;
/// Maximum number of other files that one service reads.
pub(crate) const MAX_SERVICE_FILES: usize = 500;
/// Maximum length in bytes of a variable that selects a stage.
pub(crate) const MAX_STAGE_SELECTOR: usize = 256;
/// Maximum number of paths with the stage.
pub(crate) const MAX_STAGE_PATHS: usize = 16;
/// Maximum number of files that one such path may select.
pub(crate) const MAX_STAGE_FILES: usize = 64;
/// Maximum depth of nested variables.
pub(crate) const MAX_NESTED_VARIABLES: usize = 16;
