//! Variables and locals, each evaluated once, and the conversion to a variable's type.

use super::{Declaration, Evaluator, Instance, Scope, validation};
use crate::inputs::Input;
use crate::syntax::{Attribute, Block, Expression, ExpressionKind};
use crate::value::{Identity, Value, ValueKind};
use conditions::{Case, Condition, Point, Variable};
use knowledge::Cause;
use std::sync::Arc;

impl Evaluator<'_> {
    /// Returns the cached value of a declaration, or computes it with `compute`. A value that refers to itself is
    /// unknown.
    pub(crate) fn once(
        &mut self,
        module: usize,
        named: Declaration,
        compute: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        match self.known.get(&(module, named.clone())) {
            Some(Some(value)) => return value.clone(),
            Some(None) => return self.reached("a value refers to itself"),
            None => {}
        }
        self.known.insert((module, named.clone()), None);
        let value = compute(self).otherwise_identified(|| Some(Identity::declared(module, &named.to_string())));
        self.known.insert((module, named), Some(value.clone()));
        value
    }

    pub(crate) fn local(&mut self, module: usize, name: &Arc<str>) -> Value {
        self.once(module, Declaration::Local(name.clone()), |this| {
            let Some(attribute) = this.instances[module].module.locals.get(name).cloned() else {
                return Value::unknown(this.undeclared(module, format_args!("local.{name}")));
            };
            let scope = this.scope(module);
            let value = this.eval(&attribute.value, &scope);
            this.of_local(module, name, &attribute, value)
        })
    }

    /// Adds the origin to the value of a local. This is a separate function to keep the stack frames of the recursion
    /// small.
    fn of_local(&self, module: usize, name: &str, attribute: &Attribute, mut value: Value) -> Value {
        if !self.is_described(module) {
            value.origins = value.origins.before(attribute.span, format!("`local.{name}`"));
        } else if matches!(attribute.value.kind, ExpressionKind::Number(_)) {
            value.origins = value.origins.before(attribute.span, "what the module sets");
        }
        value
    }

    pub(crate) fn variable(&mut self, module: usize, name: &Arc<str>) -> Value {
        self.once(module, Declaration::Variable(name.clone()), |this| {
            let Some(block) = this.instances[module].module.variables.get(name).cloned() else {
                return Value::unknown(this.undeclared(module, format_args!("var.{name}")));
            };
            let scope = this.scope(module);
            let nullable = block.body.attribute("nullable");
            let nullable =
                nullable.is_none_or(|attribute| this.eval(&attribute.value, &scope).to_bool() != Some(false));
            let kind = block.body.attribute("type").map(|attribute| attribute.value.clone());
            let is_unset =
                this.instances[module].caller.is_none() && this.outside.unset.is_some_and(|all| all.contains(name));
            let default = block.body.attribute("default").filter(|_| !is_unset).cloned();
            let from_default = |this: &mut Self| {
                let Some(attribute) = &default else {
                    let value = this.any_allowed(module, name, &block, &scope);
                    return if nullable {
                        this.or_null(module, name, value)
                    } else {
                        value
                    };
                };
                let mut value = this.eval(&attribute.value, &scope);
                let what = if !this.is_described(module) {
                    format!("the default of `var.{name}`")
                } else if value.is_null() {
                    // Neither the call nor the module sets a value.
                    return value;
                } else {
                    format!("the default of the module's `{name}`")
                };
                value.origins = if this.instances[module].caller.is_none() {
                    value.origins.defaulted(attribute.value.span, what)
                } else {
                    value.origins.before(attribute.value.span, what)
                };
                value
            };
            let value = match this.input_value(module, name, &block) {
                Some(value) if nullable => value,
                Some(value) => this.lift(vec![value], &mut |this, mut values| match values.pop() {
                    Some(value) if !value.is_null() => value,
                    _ => from_default(this),
                }),
                None => from_default(this),
            };
            let value = match kind {
                Some(kind) => this.convert(value, &kind, &scope),
                None => value,
            };
            let identity = || Identity::of_variable(module, name);
            value.restricted(validation::bounds(&block, name), !nullable, identity)
        })
    }

    /// Returns the value of a variable that has none: one case for each value that its validation lists, otherwise
    /// unknown.
    fn any_allowed(&mut self, module: usize, name: &str, block: &Block, scope: &Scope) -> Value {
        let Some(allowed) = self.allowed(block, name, scope) else {
            let constraint = block.body.attribute("type").map(|attribute| &*attribute.value);
            return self.without_value(&format!("var.{name}"), constraint, scope);
        };
        let domain: Arc<[Arc<str>]> = allowed.iter().filter_map(Value::to_text).collect();
        let variable = Variable {
            domain: Some(domain),
            ..self.condition_on(module, name)
        };
        Value::cases(allowed.into_iter().filter_map(|mut value| {
            let when = Condition::is(variable.clone(), value.to_text()?);
            let place = value.span.unwrap_or(block.header);
            value.origins = value.origins.before(place, format!("an allowed value of `var.{name}`"));
            Some(Case::new(when, value))
        }))
    }

    /// Adds the case that the variable is null to an object without a value, whose attributes are known in part.
    fn or_null(&self, module: usize, name: &str, value: Value) -> Value {
        if value.entries().is_none() {
            return value;
        }
        let when = Condition::is_point(self.condition_on(module, name), Point::Null);
        Value::cases([Case::new(when.not(), value), Case::new(when, Value::null())])
    }

    /// Returns the variable of conditions on the variable `name` of a module.
    fn condition_on(&self, module: usize, name: &str) -> Variable {
        self.variable_of(&Identity::of_variable(module, name), || format!("var.{name}").into())
    }

    /// Returns the value that a variable receives: from the call, or, in the root module, from the command line, a
    /// variable file or Terragrunt.
    fn input_value(&mut self, module: usize, name: &Arc<str>, block: &Block) -> Option<Value> {
        let instance = &self.instances[module];
        let Some((call_name, call, scope)) = instance.caller.clone() else {
            if let Some(input) = self.inputs.and_then(|inputs| inputs.get(name)) {
                return Some(self.input(module, input, block));
            }
            let set = instance
                .module
                .settings
                .iter()
                .rev()
                // An attribute without a name represents the part of a file that cannot be read.
                .find(|(_, a)| a.name == *name || a.name.is_empty())
                .cloned();
            let passed = || {
                let attribute = self.outside.inputs?.get(name)?;
                Some(("terragrunt.hcl".into(), attribute))
            };
            let from_outside = set.is_none();
            let (file, attribute) = set.or_else(passed)?;
            let scope = self.scope(module);
            let mut value = self.eval(&attribute.value, &scope);
            // Terragrunt passes inputs in environment variables, so a primitive without a declared type arrives as a
            // string.
            if from_outside
                && block.body.attribute("type").is_none()
                && let (ValueKind::Bool(_) | ValueKind::Number(_), Some(text)) = (&value.kind, value.to_text())
            {
                value.kind = ValueKind::Text(text);
            }
            value.origins = value.origins.before(attribute.span, format!("`{name}` in `{file}`"));
            return Some(value);
        };
        let attribute = call.block.body.attribute(name)?;
        let mut value = self.eval(&attribute.value, &scope);
        if self.is_described(module) {
            // The argument is the span itself, not a step towards it.
            return Some(value.at(attribute.span));
        }
        let what = format!("the argument of module `{call_name}`");
        value.origins = value.origins.before(attribute.span, what);
        Some(value)
    }

    /// Returns `value` without its ephemeral parts. Values do not record whether they are ephemeral, so the result is
    /// unknown if any variable is declared ephemeral.
    pub(crate) fn without_ephemeral(&self, value: &Value) -> Value {
        let declares = |instance: &Instance| {
            let mut variables = instance.module.variables.values();
            variables.any(|block| block.body.attribute("ephemeral").is_some())
        };
        if self.instances.iter().any(declares) {
            return Value::unknown(Cause::Unsupported.because("which values are ephemeral is not told"));
        }
        value.clone()
    }

    /// Returns the block that declares a variable of a module.
    pub(crate) fn declared_variable(&self, module: usize, name: &Arc<str>) -> Option<Arc<Block>> {
        self.instances[module].module.variables.get(name).cloned()
    }

    /// Returns the attribute that sets a local of a module.
    pub(crate) fn declared_local(&self, module: usize, name: &Arc<str>) -> Option<Attribute> {
        self.instances[module].module.locals.get(name).cloned()
    }

    /// Returns the argument that the call of a module sets for a variable, with its scope.
    pub(crate) fn argument(&self, module: usize, name: &str) -> Option<(Arc<Expression>, Scope)> {
        let (_, call, scope) = self.instances[module].caller.as_ref()?;
        Some((call.block.body.attribute(name)?.value.clone(), scope.clone()))
    }

    /// Returns `true` if the run, a variable file or Terragrunt sets, or may set, the variable `name` of the root
    /// module.
    pub(crate) fn has_input(&self, name: &str, root: usize) -> bool {
        let mut settings = self.instances[root].module.settings.iter();
        self.inputs.is_some_and(|inputs| inputs.get(name).is_some())
            || settings.any(|(_, set)| &*set.name == name || set.name.is_empty())
            || self.outside.inputs.is_some_and(|inputs| inputs.get(name).is_some())
    }

    fn input(&mut self, module: usize, input: &Input, block: &Block) -> Value {
        let mut value = match input.expression(block) {
            Ok(expression) => self.eval(&expression, &self.scope(module)),
            Err(problem) => Value::error(problem.message),
        };
        value.origins = value.origins.before(input.span, input.what.clone());
        value
    }
}
