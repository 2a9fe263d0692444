//! Matches findings with known ones by fingerprint, environment and number.

use super::NEVER_KNOWN;
use crate::diagnostic::{Diagnostic, RuleId, Severity, Subject};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A finding with the environments that it occurs in; empty if there is only one environment.
pub(crate) type FindingInEnvironments = (Diagnostic, Vec<String>);

/// Placeholder for the only environment of a project without declared ones.
const ONLY: &str = "";

/// Known findings. Each covers one finding in each of its environments.
#[derive(Debug, Default)]
pub(crate) struct KnownFindings {
    by_fingerprint: FxHashMap<String, Vec<KnownFinding>>,
    /// Mappings and pipes that existed, by unit and address.
    pub(crate) resources: BTreeSet<(String, String)>,
}

/// A finding of an earlier commit that no longer occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Rule.
    pub rule: RuleId,
    /// Severity.
    pub severity: Severity,
    /// Resource that it was about.
    pub subject: Subject,
    /// Headline.
    pub message: String,
}

#[derive(Debug)]
struct KnownFinding {
    id: usize,
    /// Rule, severity and subject; `None` for an entry of a baseline, which covers any severity.
    judged: Option<(RuleId, Severity, Subject)>,
    message: String,
    /// `None` for every environment.
    environments: Option<Vec<String>>,
    /// Environments in which it has covered a finding.
    used: Vec<String>,
}

impl KnownFindings {
    /// Adds an entry of a baseline; `id` is its index.
    pub(crate) fn insert(&mut self, id: usize, fingerprint: &str, message: &str, environments: Option<Vec<String>>) {
        self.add(id, fingerprint, message, environments, None);
    }

    fn add(
        &mut self,
        id: usize,
        fingerprint: &str,
        message: &str,
        environments: Option<Vec<String>>,
        judged: Option<(RuleId, Severity, Subject)>,
    ) {
        let tickets = self.by_fingerprint.entry(fingerprint.to_owned()).or_default();
        tickets.push(KnownFinding {
            id,
            judged,
            message: message.to_owned(),
            environments,
            used: Vec::new(),
        });
    }

    /// Returns the findings of an earlier run as known ones.
    pub(crate) fn of(found: &[FindingInEnvironments]) -> Self {
        let mut known = KnownFindings::default();
        for (id, (finding, environments)) in found.iter().enumerate() {
            let environments = Some(environments.clone()).filter(|names| !names.is_empty());
            let judged = Some((finding.rule.clone(), finding.severity, finding.subject.clone()));
            known.add(id, &finding.fingerprint(), &finding.headline, environments, judged);
        }
        known
    }

    /// Returns, for each of `found`, the id of the first known finding that covers it, or `None` unless known findings
    /// cover all of its environments. Known findings with the same wording are used first, so that of several with one
    /// fingerprint, the changed one is new. None covers a finding that is more severe.
    pub(crate) fn covers(&mut self, found: &[&FindingInEnvironments]) -> Vec<Option<usize>> {
        let fingerprints: Vec<String> = found.iter().map(|(finding, _)| finding.fingerprint()).collect();
        let mut open: Vec<Vec<&str>> = found.iter().map(|(_, names)| alternatives(names)).collect();
        let mut first: Vec<Option<usize>> = vec![None; found.len()];
        for exact in [true, false] {
            let places = open.iter_mut().zip(&mut first);
            for ((held, fingerprint), (open, first)) in found.iter().zip(&fingerprints).zip(places) {
                let message = exact.then_some(held.0.headline.as_str());
                if NEVER_KNOWN.contains(&&*held.0.rule) {
                    continue;
                }
                open.retain(|assumed| {
                    let spent = self.use_up(fingerprint, assumed, message, held.0.severity);
                    *first = first.or(spent);
                    spent.is_none()
                });
            }
        }
        let covered = open.iter().zip(first);
        covered.map(|(open, first)| first.filter(|_| open.is_empty())).collect()
    }

    /// Covers one finding like `covers`, but under the fingerprint of a unit that no longer exists. The wording must
    /// match.
    pub(crate) fn cover_moved(
        &mut self,
        (finding, environments): &FindingInEnvironments,
        fingerprint: &str,
    ) -> Option<usize> {
        if NEVER_KNOWN.contains(&&*finding.rule) {
            return None;
        }
        let assumed = alternatives(environments);
        let spent = assumed
            .iter()
            .map(|assumed| self.use_up(fingerprint, assumed, Some(&finding.headline), finding.severity));
        let spent: Option<Vec<usize>> = spent.collect();
        spent?.first().copied()
    }

    /// Returns the ids of known findings that have covered nothing, sorted.
    pub(crate) fn unused(&self) -> Vec<usize> {
        let tickets = self.by_fingerprint.values().flatten();
        let mut ids: Vec<usize> = tickets.filter(|one| one.used.is_empty()).map(|one| one.id).collect();
        ids.sort_unstable();
        ids
    }

    /// Returns the findings of an earlier run that covered nothing, by fingerprint.
    pub(crate) fn left(&self) -> Vec<(String, Resolved)> {
        let mut left: Vec<(usize, String, Resolved)> = Vec::new();
        #[expect(clippy::iter_over_hash_type, reason = "they are sorted below")]
        for (fingerprint, known) in &self.by_fingerprint {
            for one in known.iter().filter(|one| one.used.is_empty()) {
                let resolved = one.judged.clone().map(|(rule, severity, subject)| Resolved {
                    rule,
                    severity,
                    subject,
                    message: one.message.clone(),
                });
                left.extend(resolved.map(|resolved| (one.id, fingerprint.clone(), resolved)));
            }
        }
        left.sort_by_key(|(id, ..)| *id);
        left.into_iter()
            .map(|(_, fingerprint, resolved)| (fingerprint, resolved))
            .collect()
    }

    fn use_up(&mut self, fingerprint: &str, assumed: &str, message: Option<&str>, severity: Severity) -> Option<usize> {
        let tickets = self.by_fingerprint.get_mut(fingerprint);
        let ticket = tickets.into_iter().flatten().find(|ticket| {
            let holds = ticket.environments.as_ref();
            message.is_none_or(|message| ticket.message == message)
                && ticket.judged.as_ref().is_none_or(|(_, known, _)| *known >= severity)
                && holds.is_none_or(|names| names.iter().any(|name| name == assumed))
                && !ticket.used.iter().any(|name| name == assumed)
        });
        ticket.map(|ticket| {
            ticket.used.push(assumed.to_owned());
            ticket.id
        })
    }
}

fn alternatives(names: &[String]) -> Vec<&str> {
    if names.is_empty() {
        vec![ONLY]
    } else {
        names.iter().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::PARSE_ERROR;
    use source::{Sources, Span};
    use std::path::Path;

    fn held(address: &str, message: &str, environments: &[&str]) -> FindingInEnvironments {
        let span = Span::new(Sources::default().add(Path::new("a.tf"), ""), 0..0);
        let subject = Subject {
            unit: "u".into(),
            address: address.into(),
            attribute: "",
        };
        let finding = Diagnostic::new("some-rule", Severity::Error, subject, message, span, "");
        (finding, environments.iter().map(|name| (*name).to_owned()).collect())
    }

    fn covers(known: &[FindingInEnvironments], found: &[FindingInEnvironments]) -> Vec<bool> {
        let covering = KnownFindings::of(known).covers(&found.iter().collect::<Vec<_>>());
        covering.iter().map(Option::is_some).collect()
    }

    #[test]
    fn known_finding_covers_one_finding() {
        let known = [held("q", "30 s", &[])];
        assert_eq!(covers(&known, &[held("q", "20 s", &[])]), [true]);
        assert_eq!(covers(&known, &[held("p", "30 s", &[])]), [false]);
        let twice = [held("q", "20 s", &[]), held("q", "30 s", &[])];
        assert_eq!(covers(&known, &twice), [false, true]);
    }

    #[test]
    fn finding_in_another_environment_is_new() {
        let known = [held("q", "30 s", &["dev"])];
        assert_eq!(covers(&known, &[held("q", "30 s", &["dev"])]), [true]);
        assert_eq!(covers(&known, &[held("q", "30 s", &["dev", "prod"])]), [false]);
        let both = [held("q", "30 s", &["dev", "prod"])];
        let apart = [held("q", "30 s", &["dev"]), held("q", "20 s", &["prod"])];
        assert_eq!(covers(&both, &apart), [true, true]);
    }

    #[test]
    fn unused_known_findings_are_returned() {
        let mut known = KnownFindings::of(&[held("a", "", &[]), held("b", "", &[])]);
        known.covers(&[&held("b", "", &[])]);
        assert_eq!(known.unused(), [0]);
    }

    #[test]
    fn read_errors_are_never_known() {
        let mut unread = held("a.tf", "", &[]);
        unread.0.rule = PARSE_ERROR.into();
        assert_eq!(covers(&[unread.clone()], &[unread]), [false]);
    }
}
