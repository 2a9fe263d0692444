//! Generates templates with conditions: as data, written with their conditions, or reduced to one assignment of the
//! parameters.

use serde_json::{Map, Value as Json, json};

/// Random numbers that determine a generated template, used one by one. When they are used up, every choice is 0.
pub(crate) struct Choices<'c> {
    numbers: std::slice::Iter<'c, u16>,
}

impl<'c> Choices<'c> {
    pub(crate) fn new(numbers: &'c [u16]) -> Self {
        Choices {
            numbers: numbers.iter(),
        }
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(self.numbers.next().copied().unwrap_or(0)) % end.max(1)
    }
}

/// Parameter of a generated template.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    /// Every value that may change the result.
    pub(crate) values: Vec<&'static str>,
    pub(crate) declared: Json,
    /// The parameter's values are numbers, so attributes may use it.
    pub(crate) is_number: bool,
    /// The parameter has no `AllowedValues`.
    pub(crate) is_open: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Formula {
    Is(usize, &'static str),
    Same(usize, usize),
    /// Compares a text that contains the parameter.
    Around(usize, &'static str),
    /// Looks up the mapping's row that the parameter names.
    Mapped(usize),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    Not(Box<Formula>),
    Named(usize),
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Literal(i64),
    Absent,
    Parameter(usize),
    If(usize, Box<Value>, Box<Value>),
}

/// Target of a reference.
#[derive(Debug, Clone)]
pub(crate) enum Link {
    To(&'static str),
    If(usize, Box<Link>, Box<Link>),
}

/// Assignment: a value for each parameter.
pub(crate) type World = Vec<&'static str>;

#[derive(Debug, Clone)]
pub(crate) struct Template {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) conditions: Vec<Formula>,
    /// Resources, with the condition under which they exist.
    pub(crate) exists: Vec<(&'static str, Option<usize>)>,
    /// `VisibilityTimeout` of the queues, `Timeout` of the functions, `BatchSize` and window of the mapping.
    pub(crate) numbers: Vec<(&'static str, &'static str, Value)>,
    pub(crate) source: Link,
    pub(crate) function: Link,
    /// Condition under which `Q` has a redrive policy, and its count.
    pub(crate) redrive: (usize, Value),
}

pub(crate) const QUEUES: [&str; 3] = ["Q", "R", "D"];
pub(crate) const FUNCTIONS: [&str; 2] = ["F", "G"];

const FREE: [&str; 5] = ["a", "b", "y", "z", "w"];
/// Rows of the mapping, with their values.
const ROWS: [(&str, &str); 3] = [("a", "x"), ("b", "n"), ("true", "x")];

impl Template {
    pub(crate) fn read(choices: &mut Choices<'_>) -> Template {
        let count = 1 + choices.below(8);
        let mut open = 0;
        let mut parameters = Vec::new();
        for _ in 0..count {
            let parameter = parameter(choices.below(8), open < if count < 4 { 3 } else { 2 } && count < 6);
            open += usize::from(parameter.is_open);
            parameters.push(parameter);
        }
        let mut conditions = Vec::new();
        for at in 0..2 + choices.below(5) {
            conditions.push(formula(choices, &parameters, at, 0));
        }
        // A parameter without allowed values has its default, unless a condition compares it with another value.
        for (at, parameter) in parameters
            .iter_mut()
            .enumerate()
            .filter(|(_, p)| p.is_open && p.is_number)
        {
            parameter
                .values
                .retain(|value| *value == "90" || conditions.iter().any(|f| compares(f, at, value)));
        }
        let exists = ["Q", "R", "F", "G", "M"].into_iter();
        let exists = exists.map(|id| {
            let is_conditional = choices.below(3) == 0;
            (id, is_conditional.then(|| choices.below(conditions.len())))
        });
        let exists = exists.collect();
        let attributes = [
            ("Q", "VisibilityTimeout", [30, 60, 360, 2]),
            ("R", "VisibilityTimeout", [30, 60, 360, 18]),
            ("D", "MessageRetentionPeriod", [60, 1_209_600, 345_600, 3_600]),
            ("Q", "MessageRetentionPeriod", [60, 1_209_600, 345_600, 7_200]),
            ("F", "Timeout", [60, 3, 10, 61]),
            ("G", "Timeout", [30, 5, 60, 900]),
            ("M", "BatchSize", [10, 100, 1, 11]),
            ("M", "MaximumBatchingWindowInSeconds", [0, 1, 5, 300]),
        ];
        let numbers = attributes.into_iter().map(|(id, key, literals)| {
            let takes_parameters = key == "VisibilityTimeout" || key == "Timeout";
            (
                id,
                key,
                value(choices, &parameters, &conditions, literals, takes_parameters, 0),
            )
        });
        let numbers = numbers.collect();
        Template {
            exists,
            numbers,
            source: link(choices, &conditions, ["Q", "R"], 0),
            function: link(choices, &conditions, ["F", "G"], 0),
            redrive: (
                choices.below(conditions.len()),
                value(choices, &parameters, &conditions, [1, 2, 5, 10], false, 0),
            ),
            parameters,
            conditions,
        }
    }

    /// Returns all assignments.
    pub(crate) fn worlds(&self) -> Vec<World> {
        let mut all: Vec<World> = vec![Vec::new()];
        for parameter in &self.parameters {
            let longer = |world: World| {
                parameter.values.iter().map(move |value| {
                    let mut world = world.clone();
                    world.push(*value);
                    world
                })
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        all
    }

    pub(crate) fn holds(&self, condition: usize, world: &World) -> bool {
        self.is_true(&self.conditions[condition], world)
    }

    fn is_true(&self, formula: &Formula, world: &World) -> bool {
        match formula {
            Formula::Is(parameter, value) => world[*parameter] == *value,
            Formula::Same(a, b) => world[*a] == world[*b],
            Formula::Around(parameter, text) => format!("{}-x", world[*parameter]) == *text,
            Formula::Mapped(parameter) => ROWS.contains(&(world[*parameter], "x")),
            Formula::And(all) => all.iter().all(|formula| self.is_true(formula, world)),
            Formula::Or(all) => all.iter().any(|formula| self.is_true(formula, world)),
            Formula::Not(one) => !self.is_true(one, world),
            Formula::Named(condition) => self.holds(*condition, world),
        }
    }

    pub(crate) fn number(&self, value: &Value, world: &World) -> Option<i64> {
        match value {
            Value::Literal(number) => Some(*number),
            Value::Absent => None,
            Value::Parameter(parameter) => world[*parameter].parse().ok(),
            Value::If(condition, yes, no) => self.number(if self.holds(*condition, world) { yes } else { no }, world),
        }
    }

    fn end(&self, link: &Link, world: &World) -> &'static str {
        match link {
            Link::To(id) => id,
            Link::If(condition, yes, no) => self.end(if self.holds(*condition, world) { yes } else { no }, world),
        }
    }

    /// Returns `true` if the template can be deployed: the mapping has every row that is looked up.
    pub(crate) fn is_deployable(&self, world: &World) -> bool {
        self.conditions.iter().all(|formula| has_rows(formula, world))
    }

    pub(crate) fn exists(&self, id: &str, world: &World) -> bool {
        let condition = self
            .exists
            .iter()
            .find(|(of, _)| *of == id)
            .and_then(|(_, condition)| *condition);
        condition.is_none_or(|condition| self.holds(condition, world))
    }

    /// Returns the template with its parameters and conditions.
    pub(crate) fn whole(&self) -> String {
        let parameters: Map<String, Json> = self
            .parameters
            .iter()
            .enumerate()
            .map(|(at, parameter)| (format!("P{at}"), parameter.declared.clone()))
            .collect();
        let conditions: Map<String, Json> = self
            .conditions
            .iter()
            .enumerate()
            .map(|(at, formula)| (format!("C{at}"), formula_json(formula)))
            .collect();
        let rows: Map<String, Json> = ROWS
            .iter()
            .map(|(row, is)| ((*row).to_owned(), json!({ "is": is })))
            .collect();
        let number = |value: &Value| Some(value_json(value));
        let resources = self.resources(
            &|id| {
                let condition = self
                    .exists
                    .iter()
                    .find(|(of, _)| *of == id)
                    .and_then(|(_, condition)| *condition);
                Some(condition.map(|condition| json!(format!("C{condition}"))))
            },
            &number,
            &link_json,
            &|policy| json!({ "Fn::If": [format!("C{}", self.redrive.0), policy, { "Ref": "AWS::NoValue" }] }),
        );
        json!({
            "AWSTemplateFormatVersion": "2010-09-09",
            "Parameters": parameters, "Mappings": { "Rows": rows }, "Conditions": conditions, "Resources": resources,
        })
        .to_string()
    }

    /// Returns the template under one assignment, without parameters and conditions.
    pub(crate) fn plain(&self, world: &World) -> String {
        let has_policy = self.holds(self.redrive.0, world);
        let resources = self.resources(
            &|id| self.exists(id, world).then_some(None),
            &|value| self.number(value, world).map(|number| json!(number)),
            &|link| arn(self.end(link, world)),
            &|policy| if has_policy { policy } else { Json::Null },
        );
        json!({ "AWSTemplateFormatVersion": "2010-09-09", "Resources": resources }).to_string()
    }

    fn resources(
        &self,
        exists: &dyn Fn(&str) -> Option<Option<Json>>,
        number: &dyn Fn(&Value) -> Option<Json>,
        end: &dyn Fn(&Link) -> Json,
        policy: &dyn Fn(Json) -> Json,
    ) -> Json {
        let mut all = Map::new();
        for id in ["Q", "R", "D", "F", "G", "M"] {
            let Some(condition) = exists(id) else { continue };
            let mut properties = Map::new();
            for (_, key, value) in self.numbers.iter().filter(|(of, ..)| *of == id) {
                if let Some(value) = number(value) {
                    properties.insert((*key).to_owned(), value);
                }
            }
            let kind = match id {
                "F" | "G" => "AWS::Lambda::Function",
                "M" => "AWS::Lambda::EventSourceMapping",
                _ => "AWS::SQS::Queue",
            };
            if id == "M" {
                properties.insert("EventSourceArn".to_owned(), end(&self.source));
                properties.insert("FunctionName".to_owned(), end(&self.function));
            }
            if id == "Q" {
                let mut body = Map::from_iter([("deadLetterTargetArn".to_owned(), arn("D"))]);
                body.extend(number(&self.redrive.1).map(|count| ("maxReceiveCount".to_owned(), count)));
                let policy = policy(Json::Object(body));
                if !policy.is_null() {
                    properties.insert("RedrivePolicy".to_owned(), policy);
                }
            }
            let mut resource = Map::from_iter([("Type".to_owned(), json!(kind))]);
            resource.extend(condition.map(|condition| ("Condition".to_owned(), condition)));
            resource.insert("Properties".to_owned(), Json::Object(properties));
            all.insert(id.to_owned(), Json::Object(resource));
        }
        Json::Object(all)
    }
}

fn parameter(kind: usize, may_be_open: bool) -> Parameter {
    let closed = |values: &[&'static str], is_number: bool| Parameter {
        values: values.to_vec(),
        declared: json!({ "Type": "String", "AllowedValues": values, "Default": values[0] }),
        is_number,
        is_open: false,
    };
    match kind {
        4 => closed(&["a", "b"], false),
        5 => closed(&["3", "60", "360"], true),
        6 if may_be_open => Parameter {
            values: FREE.to_vec(),
            declared: json!({ "Type": "String" }),
            is_number: false,
            is_open: true,
        },
        // Its default is a value that no condition mentions.
        7 if may_be_open => Parameter {
            values: vec!["30", "60", "90"],
            declared: json!({ "Type": "Number", "Default": 90 }),
            is_number: true,
            is_open: true,
        },
        _ => closed(&["true", "false"], false),
    }
}

fn formula(choices: &mut Choices<'_>, parameters: &[Parameter], conditions: usize, depth: usize) -> Formula {
    let which = choices.below(parameters.len());
    let parameter = &parameters[which];
    let named: &[&'static str] = match (parameter.is_open, parameter.is_number) {
        (true, true) => &["30", "60"],
        (true, false) => &["a", "b"],
        _ => &parameter.values,
    };
    let text = named[choices.below(named.len())];
    match choices.below(if depth < 3 { 12 } else { 4 }) {
        3 if text == "a" => Formula::Around(which, "a-x"),
        3 if text == "true" => Formula::Around(which, "true-x"),
        2 => {
            let other = choices.below(parameters.len());
            // sqslint cannot distinguish a number's default from a value that it is compared with. Also, every value
            // that an unconstrained parameter may share must be among the values tried.
            let is_open_number = |at: usize| parameters[at].is_open && parameters[at].is_number;
            let fits = |one: usize, other: usize| {
                let is_tried = |value: &&str| FREE.contains(value);
                !is_open_number(one) && (!parameters[one].is_open || parameters[other].values.iter().all(is_tried))
            };
            if fits(which, other) && fits(other, which) {
                Formula::Same(which, other)
            } else {
                Formula::Is(which, text)
            }
        }
        1 if conditions > 0 => Formula::Named(choices.below(conditions)),
        4 | 5 => Formula::Not(Box::new(formula(choices, parameters, conditions, depth + 1))),
        6..=8 => Formula::And(operands(choices, parameters, conditions, depth)),
        9 | 10 => Formula::Or(operands(choices, parameters, conditions, depth)),
        11 if parameter
            .values
            .iter()
            .all(|value| ROWS.iter().any(|(row, _)| row == value)) =>
        {
            Formula::Mapped(which)
        }
        _ => Formula::Is(which, text),
    }
}

fn operands(choices: &mut Choices<'_>, parameters: &[Parameter], conditions: usize, depth: usize) -> Vec<Formula> {
    let count = 2 + choices.below(2);
    (0..count)
        .map(|_| formula(choices, parameters, conditions, depth + 1))
        .collect()
}

fn value(
    choices: &mut Choices<'_>,
    parameters: &[Parameter],
    conditions: &[Formula],
    literals: [i64; 4],
    takes_parameters: bool,
    depth: usize,
) -> Value {
    match choices.below(if depth < 2 { 8 } else { 4 }) {
        0 | 1 => Value::Literal(literals[choices.below(4)]),
        2 => Value::Absent,
        3 => {
            let which = choices.below(parameters.len());
            if takes_parameters && parameters[which].is_number {
                Value::Parameter(which)
            } else {
                Value::Literal(literals[which % 4])
            }
        }
        _ => {
            let condition = choices.below(conditions.len());
            let mut branch = || {
                Box::new(value(
                    choices,
                    parameters,
                    conditions,
                    literals,
                    takes_parameters,
                    depth + 1,
                ))
            };
            Value::If(condition, branch(), branch())
        }
    }
}

fn link(choices: &mut Choices<'_>, conditions: &[Formula], ends: [&'static str; 2], depth: usize) -> Link {
    if depth < 2 && choices.below(3) > 0 {
        let condition = choices.below(conditions.len());
        let mut branch = || Box::new(link(choices, conditions, ends, depth + 1));
        Link::If(condition, branch(), branch())
    } else {
        Link::To(ends[choices.below(2)])
    }
}

fn compares(formula: &Formula, parameter: usize, value: &str) -> bool {
    match formula {
        Formula::Is(of, text) => *of == parameter && *text == value,
        Formula::And(all) | Formula::Or(all) => all.iter().any(|formula| compares(formula, parameter, value)),
        Formula::Not(one) => compares(one, parameter, value),
        _ => false,
    }
}

fn has_rows(formula: &Formula, world: &World) -> bool {
    match formula {
        Formula::Mapped(parameter) => ROWS.iter().any(|(row, _)| *row == world[*parameter]),
        Formula::And(all) | Formula::Or(all) => all.iter().all(|formula| has_rows(formula, world)),
        Formula::Not(one) => has_rows(one, world),
        _ => true,
    }
}

fn reference(parameter: usize) -> Json {
    json!({ "Ref": format!("P{parameter}") })
}

fn arn(id: &str) -> Json {
    json!({ "Fn::GetAtt": [id, "Arn"] })
}

fn formula_json(formula: &Formula) -> Json {
    let all = |operands: &[Formula]| operands.iter().map(formula_json).collect::<Vec<_>>();
    match formula {
        Formula::Is(parameter, value) => json!({ "Fn::Equals": [reference(*parameter), value] }),
        Formula::Same(a, b) => json!({ "Fn::Equals": [reference(*a), reference(*b)] }),
        Formula::Around(parameter, text) => {
            json!({ "Fn::Equals": [{ "Fn::Sub": format!("${{P{parameter}}}-x") }, text] })
        }
        Formula::Mapped(parameter) => {
            json!({ "Fn::Equals": [{ "Fn::FindInMap": ["Rows", reference(*parameter), "is"] }, "x"] })
        }
        Formula::And(operands) => json!({ "Fn::And": all(operands) }),
        Formula::Or(operands) => json!({ "Fn::Or": all(operands) }),
        Formula::Not(one) => json!({ "Fn::Not": [formula_json(one)] }),
        Formula::Named(condition) => json!({ "Condition": format!("C{condition}") }),
    }
}

fn value_json(value: &Value) -> Json {
    match value {
        Value::Literal(number) => json!(number),
        Value::Absent => json!({ "Ref": "AWS::NoValue" }),
        Value::Parameter(parameter) => reference(*parameter),
        Value::If(condition, yes, no) => {
            json!({ "Fn::If": [format!("C{condition}"), value_json(yes), value_json(no)] })
        }
    }
}

fn link_json(link: &Link) -> Json {
    match link {
        Link::To(id) => arn(id),
        Link::If(condition, yes, no) => {
            json!({ "Fn::If": [format!("C{condition}"), link_json(yes), link_json(no)] })
        }
    }
}
