//! Table of all functions of the language: the name of each, its number of arguments, and its implementation.
//!
//! ```text
//! substr("orders", 0, 3)
//! ```
//!
//! is looked up as `substr`, which takes three arguments, and computed by [`texts::substr`]. An implementation receives
//! neither unknown nor conditional values, except for the functions in [`PARTLY`]: `startswith("${var.env}-q", "a")` is
//! passed to [`partial`] first, which may find the result without knowing `var.env`.

use super::sets::Operation;
use super::{
    FunctionResult, arns, coalesce, collections, digests, encoding, files, format, networks, nondeterministic, numbers,
    partial, patterns, sets, texts, times, yaml,
};
use crate::eval::{Evaluator, Scope};
use crate::json;
use crate::types::{self, Type};
use crate::value::{Value, ValueKind};
use std::sync::Arc;
use trees::base64;

/// A function.
pub(crate) struct Function {
    name: &'static str,
    least: usize,
    most: usize,
    compute: Compute,
}

/// The implementation, which receives between `least` and `most` arguments.
type Compute = fn(&mut Evaluator<'_>, &Scope, &[Value]) -> FunctionResult;

impl Function {
    /// Returns the function called `name` in `table`, which is sorted.
    pub(crate) fn find(table: &'static [Function], name: &str) -> Option<&'static Function> {
        let at = table.binary_search_by(|function| function.name.cmp(name)).ok()?;
        table.get(at)
    }

    /// Returns the result for `values`; `None` if the function rejects them.
    pub(crate) fn compute(&self, eval: &mut Evaluator<'_>, scope: &Scope, values: &[Value]) -> FunctionResult {
        let fits = (self.least..=self.most).contains(&values.len());
        fits.then(|| (self.compute)(eval, scope, values))?
    }
}

const MANY: usize = usize::MAX;

const fn row(name: &'static str, least: usize, most: usize, compute: Compute) -> Function {
    Function {
        name,
        least,
        most,
        compute,
    }
}

/// Functions of known arguments. A row that returns `None` has its implementation in [`PARTLY`].
#[rustfmt::skip] // One line per function.
pub(crate) static FUNCTIONS: &[Function] = &[
    row("abs", 1, 1, |_, _, v| numbers::abs(&v[0])),
    row("abspath", 1, 1, |_, _, v| texts::of_text(&v[0], files::absolute)),
    row("alltrue", 1, 1, |_, _, v| collections::all_true(&v[0])),
    row("anytrue", 1, 1, |_, _, v| collections::any_true(&v[0])),
    row("base64decode", 1, 1, |_, _, v| encoding::from_base64(&v[0])),
    row("base64encode", 1, 1, |_, _, v| texts::of_text(&v[0], |text| Value::text(base64::encoded(text.as_bytes())))),
    row("base64sha256", 1, 1, |eval, _, v| digests::of_text(eval, &v[0], digests::sha256, base64::encoded)),
    row("base64sha512", 1, 1, |eval, _, v| digests::of_text(eval, &v[0], digests::sha512, base64::encoded)),
    row("basename", 1, 1, |_, _, v| texts::of_text(&v[0], |path| Value::text(files::base(path)))),
    row("bcrypt", 0, MANY, |_, _, _| Some(nondeterministic("bcrypt"))),
    row("ceil", 1, 1, |_, _, v| numbers::to_nearest(&v[0], true)),
    row("chomp", 1, 1, |_, _, v| texts::of_text(&v[0], texts::chomp)),
    row("chunklist", 2, 2, |_, _, v| collections::chunks(&v[0], &v[1])),
    row("cidrhost", 2, 2, |_, _, v| networks::host(&v[0], &v[1])),
    row("cidrnetmask", 1, 1, |_, _, v| networks::mask(&v[0])),
    row("cidrsubnet", 3, 3, |_, _, v| networks::subnet(&v[0], &v[1], &v[2])),
    row("cidrsubnets", 2, MANY, |_, _, v| networks::subnets(v)),
    row("coalesce", 0, MANY, |_, _, _| None),
    row("coalescelist", 0, MANY, |_, _, v| collections::coalesce(v)),
    row("compact", 1, 1, |_, _, v| collections::compact(&v[0])),
    row("concat", 1, MANY, |eval, _, v| collections::concat(eval, v)),
    row("contains", 2, 2, |eval, _, v| collections::contains(eval, &v[0], &v[1])),
    row("csvdecode", 1, 1, |_, _, v| encoding::csv(&v[0].to_text()?)),
    row("dirname", 1, 1, |_, _, v| texts::of_text(&v[0], |path| Value::text(files::directory(path)))),
    row("distinct", 1, 1, |eval, _, v| collections::distinct(eval, &v[0])),
    row("element", 2, 2, |_, scope, v| collections::element(&v[0], &v[1], scope.tried)),
    row("endswith", 2, 2, |_, _, v| texts::of_texts(&v[0], &v[1], |text, end| Value::bool(text.ends_with(end)))),
    row("ephemeralasnull", 1, 1, |_, _, _| None),
    row("file", 1, 1, |eval, scope, v| files::text(eval, &v[0], scope)),
    row("filebase64", 1, 1, |eval, scope, v| files::in_base64(eval, &v[0], scope)),
    row("filebase64sha256", 1, 1, |eval, scope, v| digests::of_file((eval, scope), &v[0], digests::sha256, base64::encoded)),
    row("filebase64sha512", 1, 1, |eval, scope, v| digests::of_file((eval, scope), &v[0], digests::sha512, base64::encoded)),
    row("fileexists", 1, 1, |eval, scope, v| files::exists(eval, &v[0], scope)),
    row("filemd5", 1, 1, |eval, scope, v| digests::of_file((eval, scope), &v[0], digests::md5, digests::hexadecimal)),
    row("fileset", 2, 2, |eval, scope, v| files::set(eval, &v[0], &v[1], scope)),
    row("filesha1", 1, 1, |eval, scope, v| digests::of_file((eval, scope), &v[0], digests::sha1, digests::hexadecimal)),
    row("filesha256", 1, 1, |eval, scope, v| digests::of_file((eval, scope), &v[0], digests::sha256, digests::hexadecimal)),
    row("filesha512", 1, 1, |eval, scope, v| digests::of_file((eval, scope), &v[0], digests::sha512, digests::hexadecimal)),
    row("flatten", 1, 1, |_, _, v| collections::flatten(&v[0])),
    row("floor", 1, 1, |_, _, v| numbers::to_nearest(&v[0], false)),
    row("format", 1, MANY, |_, _, v| format::one(v)),
    row("formatdate", 2, 2, |_, _, v| times::format_date(&v[0], &v[1])),
    row("formatlist", 1, MANY, |eval, _, v| format::each(eval, v)),
    row("indent", 2, 2, |_, _, v| texts::indent(&v[0], &v[1])),
    row("index", 2, 2, |_, _, v| collections::index(&v[0], &v[1])),
    row("join", 2, MANY, |_, _, v| texts::join(v)),
    row("jsondecode", 1, 1, |_, _, _| None),
    row("jsonencode", 1, 1, |_, _, _| None),
    row("keys", 1, 1, |_, _, v| collections::keys(&v[0])),
    row("length", 1, 1, |_, _, v| collections::length(&v[0])),
    row("log", 2, 2, |_, _, v| numbers::log(&v[0], &v[1])),
    row("lookup", 2, 3, |_, _, v| collections::lookup(&v[0], &v[1], v.get(2))),
    row("lower", 1, 1, |_, _, v| texts::of_text(&v[0], texts::lower)),
    row("matchkeys", 3, 3, |eval, _, v| collections::matching(eval, &v[0], &v[1], &v[2])),
    row("max", 1, MANY, |_, _, v| numbers::best(v, |a, b| a.max(b))),
    row("md5", 1, 1, |eval, _, v| digests::of_text(eval, &v[0], digests::md5, digests::hexadecimal)),
    row("merge", 0, MANY, |_, _, v| collections::merge(v)),
    row("min", 1, MANY, |_, _, v| numbers::best(v, |a, b| a.min(b))),
    row("nonsensitive", 1, 1, |_, _, _| None),
    row("one", 1, 1, |_, _, v| collections::one(&v[0])),
    row("parseint", 2, 2, |_, _, v| numbers::parse(&v[0], &v[1])),
    row("pathexpand", 1, 1, |_, _, v| texts::of_text(&v[0], files::path_expand)),
    row("plantimestamp", 0, MANY, |_, _, _| Some(nondeterministic("plantimestamp"))),
    row("pow", 2, 2, |_, _, v| numbers::power(&v[0], &v[1])),
    row("provider::aws::arn_build", 5, 5, |_, _, v| Some(arns::build(v))),
    row("provider::aws::arn_parse", 1, 1, |eval, _, v| arns::parse(eval, &v[0])),
    row("range", 1, 3, |_, _, v| numbers::range(v)),
    row("regex", 2, 2, |eval, _, v| patterns::first_match(eval, &v[0], &v[1])),
    row("regexall", 2, 2, |eval, _, v| patterns::all_matches(eval, &v[0], &v[1])),
    row("replace", 3, 3, |eval, _, v| patterns::replace(eval, &v[0], &v[1], &v[2])),
    row("reverse", 1, 1, |_, _, v| collections::reverse(&v[0])),
    row("sensitive", 1, 1, |_, _, _| None),
    row("setintersection", 1, MANY, |eval, _, v| sets::combine(eval, Operation::Intersection, v)),
    row("setproduct", 2, MANY, |eval, _, v| sets::product(eval, v)),
    row("setsubtract", 2, 2, |eval, _, v| sets::combine(eval, Operation::Subtraction, v)),
    row("setunion", 1, MANY, |eval, _, v| sets::combine(eval, Operation::Union, v)),
    row("sha1", 1, 1, |eval, _, v| digests::of_text(eval, &v[0], digests::sha1, digests::hexadecimal)),
    row("sha256", 1, 1, |eval, _, v| digests::of_text(eval, &v[0], digests::sha256, digests::hexadecimal)),
    row("sha512", 1, 1, |eval, _, v| digests::of_text(eval, &v[0], digests::sha512, digests::hexadecimal)),
    row("signum", 1, 1, |_, _, v| numbers::signum(&v[0])),
    row("slice", 3, 3, |_, _, v| collections::slice(&v[0], &v[1], &v[2])),
    row("sort", 1, 1, |_, _, v| collections::sort(&v[0])),
    row("split", 2, 2, |_, _, v| texts::of_texts(&v[0], &v[1], texts::split)),
    row("startswith", 2, 2, |_, _, v| texts::of_texts(&v[0], &v[1], |text, start| Value::bool(text.starts_with(start)))),
    row("strcontains", 2, 2, |_, _, v| texts::of_texts(&v[0], &v[1], |text, part| Value::bool(text.contains(part)))),
    row("strrev", 1, 1, |_, _, v| texts::of_text(&v[0], texts::reverse)),
    row("substr", 3, 3, |_, _, v| texts::substr(&v[0], &v[1], &v[2])),
    row("sum", 1, 1, |_, _, v| collections::sum(&v[0])),
    row("templatefile", 2, 2, |eval, scope, v| files::template(eval, &v[0], &v[1], scope)),
    row("textdecodebase64", 2, 2, |_, _, v| encoding::from_base64_in(&v[0], &v[1])),
    row("textencodebase64", 2, 2, |_, _, v| texts::of_texts(&v[0], &v[1], encoding::encode_as)),
    row("timeadd", 2, 2, |_, _, v| times::add(&v[0], &v[1])),
    row("timecmp", 2, 2, |_, _, v| times::compare(&v[0], &v[1])),
    row("timestamp", 0, MANY, |_, _, _| Some(nondeterministic("timestamp"))),
    row("title", 1, 1, |_, _, v| texts::of_text(&v[0], texts::title)),
    row("tobool", 1, 1, |_, _, v| Some(types::convert(&v[0], &Type::Bool))),
    row("tolist", 1, 1, |_, _, v| Some(types::convert(&v[0], &Type::List(Arc::new(Type::Any))))),
    row("tomap", 1, 1, |_, _, v| Some(types::convert(&v[0], &Type::Map(Arc::new(Type::Any))))),
    row("tonumber", 1, 1, |_, _, v| Some(types::convert(&v[0], &Type::Number))),
    row("toset", 1, 1, |_, _, v| Some(types::convert(&v[0], &Type::Set(Arc::new(Type::Any))))),
    row("tostring", 1, 1, |_, _, v| Some(types::convert(&v[0], &Type::Text))),
    row("transpose", 1, 1, |_, _, v| collections::transpose(&v[0])),
    row("trim", 2, 2, |_, _, v| texts::of_texts(&v[0], &v[1], texts::trim)),
    row("trimprefix", 2, 2, |_, _, v| texts::of_texts(&v[0], &v[1], texts::without_prefix)),
    row("trimspace", 1, 1, |_, _, v| texts::of_text(&v[0], |text| Value::text(text.trim()))),
    row("trimsuffix", 2, 2, |_, _, v| texts::of_texts(&v[0], &v[1], texts::without_suffix)),
    row("upper", 1, 1, |_, _, v| texts::of_text(&v[0], texts::upper)),
    row("urlencode", 1, 1, |_, _, v| texts::of_text(&v[0], |text| Value::text(encoding::urlencode(text)))),
    row("uuid", 0, MANY, |_, _, _| Some(nondeterministic("uuid"))),
    row("uuidv5", 2, 2, |_, _, v| digests::uuid(&v[0], &v[1])),
    row("values", 1, 1, |_, _, v| collections::values(&v[0])),
    row("yamldecode", 1, 1, |eval, _, v| yaml::decode(eval, &v[0].to_text()?)),
    row("yamlencode", 1, 1, |_, _, v| Some(encoding::to_yaml(&v[0]))),
    row("zipmap", 2, 2, |_, _, v| collections::zipmap(&v[0], &v[1])),
];

/// Functions that may have a result for unknown or partly known arguments; they are called before those in
/// [`FUNCTIONS`].
#[rustfmt::skip] // One line per function.
pub(crate) static PARTLY: &[Function] = &[
    row("alltrue", 1, 1, |_, _, v| collections::decided(&v[0], false)),
    row("anytrue", 1, 1, |_, _, v| collections::decided(&v[0], true)),
    row("chomp", 1, 1, |_, _, v| partial::without_line_end(&v[0])),
    row("coalesce", 0, MANY, |eval, _, v| Some(coalesce(eval, v))),
    row("contains", 2, 2, |eval, _, v| collections::contains_each(eval, &v[0], &v[1])),
    row("endswith", 2, 2, |_, _, v| partial::has(&v[0], &v[1], <[Value]>::last, |text, end| text.ends_with(end))),
    row("ephemeralasnull", 1, 1, |eval, _, v| Some(eval.without_ephemeral(&v[0]))),
    row("format", 1, MANY, |eval, _, v| format::partly(eval, v)),
    row("jsondecode", 1, 1, |_, _, v| decoded(&v[0])),
    row("jsonencode", 1, 1, |_, _, v| encoded(&v[0])),
    row("lookup", 2, 3, |eval, _, v| collections::lookup_each(eval, &v[0], &v[1], v.get(2))),
    row("lower", 1, 1, |eval, _, v| arns::lower(eval, &v[0])),
    row("nonsensitive", 1, 1, |_, _, v| Some(v[0].clone())),
    row("regex", 2, 2, |eval, _, v| arns::first_match(eval, &v[0], &v[1])),
    row("regexall", 2, 2, |eval, _, v| arns::all_matches(eval, &v[0], &v[1])),
    row("replace", 3, 3, |eval, _, v| partial::replaced(&v[0], &v[1], &v[2]).or_else(|| arns::replace(eval, &v[0], &v[1], &v[2]))),
    row("sensitive", 1, 1, |_, _, v| Some(v[0].clone())),
    row("sort", 1, 1, |_, _, v| arns::sort(&v[0])),
    row("split", 2, 2, |eval, _, v| partial::pieces(&v[0], &v[1]).or_else(|| arns::split(eval, &v[0], &v[1]))),
    row("startswith", 2, 2, |_, _, v| partial::has(&v[0], &v[1], <[Value]>::first, |text, start| text.starts_with(start))),
    row("trimprefix", 2, 2, |_, _, v| partial::without_prefix(&v[0], &v[1])),
    row("trimspace", 1, 1, |_, _, v| partial::without_space(&v[0])),
    row("trimsuffix", 2, 2, |_, _, v| partial::without_suffix(&v[0], &v[1])),
];

/// Evaluates `jsonencode`. The value is kept, so that its known parts can be decoded again.
fn encoded(value: &Value) -> FunctionResult {
    if value.as_unknown().is_some() {
        return None;
    }
    Some(if json::is_finite(value) {
        ValueKind::Encoded(Arc::new(value.clone())).into()
    } else {
        Value::error("it holds an infinite number")
    })
}

/// Evaluates `jsondecode`.
fn decoded(value: &Value) -> FunctionResult {
    if value.as_unknown().is_some() {
        return None;
    }
    let text = match &value.kind {
        ValueKind::Bool(_) | ValueKind::Number(_) => value.to_text().map(Value::text),
        _ => None,
    };
    Some(json::decode(text.as_ref().unwrap_or(value)).unwrap_or_else(Value::error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_agree_on_the_number_of_arguments() {
        for table in [FUNCTIONS, PARTLY] {
            assert!(table.is_sorted_by(|one, next| one.name < next.name));
        }
        for function in PARTLY {
            let whole = Function::find(FUNCTIONS, function.name);
            let arity = |function: &Function| (function.least, function.most);
            assert_eq!(whole.map(arity), Some(arity(function)), "{}", function.name);
        }
    }
}
