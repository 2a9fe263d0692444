//! Determines who sets a numeric argument of a resource: its own module, or a caller that passes it as an input. Only
//! plain references are followed and nothing is computed: `var.timeout`, `var.lambda.timeout`, `local.timeout`, or an
//! argument that is one of these.

use super::{Evaluator, validation};
use crate::limits;
use crate::syntax::{Block, Expression, ExpressionKind, ObjectItem, Step, UnaryOperator};
use knowledge::{Input, SetBy};
use std::sync::Arc;

impl Evaluator<'_> {
    /// Determines who sets the argument `name` of `block`, a resource of `module`; `None` if that is unknown.
    pub fn set_by(&self, block: &Block, module: usize, name: &str) -> Option<SetBy> {
        if self.is_described(module) || has_conditions(block) {
            return None;
        }
        let Some(attribute) = block.body.attribute(name) else {
            return Some(SetBy::Itself);
        };
        self.expression_set_by(&attribute.value, module, module, limits::MAX_SETTER_STEPS)
    }

    /// Returns the variable of the root module whose default decides that `block`, a resource of `module`, has no
    /// instance: `enabled` of `count = var.enabled ? 1 : 0`.
    pub fn switch(&self, block: &Block, module: usize) -> Option<Arc<str>> {
        let attribute = |name| block.body.attribute(name);
        let mut decides: &Expression = &attribute("count").or_else(|| attribute("for_each"))?.value;
        loop {
            decides = match &decides.kind {
                ExpressionKind::Conditional(parts) => &parts[0],
                ExpressionKind::Unary(_, operand) => operand,
                _ => break,
            };
        }
        match self.expression_set_by(decides, module, module, limits::MAX_SETTER_STEPS)? {
            SetBy::Input(input) if input.within.is_empty() && !input.is_required => Some(input.name.clone()),
            _ => None,
        }
    }

    /// Returns `true` if `for_each` of `block` is a variable of `module` that its caller does not set.
    pub fn has_default_elements(&self, block: &Block, module: usize) -> bool {
        let set_by = block
            .body
            .attribute("for_each")
            .and_then(|each| self.expression_set_by(&each.value, module, module, limits::MAX_SETTER_STEPS));
        matches!(set_by, Some(SetBy::Input(input)) if !input.within.is_empty())
    }

    /// Determines who sets the value of `expression` in module `at`, for a resource of `module`.
    fn expression_set_by(&self, expression: &Expression, at: usize, module: usize, steps: usize) -> Option<SetBy> {
        if steps == 0 {
            return None;
        }
        match &expression.kind {
            ExpressionKind::Traversal(..) => {
                let (base, name, fields) = named(expression)?;
                match base {
                    "var" => self.variable_set_by((name, &fields), at, module, steps - 1),
                    "local" if fields.is_empty() => {
                        let local = self.instances[at].module.locals.get(name)?;
                        self.expression_set_by(&local.value, at, module, steps - 1)
                    }
                    _ => None,
                }
            }
            // A constant in a calling module is set by the caller.
            _ => (at == module && is_constant(expression, steps)).then_some(SetBy::Itself),
        }
    }

    /// Determines who sets the variable `name`, or the attribute of it that `fields` lead to.
    fn variable_set_by(&self, (name, fields): Place<'_>, at: usize, module: usize, steps: usize) -> Option<SetBy> {
        let instance = &self.instances[at];
        if self.is_described(at) || steps == 0 {
            return None;
        }
        if let Some((_, call, scope)) = &instance.caller {
            if let Some(argument) = call.block.body.attribute(name) {
                match attribute(&argument.value, fields) {
                    Given::Here(value) => return self.expression_set_by(value, scope.module, module, steps),
                    Given::Unknown => {
                        let (_, name, mut path) = named(&argument.value).filter(|(base, ..)| *base == "var")?;
                        path.extend(fields);
                        return self.variable_set_by((name, &path), scope.module, module, steps - 1);
                    }
                    Given::Absent => {}
                }
            }
        } else if self.has_input(name, at) {
            return None;
        }
        let block = instance.module.variables.get(name)?;
        let most = if fields.is_empty() {
            validation::bounds(block, name).most
        } else {
            None
        };
        // Another form of validation is not understood, and may limit the value.
        let is_bounded = block.body.blocks.iter().any(|block| &*block.kind == "validation");
        if is_bounded && most.is_none() {
            return None;
        }
        let default = match default_of(block, fields) {
            Given::Here(value) => Some(value),
            Given::Absent => None,
            Given::Unknown => return None,
        };
        let path: String = fields.iter().map(|field| format!(".{field}")).collect();
        Some(SetBy::Input(Arc::new(Input {
            name: name.clone(),
            shown: format!("`var.{name}{path}`"),
            within: instance.path.to_string(),
            span: default.map_or(block.header, |default| default.span),
            is_required: default.is_none(),
            most,
            limit: "a `validation`",
        })))
    }
}

/// Name of a variable, and of the nested attributes that lead to a part of its value.
type Place<'e> = (&'e Arc<str>, &'e [&'e Arc<str>]);

/// Returns the parts of a plain reference: `var`, `lambda` and `[timeout]` of `var.lambda.timeout`.
pub(super) fn named(expression: &Expression) -> Option<(&str, &Arc<str>, Vec<&Arc<str>>)> {
    let (base, path) = expression.path()?;
    let mut names = path.iter().map(|step| match step {
        Step::Attribute(name) => Some(name),
        _ => None,
    });
    Some((base, names.next()??, names.collect::<Option<_>>()?))
}

/// The expression that gives a value to an attribute.
enum Given<'e> {
    Here(&'e Expression),
    Absent,
    /// The object is not a literal.
    Unknown,
}

/// Returns the attribute of `object` that `fields` lead to.
fn attribute<'e>(object: &'e Expression, fields: &[&Arc<str>]) -> Given<'e> {
    let [field, rest @ ..] = fields else {
        return Given::Here(object);
    };
    let ExpressionKind::Object(items) = &object.kind else {
        return Given::Unknown;
    };
    let key = |item: &'e ObjectItem| match &item.key.kind {
        ExpressionKind::Text(key) => Some((key, item)),
        _ => None,
    };
    let Some(items) = items.iter().map(key).collect::<Option<Vec<_>>>() else {
        return Given::Unknown;
    };
    let found = items.into_iter().rfind(|(key, _)| *key == *field);
    found.map_or(Given::Absent, |(_, item)| attribute(&item.value, rest))
}

/// Returns the default of the variable that `block` declares, or of an attribute of it. It is absent if it is required.
fn default_of<'b>(block: &'b Block, fields: &[&Arc<str>]) -> Given<'b> {
    let default = block.body.attribute("default");
    match default.map(|default| attribute(&default.value, fields)) {
        None if fields.is_empty() => Given::Absent,
        None => default_in_type(block, fields),
        // Without a default in the type, Terraform rejects the object.
        Some(Given::Absent) => match default_in_type(block, fields) {
            Given::Absent => Given::Unknown,
            given => given,
        },
        Some(given) => given,
    }
}

/// Returns the default that the type of a variable declares for an attribute.
fn default_in_type<'b>(block: &'b Block, fields: &[&Arc<str>]) -> Given<'b> {
    let Some(mut constraint) = block.body.attribute("type").map(|declared| &*declared.value) else {
        return Given::Unknown;
    };
    for (at, field) in fields.iter().enumerate() {
        let Some([object, ..]) = called(constraint, "object") else {
            return Given::Unknown;
        };
        let Given::Here(declared) = attribute(object, &[field]) else {
            return Given::Unknown;
        };
        if let Some(arguments) = called(declared, "optional") {
            // Without a default it is null, and so is what it contains.
            return match arguments.get(1).map(|default| attribute(default, &fields[at + 1..])) {
                Some(Given::Here(value)) => Given::Here(value),
                _ => Given::Unknown,
            };
        }
        constraint = declared;
    }
    Given::Absent
}

/// Returns the arguments of a call of `function`.
fn called<'e>(expression: &'e Expression, function: &str) -> Option<&'e [Expression]> {
    match &expression.kind {
        ExpressionKind::Call { name, arguments, .. } if &**name == function => Some(arguments),
        _ => None,
    }
}

/// Returns `true` if a resource has `precondition` or `postcondition` blocks, which may limit the argument.
fn has_conditions(block: &Block) -> bool {
    let lifecycle = block.body.blocks.iter().filter(|block| &*block.kind == "lifecycle");
    lifecycle
        .flat_map(|lifecycle| &lifecycle.body.blocks)
        .any(|block| matches!(&*block.kind, "precondition" | "postcondition"))
}

/// Returns `true` if an expression consists of literals only.
fn is_constant(expression: &Expression, steps: usize) -> bool {
    match &expression.kind {
        ExpressionKind::Number(_) | ExpressionKind::Text(_) | ExpressionKind::Null => true,
        ExpressionKind::Unary(UnaryOperator::Neg, inner) => steps > 0 && is_constant(inner, steps - 1),
        ExpressionKind::Binary(_, operands) => {
            steps > 0 && operands.iter().all(|operand| is_constant(operand, steps - 1))
        }
        _ => false,
    }
}
