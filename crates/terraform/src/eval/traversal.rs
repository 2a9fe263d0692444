//! References: the value of a name, and of the attributes, indexes and splats after it.

use super::{Evaluator, Scope};
use crate::provider;
use crate::syntax::{Block, Expression, ExpressionKind, Step};
use crate::types::Type;
use crate::value::{Identity, Key, ResourceId, Value, ValueKind, joined};
use knowledge::Cause;
use std::sync::Arc;

impl Evaluator<'_> {
    pub(crate) fn traverse(&mut self, base: &Expression, steps: &[Step], scope: &Scope) -> Value {
        let ExpressionKind::Variable(name) = &base.kind else {
            let value = self.eval(base, scope);
            return self.follow(value, steps, scope);
        };
        if let Some((_, value)) = scope.names.iter().rev().find(|(known, _)| known == name) {
            let value = value.clone();
            return self.follow(value, steps, scope);
        }
        if scope.alone {
            return Value::error(format!("the template is not passed `{name}`"));
        }
        // `resource.aws_sqs_queue.q` is the long form of `aws_sqs_queue.q`.
        let (name, steps) = match (&**name, steps) {
            ("resource", [Step::Attribute(kind), rest @ ..]) => (kind, rest),
            _ => (name, steps),
        };
        let attribute = |at: usize| match steps.get(at) {
            Some(Step::Attribute(name)) => Some(name.clone()),
            Some(Step::Index(Expression {
                kind: ExpressionKind::Text(name),
                ..
            })) => Some(name.clone()),
            _ => None,
        };
        let module = scope.module;
        let (value, used) = match (&**name, attribute(0)) {
            ("var", Some(name)) => (self.variable(module, &name), 1),
            ("local", Some(name)) => (self.local(module, &name), 1),
            ("module", Some(name)) => match self.call(module, &name) {
                Some(expansion) => (expansion.value.clone(), 1),
                None => (
                    Value::unknown(self.undeclared(module, format_args!("module.{name}"))),
                    1,
                ),
            },
            ("each", Some(name)) => match (scope.each.as_deref(), &*name) {
                (Some((key, _)), "key") => (key.clone(), 1),
                (Some((_, value)), "value") => (value.clone(), 1),
                _ => (
                    Value::unknown(Cause::Derived.because(format!("`each.{name}` is not known"))),
                    1,
                ),
            },
            ("count", Some(_)) => match scope.index {
                Some(index) => (Value::count(index), 1),
                None => (Value::unknown(Cause::Derived.because("`count.index` is not known")), 1),
            },
            ("path", Some(name)) => (self.path(module, &name), 1),
            ("terraform", Some(attribute)) if &*attribute == "workspace" => (self.workspace(), 1),
            ("terraform" | "self", Some(attribute)) => {
                let reason = format!("`{name}.{attribute}` is not known here");
                (Value::unknown(Cause::RunContext.because(reason)), 1)
            }
            ("data", Some(kind)) => match attribute(1) {
                Some(name) => (self.resource_value(module, true, (kind, name)), 2),
                None => (Value::unknown(Cause::Invalid.because("`data` is not a value")), 1),
            },
            (_, Some(label)) => (self.resource_value(module, false, (name.clone(), label)), 1),
            (name, None) => (
                Value::unknown(Cause::Unsupported.because(format!("`{name}` is not supported"))),
                0,
            ),
        };
        self.follow(value, steps.get(used..).unwrap_or(&[]), scope)
    }

    pub(super) fn workspace(&self) -> Value {
        let reported = self.inputs.and_then(|inputs| inputs.typed.workspace.clone());
        let is_open = self.inputs.is_some_and(|inputs| inputs.typed.is_workspace_unresolved);
        match reported {
            None if is_open => {
                let reason = "no file says in which workspace this environment is";
                Value::unknown(Cause::RunContext.because(reason))
                    .identified(|| Some(Identity::of("terraform.workspace".to_owned())))
            }
            reported => Value::text(reported.unwrap_or_else(|| "default".into())),
        }
    }

    fn resource_value(&mut self, module: usize, data: bool, name: (Arc<str>, Arc<str>)) -> Value {
        if let Some(expansion) = self.resource(module, data, &name) {
            return expansion.value.clone();
        }
        // The resource is not declared. The link dangles, which is reported at its use, whatever its key is.
        let nowhere = (module, Arc::default());
        ValueKind::AnyResource(Arc::new(ResourceId::new(nowhere, data, name, Key::None))).into()
    }

    fn follow(&mut self, mut value: Value, steps: &[Step], scope: &Scope) -> Value {
        if let Some(refusal) = refused(steps) {
            return Value::error(refusal);
        }
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            at += 1;
            if !scope.tried && !matches!(step, Step::Splat | Step::AttributeSplat) {
                value = without_null(value);
            }
            value = match step {
                Step::Attribute(name) => {
                    let name = name.clone();
                    self.lift(vec![value], &mut |this, values| this.attribute(&values[0], &name))
                }
                Step::Index(index) | Step::LegacyIndex(index) => {
                    let index = self.eval(index, scope);
                    self.lift(vec![value, index], &mut |this, values| {
                        let key = this.key_of(&values[0], &values[1]);
                        this.lift(vec![values[0].clone(), key], &mut |this, values| {
                            this.index(&values[0], &values[1]).decided_by(&values[1..])
                        })
                    })
                }
                Step::Splat => {
                    let rest = steps.get(at..).unwrap_or(&[]);
                    return self.splat(value, rest, scope).of_type(None);
                }
                Step::AttributeSplat => {
                    let rest = steps.get(at..).unwrap_or(&[]);
                    let count = rest
                        .iter()
                        .take_while(|step| matches!(step, Step::Attribute(_) | Step::LegacyIndex(_)))
                        .count();
                    at += count;
                    self.splat(value, rest.get(..count).unwrap_or(&[]), scope)
                }
            }
            .of_type(None);
        }
        value
    }

    fn splat(&mut self, value: Value, rest: &[Step], scope: &Scope) -> Value {
        self.lift(vec![value], &mut |this, mut values| {
            let value = values.pop().unwrap_or_else(Value::null);
            let items = match &value.kind {
                ValueKind::Null
                    if matches!(
                        value.declared.as_deref(),
                        Some(Type::List(_) | Type::Set(_) | Type::Tuple(_))
                    ) =>
                {
                    return Value::error("it is a list that is null");
                }
                ValueKind::Null => Vec::new(),
                ValueKind::List(items) | ValueKind::Set(items) => items.to_vec(),
                ValueKind::AnyResource(_) | ValueKind::AnyModule(_) | ValueKind::Unknown(_) => {
                    let identity = this.splat_over(&value, rest, scope);
                    let unknown = match &value.kind {
                        ValueKind::AnyResource(id) => Value::unknown(
                            Cause::Derived.because(format!("the instances of `{}` are not known", id.address())),
                        ),
                        ValueKind::AnyModule(_) => {
                            Value::unknown(Cause::Derived.because("the instances of a module are not known"))
                        }
                        _ => value,
                    };
                    return unknown.identified(|| identity);
                }
                _ => vec![value.clone()],
            };
            let items: Vec<Value> = items.into_iter().map(|item| this.follow(item, rest, scope)).collect();
            let made = match (&value.kind, value.declared.as_deref()) {
                // The elements of a list must have one type, but `[*]` turns a null into a shorter tuple than another
                // value.
                (ValueKind::Set(_), _) | (_, Some(Type::List(_)))
                    if rest.iter().any(|step| matches!(step, Step::Splat)) && have_different_lengths(&items) =>
                {
                    return Value::error("the elements of a list are tuples of different lengths");
                }
                (ValueKind::Set(_), _) | (_, Some(Type::List(_))) => Value::list_of(items, &Type::Any),
                _ => Value::list(items),
            };
            made.from(&[value])
        })
    }

    /// Evaluates `value.name`.
    pub fn attribute(&mut self, value: &Value, name: &Arc<str>) -> Value {
        match &value.kind {
            ValueKind::Map(_) => match value.get(name) {
                Some(found) => value.element(found),
                None => Value::error(format!("there is no `{name}`")),
            },
            ValueKind::Resource(id) | ValueKind::AnyResource(id) => {
                let id = id.clone();
                self.resource_attribute(&id, name)
            }
            ValueKind::Module(at) | ValueKind::AnyModule(at) => self.output(*at, name),
            ValueKind::Unknown(unknown) => value.clone().identified(|| {
                let whole = unknown.identity.as_ref()?;
                Some(whole.element(name, &format!(".{name}")))
            }),
            _ => Value::error(format!("it has no attribute `{name}`")),
        }
    }

    /// Evaluates `value[index]`.
    pub(crate) fn index(&mut self, value: &Value, index: &Value) -> Value {
        let index = &self.plain(index.clone());
        match (&value.kind, &index.kind) {
            (ValueKind::AnyResource(_) | ValueKind::AnyModule(_), _) => value.clone(),
            (ValueKind::Unknown(unknown), _) => value.clone().identified(|| {
                let (whole, Some(key)) = (unknown.identity.as_ref()?, index.to_text()) else {
                    return Identity::computed("index", [value, index]);
                };
                let written = match &index.kind {
                    ValueKind::Text(text) => format!("[{text:?}]"),
                    _ => format!("[{key}]"),
                };
                Some(whole.element(&key, &written))
            }),
            (_, ValueKind::Unknown(_)) => index.clone().identified(|| Identity::computed("index", [value, index])),
            (ValueKind::List(items), _) => {
                let at = index.to_whole().and_then(|at| usize::try_from(at).ok());
                at.and_then(|at| items.get(at)).map_or_else(
                    || Value::error("the index is outside of the list"),
                    |found| value.element(found),
                )
            }
            (ValueKind::Map(_) | ValueKind::Resource(_) | ValueKind::Module(_), _) => match index.to_text() {
                Some(name) => self.attribute(value, &name),
                None => Value::error("the index is not a string"),
            },
            _ => Value::error("it has no elements"),
        }
    }

    fn resource_attribute(&mut self, id: &Arc<ResourceId>, name: &Arc<str>) -> Value {
        if let Some(reported) = self.provider_data_source(id, name) {
            return reported;
        }
        if id.data && &*id.kind == "terraform_remote_state" && &**name == "outputs" {
            let outputs = self.remote_outputs(id);
            let state = self.remote_state(id).filter(|_| outputs.as_unknown().is_some());
            return outputs.otherwise_identified(|| Some(id.attribute(name).published_as(state)));
        }
        if let Some(value) = self.published(id, name) {
            return value;
        }
        if provider::is_link(&id.kind, name) {
            return ValueKind::Reference(id.clone(), name.clone()).into();
        }
        if &*id.kind == "aws_ecr_repository" && &**name == "repository_url" {
            // `<account>.dkr.ecr.<Region>.amazonaws.com/<name>`
            let registry = Value::unknown(
                Cause::KnownAfterApply.because(format!("`{}.{name}` is known only after apply", id.address())),
            );
            let repository = self.configured(id, &"name".into());
            return joined(vec![registry, Value::text("/"), repository]);
        }
        self.configured(id, name)
            .otherwise_identified(|| Some(id.attribute(name)))
    }

    /// Returns the block that declares a resource or data source.
    pub(crate) fn block_of(&self, id: &ResourceId) -> Option<Arc<Block>> {
        let declared = &self.instances[id.module].module;
        let blocks = if id.data { &declared.data } else { &declared.resources };
        blocks.get(&(id.kind.clone(), id.name.clone())).cloned()
    }

    /// Returns the argument `name` of a resource as configured, or the provider's default.
    pub fn configured(&mut self, id: &Arc<ResourceId>, name: &Arc<str>) -> Value {
        let unknown = || {
            Value::unknown(
                Cause::KnownAfterApply.because(format!("`{}.{name}` is known only after apply", id.address())),
            )
        };
        let label = (id.kind.clone(), id.name.clone());
        let Some(expansion) = self.resource(id.module, id.data, &label) else {
            return Value::unknown(self.undeclared(id.module, id.address()));
        };
        let (Some(member), Some(block)) = (expansion.member(&id.key), self.block_of(id)) else {
            return unknown();
        };
        let scope = member.scope.clone();
        if provider::is_document(id, name) {
            let mut document = self.policy_document(&block.body, &scope).at(block.header);
            document.origins = document.origins.before(block.header, format!("`{}`", id.address()));
            return document;
        }
        let default = |this: &mut Self| match provider::default(&id.kind, name) {
            Some(default) if !id.data => Value {
                span: Some(block.header),
                ..default
            },
            _ if &**name == "region" && id.kind.starts_with("aws_") => this.region(&id.kind, &block.body, &scope),
            _ => unknown(),
        };
        let Some(attribute) = block.body.attribute(name) else {
            return default(self);
        };
        let value = self.eval(&attribute.value, &scope);
        let mut value = self.lift(vec![value], &mut |this, mut values| match values.pop() {
            Some(value) if !value.is_null() => value,
            _ => default(this),
        });
        value.origins = value
            .origins
            .before(attribute.span, format!("`{name}` of `{}`", id.address()));
        value
    }

    /// Replaces a reference to a physical name by that name if it is configured; returns any other value unchanged.
    pub fn plain(&mut self, value: Value) -> Value {
        match &value.kind {
            ValueKind::Reference(id, name) if provider::is_name(&id.kind, name) => {
                let (id, name) = (id.clone(), name.clone());
                let configured = self.configured(&id, &name);
                // A conditional name stays a link, because callers do not expect cases here and the link identifies the
                // resource.
                if matches!(configured.kind, ValueKind::Text(_)) {
                    Value {
                        kind: configured.kind,
                        ..value
                    }
                } else {
                    value
                }
            }
            _ => value,
        }
    }
}

/// Returns `true` if `items` are tuples of different lengths.
fn have_different_lengths(items: &[Value]) -> bool {
    let length = |item: &Value| match &item.kind {
        ValueKind::List(items) if item.declared.is_none() => Some(items.len()),
        _ => None,
    };
    let lengths: Option<Vec<usize>> = items.iter().map(length).collect();
    lengths.is_some_and(|lengths| lengths.windows(2).any(|pair| pair[0] != pair[1]))
}

/// Returns the reason if Terraform rejects `steps`: two numeric indexes in a row look like a fraction, and `.*` must
/// not be nested.
fn refused(steps: &[Step]) -> Option<&'static str> {
    let (mut is_index, mut is_splat) = (false, false);
    for step in steps {
        match step {
            Step::LegacyIndex(_) if is_index => return Some("an index like `.0` may not follow another: write `[0]`"),
            Step::AttributeSplat if is_splat => return Some("a `.*` may not stand within another: write `[*]`"),
            Step::Index(_) | Step::Splat => is_splat = false,
            _ => {}
        }
        is_splat |= matches!(step, Step::AttributeSplat);
        is_index = matches!(step, Step::LegacyIndex(_));
    }
    None
}

/// Returns the object of a value that is either null or that object: with null, the attribute that follows would be an
/// error, and nothing would be deployed.
fn without_null(value: Value) -> Value {
    let is_null = |one: &Value| one.is_null() && matches!(one.declared.as_deref(), Some(Type::Object(_)));
    match &value.kind {
        ValueKind::Cases(cases) if cases.iter().any(|case| is_null(&case.then)) => {
            let mut others = cases.iter().filter(|case| !is_null(&case.then));
            match (others.next(), others.next()) {
                (Some(only), None) => value.with(only.then.clone()),
                _ => value,
            }
        }
        _ => value,
    }
}
