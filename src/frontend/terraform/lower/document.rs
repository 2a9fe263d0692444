//! Policy documents: statements from a text, from `jsonencode`, or from a data source that renders one.

use super::super::value::{Kind, Value};
use super::read::{Refusal, link, refusal, text};
use super::{Lowering, Node};
use crate::conditions::{Case, Condition};
use crate::graph::access::{Effect, PolicyDocument, Principal, Statement, StatementCondition};
use crate::graph::{Attribute, Link};
use crate::source::Span;
use std::sync::Arc;

impl Lowering<'_, '_> {
    /// An argument that holds a policy document; `None` where there is none.
    pub(super) fn document(&mut self, node: &Node, name: &'static str) -> Attribute<Option<PolicyDocument>> {
        let argument = self.argument(&node.block.body, &node.scope, name);
        self.document_of(node, name, argument)
    }

    /// A value that is a policy document; `None` where there is none.
    pub(super) fn document_of(
        &mut self,
        node: &Node,
        name: &'static str,
        argument: Option<(Value, Span)>,
    ) -> Attribute<Option<PolicyDocument>> {
        let span = argument.as_ref().map_or(node.resource.header, |(_, span)| *span);
        self.policy(name, argument, node, |lowering, policy, world| {
            let policy = policy.map_err(Refusal::from)?;
            if policy.entries().is_none() {
                return Err(refusal(&policy, "the policy is no object"));
            }
            Ok(Some(lowering.policy_document(&policy, span, world)))
        })
    }

    /// The same where a policy has to be.
    pub(super) fn required_document(&mut self, node: &Node, name: &'static str) -> Attribute<PolicyDocument> {
        let document = self.document(node, name);
        document.try_map(|document| document.ok_or_else(|| "there is no policy".into()))
    }

    fn policy_document(&mut self, policy: &Value, span: Span, world: &Condition) -> PolicyDocument {
        let version = place(policy.get("Version"), span);
        let version = self.attribute("Version", version, span, world, Some(None), |eval, value| {
            text(eval, value).map(Some)
        });
        let mut document = PolicyDocument {
            version,
            statements: Vec::new(),
            opaque: None,
        };
        if let Some(statements) = policy.get("Statement") {
            self.statements(statements, span, world, &mut document);
        }
        document
    }

    fn statements(&mut self, value: &Value, span: Span, world: &Condition, document: &mut PolicyDocument) {
        for Case { when, then: value } in value.each_case() {
            let both = world.and(&when);
            if !both.is_possible() {
                continue;
            }
            match &value.kind {
                Kind::List(items) | Kind::Set(items) => {
                    for item in items.iter() {
                        self.statement(item, span, &both, document);
                    }
                }
                _ => self.statement(&value, span, &both, document),
            }
        }
    }

    fn statement(&mut self, value: &Value, span: Span, world: &Condition, document: &mut PolicyDocument) {
        for Case { when, then: value } in value.each_case() {
            let when = world.and(&when);
            match &value.kind {
                Kind::Null => {}
                _ if !when.is_possible() => {}
                Kind::Map(_) => {
                    let statement = self.one_statement(&value, value.span.unwrap_or(span), when);
                    document.statements.push(statement);
                }
                _ => document.opaque = Some(refusal(&value, "a statement is no object")),
            }
        }
    }

    fn one_statement(&mut self, value: &Value, span: Span, when: Condition) -> Statement {
        let either = |plain: &str, negated: &str| match (value.get(plain), value.get(negated)) {
            (None, Some(found)) => (Some(found), true),
            (found, _) => (found, false),
        };
        let (principals, not_principals) = either("Principal", "NotPrincipal");
        let (actions, not_actions) = either("Action", "NotAction");
        let (resources, not_resources) = either("Resource", "NotResource");
        let resources = resources.map(listed).unwrap_or_default().into_iter();
        let resources: Vec<(Value, Span)> = resources.filter_map(|item| place(Some(&item), span)).collect();
        let resources = resources
            .into_iter()
            .map(|found| self.attribute("Resource", Some(found), span, &when, None, link));
        let resources = resources.collect();
        Statement {
            span,
            effect: self.attribute(
                "Effect",
                place(value.get("Effect"), span),
                span,
                &when,
                None,
                |eval, value| match text(eval, value)?.as_str() {
                    "Allow" => Ok(Effect::Allow),
                    "Deny" => Ok(Effect::Deny),
                    other => Err(format!("`{other}` is no effect").into()),
                },
            ),
            principals: self.attribute(
                "Principal",
                place(principals, span),
                span,
                &when,
                Some(Vec::new()),
                |_, value| principals_of(value),
            ),
            actions: self.attribute(
                "Action",
                place(actions, span),
                span,
                &when,
                Some(Vec::new()),
                |eval, value| {
                    let items = listed(value);
                    items.iter().map(|item| text(eval, item)).collect()
                },
            ),
            resources,
            conditions: self.conditions(value.get("Condition"), span, &when),
            is_negated: not_principals || not_actions || not_resources,
            when,
        }
    }

    fn conditions(
        &mut self,
        value: Option<&Value>,
        span: Span,
        world: &Condition,
    ) -> Result<Vec<StatementCondition>, Arc<str>> {
        let mut all = Vec::new();
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return Ok(all);
        };
        let unknown = |value: &Value| refusal(value, "its conditions are not known");
        for (operator, keys) in value.entries().ok_or_else(|| unknown(value))?.iter() {
            for (key, values) in keys.entries().ok_or_else(|| unknown(keys))?.iter() {
                let values = listed(values).into_iter();
                let values = values.map(|item| -> Attribute<Link> {
                    self.attribute(key.clone(), place(Some(&item), span), span, world, None, link)
                });
                all.push(StatementCondition {
                    operator: operator.to_string(),
                    key: key.to_string(),
                    values: values.collect(),
                });
            }
        }
        Ok(all)
    }
}

fn place(value: Option<&Value>, span: Span) -> Option<(Value, Span)> {
    let value = value?;
    Some((value.clone(), value.span.unwrap_or(span)))
}

/// The items of a list, or the one that stands without a list around it.
fn listed(value: &Value) -> Vec<Value> {
    value
        .items()
        .map_or_else(|| vec![value.clone()], |items| items.to_vec())
}

fn principals_of(value: &Value) -> Result<Vec<Principal>, Refusal> {
    if let Some(everybody) = value.to_text() {
        return Ok(vec![Principal {
            kind: everybody.to_string(),
            id: Some(everybody.to_string()),
        }]);
    }
    let kinds = value
        .entries()
        .ok_or_else(|| refusal(value, "its principals are not known"))?;
    let mut all = Vec::new();
    for (kind, ids) in kinds.iter() {
        for id in listed(ids) {
            let id = id.to_text().map(|id| id.to_string());
            all.push(Principal {
                kind: kind.to_string(),
                id,
            });
        }
    }
    Ok(all)
}
