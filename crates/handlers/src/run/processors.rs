//! Batch processors of Powertools and similar libraries, which call a function for each record.

use super::calls::Arguments;
use super::machine::Machine;
use super::values::{Evaluated, Flow, Id, Object, Value, bit};
use crate::read::syntax::Expression;
use crate::words::FAILURES;

impl<'m> Machine<'m> {
    /// Creates a batch processor without failures.
    pub(super) fn processor(&mut self, is_fifo: bool, whole: &Expression) -> Id {
        let failures = self.list_id(Vec::new());
        let at = whole.at.clone();
        self.add(Object::Processor { failures, is_fifo, at })
    }

    /// Runs the handler of a batch processor for each record, and returns its response.
    pub(super) fn partial_response(&mut self, whole: &'m Expression, name: &str, arguments: &Arguments) -> Evaluated {
        let processor = arguments.either("processor", 2).cloned();
        let id = match processor {
            Some(Value::Processor(id)) => id,
            _ => self.processor(false, whole),
        };
        let handler = arguments
            .either("record_handler", 1)
            .cloned()
            .unwrap_or(Value::Unknown(0));
        let records = Value::List(self.records);
        let options = arguments.get(3).cloned().unwrap_or(Value::Null);
        let context = match &options {
            Value::Object(id) => self.entry(*id, "context"),
            _ => None,
        };
        self.run_processor(id, &records, &handler, context, whole)?;
        let Object::Processor { failures, .. } = &self.heap[id] else {
            return Ok(Value::Unknown(0));
        };
        let failures = Value::List(*failures);
        let response = self.object(vec![(Some(FAILURES.into()), failures)], whole.at.clone());
        let is_sync = name.ends_with("Sync") || !self.module.is_script;
        Ok(if is_sync {
            response
        } else {
            self.promise(Ok(response), true, whole.at.clone())
        })
    }

    /// Calls a batch processor with records and a handler.
    pub(super) fn process(&mut self, id: Id, arguments: &Arguments, whole: &'m Expression) -> Evaluated {
        let records = arguments.either("records", 0).cloned().unwrap_or(Value::Null);
        let handler = arguments.either("handler", 1).cloned().unwrap_or(Value::Null);
        self.run_processor(id, &records, &handler, None, whole)?;
        Ok(Value::Processor(id))
    }

    fn run_processor(
        &mut self,
        id: Id,
        records: &Value,
        handler: &Value,
        context: Option<Value>,
        whole: &'m Expression,
    ) -> Result<(), Flow> {
        let Object::Processor { failures, is_fifo, .. } = self.heap[id].clone() else {
            return Ok(());
        };
        let records = self.items(records).unwrap_or_default();
        let mut is_stopped = false;
        for record in records {
            let Value::Record(number) = record else { continue };
            self.run.used |= bit(number);
            if !is_stopped {
                let values = std::iter::once(record).chain(context.clone()).collect();
                let outer = std::mem::replace(&mut self.current, bit(number));
                let result = self.called(handler, values, Vec::new(), whole)?;
                self.current = outer;
                let Err(raised) = result.and_then(|value| self.settle(value)) else {
                    continue;
                };
                if self.is_failure(&raised) {
                    self.run.vanished = Some(whole.at.clone());
                }
            }
            let entries = vec![(Some("itemIdentifier".into()), Value::MessageId(number))];
            let item = self.object(entries, whole.at.clone());
            if let Object::List { items, .. } = &mut self.heap[failures] {
                items.push(item);
            }
            is_stopped = is_fifo;
        }
        Ok(())
    }
}
