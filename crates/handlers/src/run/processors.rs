//! Batch processors of Powertools and similar libraries, which call a function for each record.

use super::calls::Arguments;
use super::machine::Machine;
use super::values::{Evaluated, Flow, Id, Object, Value, bit};
use crate::read::syntax::Expression;
use crate::words::FAILURES;

impl<'m> Machine<'m> {
    /// Creates a batch processor without failures.
    pub(super) fn processor(&mut self, is_fifo: bool, may_raise: bool, whole: &Expression) -> Id {
        let failures = self.list_id(Vec::new());
        let at = whole.at.clone();
        self.add(Object::Processor {
            failures,
            is_fifo,
            may_raise,
            at,
        })
    }

    /// Runs the handler of a batch processor for each record, and returns its response.
    pub(super) fn partial_response(&mut self, whole: &'m Expression, name: &str, arguments: &Arguments) -> Evaluated {
        let processor = arguments.either("processor", 2).cloned();
        let id = match processor {
            Some(Value::Processor(id)) => id,
            _ => self.processor(false, true, whole),
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
        let never_raises = match &options {
            Value::Object(id) => self.entry(*id, "throwOnFullBatchFailure") == Some(Value::Bool(false)),
            _ => false,
        };
        if let (true, Object::Processor { may_raise, .. }) = (never_raises, &mut self.heap[id]) {
            *may_raise = false;
        }
        let done = self.run_processor(id, &records, &handler, context, whole);
        if let (Err(Flow::Raise(raised)), true, false) = (&done, self.module.is_script, name.ends_with("Sync")) {
            let raised = Err(raised.clone());
            return Ok(self.promise(raised, true, whole.at.clone()));
        }
        done?;
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
        let Object::Processor {
            failures,
            is_fifo,
            may_raise,
            ..
        } = self.heap[id].clone()
        else {
            return Ok(());
        };
        let records = self.items(records).unwrap_or_default();
        let count = records.len();
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
        let Object::List { items, .. } = &self.heap[failures] else {
            return Ok(());
        };
        if may_raise && count > 0 && items.len() == count {
            // A batch of which every message failed fails as a whole, before the response is set in most versions.
            let is_open = !self.module.empties_full_batch;
            let empty = self.add(Object::List {
                items: Vec::new(),
                is_open,
            });
            if let Object::Processor { failures, .. } = &mut self.heap[id] {
                *failures = empty;
            }
            return Err(Flow::Raise(Value::Error(
                Some("BatchProcessingError".into()),
                self.failing,
            )));
        }
        Ok(())
    }
}
