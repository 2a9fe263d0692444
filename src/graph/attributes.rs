//! Declares the attributes without parts: each row is a field of its node, a name in the table of each dialect, its
//! default, and the readers that list it.
//!
//! ```text
//! /// The delivery delay.                                       documentation here, summary for policies
//! delay: Seconds = Seconds(0), [Policy Explain];
//!   │       │         │           └ readers that list it
//!   │       │         └ value if it is absent
//!   │       └ type, which decides how it is read and shown
//!   └ field of the node and of the names; name for readers
//! ```
//!
//! A node dereferences to its declared attributes. Links and lists that need a query are written out where they are used.

use super::limits;
use super::plain::{AsPlain, Kind};
use super::{Attribute, Link, Seconds};

/// A row of a declaration.
#[derive(Debug)]
pub struct Declared {
    /// Name in no dialect.
    pub name: &'static str,
    /// Sentence that describes it, with a space before it.
    pub summary: &'static str,
    /// Kind of its values.
    pub kind: Kind,
    /// `true` if it may be absent without a default.
    pub is_optional: bool,
    /// Readers that list it.
    pub readers: &'static [Reader],
}

impl Declared {
    /// Returns `true` if `reader` lists the attribute.
    pub fn is_for(&self, reader: Reader) -> bool {
        self.readers.contains(&reader)
    }

    fn has_default_number(&self) -> bool {
        matches!(self.kind, Kind::Number | Kind::Seconds) && !self.is_optional
    }
}

/// Readers of declared attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// The fields of policies.
    Policy,
    /// The JSON document.
    Json,
    /// `sqslint explain`.
    Explain,
    /// `sqslint explain`, unless it is absent.
    ExplainWritten,
    /// The comparison with deployed resources.
    Deployed,
}

/// Visits the declared attributes of a node, in the order of their rows.
pub trait Visit<'g> {
    /// Visits one attribute.
    fn attribute<T: AsPlain>(&mut self, declared: &'static Declared, attribute: &'g Attribute<T>);
}

/// Visits the declared attributes of two nodes of one kind.
pub trait VisitPair<'g> {
    /// Visits one attribute of both.
    fn pair<T: AsPlain>(&mut self, declared: &'static Declared, one: &'g Attribute<T>, other: &'g Attribute<T>);
}

/// Reads the declared attributes of a resource.
pub trait Read {
    /// Returns the attribute that a dialect calls `name`, with `default` if it is absent.
    fn attribute<T: AsPlain + Clone>(&mut self, name: &'static str, default: T) -> Attribute<T>;
}

macro_rules! declare {
    ($(#[$about:meta])* $node:ident in $attributes:ident, $names:ident {
        $($(#[doc = $summary:literal])+ $field:ident: $type:ty = $default:expr, [$($reader:ident)*];)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone)]
        pub struct $attributes {
            $($(#[doc = $summary])+ pub $field: Attribute<$type>,)*
        }

        /// Names of these attributes.
        #[derive(Debug)]
        pub struct $names {
            $($(#[doc = $summary])+ pub $field: &'static str,)*
        }

        impl $names {
            /// The names in no dialect.
            pub const NEUTRAL: $names = $names { $($field: stringify!($field),)* };

            /// Returns the names of the numbers that have a default.
            pub fn numbers(&self) -> Vec<&'static str> {
                let names = [$(self.$field),*].into_iter().zip($attributes::DECLARED);
                names.filter(|(_, row)| row.has_default_number()).map(|(name, _)| name).collect()
            }
        }

        impl $attributes {
            /// The rows.
            pub const DECLARED: &[Declared] = &[$(Declared {
                name: stringify!($field),
                summary: concat!($($summary),+),
                kind: <$type as AsPlain>::KIND,
                is_optional: <$type as AsPlain>::IS_OPTIONAL,
                readers: &[$(Reader::$reader),*],
            },)*];

            /// Reads all attributes under their `names`.
            pub fn read(reader: &mut impl Read, names: &$names) -> Self {
                $attributes { $($field: reader.attribute(names.$field, $default),)* }
            }

            /// Lets `visitor` visit all attributes.
            pub fn visit<'g>(&'g self, visitor: &mut impl Visit<'g>) {
                let mut rows = Self::DECLARED.iter();
                $(if let Some(row) = rows.next() {
                    visitor.attribute(row, &self.$field);
                })*
            }

            /// Lets `visitor` visit all attributes of both nodes.
            pub fn visit_pair<'g>(&'g self, other: &'g Self, visitor: &mut impl VisitPair<'g>) {
                let mut rows = Self::DECLARED.iter();
                $(if let Some(row) = rows.next() {
                    visitor.pair(row, &self.$field, &other.$field);
                })*
            }
        }

        impl std::ops::Deref for super::$node {
            type Target = $attributes;

            fn deref(&self) -> &$attributes {
                &self.attributes
            }
        }

        impl std::ops::DerefMut for super::$node {
            fn deref_mut(&mut self) -> &mut $attributes {
                &mut self.attributes
            }
        }
    };
}

declare! {
    /// Declared attributes of a queue.
    Queue in QueueAttributes, QueueAttributeNames {
        /// The physical name; `None` if AWS or the tool generates it.
        name: Option<String> = None, [Json Explain];
        /// `true` for a FIFO queue.
        fifo: bool = false, [Policy Json Explain];
        /// The visibility timeout.
        visibility_timeout: Seconds = limits::VISIBILITY_TIMEOUT_DEFAULT, [Policy Json Explain Deployed];
        /// The retention period.
        retention: Seconds = limits::RETENTION_DEFAULT, [Policy Json Explain Deployed];
        /// The delivery delay.
        delay: Seconds = Seconds(0), [Policy Explain Deployed];
        /// The receive wait time (long polling).
        receive_wait_time: Seconds = Seconds(0), [Policy Explain Deployed];
        /// The largest message, in bytes.
        maximum_message_size: i64 = limits::MAXIMUM_MESSAGE_SIZE_DEFAULT, [Policy Explain];
        /// The KMS key that encrypts it: its address, ARN, id or alias. Null if none is set.
        key: Option<Link> = None, [Policy Explain];
        /// The data key reuse period.
        key_reuse_period: Seconds = limits::KEY_REUSE_PERIOD_DEFAULT, [ExplainWritten];
        /// `true` if SQS's own keys encrypt it (SSE-SQS). Null if not set.
        managed_encryption: Option<bool> = None, [Policy Explain];
        /// `true` if SQS recognises duplicates by their content.
        content_based_deduplication: bool = false, [Policy ExplainWritten Deployed];
        /// `queue` or `messageGroup`. Null if not set.
        deduplication_scope: Option<String> = None, [Policy Explain];
        /// `perQueue` or `perMessageGroupId`. Null if not set.
        throughput_limit: Option<String> = None, [Policy Explain];
    }
}

declare! {
    /// Declared attributes of a function.
    Function in FunctionAttributes, FunctionAttributeNames {
        /// The physical name; `None` if AWS or the tool generates it.
        name: Option<String> = None, [Json Explain];
        /// The longest time that one invocation may run.
        timeout: Seconds = limits::FUNCTION_TIMEOUT_DEFAULT, [Policy Json Explain Deployed];
        /// The longest time that a durable execution may take. Null if the function is not durable.
        durable_execution_timeout: Option<Seconds> = None, [Policy Explain];
        /// `true` if it runs on Managed Instances, which allow longer timeouts.
        managed_instances: bool = false, [ExplainWritten];
        /// The reserved concurrency. Null if none is reserved.
        reserved_concurrency: Option<i64> = None, [Policy Json Explain Deployed];
        /// The tenant isolation mode: `PER_TENANT`; `None` if absent.
        tenant_isolation: Option<String> = None, [Explain];
        /// The execution role: its address or ARN. Null if none is named.
        role: Option<Link> = None, [Policy Explain];
        /// The reaction of Lambda to loops through a queue: `Allow` or `Terminate`.
        recursive_loop: String = "Terminate".to_owned(), [];
    }
}

declare! {
    /// Declared attributes of an event source mapping.
    EventSourceMapping in MappingAttributes, MappingAttributeNames {
        /// The largest batch.
        batch_size: i64 = limits::BATCH_SIZE_DEFAULT, [Policy Json Explain Deployed];
        /// The batching window.
        window: Seconds = limits::WINDOW_DEFAULT, [Json Explain Deployed];
        /// `true` if the function may report single messages that failed.
        report_batch_item_failures: bool = false, [Policy Json];
        /// The maximum concurrency. Null if it has none.
        maximum_concurrency: Option<i64> = None, [Policy Json Explain Deployed];
        /// `true` if it polls.
        enabled: bool = true, [Policy Json Explain Deployed];
        /// The destination of failed batches, which queues do not support; `None` if absent.
        failure_destination: Option<Link> = None, [Explain];
    }
}
