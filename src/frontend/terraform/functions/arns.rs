//! Functions of ARNs that AWS completes. The ARN of a queue, a function or a topic is known but for its partition, Region
//! and account, so it can be taken apart: `element(split(":", aws_lambda_function.f.arn), 6)` is the function's name.
//!
//! What a pattern finds is computed for several Regions and accounts, and counts where it is the same piece in each.

use super::super::eval::Evaluator;
use super::super::provider;
use super::super::types::Type;
use super::super::value::{Kind, ResourceId, Value, joined};
use super::Answer;
use super::patterns;
use crate::graph::Cause;
use std::sync::Arc;

/// For how many Regions and accounts a pattern is tried.
const SAMPLES: usize = 4;

/// A piece of a text.
struct Piece {
    value: Value,
    /// Its text, or what it may be.
    text: Result<String, [&'static str; SAMPLES]>,
}

const PARTITIONS: [&str; SAMPLES] = ["aws", "aws-cn", "aws-us-gov", "aws"];
const REGIONS: [&str; SAMPLES] = ["us-east-1", "cn-north-1", "us-gov-west-1", "ap-southeast-2"];
const ACCOUNTS: [&str; SAMPLES] = ["123456789012", "000000000000", "987654321098", "555555555555"];
const NAMES: [&str; SAMPLES] = ["a", "Zq-9_", "orders", "7"];

/// Before a piece, and so many bytes into it.
type Place = (usize, usize);

/// `split` at what separates the parts of an ARN.
pub(super) fn split(eval: &mut Evaluator, separator: &Value, text: &Value) -> Answer {
    let separator = separator.to_text().filter(|separator| separator.contains([':', '/']))?;
    let mut parts: Vec<Vec<Value>> = vec![Vec::new()];
    for piece in pieces(eval, text)? {
        let Ok(known) = &piece.text else {
            parts.last_mut()?.push(piece.value);
            continue;
        };
        if !known.contains(&*separator) {
            parts.last_mut()?.push(piece.value);
            continue;
        }
        for (at, part) in known.split(&*separator).enumerate() {
            if at > 0 {
                parts.push(Vec::new());
            }
            parts.last_mut()?.push(Value::text(part));
        }
    }
    Some(Value::list_of(parts.into_iter().map(whole).collect(), &Type::Text))
}

/// `lower`.
pub(super) fn lower(eval: &mut Evaluator, text: &Value) -> Answer {
    let pieces = pieces(eval, text)?;
    let may_change = |piece: &Piece| match &piece.text {
        Ok(known) => known.chars().any(char::is_uppercase),
        Err(samples) => samples.iter().any(|sample| sample.contains(char::is_uppercase)),
    };
    if !pieces.iter().any(may_change) {
        return Some(text.clone());
    }
    let lowered = pieces.into_iter().map(|piece| match piece.text {
        Ok(known) => Some(super::texts::lower(&known)),
        Err(samples) if samples == NAMES => None,
        Err(_) => Some(piece.value),
    });
    Some(whole(lowered.collect::<Option<_>>()?))
}

/// `sort`, where there is one element.
pub(super) fn sort(list: &Value) -> Answer {
    let items = list.items().filter(|items| items.len() == 1)?;
    let is_text = |item: &Value| matches!(item.kind, Kind::Reference(..) | Kind::Template(_));
    items
        .iter()
        .all(is_text)
        .then(|| Value::list_of(items.to_vec(), &Type::Text))
}

/// `provider::aws::arn_parse`.
pub(super) fn parse(eval: &mut Evaluator, arn: &Value) -> Answer {
    let parts = match arn.to_text() {
        Some(text) => Value::texts(text.split(':')),
        None => split(eval, &Value::text(":"), arn)?,
    };
    let parts = parts.items()?;
    let is_arn = parts.len() >= 6 && parts.first()?.to_text().as_deref() == Some("arn");
    let (head, resource) = parts.split_at_checked(5).filter(|_| is_arn)?;
    let mut rest: Vec<Value> = Vec::new();
    for part in resource {
        if !rest.is_empty() {
            rest.push(Value::text(":"));
        }
        rest.push(part.clone());
    }
    let names = ["arn", "partition", "service", "region", "account_id"];
    let fields = names.into_iter().zip(head).skip(1);
    let fields = fields.map(|(name, part)| (Arc::from(name), part.clone()));
    let resource = (Arc::from("resource"), whole(rest));
    Some(Value::map(fields.chain([resource]).collect()))
}

/// `provider::aws::arn_build`.
pub(super) fn build(parts: &[Value]) -> Value {
    let mut all = vec![Value::text("arn")];
    for part in parts {
        all.extend([Value::text(":"), part.clone()]);
    }
    joined(all)
}

/// `regex`.
pub(super) fn first_match(eval: &mut Evaluator, pattern: &Value, text: &Value) -> Answer {
    let pieces = pieces(eval, text)?;
    let written = pattern.to_text()?;
    let pattern = patterns::pattern(eval, &written)?;
    if !may_be_tried(&written, &pieces) {
        return None;
    }
    let groups = agreed(&pieces, |text| {
        let found = pattern.first(text)?;
        found
            .into_iter()
            .map(|group| group.map(|(from, to)| Some((from, to))))
            .collect()
    })?;
    patterns::shaped(&pattern, |at| match groups.get(at) {
        Some(Some((from, to))) => between(&pieces, *from, *to),
        _ => Value::null(),
    })
}

/// `replace` of what a pattern finds by a text without groups.
pub(super) fn replace(eval: &mut Evaluator, text: &Value, from: &Value, to: &Value) -> Answer {
    let (from, to) = (from.to_text()?, to.to_text().filter(|to| !to.contains('$'))?);
    let written = from.strip_prefix('/')?.strip_suffix('/')?;
    let pieces = pieces(eval, text)?;
    let pattern = patterns::pattern(eval, written)?;
    if !may_be_tried(written, &pieces) {
        return None;
    }
    let found = agreed(&pieces, |text| Some(pattern.all(text).into_iter().map(Some).collect()))?;
    let (mut parts, mut at) = (Vec::new(), (0, 0));
    for (start, end) in found.into_iter().flatten() {
        parts.extend([between(&pieces, at, start), Value::text(to.clone())]);
        at = end;
    }
    parts.push(between(&pieces, at, (pieces.len(), 0)));
    Some(whole(parts))
}

/// Where `find` finds something in the text of `pieces`, where that is the same for all that they may be.
fn agreed(
    pieces: &[Piece],
    find: impl Fn(&str) -> Option<Vec<Option<(usize, usize)>>>,
) -> Option<Vec<Option<(Place, Place)>>> {
    let mut agreed: Option<Vec<Option<(Place, Place)>>> = None;
    for sample in 0..SAMPLES {
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.sample(sample)).collect();
        let mut found = Vec::new();
        for range in find(&texts.concat())? {
            found.push(match range {
                Some((from, to)) => Some((place(pieces, &texts, from)?, place(pieces, &texts, to)?)),
                None => None,
            });
        }
        if agreed.as_ref().is_some_and(|before| *before != found) {
            return None;
        }
        agreed = Some(found);
    }
    agreed
}

/// Whether every word of a pattern stands in the text as far as it is known: another may be a Region or an account.
fn may_be_tried(pattern: &str, pieces: &[Piece]) -> bool {
    let known: Vec<&str> = pieces.iter().filter_map(|piece| piece.text.as_deref().ok()).collect();
    let mut words = pattern.split(|c: char| !c.is_ascii_alphanumeric());
    words.all(|word| word.len() < 2 || known.iter().any(|text| text.contains(word)))
}

/// Where byte `at` of the joined `texts` stands; `None` inside of what is not known.
fn place(pieces: &[Piece], texts: &[&str], at: usize) -> Option<Place> {
    let mut start = 0;
    for (number, (piece, text)) in pieces.iter().zip(texts).enumerate() {
        if at < start + text.len() {
            let is_known = at == start || piece.text.is_ok();
            return is_known.then_some((number, at - start));
        }
        start += text.len();
    }
    Some((pieces.len(), 0))
}

/// The text between two places.
fn between(pieces: &[Piece], from: Place, to: Place) -> Value {
    let mut parts = Vec::new();
    for (number, piece) in pieces.iter().enumerate().take(to.0 + 1).skip(from.0) {
        let start = if number == from.0 { from.1 } else { 0 };
        let end = (number == to.0).then_some(to.1);
        match (&piece.text, start, end) {
            (_, _, Some(0)) => {}
            (_, 0, None) => parts.push(piece.value.clone()),
            (Ok(text), start, end) => {
                let text = text.get(start..end.unwrap_or(text.len())).unwrap_or("");
                parts.push(Value::text(text));
            }
            (Err(_), ..) => parts.push(piece.value.clone()),
        }
    }
    whole(parts)
}

/// Parts as one text; one alone stays the link that it is.
fn whole(mut parts: Vec<Value>) -> Value {
    match parts.len() {
        1 => parts.remove(0),
        _ => joined(parts),
    }
}

impl Piece {
    fn text(text: impl Into<String>) -> Piece {
        let text = text.into();
        Piece {
            value: Value::text(text.as_str()),
            text: Ok(text),
        }
    }

    fn open(value: Value, samples: [&'static str; SAMPLES]) -> Piece {
        Piece {
            value,
            text: Err(samples),
        }
    }

    fn sample(&self, at: usize) -> &str {
        match &self.text {
            Ok(text) => text,
            Err(samples) => samples.get(at).copied().unwrap_or(""),
        }
    }
}

/// The pieces of a text with the ARN of a resource in it; `None` where there is none, or something else that is not known.
fn pieces(eval: &mut Evaluator, text: &Value) -> Option<Vec<Piece>> {
    let parts = match &text.kind {
        Kind::Template(parts) => parts.to_vec(),
        Kind::Reference(..) => vec![text.clone()],
        _ => return None,
    };
    let mut all = Vec::new();
    let mut has_arn = false;
    for part in parts {
        match &part.kind {
            Kind::Text(text) => all.push(Piece::text(&**text)),
            Kind::Reference(id, attribute) if &**attribute == "arn" => {
                has_arn = true;
                all.extend(of_arn(eval, id)?);
            }
            Kind::Reference(id, attribute) if provider::is_name(&id.kind, attribute) => {
                all.push(name(eval, id, attribute));
            }
            _ => return None,
        }
    }
    has_arn.then_some(all)
}

/// The pieces of the ARN of a resource.
fn of_arn(eval: &mut Evaluator, id: &Arc<ResourceId>) -> Option<Vec<Piece>> {
    let (service, named) = match &*id.kind {
        "aws_sqs_queue" => (":sqs:", "name"),
        "aws_sns_topic" => (":sns:", "name"),
        "aws_lambda_function" => (":lambda:", "function_name"),
        _ => return None,
    };
    if id.data {
        return None;
    }
    let open = |what: &str, samples| {
        let reason = format!("the {what} of `{}` is known only after apply", id.address());
        Piece::open(Value::unknown(Cause::KnownAfterApply.because(reason)), samples)
    };
    let region = eval.region_of(id).to_text();
    let partition = match &region {
        Some(region) => Piece::text(provider::partition(region)),
        None => open("partition", PARTITIONS),
    };
    let region = region.map_or_else(|| open("Region", REGIONS), |region| Piece::text(&*region));
    let mut all = vec![Piece::text("arn:"), partition, Piece::text(service), region];
    let before_name = if service == ":lambda:" { ":function:" } else { ":" };
    all.extend([Piece::text(":"), open("account", ACCOUNTS), Piece::text(before_name)]);
    all.push(name(eval, id, named));
    Some(all)
}

fn name(eval: &mut Evaluator, id: &Arc<ResourceId>, attribute: &str) -> Piece {
    let value: Value = Kind::Reference(id.clone(), attribute.into()).into();
    match eval.plain(value.clone()).to_text() {
        Some(text) => Piece {
            value,
            text: Ok(text.to_string()),
        },
        None => Piece::open(value, NAMES),
    }
}
