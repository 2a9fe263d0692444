//! Transforms `EventInvokeConfig`, the destinations of asynchronous invocations, and generates the queue or topic of a
//! destination that names none.

use super::functions::{chosen, suffixed};
use super::making::{At, Owner};
use super::policies::Grants;
use super::{FOR_DESTINATION, Transform, branches, is_no_value};
use trees::{Entry, Node, Value};

impl Transform<'_> {
    pub(super) fn invoke_config(&mut self, owner: &Owner, config: &Node, grants: &mut Grants) {
        let id = suffixed(&owner.id, "EventInvokeConfig");
        let mut destinations = Vec::new();
        let written = config
            .get("DestinationConfig")
            .and_then(Node::entries)
            .unwrap_or_default();
        for entry in written
            .iter()
            .filter(|entry| matches!(&*entry.key, "OnSuccess" | "OnFailure"))
        {
            if let Some(destination) = self.destination(owner, &format!("{id}{}", entry.key), entry, grants) {
                let value = Node::new(entry.value.span, Value::Mapping(vec![destination]));
                destinations.push(Entry { value, ..entry.clone() });
            }
        }
        let at = owner.at;
        let properties = vec![
            at.entry("FunctionName", at.reference(&owner.id)),
            at.entry("DestinationConfig", at.object(destinations)),
        ];
        self.make(at, &id, "AWS::Lambda::EventInvokeConfig", owner, properties);
    }

    /// Transforms `OnSuccess` or `OnFailure`.
    fn destination(&mut self, owner: &Owner, id: &str, entry: &Entry, grants: &mut Grants) -> Option<Entry> {
        let at = At(entry.key_span);
        let kind = entry.value.get("Type").and_then(Node::as_str).unwrap_or_default();
        // The transform writes a generated destination into `Globals`, so the next function shares it.
        let place = entry.value.span;
        let is_shared = !owner.is_detached && self.globals.is_some_and(|globals| globals.contains(place));
        let known = self.shared.get(&place).filter(|_| is_shared).cloned();
        let written = entry.value.entry("Destination");
        let destination = match (known, written.filter(|written| written.value.value != Value::Null)) {
            (Some(known), _) => at.entry("Destination", known),
            (None, None) => {
                let made = self.sink(owner, id, kind, at, owner.condition.clone())?;
                at.entry("Destination", made)
            }
            (None, Some(written)) => match branches(&written.value) {
                Some((name, yes, no)) if is_no_value(yes) && !is_no_value(no) => {
                    let condition = at.text(self.both(owner, name, at));
                    chosen(written, 1, self.sink(owner, id, kind, at, Some(condition))?)
                }
                Some((name, yes, no)) if is_no_value(no) && !is_no_value(yes) => {
                    let negated = self.negated(name, at);
                    let condition = at.text(self.both(owner, &negated, at));
                    chosen(written, 2, self.sink(owner, id, kind, at, Some(condition))?)
                }
                _ => written.clone(),
            },
        };
        if is_shared {
            self.shared.insert(place, destination.value.clone());
        }
        if kind == "SQS" {
            grants.send(at, id, destination.value.clone());
        }
        Some(destination)
    }

    /// Generates the queue or topic, and returns its ARN.
    fn sink(&mut self, owner: &Owner, id: &str, kind: &str, at: At, condition: Option<Node>) -> Option<Node> {
        let (suffix, made, arn) = match kind {
            "SQS" => ("Queue", "AWS::SQS::Queue", at.attribute(&format!("{id}Queue"), "Arn")),
            "SNS" => ("Topic", "AWS::SNS::Topic", at.reference(&format!("{id}Topic"))),
            _ => return None,
        };
        let id = format!("{id}{suffix}");
        let resource = at.resource(
            id.as_str(),
            made,
            condition.as_ref(),
            Vec::new(),
            at.text(FOR_DESTINATION),
        );
        self.made.push(resource);
        self.name(
            owner,
            if kind == "SQS" {
                "DestinationQueue"
            } else {
                "DestinationTopic"
            },
            &id,
        );
        Some(arn)
    }
}
