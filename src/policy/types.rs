//! Types of expressions.

use super::objects::{Field, Object};
use std::fmt;

/// Type of a value in an expression. A value of any type may be null or unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    /// `null`, and the element type of the empty list; compatible with every type.
    Null,
    Bool,
    Int,
    Text,
    Duration,
    List(Box<Type>),
    /// Map from strings to strings: tags.
    Tags,
    Object(ObjectType),
}

/// Type of an object in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ObjectType {
    Queue,
    Function,
    Mapping,
    Alarm,
    Topic,
    Pipe,
    Consumer,
    Sender,
    Statement,
    Comparison,
    Metric,
    Declaration,
    Unit,
}

impl ObjectType {
    pub(super) const ALL: [ObjectType; 13] = [
        ObjectType::Queue,
        ObjectType::Function,
        ObjectType::Mapping,
        ObjectType::Alarm,
        ObjectType::Topic,
        ObjectType::Pipe,
        ObjectType::Consumer,
        ObjectType::Sender,
        ObjectType::Statement,
        ObjectType::Comparison,
        ObjectType::Metric,
        ObjectType::Declaration,
        ObjectType::Unit,
    ];

    /// Returns the name in messages and in the schema.
    pub(super) fn name(self) -> &'static str {
        match self {
            ObjectType::Queue => "queue",
            ObjectType::Function => "function",
            ObjectType::Mapping => "mapping",
            ObjectType::Alarm => "alarm",
            ObjectType::Topic => "topic",
            ObjectType::Pipe => "pipe",
            ObjectType::Consumer => "consumer",
            ObjectType::Sender => "sender",
            ObjectType::Statement => "statement",
            ObjectType::Comparison => "comparison",
            ObjectType::Metric => "metric",
            ObjectType::Declaration => "declaration",
            ObjectType::Unit => "unit",
        }
    }

    /// Returns the field called `name`.
    pub(super) fn field(self, name: &str) -> Option<&'static Field> {
        self.fields().iter().find(|field| field.name == name)
    }

    /// Returns the type of `object`.
    pub(super) fn of(object: &Object<'_>) -> ObjectType {
        match object {
            Object::Queue(_) => ObjectType::Queue,
            Object::Function(_) => ObjectType::Function,
            Object::Mapping(_) => ObjectType::Mapping,
            Object::Alarm(_) => ObjectType::Alarm,
            Object::Topic(_) => ObjectType::Topic,
            Object::Pipe(_) => ObjectType::Pipe,
            Object::Consumer(_) => ObjectType::Consumer,
            Object::Sender(_) => ObjectType::Sender,
            Object::Statement(..) => ObjectType::Statement,
            Object::Comparison(..) => ObjectType::Comparison,
            Object::Metric(..) => ObjectType::Metric,
            Object::Declaration(_) => ObjectType::Declaration,
            Object::Unit(_) => ObjectType::Unit,
        }
    }
}

impl Type {
    /// Returns `true` if values of both types can be compared, or be elements of one list.
    pub(super) fn is_compatible_with(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Null, _) | (_, Type::Null) => true,
            (Type::List(one), Type::List(other)) => one.is_compatible_with(other),
            (one, other) => one == other,
        }
    }

    /// Returns the name with its article: "a duration".
    pub(super) fn with_article(&self) -> String {
        match self {
            Type::Null => "null".to_owned(),
            Type::Bool => "true or false".to_owned(),
            Type::Int => "a whole number".to_owned(),
            Type::Text => "a string".to_owned(),
            Type::Duration => "a duration".to_owned(),
            Type::List(_) => "a list".to_owned(),
            Type::Tags => "a map of tags".to_owned(),
            Type::Object(object) => {
                let name = object.name();
                let article = if name.starts_with(['a', 'u']) && name != "unit" {
                    "an"
                } else {
                    "a"
                };
                format!("{article} {name}")
            }
        }
    }
}

/// Formats the type as in the schema: `list(queue)`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Text => f.write_str("string"),
            Type::Duration => f.write_str("duration"),
            Type::List(element) => write!(f, "list({element})"),
            Type::Tags => f.write_str("map(string, string)"),
            Type::Object(object) => f.write_str(object.name()),
        }
    }
}
