//! Lists and maps: elements that may be there or not, and what macros make of them.

use super::{Evaluator, missing, resting_on, unknown_part};
use crate::conditions::{Case, Condition, MAX_CASES};
use crate::graph::{Bounds, Cause, Tags};
use crate::policy::code::Code;
use crate::policy::context::{MAX_ITEMS, Reading, Shown, list, too_many_cases};
use crate::policy::syntax::Macro;
use crate::policy::value::{Forks, Gap, Item, Judged, List, State, Value, one};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

impl<'g> List<'g> {
    /// Why it is not known whole.
    pub(super) fn gap(&self) -> Option<Rc<Gap>> {
        let doubt = self.items.iter().find_map(|item| item.doubt.clone());
        doubt.or_else(|| self.open.clone())
    }

    /// The elements of both, as far as a list goes.
    pub(super) fn with(&self, other: &List<'g>) -> Rc<List<'g>> {
        let items = self.items.iter().chain(&other.items);
        let mut open = self.open.clone().or_else(|| other.open.clone());
        if self.items.len() + other.items.len() > MAX_ITEMS {
            let reason = Cause::Limit.because(format!("a list has more than {MAX_ITEMS} elements"));
            open = Some(Rc::new(Gap::new(reason, None)));
        }
        Rc::new(List {
            items: items.take(MAX_ITEMS).cloned().collect(),
            open,
        })
    }
}

fn truth<'g>(truth: bool) -> State<'g> {
    State::Known(Value::Bool(truth))
}

impl<'g> Evaluator<'_, 'g> {
    pub(super) fn list(&mut self, elements: &[Code], when: &Condition) -> Forks<'g> {
        let mut lists = vec![Case::new(when.clone(), Vec::new())];
        for element in elements {
            let mut next = Vec::new();
            for Case { when, then } in lists {
                for fork in self.eval(element, &when) {
                    let mut items: Vec<Item<'g>> = then.clone();
                    items.push(Item {
                        value: fork.then,
                        doubt: None,
                    });
                    next.push(Case::new(fork.when, items));
                }
            }
            if next.len() > MAX_CASES {
                return one(when, too_many_cases());
            }
            lists = next;
        }
        let of_items = |Case { when, then }: Case<Vec<Item<'g>>>| {
            let read: Vec<u32> = then.iter().flat_map(|item| item.value.read.clone()).collect();
            let list = Value::List(Rc::new(List {
                items: then,
                open: None,
            }));
            Case::new(when, Judged::known(list).and(&read))
        };
        lists.into_iter().map(of_items).collect()
    }

    pub(super) fn index(&mut self, of: &Code, index: &Code, when: &Condition) -> Forks<'g> {
        let of = self.eval(of, when);
        self.each(of, |this, when, of| {
            let index = this.eval(index, when);
            this.each(index, |_, when, index| {
                let judged = match (&of.state, &index.state) {
                    (State::Known(Value::List(list)), State::Known(Value::Int(at))) => element(list, *at),
                    (State::Unknown(gap), _) | (_, State::Unknown(gap)) => unknown_part(gap, &of),
                    _ => missing(&of),
                };
                one(when, judged.and(&of.read).and(&index.read))
            })
        })
    }

    /// An entry of a map of tags.
    pub(super) fn tag(&mut self, of: &Code, key: &Code, when: &Condition) -> Forks<'g> {
        let of = self.eval(of, when);
        self.each(of, |this, when, of| {
            let key = this.eval(key, when);
            this.each(key, |this, when, key| match (&of.state, &key.state) {
                (State::Known(Value::Tags(tags, span)), State::Known(Value::Text(key))) => {
                    let found = this.entry(tags, *span, key, when);
                    resting_on(found, &of.read)
                }
                (State::Unknown(gap), _) | (_, State::Unknown(gap)) => one(when, unknown_part(gap, &of)),
                _ => one(when, missing(&of)),
            })
        })
    }

    fn entry(&mut self, tags: &'g Tags, span: Span, key: &str, when: &Condition) -> Forks<'g> {
        let mut forks = Vec::new();
        let mut left = when.clone();
        for tag in tags.entries.iter().filter(|tag| &*tag.key == key) {
            let both = left.and(&tag.when);
            if both.is_possible() {
                forks.extend(self.context.text(&tag.value, &both));
                left = left.and(&tag.when.not());
            }
        }
        if left.is_possible() {
            let rest = match &tags.opaque {
                Some(reason) => Judged::unknown(Gap::new(reason.clone(), span)),
                None => Judged::missing(),
            };
            forks.push(Case::new(left, rest));
        }
        forks
    }

    /// The keys of a map, as a list.
    fn keys(&mut self, tags: &'g Tags, span: Span, when: &Condition) -> Forks<'g> {
        let mut items: Vec<(Arc<str>, Condition)> = Vec::new();
        for tag in &tags.entries {
            match items.iter_mut().find(|(key, _)| *key == tag.key) {
                Some((_, known)) => *known = known.or(&tag.when),
                None => items.push((tag.key.clone(), tag.when.clone())),
            }
        }
        let items = items.into_iter().map(|(key, when)| {
            let value = Judged::known(Value::Text(key));
            (when, Item { value, doubt: None })
        });
        let open = tags.opaque.clone();
        let place = self.context.note(Reading {
            span,
            origins: &[],
            shown: Shown::Words("its tags"),
            is_default: false,
        });
        let keys = list(
            when,
            items.collect(),
            open.map(|reason| Rc::new(Gap::new(reason, span))),
        );
        resting_on(keys, &[place])
    }

    pub(super) fn size(&mut self, judged: &Judged<'g>) -> Judged<'g> {
        let (least, most, gap) = match &judged.state {
            State::Known(Value::List(list)) => {
                let certain = list.items.iter().filter(|item| item.doubt.is_none()).count();
                let most = list.open.is_none().then_some(list.items.len());
                (certain, most, list.gap())
            }
            State::Known(Value::Tags(tags, span)) => {
                let is_simple = tags.entries.iter().all(|tag| tag.when.is_always());
                let mut keys: Vec<&str> = tags.entries.iter().map(|tag| &*tag.key).collect();
                keys.sort_unstable();
                keys.dedup();
                let reason = tags
                    .opaque
                    .clone()
                    .or_else(|| (!is_simple).then(|| Cause::Derived.because("conditions decide which tags there are")));
                let gap = reason.map(|reason| Rc::new(Gap::new(reason, *span)));
                let least = if is_simple { keys.len() } else { 0 };
                (least, tags.opaque.is_none().then_some(keys.len()), gap)
            }
            _ => return missing(judged),
        };
        let whole = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let found = match gap {
            None => Judged::known(Value::Int(whole(least))),
            Some(gap) => Judged::unknown(Gap {
                bounds: Bounds {
                    least: Some(whole(least)),
                    most: most.map(whole),
                },
                ..Gap::new(gap.reason.clone(), gap.span)
            }),
        };
        found.and(&judged.read)
    }

    /// Whether `value` is an element of a list, or a key of a map.
    pub(super) fn is_in(&mut self, value: &State<'g>, within: &State<'g>) -> State<'g> {
        match within {
            State::Known(Value::List(list)) => {
                let mut open = list.open.clone();
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
                let mut there = tags.entries.iter().filter(|tag| tag.key == *key);
                let known = there.next().map(|tag| tag.when.is_always());
                match (known, &tags.opaque) {
                    (Some(true), _) => truth(true),
                    (None, None) => truth(false),
                    (_, Some(reason)) => State::Unknown(Rc::new(Gap::new(reason.clone(), *span))),
                    (Some(false), None) => {
                        let reason = Cause::Derived.because("a condition decides whether the tag is there");
                        State::Unknown(Rc::new(Gap::new(reason, *span)))
                    }
                }
            }
            State::Unknown(gap) => State::Unknown(gap.clone()),
            State::Known(_) | State::Missing => State::Missing,
        }
    }

    pub(super) fn macro_of(&mut self, which: Macro, list: &Code, body: &[Code], when: &Condition) -> Forks<'g> {
        let lists = self.eval(list, when);
        self.each(lists, |this, when, list| match &list.state {
            State::Known(Value::List(elements)) => this.over(which, elements, &list.read, body, when),
            State::Known(Value::Tags(tags, span)) => {
                let keys = this.keys(tags, *span, when);
                this.each(keys, |this, when, keys| match &keys.state {
                    State::Known(Value::List(elements)) => this.over(which, elements, &keys.read, body, when),
                    _ => one(when, keys),
                })
            }
            State::Unknown(gap) => one(when, unknown_part(gap, &list)),
            State::Known(_) | State::Missing => one(when, missing(&list)),
        })
    }

    fn over(&mut self, which: Macro, list: &List<'g>, read: &[u32], body: &[Code], when: &Condition) -> Forks<'g> {
        match (which, body) {
            (Macro::All, [test]) => self.quantified(false, list, read, test, when),
            (Macro::Exists, [test]) => self.quantified(true, list, read, test, when),
            (Macro::ExistsOne, [test]) => {
                let kept = self.kept(list, test, when);
                self.each(kept, |this, when, kept| {
                    let size = this.size(&kept);
                    let is_one = this.equal(&size.state, &State::Known(Value::Int(1)));
                    let judged = Judged {
                        state: is_one,
                        read: size.read,
                    };
                    one(when, judged.and(read))
                })
            }
            (Macro::Filter, [test]) => self.kept(list, test, when),
            (Macro::Map, [value]) => self.mapped(list, value, when),
            (Macro::Map, [test, value]) => {
                let kept = self.kept(list, test, when);
                self.each(kept, |this, when, kept| match &kept.state {
                    State::Known(Value::List(list)) => this.mapped(list, value, when),
                    _ => one(when, kept),
                })
            }
            _ => one(when, Judged::missing()),
        }
    }

    /// What `code` comes to for `item`.
    fn of_item(&mut self, item: &Item<'g>, code: &Code, when: &Condition) -> Forks<'g> {
        self.locals.push(item.value.clone());
        let forks = self.eval(code, when);
        self.locals.pop();
        forks
    }

    /// `all`, which one element that is `decisive` (false) decides, and `exists`, which one that is true does.
    fn quantified(
        &mut self,
        decisive: bool,
        list: &List<'g>,
        read: &[u32],
        test: &Code,
        when: &Condition,
    ) -> Forks<'g> {
        let begin = Judged {
            state: truth(!decisive),
            read: read.to_vec(),
        };
        let mut so_far = one(when, begin);
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
                return one(when, too_many_cases());
            }
            so_far = next;
        }
        if let Some(gap) = &list.open {
            for fork in &mut so_far {
                if fork.then.truth() != Some(decisive) {
                    fork.then.state = State::Unknown(gap.clone());
                }
            }
        }
        so_far
    }

    /// The elements for which `test` holds, with a doubt where that is not known.
    fn kept(&mut self, list: &List<'g>, test: &Code, when: &Condition) -> Forks<'g> {
        self.through(list, test, when, |item, tested| match (&tested.state, tested.truth()) {
            (_, Some(true)) => Some(item.clone()),
            (State::Unknown(gap), _) => Some(Item {
                doubt: item.doubt.clone().or_else(|| Some(gap.clone())),
                ..item.clone()
            }),
            _ => None,
        })
    }

    fn mapped(&mut self, list: &List<'g>, value: &Code, when: &Condition) -> Forks<'g> {
        self.through(list, value, when, |item, value| {
            Some(Item {
                value: value.and(&item.value.read),
                doubt: item.doubt.clone(),
            })
        })
    }

    /// A list of what `keep` makes of each element and what `code` comes to for it.
    fn through(
        &mut self,
        list: &List<'g>,
        code: &Code,
        when: &Condition,
        keep: impl Fn(&Item<'g>, Judged<'g>) -> Option<Item<'g>>,
    ) -> Forks<'g> {
        let begin = List {
            items: Vec::new(),
            open: list.open.clone(),
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
                return one(when, too_many_cases());
            }
            lists = next;
        }
        let finished = lists.into_iter().map(|Case { when, then }| {
            let read: Vec<u32> = then.items.iter().flat_map(|item| item.value.read.clone()).collect();
            Case::new(when, Judged::known(Value::List(Rc::new(then))).and(&read))
        });
        finished.collect()
    }
}

fn element<'g>(list: &List<'g>, at: i64) -> Judged<'g> {
    let place = usize::try_from(at).ok();
    let before = place.map_or(0, |place| place.saturating_add(1));
    if let Some(doubt) = list.items.iter().take(before).find_map(|item| item.doubt.clone()) {
        return Judged::unknown(Gap::clone(&doubt));
    }
    match (place.and_then(|place| list.items.get(place)), &list.open) {
        (Some(item), _) => item.value.clone(),
        (None, Some(gap)) if at >= 0 => Judged::unknown(Gap::clone(gap)),
        (None, _) => Judged::missing(),
    }
}
