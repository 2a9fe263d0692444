//! What teams may set of a rule: a struct a rule, from which its names, defaults and checks are taken.

use crate::graph::{Resource, UnitId};
use crate::rules::by_id;
use rustc_hash::FxHashMap;
use std::fmt;

/// A number or switch of a rule that teams differ on.
#[derive(Debug)]
pub struct Setting {
    /// Its key in `[rules.<id>]`.
    pub name: &'static str,
    /// AWS's advice.
    pub default: Value,
    /// What it does, in one line.
    pub summary: &'static str,
}

/// The value of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Number {
        /// The number.
        value: i64,
        /// The least that makes sense.
        least: i64,
    },
    /// A switch.
    Flag(bool),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number { value, .. } => write!(f, "{value}"),
            Value::Flag(flag) => write!(f, "{flag}"),
        }
    }
}

/// The settings of each unit that are not the defaults, by rule and name.
#[derive(Debug, Default)]
pub struct Settings {
    units: FxHashMap<(UnitId, &'static str, &'static str), Value>,
}

/// A struct of settings, made by [`settings!`].
pub(crate) trait SettingsOf: Sized {
    /// The rule in whose table they stand.
    const RULE: &'static str;
    /// Each of them.
    const ALL: &'static [Setting];

    /// The struct with the values that are set.
    fn read(set: impl Fn(&'static str) -> Option<Value>) -> Self;
}

impl Settings {
    /// Sets `name` of the rule called `rule` for `unit`.
    pub fn set(&mut self, unit: UnitId, rule: &'static str, name: &'static str, value: Value) {
        self.units.insert((unit, rule, name), value);
    }

    /// The settings that hold for `resource`.
    pub(crate) fn of<S: SettingsOf>(&self, resource: &Resource) -> S {
        let names = |all: &[Setting]| all.iter().map(|setting| setting.name).collect::<Vec<_>>();
        debug_assert_eq!(
            by_id(S::RULE).map(|rule| names(rule.settings)),
            Some(names(S::ALL)),
            "the rule lists its settings"
        );
        S::read(|name| self.units.get(&(resource.unit, S::RULE, name)).copied())
    }
}

/// `count_window` as a configuration spells it: `count-window`.
pub(crate) const fn kebab<const LENGTH: usize>(field: &str) -> [u8; LENGTH] {
    let (field, mut key, mut at) = (field.as_bytes(), [0; LENGTH], 0);
    while at < LENGTH {
        key[at] = if field[at] == b'_' { b'-' } else { field[at] };
        at += 1;
    }
    key
}

/// A struct of settings, each with its default, the least number that makes sense, and its summary:
///
/// ```ignore
/// settings! {
///     /// How many receives are enough.
///     struct Receives of "max-receive-count-too-low" {
///         minimum: i64 = 2, at least 1, "the fewest receives that are enough";
///     }
/// }
/// ```
///
/// The static of the rule lists them (`settings: Receives::ALL`), and the check reads them:
/// `findings.settings::<Receives>(queue).minimum`.
macro_rules! settings {
    (@default i64, $default:expr, $least:expr) => { Value::Number { value: $default, least: $least } };
    (@default bool, $default:expr) => { Value::Flag($default) };
    (@value i64, $set:expr, $default:expr) => {
        match $set { Some(Value::Number { value, .. }) => value, _ => $default }
    };
    (@value bool, $set:expr, $default:expr) => {
        match $set { Some(Value::Flag(flag)) => flag, _ => $default }
    };
    (@key $field:ident) => {{
        const KEY: [u8; stringify!($field).len()] = kebab(stringify!($field));
        match std::str::from_utf8(&KEY) { Ok(key) => key, Err(_) => stringify!($field) }
    }};
    (
        $(#[$doc:meta])*
        $visible:vis struct $name:ident of $rule:literal {
            $($field:ident: $kind:ident = $default:expr, $(at least $least:expr,)? $summary:literal;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        $visible struct $name {
            $(#[doc = $summary] $visible $field: $kind,)*
        }

        impl $name {
            /// Each of them, for the static of the rule.
            $visible const ALL: &'static [$crate::rules::Setting] = <Self as $crate::rules::shared::settings::SettingsOf>::ALL;
        }

        const _: () = {
            use $crate::rules::shared::settings::{Setting, SettingsOf, Value, kebab};

            impl SettingsOf for $name {
                const RULE: &'static str = $rule;
                const ALL: &'static [Setting] = &[$(Setting {
                    name: settings!(@key $field),
                    default: settings!(@default $kind, $default $(, $least)?),
                    summary: $summary,
                },)*];

                fn read(set: impl Fn(&'static str) -> Option<Value>) -> Self {
                    $name {
                        $($field: settings!(@value $kind, set(settings!(@key $field)), $default),)*
                    }
                }
            }
        };
    };
}
pub(crate) use settings;
