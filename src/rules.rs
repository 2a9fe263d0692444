//! Defines [`Rule`], its categories and sets, and lists every built-in rule in [`RULES`].
//!
//! A rule is a static and a pure function from the graph to diagnostics. It knows no dialect, no format and no file
//! system.

mod alarm_comparison_reversed;
mod alarm_dimension_invalid;
mod alarm_missing_data_unset;
mod alarm_statistic_misleading;
mod alarm_without_action;
mod async_failure_target_fifo;
mod batch_exceeds_function_timeout;
mod batch_item_failures_ignored;
mod batch_item_failures_incomplete;
mod batch_item_failures_malformed;
mod batch_item_failures_never_returned;
mod batch_item_failures_unreported;
mod batch_send_failures_ignored;
mod batch_size_out_of_range;
mod batch_size_without_window;
mod batching_window_out_of_range;
mod body_parsed_outside_try;
mod check_then_act;
mod claim_never_released;
mod consumer_heartbeat_too_slow;
mod consumer_processing_exceeds_maximum;
mod consumer_recovery_slow;
mod consumer_visibility_timeout_too_short;
mod countdown_exceeds_visibility_timeout;
mod created_before_permission;
mod cross_account_queue_default_key;
mod dead_letter_policy_missing;
mod dead_letter_queue_alarm_metric_blind;
mod dead_letter_queue_alarm_threshold_high;
mod dead_letter_queue_cross_account;
mod dead_letter_queue_cross_region;
mod dead_letter_queue_cycle;
mod dead_letter_queue_redriven;
mod dead_letter_queue_reprocessed;
mod dead_letter_queue_retention_too_short;
mod dead_letter_queue_type_mismatch;
mod dead_letter_queue_unalarmed;
mod dead_letter_queue_undeclared;
mod declared_not_deployed;
mod dependency_cycle;
mod deployed_not_declared;
mod deployed_value_differs;
mod durable_execution_exceeds_poller_limit;
mod event_source_mapping_cross_region;
mod event_source_mapping_duplicate;
mod event_source_mapping_failure_destination;
mod event_source_mapping_source_undeclared;
mod event_target_dead_letter_missing;
mod event_without_queue;
mod execution_not_idempotent;
mod expired_suppression;
mod failure_target_is_source_queue;
mod fifo_attribute_on_standard_queue;
mod fifo_batch_continues_after_failure;
mod fifo_batch_size_too_large;
mod fifo_batching_window;
mod fifo_dead_letter_breaks_order;
mod fifo_dead_letter_queue_retention_short;
mod fifo_group_blocked_too_long;
mod fifo_message_delay;
mod fifo_queue_as_unsupported_target;
mod fifo_queue_false;
mod fifo_queue_name_suffix;
mod fifo_target_without_deduplication;
mod fifo_target_without_message_group;
mod fifo_throughput_scope_mismatch;
mod filter_criteria_invalid;
mod filter_discards_messages;
mod filter_key_unsupported;
mod filter_misses_sns_envelope;
mod function_dead_letter_config_ineffective;
mod function_feeds_own_queue;
mod function_response_type_unknown;
mod function_role_missing_kms_decrypt;
mod function_role_missing_queue_permission;
mod function_timeout_defaulted;
mod function_timeout_out_of_range;
mod handler_function_missing;
mod handler_polls_own_queue;
mod handler_reads_first_record_only;
mod handler_skips_remaining_records;
mod handler_swallows_failures;
mod handler_without_time_budget;
mod idempotency_without_deadline;
mod in_flight_limit_at_risk;
mod key_id_invalid;
mod latency_budget_exceeds_function_timeout;
mod latency_budget_stale;
mod limit_reached;
mod max_receive_count_low_for_poller;
mod max_receive_count_out_of_range;
mod max_receive_count_too_high;
mod max_receive_count_too_low;
mod maximum_concurrency_exceeds_reserved;
mod maximum_concurrency_out_of_range;
mod parse_error;
mod pipe_batch_exceeds_target;
mod pipe_role_missing_queue_permission;
mod pipe_visibility_timeout_too_short;
mod producer_role_missing_key_permission;
mod property_unknown;
mod provisioned_concurrency_bypassed;
mod provisioned_pollers_out_of_range;
mod provisioned_pollers_with_maximum_concurrency;
mod queue_age_unalarmed;
mod queue_attribute_out_of_range;
mod queue_competing_consumers;
mod queue_competing_filters;
mod queue_delay_exceeds_retention;
mod queue_encryption_conflict;
mod queue_key_blocks_service;
mod queue_name_duplicate;
mod queue_policy_missing_for_producer;
mod queue_policy_never_matches;
mod queue_policy_over_limit;
mod queue_policy_overwritten;
mod queue_policy_source_unscoped;
mod queue_policy_targets_arn;
mod queue_policy_version_missing;
mod queue_replaced;
mod queue_retention_too_short;
mod queue_short_polling;
mod queue_url_in_place_of_arn;
mod queue_without_redrive_policy;
mod record_key_unknown;
mod redrive_allow_policy_excludes_source;
mod redrive_allow_policy_invalid;
mod redrive_allow_policy_reversed;
mod redrive_policy_malformed;
mod redrive_policy_missing;
mod redrive_policy_overwritten;
mod redrive_target_not_a_queue;
mod reserved_concurrency_too_low;
mod reserved_concurrency_zero;
mod response_not_json;
mod retries_outlast_retention;
mod s3_test_event_unhandled;
mod sam_subscription_enabled_ignored;
mod sam_subscription_queue_implicit;
mod sns_envelope_mismatch;
mod sns_redrive_policy_invalid;
mod sns_subscription_dead_letter_missing;
mod stream_setting_on_queue;
mod suppression_without_reason;
mod target_role_missing_send_permission;
mod task_token_without_timeout;
mod tenant_isolation_with_queue;
mod unknown_rule_in_suppression;
mod unused_suppression;
mod visibility_timeout_below_function_timeout;
mod visibility_timeout_below_window;
mod visibility_timeout_defaulted;
mod visibility_timeout_exceeds_retention;
mod visibility_timeout_too_long;
mod visibility_timeout_too_short;
mod visibility_timeout_uncoupled;
mod visibility_timeout_zero;
mod worker_deletes_before_work;
mod worker_role_missing_queue_permission;
mod worker_stopped_mid_message;
mod worker_swallows_failures;
mod worker_time_undeclared;

/// Building blocks and queries that several rules share. The parent directory contains only rules.
mod shared {
    pub(super) mod advice;
    pub(super) mod alarms;
    pub(super) mod catalogue;
    pub(super) mod compare;
    pub(super) mod concurrency;
    pub(super) mod consumers;
    pub(super) mod dead_letter;
    pub(super) mod envelopes;
    pub(super) mod few;
    pub(super) mod finding;
    pub(super) mod findings;
    pub(super) mod handlers;
    pub(super) mod harms;
    pub(super) mod losses;
    pub(super) mod names;
    pub(super) mod needs;
    pub(super) mod operands;
    pub(super) mod patterns;
    pub(super) mod places;
    pub(super) mod queue_types;
    pub(super) mod ranges;
    pub(super) mod retries;
    pub(super) mod rivals;
    pub(super) mod roles;
    pub(super) mod scenarios;
    pub(super) mod senders;
    pub(super) mod settings;
    pub(super) mod settle;
    pub(super) mod trace;
    pub(super) mod work;
    pub(super) mod wrong_types;
}

/// Common imports of all rules. Queries about consumers, batches or retries are imported by name where they are used.
mod prelude {
    pub(super) use super::shared::compare::{Term, above, at_least, at_most, below, fact, is_set, within};
    pub(super) use super::shared::finding::Finding;
    pub(super) use super::shared::findings::Findings;
    pub(super) use super::shared::operands::{Known, Operand};
    pub(super) use super::shared::settings::settings;
    pub(super) use super::{Category, Cause, Rule, Set, rule};
    pub(super) use crate::diagnostic::{Change, Safety, Severity};
    pub(super) use crate::graph::limits::{self, Quota, Unit};
    pub(super) use crate::graph::{Condition, EventSourceMapping, Function, Graph, Link, Queue};
}

use crate::diagnostic::{Safety, Severity};
use crate::graph::limits::{self, Quota};
use rustc_hash::FxHashMap;
pub use shared::catalogue::{Catalogue, PolicyMetadata};
pub(crate) use shared::compare::fact;
pub(crate) use shared::finding::Finding;
pub use shared::findings::Findings;
pub use shared::harms::harm_of;
pub use shared::settings::{Setting, Settings, Value};
pub use shared::settle::{Judge, RuleOutcome, run};
pub use shared::trace::{Judgement, Verdict};
use std::sync::LazyLock;

/// Subject area of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Visibility timeouts compared with processing times.
    Visibility,
    /// Redrive policies and dead-letter queues.
    Redrive,
    /// Settings that look like a dead-letter queue but do not receive the queue's failed messages.
    FailureChannel,
    /// Event source mappings.
    Mapping,
    /// FIFO queues.
    Fifo,
    /// A queue's own attributes.
    Queue,
    /// Permissions to send and to receive.
    Permissions,
    /// Pipes, and resources that the SAM transform generates.
    PipesAndSam,
    /// Alarms.
    Alarms,
    /// Processing times that teams declare.
    Consumers,
    /// Findings from the source code of functions.
    Handlers,
    /// Differences between the code and a snapshot of the account.
    Deployed,
    /// Policies that a team writes.
    Policy,
    /// Problems that sqslint itself reports: unreadable files, limits, suppressions.
    Tool,
}

impl Category {
    /// Returns the name used on the command line and in the pages.
    pub fn name(self) -> &'static str {
        match self {
            Category::Visibility => "visibility",
            Category::Redrive => "redrive",
            Category::FailureChannel => "failure-channel",
            Category::Mapping => "mapping",
            Category::Fifo => "fifo",
            Category::Queue => "queue",
            Category::Permissions => "permissions",
            Category::PipesAndSam => "pipes-and-sam",
            Category::Alarms => "alarms",
            Category::Consumers => "consumers",
            Category::Handlers => "handlers",
            Category::Deployed => "deployed",
            Category::Policy => "policy",
            Category::Tool => "tool",
        }
    }
}

/// Condition for a rule to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// Rules that always run.
    Default,
    /// Rules that always run, but report their milder findings only if pedantic rules are selected.
    DefaultInPart,
    /// Rules that run only if selected.
    Pedantic,
}

impl Set {
    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Set::Default | Set::DefaultInPart => "default",
            Set::Pedantic => "pedantic",
        }
    }
}

/// Metadata of a rule: a built-in one or a team's policy. Its documentation is its page.
#[derive(Debug, Clone, Copy)]
pub struct Rule<'r> {
    /// Kebab-case name of the condition that the rule reports; never reused.
    pub id: &'r str,
    /// Subject area.
    pub category: Category,
    /// Highest severity that the rule reports.
    pub severity: Severity,
    /// Set that the rule belongs to.
    pub set: Set,
    /// Safety of its fixes; `None` if the rule has no fixes.
    pub fix: Option<Safety>,
    /// Summary of the problem that it reports, in one line.
    pub summary: &'r str,
    /// Documentation in Markdown.
    pub page: &'r str,
    /// Settings that teams can change.
    pub settings: &'static [Setting],
    /// Check function; `None` for rules that the pipeline raises and for policies, whose expressions replace it.
    pub check: Option<fn(&mut Findings<'_>)>,
}

impl<'r> Rule<'r> {
    /// Creates a rule of the default set without a check, fixes and settings.
    pub(crate) const fn unchecked(
        id: &'r str,
        category: Category,
        severity: Severity,
        summary: &'r str,
        page: &'r str,
    ) -> Self {
        Rule {
            id,
            category,
            severity,
            set: Set::Default,
            fix: None,
            summary,
            page,
            settings: &[],
            check: None,
        }
    }

    /// Returns the rule in the set of one of its findings.
    pub(crate) fn for_finding(&self, is_pedantic: bool) -> Rule<'r> {
        let set = match self.set {
            Set::DefaultInPart if is_pedantic => Set::Pedantic,
            Set::DefaultInPart => Set::Default,
            set => set,
        };
        Rule { set, ..*self }
    }

    /// Returns `true` if the pipeline raises the rule; no comment can suppress such a rule.
    pub fn is_raised(&self) -> bool {
        self.check.is_none() && self.category != Category::Policy
    }
}

/// Creates a rule from its id, category, severity and summary, followed by fields that differ from
/// [`Rule::unchecked`]. Its page is `rules/<id>.md`, and its check is the function `check` of the same file.
///
/// ```ignore
/// pub(super) static RULE: Rule = rule!(
///     "batch-size-out-of-range",
///     Category::Mapping,
///     Severity::Error,
///     "a mapping has a batch size that Lambda rejects",
///     fix = Some(Safety::Unsafe)
/// );
/// ```
macro_rules! rule {
    ($id:literal, $category:expr, $severity:expr, $summary:literal $(, $field:ident = $value:expr)*) => {
        Rule {
            check: Some(check),
            $($field: $value,)*
            ..Rule::unchecked($id, $category, $severity, $summary, include_str!(concat!("../../rules/", $id, ".md")))
        }
    };
}
use rule;

/// Every built-in rule, by category and then in the order of the catalogue.
pub static RULES: &[&Rule<'static>] = &[
    // visibility
    &visibility_timeout_below_function_timeout::RULE,
    &visibility_timeout_below_window::RULE,
    &visibility_timeout_too_short::RULE,
    &visibility_timeout_defaulted::RULE,
    &visibility_timeout_zero::RULE,
    &visibility_timeout_too_long::RULE,
    &visibility_timeout_uncoupled::RULE,
    &visibility_timeout_exceeds_retention::RULE,
    &in_flight_limit_at_risk::RULE,
    &function_timeout_defaulted::RULE,
    &function_timeout_out_of_range::RULE,
    &durable_execution_exceeds_poller_limit::RULE,
    // redrive
    &redrive_policy_missing::RULE,
    &queue_without_redrive_policy::RULE,
    &max_receive_count_out_of_range::RULE,
    &max_receive_count_too_low::RULE,
    &max_receive_count_low_for_poller::RULE,
    &max_receive_count_too_high::RULE,
    &redrive_policy_malformed::RULE,
    &retries_outlast_retention::RULE,
    &dead_letter_queue_retention_too_short::RULE,
    &fifo_dead_letter_queue_retention_short::RULE,
    &dead_letter_queue_type_mismatch::RULE,
    &dead_letter_queue_cycle::RULE,
    &dead_letter_queue_reprocessed::RULE,
    &dead_letter_queue_undeclared::RULE,
    &redrive_target_not_a_queue::RULE,
    &redrive_allow_policy_excludes_source::RULE,
    &redrive_allow_policy_invalid::RULE,
    &redrive_allow_policy_reversed::RULE,
    &dead_letter_queue_cross_region::RULE,
    &dead_letter_queue_cross_account::RULE,
    &dead_letter_queue_redriven::RULE,
    // failure-channel
    &function_dead_letter_config_ineffective::RULE,
    &event_source_mapping_failure_destination::RULE,
    &async_failure_target_fifo::RULE,
    &failure_target_is_source_queue::RULE,
    // mapping
    &batch_item_failures_unreported::RULE,
    &function_response_type_unknown::RULE,
    &batch_size_without_window::RULE,
    &batch_size_out_of_range::RULE,
    &fifo_batch_size_too_large::RULE,
    &fifo_batching_window::RULE,
    &batching_window_out_of_range::RULE,
    &maximum_concurrency_out_of_range::RULE,
    &maximum_concurrency_exceeds_reserved::RULE,
    &reserved_concurrency_too_low::RULE,
    &reserved_concurrency_zero::RULE,
    &provisioned_pollers_with_maximum_concurrency::RULE,
    &provisioned_pollers_out_of_range::RULE,
    &function_feeds_own_queue::RULE,
    &provisioned_concurrency_bypassed::RULE,
    &event_source_mapping_duplicate::RULE,
    &event_source_mapping_source_undeclared::RULE,
    &event_without_queue::RULE,
    &queue_competing_consumers::RULE,
    &queue_competing_filters::RULE,
    &filter_discards_messages::RULE,
    &filter_key_unsupported::RULE,
    &filter_misses_sns_envelope::RULE,
    &filter_criteria_invalid::RULE,
    &stream_setting_on_queue::RULE,
    &event_source_mapping_cross_region::RULE,
    &tenant_isolation_with_queue::RULE,
    // fifo
    &fifo_queue_name_suffix::RULE,
    &fifo_attribute_on_standard_queue::RULE,
    &fifo_queue_false::RULE,
    &fifo_group_blocked_too_long::RULE,
    &fifo_throughput_scope_mismatch::RULE,
    &fifo_target_without_deduplication::RULE,
    &fifo_dead_letter_breaks_order::RULE,
    &fifo_target_without_message_group::RULE,
    &fifo_queue_as_unsupported_target::RULE,
    &fifo_message_delay::RULE,
    // queue
    &queue_attribute_out_of_range::RULE,
    &property_unknown::RULE,
    &queue_url_in_place_of_arn::RULE,
    &queue_delay_exceeds_retention::RULE,
    &queue_short_polling::RULE,
    &queue_retention_too_short::RULE,
    &queue_encryption_conflict::RULE,
    &queue_policy_overwritten::RULE,
    &redrive_policy_overwritten::RULE,
    &queue_policy_targets_arn::RULE,
    &queue_policy_version_missing::RULE,
    &queue_policy_over_limit::RULE,
    &dependency_cycle::RULE,
    &key_id_invalid::RULE,
    &queue_name_duplicate::RULE,
    &queue_replaced::RULE,
    // permissions
    &queue_policy_missing_for_producer::RULE,
    &dead_letter_policy_missing::RULE,
    &queue_policy_source_unscoped::RULE,
    &queue_key_blocks_service::RULE,
    &function_role_missing_queue_permission::RULE,
    &function_role_missing_kms_decrypt::RULE,
    &worker_role_missing_queue_permission::RULE,
    &target_role_missing_send_permission::RULE,
    &cross_account_queue_default_key::RULE,
    &sns_redrive_policy_invalid::RULE,
    &sns_subscription_dead_letter_missing::RULE,
    &event_target_dead_letter_missing::RULE,
    &queue_policy_never_matches::RULE,
    &created_before_permission::RULE,
    &producer_role_missing_key_permission::RULE,
    // pipes-and-sam
    &pipe_visibility_timeout_too_short::RULE,
    &pipe_batch_exceeds_target::RULE,
    &pipe_role_missing_queue_permission::RULE,
    &sam_subscription_queue_implicit::RULE,
    &sam_subscription_enabled_ignored::RULE,
    &task_token_without_timeout::RULE,
    // alarms
    &dead_letter_queue_unalarmed::RULE,
    &dead_letter_queue_alarm_metric_blind::RULE,
    &alarm_without_action::RULE,
    &alarm_comparison_reversed::RULE,
    &queue_age_unalarmed::RULE,
    &alarm_statistic_misleading::RULE,
    &alarm_dimension_invalid::RULE,
    &alarm_missing_data_unset::RULE,
    &dead_letter_queue_alarm_threshold_high::RULE,
    // consumers
    &consumer_visibility_timeout_too_short::RULE,
    &consumer_heartbeat_too_slow::RULE,
    &consumer_processing_exceeds_maximum::RULE,
    &consumer_recovery_slow::RULE,
    &worker_time_undeclared::RULE,
    &worker_deletes_before_work::RULE,
    &worker_swallows_failures::RULE,
    &countdown_exceeds_visibility_timeout::RULE,
    &worker_stopped_mid_message::RULE,
    &batch_exceeds_function_timeout::RULE,
    &latency_budget_exceeds_function_timeout::RULE,
    &latency_budget_stale::RULE,
    // handlers
    &batch_item_failures_ignored::RULE,
    &batch_item_failures_never_returned::RULE,
    &handler_swallows_failures::RULE,
    &fifo_batch_continues_after_failure::RULE,
    &idempotency_without_deadline::RULE,
    &check_then_act::RULE,
    &handler_without_time_budget::RULE,
    &handler_reads_first_record_only::RULE,
    &claim_never_released::RULE,
    &body_parsed_outside_try::RULE,
    &execution_not_idempotent::RULE,
    &batch_send_failures_ignored::RULE,
    &response_not_json::RULE,
    &handler_polls_own_queue::RULE,
    &batch_item_failures_malformed::RULE,
    &handler_function_missing::RULE,
    &record_key_unknown::RULE,
    &sns_envelope_mismatch::RULE,
    &s3_test_event_unhandled::RULE,
    &batch_item_failures_incomplete::RULE,
    &handler_skips_remaining_records::RULE,
    // deployed
    &deployed_value_differs::RULE,
    &deployed_not_declared::RULE,
    &declared_not_deployed::RULE,
    // tool
    &parse_error::RULE,
    &limit_reached::RULE,
    &unused_suppression::RULE,
    &expired_suppression::RULE,
    &unknown_rule_in_suppression::RULE,
    &suppression_without_reason::RULE,
];

/// Former ids of renamed and merged rules, each with the id of the rule that now reports its cases. Configurations,
/// suppressions and baselines accept them, and `sqslint config migrate` rewrites them.
pub static FORMER: &[(&str, &str)] = &[
    ("redrive-allow-policy-dependency-cycle", "dependency-cycle"),
    ("serverless-event-key-unknown", "property-unknown"),
];

/// Returns the current id of a rule that once had the id `id`; `None` if it is not a former id.
pub fn renamed(id: &str) -> Option<&'static str> {
    FORMER.iter().find(|(former, _)| *former == id).map(|(_, now)| *now)
}

/// Returns the current id for `id`: that of the rule that replaced it, or else `id` itself.
pub fn current(id: &str) -> &str {
    renamed(id).unwrap_or(id)
}

/// Returns the built-in rule with this id or former id.
pub fn by_id(id: &str) -> Option<&'static Rule<'static>> {
    static BY_ID: LazyLock<FxHashMap<&str, &Rule<'_>>> =
        LazyLock::new(|| RULES.iter().map(|rule| (rule.id, *rule)).collect());
    BY_ID.get(current(id)).copied()
}

/// Rules that yield to others if both report the same resource for one cause: each rule with those that replace its
/// finding if theirs is at least as severe. The conditions of the other finding decide, even if its rule is not
/// selected.
static PRECEDENCE: &[(&Rule, &[&Rule])] = &[
    // Losing failed messages is worse than retrying successful ones along with them.
    (
        &batch_item_failures_unreported::RULE,
        &[
            &batch_item_failures_ignored::RULE,
            &handler_swallows_failures::RULE,
            &response_not_json::RULE,
            // A misspelled response type is not a missing one.
            &function_response_type_unknown::RULE,
        ],
    ),
    (
        &batch_item_failures_never_returned::RULE,
        &[&handler_swallows_failures::RULE, &response_not_json::RULE],
    ),
    (
        &visibility_timeout_below_function_timeout::RULE,
        &[&visibility_timeout_zero::RULE],
    ),
    (
        &visibility_timeout_below_window::RULE,
        &[
            &visibility_timeout_zero::RULE,
            &visibility_timeout_below_function_timeout::RULE,
        ],
    ),
    (
        &visibility_timeout_too_short::RULE,
        &[
            &visibility_timeout_zero::RULE,
            &visibility_timeout_below_function_timeout::RULE,
            &visibility_timeout_below_window::RULE,
            &sam_subscription_queue_implicit::RULE,
        ],
    ),
    // A call that may take longer than the visibility timeout says more than an unknown time.
    (
        &worker_time_undeclared::RULE,
        &[&consumer_visibility_timeout_too_short::RULE],
    ),
    (
        &pipe_visibility_timeout_too_short::RULE,
        &[&visibility_timeout_zero::RULE],
    ),
    // A timeout that is too short today matters more than one that may become too short.
    (
        &visibility_timeout_uncoupled::RULE,
        &[
            &visibility_timeout_zero::RULE,
            &visibility_timeout_below_function_timeout::RULE,
            &visibility_timeout_below_window::RULE,
            &visibility_timeout_too_short::RULE,
            &sam_subscription_queue_implicit::RULE,
        ],
    ),
    // Users cannot set attributes of a queue that the SAM transform generates.
    (&redrive_policy_missing::RULE, &[&sam_subscription_queue_implicit::RULE]),
    (
        &retries_outlast_retention::RULE,
        &[
            &visibility_timeout_zero::RULE,
            &visibility_timeout_exceeds_retention::RULE,
        ],
    ),
    // In a cycle of dead-letter queues, their retention periods are a minor problem.
    (
        &dead_letter_queue_retention_too_short::RULE,
        &[&dead_letter_queue_cycle::RULE],
    ),
    // SQS rejects an invalid policy, so the list of allowed sources has no effect.
    (
        &redrive_allow_policy_excludes_source::RULE,
        &[&redrive_allow_policy_invalid::RULE],
    ),
    // A cycle is worse than a dead-letter queue with a redrive policy of its own.
    (&dead_letter_queue_redriven::RULE, &[&dead_letter_queue_cycle::RULE]),
    // If the filter itself is wrong, the messages that it deletes are a minor problem.
    (
        &filter_discards_messages::RULE,
        &[
            &filter_criteria_invalid::RULE,
            &filter_key_unsupported::RULE,
            &filter_misses_sns_envelope::RULE,
        ],
    ),
    (
        &consumer_visibility_timeout_too_short::RULE,
        &[
            &visibility_timeout_zero::RULE,
            &visibility_timeout_below_function_timeout::RULE,
            &consumer_processing_exceeds_maximum::RULE,
        ],
    ),
    (
        &queue_retention_too_short::RULE,
        &[
            &visibility_timeout_exceeds_retention::RULE,
            &retries_outlast_retention::RULE,
        ],
    ),
    // If a single message exceeds the limit, so does every batch.
    (
        &batch_exceeds_function_timeout::RULE,
        &[&latency_budget_exceeds_function_timeout::RULE],
    ),
    // The setting has no effect yet, but once it does, it sends failures back to the source queue.
    (
        &function_dead_letter_config_ineffective::RULE,
        &[
            &failure_target_is_source_queue::RULE,
            // Lambda rejects the setting, and the help of that rule says to remove it as well.
            &target_role_missing_send_permission::RULE,
        ],
    ),
];

/// Returns the rules that replace a finding of `rule`, in order of precedence.
pub(crate) fn rules_with_precedence(rule: &Rule) -> impl Iterator<Item = &'static Rule<'static>> {
    let entry = PRECEDENCE.iter().find(|(later, _)| later.id == rule.id);
    entry.into_iter().flat_map(|(_, before)| before.iter().copied())
}

/// Fault of a value for which there is a dedicated rule; other rules ignore the value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cause {
    /// AWS rejects the number.
    OutOfRange(&'static Quota),
    /// The redrive policy lacks a key or has a wrong one.
    MalformedPolicy,
    /// The name of a queue contradicts its type, and either may be the mistake.
    NameContradictsType,
    /// The redrive policy allows no retry.
    TooFewReceives,
    /// The batch size of a FIFO queue exceeds the limit for FIFO.
    FifoBatch,
    /// A FIFO queue has a batching window.
    FifoWindow,
    /// A function reserves a concurrency of 0.
    NoConcurrency,
}

/// Rules that report out-of-range values, by quota.
static RANGES: &[(&Quota, &Rule)] = &[
    (&limits::VISIBILITY_TIMEOUT, &queue_attribute_out_of_range::RULE),
    (&limits::RETENTION, &queue_attribute_out_of_range::RULE),
    (&limits::DELAY, &queue_attribute_out_of_range::RULE),
    (&limits::RECEIVE_WAIT_TIME, &queue_attribute_out_of_range::RULE),
    (&limits::MAX_RECEIVE_COUNT, &max_receive_count_out_of_range::RULE),
    (&limits::FUNCTION_TIMEOUT, &function_timeout_out_of_range::RULE),
    (&limits::BATCH_SIZE, &batch_size_out_of_range::RULE),
    (&limits::WINDOW, &batching_window_out_of_range::RULE),
    (&limits::MAXIMUM_CONCURRENCY, &maximum_concurrency_out_of_range::RULE),
    (&limits::MINIMUM_POLLERS, &provisioned_pollers_out_of_range::RULE),
    (&limits::MAXIMUM_POLLERS, &provisioned_pollers_out_of_range::RULE),
];

impl Cause {
    /// Returns the rule that reports this fault; `None` if no rule does.
    pub(crate) fn judge(self) -> Option<&'static Rule<'static>> {
        match self {
            Cause::OutOfRange(quota) => {
                let judge = RANGES.iter().find(|(of, _)| std::ptr::eq(*of, quota));
                judge.map(|(_, rule)| *rule)
            }
            Cause::MalformedPolicy => Some(&redrive_policy_malformed::RULE),
            Cause::NameContradictsType => Some(&fifo_queue_name_suffix::RULE),
            Cause::TooFewReceives => Some(&max_receive_count_too_low::RULE),
            Cause::FifoBatch => Some(&fifo_batch_size_too_large::RULE),
            Cause::FifoWindow => Some(&fifo_batching_window::RULE),
            Cause::NoConcurrency => Some(&reserved_concurrency_zero::RULE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FORMER, RULES, by_id, rules_with_precedence};

    #[test]
    fn former_ids_lead_to_a_rule_and_are_not_used_again() {
        for (former, now) in FORMER {
            assert!(RULES.iter().all(|rule| rule.id != *former), "{former} is in use");
            assert!(RULES.iter().any(|rule| rule.id == *now), "{now} is not a rule");
            assert_eq!(by_id(former).map(|rule| rule.id), Some(*now));
        }
    }

    /// A rule runs after those with precedence over it.
    #[test]
    fn precedence_has_no_cycle() {
        let mut waiting: Vec<_> = RULES.to_vec();
        while !waiting.is_empty() {
            let ids: Vec<&str> = waiting.iter().map(|rule| rule.id).collect();
            waiting.retain(|rule| rules_with_precedence(rule).any(|other| ids.contains(&other.id)));
            assert!(waiting.len() < ids.len(), "{ids:?} precede each other");
        }
    }
}
