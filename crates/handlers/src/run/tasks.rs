//! Work that runs next to the code that starts it: tasks, groups of tasks, and threads.
//!
//! ```python
//! asyncio.create_task(ship(body))           # a failure is in the task, which nothing reads
//! done, _ = await asyncio.wait(tasks)       # those of all tasks are, until `result()` raises them
//! Thread(target=ship, args=[body]).start()  # a failure ends the thread and nothing else
//! ```

use super::calls::Arguments;
use super::libraries::Known;
use super::machine::Machine;
use super::values::{Evaluated, Executed, Flow, Id, Object, Value};
use crate::read::syntax::Expression;
use std::sync::Arc;

/// Key of the tasks in a group of tasks or a thread. No program can name it.
pub(super) const TASKS: &str = "\0tasks";

/// Key of a pool of threads.
const POOL: &str = "\0pool";

impl<'m> Machine<'m> {
    /// Calls a function of `Promise` or `asyncio`.
    pub(super) fn promise_function(
        &mut self,
        whole: &'m Expression,
        name: &str,
        arguments: &Arguments,
        first: Value,
    ) -> Known {
        Ok(Some(match name {
            // `Promise.all(records.forEach(…))`: `undefined` has no items.
            "all" if first == Value::Null => {
                let error = Value::Error(Some("TypeError".into()), self.current);
                self.promise(Err(error), false, whole.at.clone())
            }
            "all" => self.all(whole, &first),
            "allSettled" => self.settled(whole, &first),
            "any" => return Ok(Some(self.any(whole, &first))),
            "race" => {
                self.doubt();
                Value::Unknown(self.mask(&first))
            }
            // Of Bluebird.
            "map" => return self.each_at_once(whole, arguments, &first).map(Some),
            "resolve" => self.promise(Ok(first), false, whole.at.clone()),
            "reject" => self.promise(Err(first), false, whole.at.clone()),
            "gather" => {
                let is_settled = arguments.named("return_exceptions") == Some(&Value::Bool(true));
                let all = self.list(arguments.values.clone());
                if is_settled {
                    self.settled(whole, &all)
                } else {
                    self.all(whole, &all)
                }
            }
            "run" | "run_until_complete" => self.awaited(first)?,
            "wait_for" | "shield" => first,
            "void" => {
                self.note_task(&first);
                Value::Null
            }
            "create_task" | "ensure_future" => {
                self.note_task(&first);
                first
            }
            "wait" if arguments.named.is_empty() => match self.items(&first) {
                Some(tasks) => self.waited(tasks, whole),
                None => return Ok(None),
            },
            "TaskGroup" => self.group(Vec::new(), whole),
            _ => return Ok(None),
        }))
    }

    /// Calls a function for each item and waits for all.
    pub(super) fn each_at_once(&mut self, whole: &'m Expression, arguments: &Arguments, items: &Value) -> Evaluated {
        let (Some(items), Some(function)) = (self.items(items), arguments.get(1)) else {
            self.doubt();
            return Ok(Value::Unknown(self.mask(items)));
        };
        let promises = self.mapped(items, false, &function.clone(), whole)?;
        Ok(self.all(whole, &promises))
    }

    /// Combines promises: the first success ends the wait, and the failures of others are dropped.
    fn any(&mut self, whole: &'m Expression, list: &Value) -> Value {
        let Some(items) = self.promises(list) else {
            self.doubt();
            return Value::Unknown(self.mask(list));
        };
        let results: Vec<Result<Value, Value>> = items.into_iter().map(|item| self.settle(item)).collect();
        let failed = results.iter().find_map(|one| one.as_ref().err()).cloned();
        let result = match (results.iter().any(Result::is_ok), failed) {
            (false, Some(raised)) => Err(raised),
            (_, failed) => {
                if failed.is_some_and(|raised| self.is_failure(&raised)) {
                    self.run.vanished = Some(whole.at.clone());
                }
                Ok(Value::Unknown(self.mask(list)))
            }
        };
        self.promise(result, true, whole.at.clone())
    }

    /// Calls the function that `new Promise(…)` gets with functions that settle the promise.
    pub(super) fn new_promise(&mut self, whole: &'m Expression, function: &Value) -> Evaluated {
        // Without a call of them, other code decides.
        let made = self.promise(Ok(Value::Unknown(self.current)), true, whole.at.clone());
        let Value::Promise(id) = made else { return Ok(made) };
        self.unsettled.insert(id);
        let settles = vec![Value::Settle(id, true), Value::Settle(id, false)];
        if let Err(raised) = self.called(function, settles, Vec::new(), whole)? {
            self.settle_as(id, Err(raised));
        }
        if self.unsettled.contains(&id) {
            self.doubt();
        }
        Ok(made)
    }

    /// Settles a promise, unless that was done before.
    pub(super) fn settle_as(&mut self, id: Id, settled: Result<Value, Value>) {
        if self.unsettled.remove(&id)
            && let Object::Promise { result, .. } = &mut self.heap[id]
        {
            *result = settled;
        }
    }

    /// Notes that a value has to be a promise, since code uses it as one.
    fn note_task(&mut self, value: &Value) {
        self.run.is_task |= self.is_late(value);
    }

    /// Returns the finished tasks and no others. Their failures wait for code that reads the results.
    fn waited(&mut self, tasks: Vec<Value>, whole: &Expression) -> Value {
        for task in &tasks {
            self.note_task(task);
            self.finish(task);
        }
        let done = self.list(tasks);
        let pending = self.list(Vec::new());
        let both = self.list(vec![done, pending]);
        self.promise(Ok(both), true, whole.at.clone())
    }

    /// Waits until a task has finished, without its result.
    fn finish(&mut self, task: &Value) {
        if let Value::Promise(id) = task
            && let Object::Promise { is_slow, .. } = &mut self.heap[*id]
        {
            *is_slow = false;
        }
    }

    fn add_task(&mut self, tasks: Id, task: &Value) {
        if let Object::List { items, .. } = &mut self.heap[tasks] {
            items.push(task.clone());
        }
    }

    pub(super) fn pool(&mut self, whole: &Expression) -> Value {
        self.group(vec![(Some(POOL.into()), Value::Null)], whole)
    }

    /// Creates a group of tasks, a pool of threads, or a thread with its function, which `start` calls.
    pub(super) fn group(&mut self, mut entries: Vec<(Option<Arc<str>>, Value)>, whole: &Expression) -> Value {
        let tasks = self.list(Vec::new());
        entries.push((Some(TASKS.into()), tasks));
        self.object(entries, whole.at.clone())
    }

    /// Calls a method of a group of tasks, a pool or a thread.
    pub(super) fn task_method(
        &mut self,
        whole: &'m Expression,
        id: Id,
        name: &str,
        arguments: &Arguments,
        first: Value,
    ) -> Known {
        let Some(Value::List(tasks)) = self.entry(id, TASKS) else {
            return Ok(None);
        };
        let rest = || arguments.values.get(1..).unwrap_or_default().to_vec();
        let (function, values, named) = match (name, self.entry(id, "target")) {
            ("create_task", None) if !arguments.values.is_empty() => {
                self.note_task(&first);
                self.add_task(tasks, &first);
                return Ok(Some(first));
            }
            // `limit(() => ship(record))`
            ("submit" | "", None) => (first, Some(rest()), Some(arguments.named.clone())),
            ("map", None) => {
                let Some(items) = arguments.get(1).and_then(|items| self.items(items)) else {
                    return Ok(None);
                };
                let mut results = Vec::new();
                for item in items {
                    let result = self.called_with(&first, item, None, whole)?;
                    results.push(self.promise(result, true, whole.at.clone()));
                }
                // Iterating over the results raises the first failure.
                let results = self.list(results);
                let all = self.all(whole, &results);
                self.add_task(tasks, &all);
                return Ok(Some(all));
            }
            ("start", Some(target)) => {
                let values = self
                    .entry(id, "args")
                    .map_or(Some(Vec::new()), |values| self.items(&values));
                let named = self.entry(id, "kwargs");
                let named = named.map_or(Some(Vec::new()), |named| Some(self.known_entries(&named)?.to_vec()));
                (target, values, named)
            }
            ("join" | "shutdown", _) => {
                for task in self.known_items(tasks) {
                    self.finish(&task);
                }
                return Ok(Some(Value::Null));
            }
            _ => return Ok(None),
        };
        let (Some(values), Some(named)) = (values, named) else {
            self.doubt();
            return Ok(Some(Value::Null));
        };
        let result = self.called(&function, values, named, whole)?;
        let task = self.promise(result, true, whole.at.clone());
        self.add_task(tasks, &task);
        Ok(Some(task))
    }

    /// Waits for the tasks of a group when its `with` ends. The first failure is that of a group, while a pool keeps it.
    pub(super) fn leave_group(&mut self, manager: &Value, done: Executed) -> Executed {
        let Value::Object(id) = manager else { return done };
        let Some(Value::List(tasks)) = self.entry(*id, TASKS) else {
            return done;
        };
        let is_pool = self.entry(*id, POOL).is_some();
        let mut has_failed = false;
        for task in self.known_items(tasks) {
            if is_pool {
                self.finish(&task);
            } else {
                has_failed |= self.settle(task).is_err();
            }
        }
        if has_failed && done.is_ok() {
            let group = Value::Error(Some("ExceptionGroup".into()), self.failing);
            return Err(Flow::Raise(group));
        }
        done
    }
}
