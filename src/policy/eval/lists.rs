//! Evaluates lists and maps, whose elements may or may not exist, and macros over them.

use super::{Evaluator, missing, unknown_part, with_readings};
use crate::graph::{Bounds, Cause, Origins, Tag, Tags};
use crate::policy::code::Code;
use crate::policy::context::{LabelText, MAX_ITEMS, Reading, list, too_many_cases};
use crate::policy::syntax::Macro;
use crate::policy::value::{Evaluated, EvaluatedCases, List, ListElement, State, UnknownReason, Value, single_case};
use conditions::{Case, Condition, MAX_CASES};
use source::Span;
use std::rc::Rc;
use std::sync::Arc;

impl<'g> List<'g> {
    /// Returns the reason why the list is not completely known.
    pub(super) fn gap(&self) -> Option<Rc<UnknownReason>> {
        let doubt = self.items.iter().find_map(|item| item.doubt.clone());
        doubt.or_else(|| self.incomplete.clone())
    }

    /// Concatenates both lists, up to the maximum length.
    pub(super) fn with(&self, other: &List<'g>) -> Rc<List<'g>> {
        let items = self.items.iter().chain(&other.items);
        let mut open = self.incomplete.clone().or_else(|| other.incomplete.clone());
        if self.items.len() + other.items.len() > MAX_ITEMS {
            let reason = Cause::Limit.because(format!("a list has more than {MAX_ITEMS} elements"));
            open = Some(Rc::new(UnknownReason::new(reason, None)));
        }
        Rc::new(List {
            items: items.take(MAX_ITEMS).cloned().collect(),
            incomplete: open,
        })
    }
}

fn truth<'g>(truth: bool) -> State<'g> {
    State::Known(Value::Bool(truth))
}

impl<'g> Evaluator<'_, 'g> {
    pub(super) fn list(&mut self, elements: &[Code], when: &Condition) -> EvaluatedCases<'g> {
        let mut lists = vec![Case::new(when.clone(), Vec::new())];
        for element in elements {
            let mut next = Vec::new();
            for Case { when, then } in lists {
                for fork in self.eval(element, &when) {
                    let mut items: Vec<ListElement<'g>> = then.clone();
                    items.push(ListElement::certain(fork.then));
                    next.push(Case::new(fork.when, items));
                }
            }
            if next.len() > MAX_CASES {
                return single_case(when, too_many_cases());
            }
            lists = next;
        }
        let of_items = |Case { when, then }: Case<Vec<ListElement<'g>>>| {
            let read: Vec<u32> = then.iter().flat_map(|item| item.value.read.clone()).collect();
            let list = Value::List(Rc::new(List {
                items: then,
                incomplete: None,
            }));
            Case::new(when, Evaluated::known(list).and(&read))
        };
        lists.into_iter().map(of_items).collect()
    }

    pub(super) fn index(&mut self, of: &Code, index: &Code, when: &Condition) -> EvaluatedCases<'g> {
        let of = self.eval(of, when);
        self.each(of, |this, when, of| {
            let index = this.eval(index, when);
            this.each(index, |_, when, index| {
                let judged = match (&of.state, &index.state) {
                    (State::Known(Value::List(list)), State::Known(Value::Int(at))) => element(list, *at),
                    (State::Unknown(gap), _) | (_, State::Unknown(gap)) => unknown_part(gap, &of),
                    _ => missing(&of),
                };
                single_case(when, judged.and(&of.read).and(&index.read))
            })
        })
    }

    /// Returns an entry of a map of tags.
    pub(super) fn tag(&mut self, of: &Code, key: &Code, when: &Condition) -> EvaluatedCases<'g> {
        let of = self.eval(of, when);
        self.each(of, |this, when, of| {
            let key = this.eval(key, when);
            this.each(key, |this, when, key| match (&of.state, &key.state) {
                (State::Known(Value::Tags(tags, span)), State::Known(Value::Text(key))) => {
                    let found = this.entry(tags, *span, key, when);
                    with_readings(found, &of.read)
                }
                (State::Unknown(gap), _) | (_, State::Unknown(gap)) => single_case(when, unknown_part(gap, &of)),
                _ => single_case(when, missing(&of)),
            })
        })
    }

    fn entry(&mut self, tags: &'g Tags, span: Span, key: &str, when: &Condition) -> EvaluatedCases<'g> {
        let mut forks = Vec::new();
        let mut left = when.clone();
        for tag in tags.entries.iter().filter(|tag| tag.key() == key) {
            let both = left.and(&tag.when);
            if both.is_possible() {
                forks.extend(self.context.plain(&tag.value, &both));
                left = left.and(&tag.when.not());
            }
        }
        if left.is_possible() {
            let rest = match &tags.opaque {
                Some(reason) => Evaluated::unknown(UnknownReason::new(reason.clone(), span)),
                None => Evaluated::missing(),
            };
            forks.push(Case::new(left, rest));
        }
        forks
    }

    /// Returns the keys of a map as a list.
    fn keys(&mut self, tags: &'g Tags, span: Span, when: &Condition) -> EvaluatedCases<'g> {
        let mut items: Vec<(Arc<str>, Condition)> = Vec::new();
        for tag in &tags.entries {
            match items.iter_mut().find(|(key, _)| **key == *tag.key()) {
                Some((_, known)) => *known = known.or(&tag.when),
                None => items.push((tag.key().into(), tag.when.clone())),
            }
        }
        let items = items.into_iter().map(|(key, when)| {
            let value = Evaluated::known(Value::Text(key));
            (when, ListElement::certain(value))
        });
        let open = tags.opaque.clone();
        let place = self.context.note(Reading {
            span,
            origins: Origins::NONE,
            shown: LabelText::Words("its tags"),
            is_default: false,
        });
        let keys = list(
            when,
            items.collect(),
            open.map(|reason| Rc::new(UnknownReason::new(reason, span))),
        );
        with_readings(keys, &[place])
    }

    pub(super) fn size(&mut self, judged: &Evaluated<'g>) -> Evaluated<'g> {
        let (least, most, gap) = match &judged.state {
            State::Known(Value::List(list)) => {
                let certain = list.items.iter().filter(|item| item.doubt.is_none()).count();
                let most = list.incomplete.is_none().then_some(list.items.len());
                (certain, most, list.gap())
            }
            State::Known(Value::Tags(tags, span)) => {
                let is_simple = tags.entries.iter().all(|tag| tag.when.is_always());
                let mut keys: Vec<&str> = tags.entries.iter().map(Tag::key).collect();
                keys.sort_unstable();
                keys.dedup();
                let reason = tags
                    .opaque
                    .clone()
                    .or_else(|| (!is_simple).then(|| Cause::Derived.because("conditions decide which tags there are")));
                let gap = reason.map(|reason| Rc::new(UnknownReason::new(reason, *span)));
                let least = if is_simple { keys.len() } else { 0 };
                (least, tags.opaque.is_none().then_some(keys.len()), gap)
            }
            _ => return missing(judged),
        };
        let whole = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let found = match gap {
            None => Evaluated::known(Value::Int(whole(least))),
            Some(gap) => Evaluated::unknown(UnknownReason {
                bounds: Bounds {
                    least: Some(whole(least)),
                    most: most.map(whole),
                },
                ..UnknownReason::new(gap.reason.clone(), gap.span)
            }),
        };
        found.and(&judged.read)
    }

    /// Determines if `value` is an element of a list or a key of a map.
    pub(super) fn is_in(&mut self, value: &State<'g>, within: &State<'g>) -> State<'g> {
        match within {
            State::Known(Value::List(list)) => {
                let mut open = list.incomplete.clone();
                for item in &list.items {
                    match self.equal(&item.value.state, value) {
                        State::Known(Value::Bool(true)) if item.doubt.is_none() => return truth(true),
                        State::Known(Value::Bool(true)) => open.clone_from(&item.doubt),
                        State::Unknown(gap) => open = Some(gap),
                        State::Known(_) | State::Missing => {}
                    }
                }
                open.map_or(truth(false), State::Unknown)
            }
            State::Known(Value::Tags(tags, span)) => {
                let key = match value {
                    State::Known(Value::Text(key)) => key,
                    State::Unknown(gap) => return State::Unknown(gap.clone()),
                    _ => return State::Missing,
                };
                let mut there = tags.entries.iter().filter(|tag| *tag.key() == **key);
                let known = there.next().map(|tag| tag.when.is_always());
                match (known, &tags.opaque) {
                    (Some(true), _) => truth(true),
                    (None, None) => truth(false),
                    (_, Some(reason)) => State::Unknown(Rc::new(UnknownReason::new(reason.clone(), *span))),
                    (Some(false), None) => {
                        let reason = Cause::Derived.because("a condition decides whether the tag is there");
                        State::Unknown(Rc::new(UnknownReason::new(reason, *span)))
                    }
                }
            }
            State::Unknown(gap) => State::Unknown(gap.clone()),
            State::Known(_) | State::Missing => State::Missing,
        }
    }

    pub(super) fn macro_of(
        &mut self,
        which: Macro,
        list: &Code,
        body: &[Code],
        when: &Condition,
    ) -> EvaluatedCases<'g> {
        let lists = self.eval(list, when);
        self.each(lists, |this, when, list| match &list.state {
            State::Known(Value::List(elements)) => this.apply_macro(which, elements, &list.read, body, when),
            State::Known(Value::Tags(tags, span)) => {
                let keys = this.keys(tags, *span, when);
                this.each(keys, |this, when, keys| match &keys.state {
                    State::Known(Value::List(elements)) => this.apply_macro(which, elements, &keys.read, body, when),
                    _ => single_case(when, keys),
                })
            }
            State::Unknown(gap) => single_case(when, unknown_part(gap, &list)),
            State::Known(_) | State::Missing => single_case(when, missing(&list)),
        })
    }

    fn apply_macro(
        &mut self,
        which: Macro,
        list: &List<'g>,
        read: &[u32],
        body: &[Code],
        when: &Condition,
    ) -> EvaluatedCases<'g> {
        match (which, body) {
            (Macro::All, [test]) => self.quantified(false, list, read, test, when),
            (Macro::Exists, [test]) => self.quantified(true, list, read, test, when),
            (Macro::ExistsOne, [test]) => {
                let kept = self.filtered(list, test, when);
                self.each(kept, |this, when, kept| {
                    let size = this.size(&kept);
                    let is_one = this.equal(&size.state, &State::Known(Value::Int(1)));
                    let judged = Evaluated {
                        state: is_one,
                        read: size.read,
                    };
                    single_case(when, judged.and(read))
                })
            }
            (Macro::Filter, [test]) => self.filtered(list, test, when),
            (Macro::Map, [value]) => self.mapped(list, value, when),
            (Macro::Map, [test, value]) => {
                let kept = self.filtered(list, test, when);
                self.each(kept, |this, when, kept| match &kept.state {
                    State::Known(Value::List(list)) => this.mapped(list, value, when),
                    _ => single_case(when, kept),
                })
            }
            _ => single_case(when, Evaluated::missing()),
        }
    }

    /// Evaluates `code` for `item`.
    fn of_item(&mut self, item: &ListElement<'g>, code: &Code, when: &Condition) -> EvaluatedCases<'g> {
        self.locals.push(item.value.clone());
        let forks = self.eval(code, when);
        self.locals.pop();
        forks
    }

    /// Evaluates `all` and `exists`, whose result is `decisive` if it is for any element: false for `all`, true for
    /// `exists`.
    fn quantified(
        &mut self,
        decisive: bool,
        list: &List<'g>,
        read: &[u32],
        test: &Code,
        when: &Condition,
    ) -> EvaluatedCases<'g> {
        let begin = Evaluated {
            state: truth(!decisive),
            read: read.to_vec(),
        };
        let mut so_far = single_case(when, begin);
        for item in &list.items {
            let mut next = Vec::with_capacity(so_far.len());
            for Case { when, then } in so_far {
                if then.truth() == Some(decisive) {
                    next.push(Case::new(when, then));
                    continue;
                }
                for fork in self.of_item(item, test, &when) {
                    let mut tested = fork.then.and(&item.value.read);
                    if tested.truth() == Some(decisive)
                        && let Some(doubt) = &item.doubt
                    {
                        tested.state = State::Unknown(doubt.clone());
                    }
                    let judged = match (tested.truth(), then.truth()) {
                        (Some(truth), _) if truth == decisive => tested,
                        (Some(_), _) => then.clone(),
                        (None, Some(_)) => tested,
                        (None, None) if tested.state.is_unknown() => tested,
                        (None, None) => then.clone(),
                    };
                    next.push(Case::new(fork.when, judged));
                }
            }
            if next.len() > MAX_CASES {
                return single_case(when, too_many_cases());
            }
            so_far = next;
        }
        if let Some(gap) = &list.incomplete {
            for fork in &mut so_far {
                if fork.then.truth() != Some(decisive) {
                    fork.then.state = State::Unknown(gap.clone());
                }
            }
        }
        so_far
    }

    /// Returns the elements for which `test` is true, and with a doubt those for which it is unknown.
    fn filtered(&mut self, list: &List<'g>, test: &Code, when: &Condition) -> EvaluatedCases<'g> {
        self.mapped_with(list, test, when, |item, tested| match (&tested.state, tested.truth()) {
            (_, Some(true)) => Some(item.clone()),
            (State::Unknown(gap), _) => Some(ListElement {
                doubt: item.doubt.clone().or_else(|| Some(gap.clone())),
                ..item.clone()
            }),
            _ => None,
        })
    }

    fn mapped(&mut self, list: &List<'g>, value: &Code, when: &Condition) -> EvaluatedCases<'g> {
        self.mapped_with(list, value, when, |item, value| {
            Some(ListElement {
                value: value.and(&item.value.read),
                doubt: item.doubt.clone(),
            })
        })
    }

    /// Returns the list of results of `keep`, which receives each element and the value of `code` for it.
    fn mapped_with(
        &mut self,
        list: &List<'g>,
        code: &Code,
        when: &Condition,
        keep: impl Fn(&ListElement<'g>, Evaluated<'g>) -> Option<ListElement<'g>>,
    ) -> EvaluatedCases<'g> {
        let begin = List {
            items: Vec::new(),
            incomplete: list.incomplete.clone(),
        };
        let mut lists = vec![Case::new(when.clone(), begin)];
        for item in &list.items {
            let mut next = Vec::with_capacity(lists.len());
            for Case { when, then } in lists {
                let mut forks = self.of_item(item, code, &when);
                let only = forks.pop();
                for fork in forks {
                    let mut list = then.clone();
                    list.items.extend(keep(item, fork.then));
                    next.push(Case::new(fork.when, list));
                }
                if let Some(fork) = only {
                    let mut list = then;
                    list.items.extend(keep(item, fork.then));
                    next.push(Case::new(fork.when, list));
                }
            }
            if next.len() > MAX_CASES {
                return single_case(when, too_many_cases());
            }
            lists = next;
        }
        let finished = lists.into_iter().map(|Case { when, then }| {
            let read: Vec<u32> = then.items.iter().flat_map(|item| item.value.read.clone()).collect();
            Case::new(when, Evaluated::known(Value::List(Rc::new(then))).and(&read))
        });
        finished.collect()
    }
}

fn element<'g>(list: &List<'g>, at: i64) -> Evaluated<'g> {
    let place = usize::try_from(at).ok();
    let before = place.map_or(0, |place| place.saturating_add(1));
    if let Some(doubt) = list.items.iter().take(before).find_map(|item| item.doubt.clone()) {
        return Evaluated::unknown(UnknownReason::clone(&doubt));
    }
    match (place.and_then(|place| list.items.get(place)), &list.incomplete) {
        (Some(item), _) => item.value.clone(),
        (None, Some(gap)) if at >= 0 => Evaluated::unknown(UnknownReason::clone(gap)),
        (None, _) => Evaluated::missing(),
    }
}
