//! Functions of ARNs that AWS completes. The ARN of a queue, a function or a topic is known except for its partition,
//! Region and account, so its parts can be extracted: `element(split(":", aws_lambda_function.f.arn), 6)` is the
//! function's name.
//!
//! A pattern is matched against sample ARNs with several Regions and accounts. The result counts only if it is the same
//! part in each of them.

use super::FunctionResult;
use super::patterns;
use crate::eval::Evaluator;
use crate::provider;
use crate::types::Type;
use crate::value::{ResourceId, Value, ValueKind, joined};
use knowledge::Cause;
use std::sync::Arc;

/// Number of sample Regions and accounts.
const SAMPLES: usize = 4;

/// A piece of a string.
struct ArnPiece {
    value: Value,
    /// Its text, or samples of it if it is unknown.
    text: Result<String, [&'static str; SAMPLES]>,
}

const PARTITIONS: [&str; SAMPLES] = ["aws", "aws-cn", "aws-us-gov", "aws"];
const REGIONS: [&str; SAMPLES] = ["us-east-1", "cn-north-1", "us-gov-west-1", "ap-southeast-2"];
const ACCOUNTS: [&str; SAMPLES] = ["123456789012", "000000000000", "987654321098", "555555555555"];
const NAMES: [&str; SAMPLES] = ["a", "Zq-9_", "orders", "7"];

/// A position: the index of a piece, and a byte offset within it.
type PiecePosition = (usize, usize);

/// Evaluates `split` with a separator of the parts of an ARN.
pub(crate) fn split(eval: &mut Evaluator, separator: &Value, text: &Value) -> FunctionResult {
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

/// Evaluates `lower`.
pub(crate) fn lower(eval: &mut Evaluator, text: &Value) -> FunctionResult {
    let pieces = pieces(eval, text)?;
    let may_change = |piece: &ArnPiece| match &piece.text {
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

/// Evaluates `sort` of a single element.
pub(crate) fn sort(list: &Value) -> FunctionResult {
    let items = list.items().filter(|items| items.len() == 1)?;
    let is_text = |item: &Value| matches!(item.kind, ValueKind::Reference(..) | ValueKind::Template(_));
    items
        .iter()
        .all(is_text)
        .then(|| Value::list_of(items.to_vec(), &Type::Text))
}

/// Evaluates `provider::aws::arn_parse`.
pub(crate) fn parse(eval: &mut Evaluator, arn: &Value) -> FunctionResult {
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

/// Evaluates `provider::aws::arn_build`.
pub(crate) fn build(parts: &[Value]) -> Value {
    let mut all = vec![Value::text("arn")];
    for part in parts {
        all.extend([Value::text(":"), part.clone()]);
    }
    joined(all)
}

/// Evaluates `regex`.
pub(crate) fn first_match(eval: &mut Evaluator, pattern: &Value, text: &Value) -> FunctionResult {
    let pieces = pieces(eval, text)?;
    let written = pattern.to_text()?;
    let pattern = patterns::pattern(eval, &written)?;
    if !may_be_tried(&written, &pieces) {
        return None;
    }
    let groups = common_ranges(&pieces, |text| {
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

/// Evaluates `regexall`.
pub(crate) fn all_matches(eval: &mut Evaluator, pattern: &Value, text: &Value) -> FunctionResult {
    let pieces = pieces(eval, text)?;
    let written = pattern.to_text()?;
    let pattern = patterns::pattern(eval, &written)?;
    if !may_be_tried(&written, &pieces) {
        return None;
    }
    let found = common_ranges(&pieces, |text| Some(pattern.with_groups(text)))?;
    let matches = found.chunks(pattern.groups()).map(|groups| {
        patterns::shaped(&pattern, |at| match groups.get(at) {
            Some(Some((from, to))) => between(&pieces, *from, *to),
            _ => Value::null(),
        })
    });
    Some(Value::list_of(matches.collect::<Option<_>>()?, &Type::Any))
}

/// Evaluates `replace` of the matches of a pattern by a text without groups.
pub(crate) fn replace(eval: &mut Evaluator, text: &Value, from: &Value, to: &Value) -> FunctionResult {
    let (from, to) = (from.to_text()?, to.to_text().filter(|to| !to.contains('$'))?);
    let written = from.strip_prefix('/')?.strip_suffix('/')?;
    let pieces = pieces(eval, text)?;
    let pattern = patterns::pattern(eval, written)?;
    if !may_be_tried(written, &pieces) {
        return None;
    }
    let found = common_ranges(&pieces, |text| Some(pattern.all(text).into_iter().map(Some).collect()))?;
    let (mut parts, mut at) = (Vec::new(), (0, 0));
    for (start, end) in found.into_iter().flatten() {
        parts.extend([between(&pieces, at, start), Value::text(to.clone())]);
        at = end;
    }
    parts.push(between(&pieces, at, (pieces.len(), 0)));
    Some(whole(parts))
}

/// Returns the positions that `find` returns for the text of `pieces` if they are the same for all samples.
fn common_ranges(
    pieces: &[ArnPiece],
    find: impl Fn(&str) -> Option<Vec<Option<(usize, usize)>>>,
) -> Option<Vec<Option<(PiecePosition, PiecePosition)>>> {
    let mut common_ranges: Option<Vec<Option<(PiecePosition, PiecePosition)>>> = None;
    for sample in 0..SAMPLES {
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.sample(sample)).collect();
        let mut found = Vec::new();
        for range in find(&texts.concat())? {
            found.push(match range {
                Some((from, to)) => Some((place(pieces, &texts, from)?, place(pieces, &texts, to)?)),
                None => None,
            });
        }
        if common_ranges.as_ref().is_some_and(|before| *before != found) {
            return None;
        }
        common_ranges = Some(found);
    }
    common_ranges
}

/// Returns `true` if every word of a pattern occurs in the known text. Any other word may match a Region or account
/// that is not among the samples, unless it is the name of a service between colons, as no Region or account is.
fn may_be_tried(pattern: &str, pieces: &[ArnPiece]) -> bool {
    let known: Vec<&str> = pieces.iter().filter_map(|piece| piece.text.as_deref().ok()).collect();
    let has_class = pattern.contains('[');
    let fields: Vec<&str> = pattern.split(':').collect();
    fields.iter().enumerate().all(|(at, field)| {
        let next = fields.get(at + 1).filter(|_| at > 0);
        let ends = next.is_some_and(|next| !next.starts_with(['?', '*', '{']));
        let is_service = ends && !has_class && !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_lowercase());
        let mut words = field.split(|c: char| !c.is_ascii_alphanumeric());
        is_service || words.all(|word| word.len() < 2 || known.iter().any(|text| text.contains(word)))
    })
}

/// Returns the position of byte `at` of the joined `texts`; `None` within an unknown piece.
fn place(pieces: &[ArnPiece], texts: &[&str], at: usize) -> Option<PiecePosition> {
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

/// Returns the text between two positions.
fn between(pieces: &[ArnPiece], from: PiecePosition, to: PiecePosition) -> Value {
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

/// Joins parts to a string. A single part stays the link that it is.
fn whole(mut parts: Vec<Value>) -> Value {
    match parts.len() {
        1 => parts.remove(0),
        _ => joined(parts),
    }
}

impl ArnPiece {
    fn text(text: impl Into<String>) -> ArnPiece {
        let text = text.into();
        ArnPiece {
            value: Value::text(text.as_str()),
            text: Ok(text),
        }
    }

    fn unknown(value: Value, samples: [&'static str; SAMPLES]) -> ArnPiece {
        ArnPiece {
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

/// Splits a string that contains the ARN of a resource into pieces; `None` if it contains no ARN, or anything else that
/// is unknown.
fn pieces(eval: &mut Evaluator, text: &Value) -> Option<Vec<ArnPiece>> {
    let parts = match &text.kind {
        ValueKind::Template(parts) => parts.to_vec(),
        ValueKind::Reference(..) => vec![text.clone()],
        _ => return None,
    };
    let mut all = Vec::new();
    let mut has_arn = false;
    for part in parts {
        match &part.kind {
            ValueKind::Text(text) => all.push(ArnPiece::text(&**text)),
            ValueKind::Reference(id, attribute) if &**attribute == "arn" => {
                has_arn = true;
                all.extend(of_arn(eval, id)?);
            }
            ValueKind::Reference(id, attribute) if provider::is_name(&id.kind, attribute) => {
                all.push(name(eval, id, attribute));
            }
            _ => return None,
        }
    }
    has_arn.then_some(all)
}

/// Returns the pieces of the ARN of a resource.
fn of_arn(eval: &mut Evaluator, id: &Arc<ResourceId>) -> Option<Vec<ArnPiece>> {
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
        ArnPiece::unknown(Value::unknown(Cause::KnownAfterApply.because(reason)), samples)
    };
    let region = eval.region_of(id).to_text();
    let partition = match &region {
        Some(region) => ArnPiece::text(provider::partition(region)),
        None => open("partition", PARTITIONS),
    };
    let region = region.map_or_else(|| open("Region", REGIONS), |region| ArnPiece::text(&*region));
    let mut all = vec![ArnPiece::text("arn:"), partition, ArnPiece::text(service), region];
    let before_name = if service == ":lambda:" { ":function:" } else { ":" };
    all.extend([
        ArnPiece::text(":"),
        open("account", ACCOUNTS),
        ArnPiece::text(before_name),
    ]);
    all.push(name(eval, id, named));
    Some(all)
}

fn name(eval: &mut Evaluator, id: &Arc<ResourceId>, attribute: &str) -> ArnPiece {
    let value: Value = ValueKind::Reference(id.clone(), attribute.into()).into();
    match eval.plain(value.clone()).to_text() {
        Some(text) => ArnPiece {
            value,
            text: Ok(text.to_string()),
        },
        None => ArnPiece::unknown(value, NAMES),
    }
}
