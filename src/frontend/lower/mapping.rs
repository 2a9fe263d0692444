//! Lowers event source mappings whose source is, or may be, a queue.

use super::properties::Known;
use super::{BareName, Lowering, Node, Path, View, last};
use crate::graph::{
    Attribute, Case, Condition, EventSourceMapping, Invocation, Link, MappingAttributeNames, MappingAttributes,
    ProvisionedPollers, ResponseType, State, StreamSetting,
};

/// The response type for partial batch responses.
const REPORT: &str = "ReportBatchItemFailures";

/// Names of a mapping's attributes.
pub(in crate::frontend) struct MappingNames {
    /// Names of the source.
    pub(in crate::frontend) queues: &'static [Path],
    pub(in crate::frontend) function: Path,
    pub(in crate::frontend) attributes: MappingAttributeNames,
    /// The object with the filters, the list in it, and the pattern of each filter.
    pub(in crate::frontend) filters: [Path; 3],
    pub(in crate::frontend) provisioned_pollers: Path,
    pub(in crate::frontend) minimum_pollers: Path,
    pub(in crate::frontend) maximum_pollers: Path,
    pub(in crate::frontend) poller_group: Path,
    /// Paths of the tags; the first that is written is used.
    pub(in crate::frontend) tags: &'static [Path],
    /// Settings for streams only, the first of which is the starting position.
    pub(in crate::frontend) stream_settings: [Path; 6],
    /// Settings that imply another source if the source itself is unresolved.
    pub(in crate::frontend) other_sources: &'static [Path],
    /// All names that the dialect accepts in a mapping of any source.
    pub(in crate::frontend) known: Known,
}

impl<V: View> Lowering<V> {
    pub(super) fn mapping(&mut self, node: Node<V::Value>, names: &MappingNames) {
        let written = &node.written;
        if !node.made.is_of_stream {
            self.find_unknown(&node.resource, written, &names.known);
        }
        let called = names.queues.iter().find(|name| self.view.has(written, name));
        let Some(source) = called.or(names.queues.first()) else {
            return;
        };
        if node.made.is_of_stream || self.reads_no_queue(written, source, names.other_sources) {
            self.misspelled.clear();
            let function = self.link(written, names.function, BareName::Function);
            self.graph.invocations.push(Invocation {
                resource: node.resource.address,
                span: node.resource.header,
                function,
                waits: true,
            });
            return;
        }
        let queue = self.source(written, source);
        let types = names.attributes.report_batch_item_failures;
        let attributes = MappingAttributes {
            report_batch_item_failures: self.reports_failures(written, types),
            ..MappingAttributes::read(&mut self.reading(written), &names.attributes)
        };
        let mapping = EventSourceMapping {
            polls_a_queue_when: self.proves_a_queue(written, source, &queue, names),
            queue,
            function: self.link(written, names.function, BareName::Function),
            attributes,
            window_set_by: self.view.set_by(written, names.attributes.window),
            response_types: self.response_types(written, types),
            filters: self.filters(written, names.filters),
            provisioned_pollers: self.provisioned_pollers(written, names),
            stream_settings: self.stream_settings(written, names.stream_settings),
            qualifier: self.read(written, names.function, &None, V::qualifier),
            tags: self.tags_if_any(written, names.tags),
            ignored_disabling: node.made.ignored_disabling,
            resource: node.resource,
        };
        self.forget_unknown();
        self.graph.mappings.push(mapping);
    }

    /// Returns `true` if the source is known to be something other than a queue in every case.
    fn reads_no_queue(&mut self, written: &V::Value, source: Path, others: &[Path]) -> bool {
        let source = self.attribute(written, source);
        // A module for queues and streams writes these settings, too, and sets them to null for queues.
        let tells_of_another = others.iter().any(|name| {
            let setting = self.attribute(written, name);
            setting.cases.iter().all(|case| matches!(case.state, State::Set(_)))
        });
        source.cases.iter().all(|case| match &case.state {
            State::Set(Some(value)) => match self.view.is_queue(value) {
                Some(is_queue) => !is_queue && !self.is_no_source(value),
                None => tells_of_another,
            },
            State::Set(None) | State::Default(_) => true,
            State::Unresolved(_) => tells_of_another,
        })
    }

    /// Returns the condition under which the source must be a queue, whatever its ARN.
    ///
    /// Only queues accept a maximum concurrency, and every other source requires a setting that names it, or a starting
    /// position. Settings that are mostly used with other sources count against a queue. The events of queues have
    /// their own names for the source. Nothing is examined if the source itself is known.
    /// <https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html>
    fn proves_a_queue(
        &mut self,
        written: &V::Value,
        source: Path,
        queue: &Attribute<Link>,
        names: &MappingNames,
    ) -> Condition {
        if names.queues.first() != Some(&source) || queue.unresolved_reason().is_none() {
            return Condition::always();
        }
        let mostly = [names.attributes.failure_destination, names.provisioned_pollers];
        let of_others = names.other_sources.iter().chain(&names.stream_settings).chain(&mostly);
        let mut none_of_others = Condition::always();
        for name in of_others {
            let found = self.attribute(written, name);
            let is_silent: Vec<bool> = found.cases.iter().map(|case| self.says_nothing(case)).collect();
            if is_silent.contains(&false) {
                let silent = found.cases.iter().zip(is_silent).filter(|(_, is_silent)| *is_silent);
                none_of_others = none_of_others.and(&any_of(silent.map(|(case, _)| case)));
            }
        }
        if none_of_others.is_always() {
            return none_of_others;
        }
        let limit = self.attribute(written, names.attributes.maximum_concurrency);
        let limited = limit.cases.iter().filter(|case| matches!(case.value(), Some(Some(_))));
        none_of_others.or(&any_of(limited))
    }

    /// Returns the written response types, if the list is known.
    fn response_types(&mut self, written: &V::Value, path: Path) -> Vec<ResponseType> {
        // A list is not a text, in no dialect.
        let whole = self.attribute(written, path).cases.into_iter();
        let bare: Vec<Condition> = whole
            .filter(|case| matches!(case.value(), Some(Some(value)) if self.view.text(value).is_ok()))
            .map(|case| case.when)
            .collect();
        let elements = self.view.elements(written, path).into_iter();
        let known = elements.filter(|element| element.place.is_ok());
        let types = known.map(|element| ResponseType {
            name: Attribute {
                name: last(path).into(),
                ..self.required(&element.written, "", V::text)
            },
            is_bare: bare.iter().any(|when| when.is_possible_with(&element.when)),
            when: element.when,
        });
        let mut types: Vec<_> = types.collect();
        types.shrink_to_fit();
        types
    }

    fn reports_failures(&mut self, written: &V::Value, path: Path) -> Attribute<bool> {
        let lists = self.lists(written, path, "");
        let absent = |_: &str| State::Default(false);
        self.convert(lists, absent, |this, types| {
            let types: Vec<_> = types.iter().map(|name| this.view.text(name)).collect();
            if types.iter().flatten().any(|name| name == REPORT) {
                return Ok(true);
            }
            types.into_iter().try_fold(false, |reports, name| name.map(|_| reports))
        })
    }

    /// Returns the patterns of filters. The paths are those of the object with the filters, the list in it, and the
    /// pattern of each filter.
    pub(super) fn filters(&mut self, written: &V::Value, paths: [Path; 3]) -> Attribute<Vec<Attribute<String>>> {
        self.each(written, paths, V::text)
    }

    fn provisioned_pollers(
        &mut self,
        written: &V::Value,
        names: &MappingNames,
    ) -> Attribute<Option<Box<ProvisionedPollers>>> {
        let found = self.attribute(written, names.provisioned_pollers);
        let absent = |_: &str| State::Default(None);
        self.convert(found, absent, |this, pollers| {
            Ok(Some(Box::new(ProvisionedPollers {
                minimum: this.plain(&pollers, names.minimum_pollers, None),
                maximum: this.plain(&pollers, names.maximum_pollers, None),
                group: this.text(&pollers, names.poller_group),
            })))
        })
    }

    /// Returns the settings for streams only, in the cases in which they are known to be set.
    fn stream_settings(&mut self, written: &V::Value, names: [Path; 6]) -> Vec<StreamSetting> {
        let mut all = Vec::new();
        for (at, name) in names.into_iter().enumerate() {
            let found = self.attribute(written, name);
            let mut set = found.cases.iter().filter(|case| self.says_something(case));
            if let Some(first) = set.next() {
                all.push(StreamSetting {
                    name: name.into(),
                    span: first.span,
                    when: first.when.or(&any_of(set)),
                    is_start: at == 0,
                });
            }
        }
        all
    }

    /// Returns `true` if a setting has a value with an effect: plans contain false, 0, -1 and empty texts for absent
    /// settings.
    fn says_something(&mut self, case: &Case<Option<V::Value>>) -> bool {
        let Some(Some(value)) = case.value() else { return false };
        self.does_something(value) == Some(true)
    }

    /// Returns `true` if a setting is known to have no effect.
    fn says_nothing(&mut self, case: &Case<Option<V::Value>>) -> bool {
        match case.value() {
            Some(Some(value)) => self.does_something(value) == Some(false),
            Some(None) => true,
            None => false,
        }
    }

    /// Returns whether a value has an effect, or `None` if it is not a known scalar.
    fn does_something(&mut self, value: &V::Value) -> Option<bool> {
        match (
            self.view.integer(value),
            self.view.boolean(value),
            self.view.text(value),
        ) {
            (Ok(number), ..) => Some(number > 0),
            (_, Ok(flag), _) => Some(flag),
            (.., Ok(text)) => Some(!text.is_empty()),
            _ => None,
        }
    }
}

/// Returns the condition under which one of `cases` applies.
fn any_of<'a, T: 'a>(cases: impl Iterator<Item = &'a Case<T>>) -> Condition {
    cases.fold(Condition::never(), |all, case| all.or(&case.when))
}
