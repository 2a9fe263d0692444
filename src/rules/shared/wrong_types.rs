//! Reports values that are not whole numbers: `"30s"`, `1.5`, `true`, a list, null in a template.

use super::finding::Finding;
use super::findings::Findings;
use crate::diagnostic::Severity;
use crate::graph::limits::{Quota, Unit};
use crate::graph::{Attribute, Condition, Resource, State};

/// Whole numbers that a service accepts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accepts {
    /// Service that rejects other values: `Lambda` or `SQS`.
    pub(crate) service: &'static str,
    least: i64,
    /// Upper limit; `None` if unlimited.
    most: Option<i64>,
    unit: Unit,
}

impl Accepts {
    /// Accepts the numbers within `quota` of `service`.
    pub(crate) fn of(service: &'static str, quota: &Quota) -> Self {
        Accepts {
            service,
            least: quota.least,
            most: Some(quota.most).filter(|most| *most < i64::MAX),
            unit: quota.unit,
        }
    }

    /// Accepts `least` or more.
    pub(crate) const fn at_least(service: &'static str, least: i64, unit: Unit) -> Self {
        Accepts {
            service,
            least,
            most: None,
            unit,
        }
    }

    fn help(&self, name: &str) -> String {
        let (least, unit) = (self.least, self.unit.name());
        match self.most {
            Some(most) => format!("set `{name}` to a whole number of {unit} from {least} to {most}"),
            None => format!("set `{name}` to a whole number of {unit}, {least} or more"),
        }
    }
}

impl Findings<'_> {
    /// Reports each value that `attribute` of `resource` has under the condition `when` and that is not a whole number.
    /// From then on they are not noted as unresolved.
    pub(crate) fn reject_types<T>(
        &mut self,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        id: &'static str,
        attribute: &Attribute<T>,
        accepts: Accepts,
    ) {
        for (when, case, reason) in self.wrongly_typed(when, attribute) {
            let (name, service) = (&attribute.name, accepts.service);
            let shown = resource.as_ref().shown();
            let headline = format!("{shown} has a `{name}` that {service} rejects: {reason}");
            let finding = Finding::new(id, headline, case, &**reason).severity(Severity::Error);
            self.report(&when, resource, finding.help(accepts.help(name)));
        }
        self.reject_bounds(when, resource, id, attribute, accepts);
    }

    /// Reports each value that `attribute` of `resource` does not yet have, and whose bounds exclude every accepted
    /// number: those of a parameter, or of a variable with a validation.
    fn reject_bounds<T>(
        &mut self,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        id: &'static str,
        attribute: &Attribute<T>,
        accepts: Accepts,
    ) {
        for case in &attribute.cases {
            let State::Unresolved(unresolved) = &case.state else {
                continue;
            };
            let bounds = unresolved.bounds();
            let above = bounds
                .least
                .filter(|least| accepts.most.is_some_and(|most| *least > most));
            let below = bounds.most.filter(|most| *most < accepts.least);
            let range = match (above, below) {
                (Some(least), _) => format!("at least {least}"),
                (None, Some(most)) => format!("at most {most}"),
                (None, None) => continue,
            };
            let (name, service, shown) = (&attribute.name, accepts.service, resource.as_ref().shown());
            let headline = format!("{shown} has a `{name}` of {range}, and {service} rejects all of these values");
            let label = format!("{range}, because its declaration admits nothing else");
            let finding = Finding::new(id, headline, case, label).severity(Severity::Error);
            self.report(&when.and(&case.when), resource, finding.help(accepts.help(name)));
        }
    }
}
