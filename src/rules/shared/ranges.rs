//! Reports numbers outside the range that a service accepts.

use super::compare::within;
use super::finding::Finding;
use super::findings::Findings;
use super::operands::{Number, Operand};
use super::wrong_types::Accepts;
use crate::graph::limits::{Quota, Unit};
use crate::graph::{Attribute, EventSourceMapping};
use crate::rules::Cause;

/// Returns the finding that `number` is outside `quota`. The fix sets the nearest number within it.
pub(crate) fn out_of_range(id: &'static str, headline: String, number: &Operand<'_>, quota: &Quota) -> Finding {
    let (least, most) = (quota.least, quota.most);
    let unit = if quota.unit == Unit::Seconds { " s" } else { "" };
    let label = format!("{} is outside {least} to {most}{unit}", number.shown());
    Finding::new(id, headline, number, label)
        .help(format!("set `{}` to a value from {least} to {most}", number.name))
        .fix(number.set_to(number.value.clamp(least, most)))
}

impl Findings<'_> {
    /// Requires the numbers of `attribute` to be within `quota`. Larger ones on FIFO queues are left to the rule of
    /// `fifo`.
    pub(crate) fn require_range<T: Number>(
        &mut self,
        mapping: &EventSourceMapping,
        (id, attribute, quota): (&'static str, &Attribute<T>, &Quota),
        fifo: Cause,
        headline: impl Fn(&Operand<'_>) -> String,
    ) {
        let accepts = Accepts::of("Lambda", quota);
        self.reject_types(&mapping.resource.when, mapping, id, attribute, accepts);
        for number in self.any_numbers(&mapping.resource.when, mapping, attribute, quota.unit) {
            let mut when = number.when.clone();
            if number.value > quota.most {
                for source in self.without_notes(|findings| findings.sources(mapping, &number.when)) {
                    if source.fifo {
                        self.leave_to_rule_of(&source.when, mapping, &[&number, &source], fifo);
                        when = when.and(&source.when.not());
                    }
                }
            }
            self.require(&when, mapping, within(&number, quota), || {
                out_of_range(id, headline(&number), &number, quota)
            });
        }
    }
}
