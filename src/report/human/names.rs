//! Shortens long addresses to the part that the file contains, if no other address of the report ends like it:
//! `…aws_sqs_queue.orders` for `module.shop.module.queues.aws_sqs_queue.orders`.

use crate::diagnostic::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum length of an address that is written in full.
const MAX_LENGTH: usize = 40;

/// Long addresses with their short forms.
pub(super) struct Names<'f>(FxHashMap<&'f str, String>);

impl<'f> Names<'f> {
    pub(super) fn of(findings: &[&'f Diagnostic]) -> Self {
        let mut all: FxHashSet<&str> = FxHashSet::default();
        for found in findings {
            let labels = found.labels().iter().map(|label| &*label.message);
            for text in labels.chain([&*found.headline]) {
                all.extend(quoted(text));
            }
            all.extend(found.calls.iter().map(|call| call.address.as_str()));
        }
        let mut ends: FxHashMap<&str, usize> = FxHashMap::default();
        for end in all.iter().filter_map(|name| end(name)) {
            *ends.entry(end).or_default() += 1;
        }
        let long = all.iter().filter(|name| name.chars().count() > MAX_LENGTH);
        let short = long.filter_map(|name| {
            let end = end(name).filter(|end| ends.get(end) == Some(&1) && !all.contains(end))?;
            Some((*name, format!("…{end}")))
        });
        Names(short.collect())
    }

    /// Replaces the addresses in `text`.
    pub(super) fn shorten(&self, text: &str) -> String {
        let parts = text.split('`').enumerate().map(|(at, part)| match self.0.get(part) {
            Some(short) if at % 2 == 1 => short.as_str(),
            _ => part,
        });
        parts.collect::<Vec<_>>().join("`")
    }
}

/// Returns the names within backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the type and the name of a Terraform resource, without the modules that contain it.
fn end(address: &str) -> Option<&str> {
    let modules = address.starts_with("module.").then_some(address)?;
    let mut rest = modules;
    while let Some(inner) = rest.strip_prefix("module.") {
        // A key in brackets may contain dots.
        let name = inner.find(['.', '['])?;
        let key = inner.get(name..)?.starts_with('[');
        let end = if key {
            name + inner.get(name..)?.find("].")? + 1
        } else {
            name
        };
        rest = inner.get(end + 1..)?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::end;

    #[test]
    fn modules_are_left_out_with_their_keys() {
        for (address, expected) in [
            ("module.a.aws_sqs_queue.q", Some("aws_sqs_queue.q")),
            (
                "module.a[\"x.y\"].module.b[0].aws_sqs_queue.q[\"k\"]",
                Some("aws_sqs_queue.q[\"k\"]"),
            ),
            ("aws_sqs_queue.q", None),
            ("module.a", None),
            ("module.a[", None),
        ] {
            assert_eq!(end(address), expected, "{address}");
        }
    }
}
