//! The rules: what one is, what of it teams may set, and the list of all.
//!
//! A rule is a static and a pure function from the graph to diagnostics. It knows no dialect, no format and
//! no file system.

mod batch_item_failures_unreported;
mod batch_size_without_window;
mod dead_letter_queue_retention_too_short;
mod dead_letter_queue_type_mismatch;
mod dead_letter_queue_unalarmed;
mod expired_suppression;
mod fifo_batch_size_too_large;
mod fifo_batching_window;
mod fifo_queue_false;
mod fifo_queue_name_suffix;
mod function_dead_letter_config_ineffective;
mod function_timeout_out_of_range;
mod limit_reached;
mod max_receive_count_low_for_poller;
mod max_receive_count_out_of_range;
mod max_receive_count_too_low;
mod parse_error;
mod queue_attribute_out_of_range;
mod queue_url_in_place_of_arn;
mod redrive_policy_malformed;
mod redrive_policy_missing;
mod retries_outlast_retention;
mod suppression_without_reason;
mod unknown_rule_in_suppression;
mod unused_suppression;
mod visibility_timeout_below_function_timeout;
mod visibility_timeout_exceeds_retention;
mod visibility_timeout_too_short;
mod visibility_timeout_zero;

/// What more than one rule computes; only rules lie beside it.
mod shared {
    pub(super) mod advice;
    pub(super) mod batches;
    pub(super) mod consumers;
    pub(super) mod dead_letter;
    pub(super) mod findings;
    pub(super) mod operands;
    pub(super) mod trace;
}

use crate::diagnostic::{Safety, Severity};
use crate::graph::{Graph, Resource, UnitId};
use rustc_hash::FxHashMap;
pub use shared::findings::{Findings, Known};
pub use shared::trace::{Judgement, Read, Verdict};

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Visibility timeouts against the time that work takes.
    Visibility,
    /// Redrive policies and dead-letter queues.
    Redrive,
    /// Settings that look like a dead-letter queue and are none.
    FailureChannel,
    /// Event source mappings.
    Mapping,
    /// FIFO queues.
    Fifo,
    /// A queue's own attributes.
    Queue,
    /// Alarms.
    Alarms,
    /// sqslint's own: files that cannot be read, limits, suppressions.
    Tool,
}

impl Category {
    /// As the command line and the pages spell it.
    pub fn name(self) -> &'static str {
        match self {
            Category::Visibility => "visibility",
            Category::Redrive => "redrive",
            Category::FailureChannel => "failure-channel",
            Category::Mapping => "mapping",
            Category::Fifo => "fifo",
            Category::Queue => "queue",
            Category::Alarms => "alarms",
            Category::Tool => "tool",
        }
    }
}

/// When a rule runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// Always.
    Default,
    /// When selected.
    Pedantic,
}

impl Set {
    /// As the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Set::Default => "default",
            Set::Pedantic => "pedantic",
        }
    }
}

/// A rule's facts. The prose is its page.
#[derive(Debug)]
pub struct Rule {
    /// Kebab-case, names the condition; never reused.
    pub id: &'static str,
    /// What it is about.
    pub category: Category,
    /// The highest severity it states.
    pub severity: Severity,
    /// When it runs.
    pub set: Set,
    /// What its fixes may do; `None` where no edit mends what it finds.
    pub fix: Option<Safety>,
    /// One line: what is wrong where it speaks.
    pub summary: &'static str,
    /// Its page, Markdown.
    pub page: &'static str,
    /// What teams may set.
    pub settings: &'static [Setting],
    /// What it does; `None` for those that the pipeline raises.
    pub check: Option<fn(&Graph, &mut Findings<'_>)>,
}

/// A number or switch of a rule that teams differ on.
#[derive(Debug)]
pub struct Setting {
    /// Its key in `[rules.<id>]`.
    pub name: &'static str,
    /// AWS's advice.
    pub default: Value,
    /// What it does, in one line.
    pub summary: &'static str,
}

/// The value of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Number {
        /// The number.
        value: i64,
        /// The least that makes sense.
        least: i64,
    },
    /// A switch.
    Flag(bool),
}

/// What each unit sets, by rule and name; what is not in it has its default.
#[derive(Debug, Default)]
pub struct Settings {
    units: FxHashMap<(UnitId, &'static str, &'static str), Value>,
}

impl Settings {
    /// Sets `name` of the rule called `rule` for `unit`.
    pub fn set(&mut self, unit: UnitId, rule: &'static str, name: &'static str, value: Value) {
        self.units.insert((unit, rule, name), value);
    }

    fn value(&self, rule: &'static Rule, name: &'static str, resource: &Resource) -> Option<Value> {
        let set = self.units.get(&(resource.unit, rule.id, name)).copied();
        set.or_else(|| Some(rule.settings.iter().find(|setting| setting.name == name)?.default))
    }
}

/// Every rule, by category and then by the order of the catalogue.
pub static RULES: &[&Rule] = &[
    // visibility
    &visibility_timeout_below_function_timeout::RULE,
    &visibility_timeout_too_short::RULE,
    &visibility_timeout_zero::RULE,
    &visibility_timeout_exceeds_retention::RULE,
    &function_timeout_out_of_range::RULE,
    // redrive
    &redrive_policy_missing::RULE,
    &max_receive_count_out_of_range::RULE,
    &max_receive_count_too_low::RULE,
    &max_receive_count_low_for_poller::RULE,
    &redrive_policy_malformed::RULE,
    &retries_outlast_retention::RULE,
    &dead_letter_queue_retention_too_short::RULE,
    &dead_letter_queue_type_mismatch::RULE,
    // failure-channel
    &function_dead_letter_config_ineffective::RULE,
    // mapping
    &batch_item_failures_unreported::RULE,
    &batch_size_without_window::RULE,
    &fifo_batch_size_too_large::RULE,
    &fifo_batching_window::RULE,
    // fifo
    &fifo_queue_name_suffix::RULE,
    &fifo_queue_false::RULE,
    // queue
    &queue_attribute_out_of_range::RULE,
    &queue_url_in_place_of_arn::RULE,
    // alarms
    &dead_letter_queue_unalarmed::RULE,
    // tool
    &parse_error::RULE,
    &limit_reached::RULE,
    &unused_suppression::RULE,
    &expired_suppression::RULE,
    &unknown_rule_in_suppression::RULE,
    &suppression_without_reason::RULE,
];

/// The rule called `id`.
pub fn by_id(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}
