//! Addresses of module instances and of the resources in them.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// The module instance that contains an address: `module.orders["a"].module.dlq.` is one step from
/// `module.orders["a"].`, which it shares with everything else that is called there.
///
/// There can be many nested instances with long keys. A string for each of them would repeat all the keys around it, so
/// an address is formatted only on demand.
#[derive(Debug, Default)]
pub struct ModulePath {
    /// The calling instance, the name of the call, and the key; `None` for the root.
    step: Option<(Arc<ModulePath>, Arc<str>, Key)>,
    /// Length of the whole formatted path.
    length: usize,
}

impl ModulePath {
    /// Returns the instance `key` of the call `name` in the module at `self`.
    pub fn step(self: &Arc<Self>, name: Arc<str>, key: Key) -> Arc<Self> {
        Arc::new(ModulePath {
            length: self.length + "module..".len() + name.len() + key.length(),
            step: Some((self.clone(), name, key)),
        })
    }

    /// Returns the approximate length of the formatted path.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the names of the calls, the outermost first.
    pub(crate) fn names(&self) -> Vec<&Arc<str>> {
        let mut names = Vec::new();
        let mut at = self;
        while let Some((parent, name, _)) = &at.step {
            names.push(name);
            at = parent;
        }
        names.reverse();
        names
    }

    /// Returns the address of the object that is called `name` within the module.
    pub fn address(&self, name: impl fmt::Display) -> Arc<str> {
        format!("{self}{name}").into()
    }
}

impl fmt::Display for ModulePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps = Vec::new();
        let mut at = self;
        while let Some((parent, name, key)) = &at.step {
            steps.push((name, key));
            at = parent;
        }
        let mut outermost_first = steps.into_iter().rev();
        outermost_first.try_for_each(|(name, key)| write!(f, "module.{name}{}.", key.shown()))
    }
}

impl Drop for ModulePath {
    /// Drops the path iteratively: a plan may nest modules so deeply that recursion would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.step.take();
        while let Some((parent, ..)) = next {
            next = Arc::into_inner(parent).and_then(|mut path| path.step.take());
        }
    }
}

/// Identifies one instance of a resource.
#[derive(Debug)]
pub struct ResourceId {
    /// Index of the module in the evaluator's instances.
    pub module: usize,
    /// `true` for a data source.
    pub data: bool,
    /// Type of the resource.
    pub kind: Arc<str>,
    /// Name of the block.
    pub name: Arc<str>,
    /// Key of the instance.
    pub key: Key,
    path: Arc<ModulePath>,
    address: OnceLock<Arc<str>>,
}

impl ResourceId {
    /// Returns the id of the instance `key` of the resource `kind.name` in the module with index `module` at `path`.
    pub fn new(
        (module, path): (usize, Arc<ModulePath>),
        data: bool,
        (kind, name): (Arc<str>, Arc<str>),
        key: Key,
    ) -> Self {
        ResourceId {
            module,
            data,
            kind,
            name,
            key,
            path,
            address: OnceLock::new(),
        }
    }

    /// Returns the address as Terraform prints it: `module.orders["a"].aws_sqs_queue.this[0]`.
    pub fn address(&self) -> &Arc<str> {
        self.address.get_or_init(|| self.path.address(self.local_address()))
    }

    /// Returns the address within its module: `data.aws_sqs_queue.this[0]`.
    pub(super) fn local_address(&self) -> String {
        let of_data = if self.data { "data." } else { "" };
        format!("{of_data}{}.{}{}", self.kind, self.name, self.key.shown())
    }
}

impl PartialEq for ResourceId {
    fn eq(&self, other: &Self) -> bool {
        let of = |id: &ResourceId| (id.module, id.data);
        of(self) == of(other) && self.kind == other.kind && self.name == other.name && self.key == other.key
    }
}

impl Eq for ResourceId {}

/// The key of an instance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Key {
    /// The only instance.
    #[default]
    None,
    /// An index of `count`.
    Index(usize),
    /// A key of `for_each`.
    Name(Arc<str>),
}

impl Key {
    /// Returns the key as Terraform prints it after an address.
    pub fn shown(&self) -> String {
        match self {
            Key::None => String::new(),
            Key::Index(index) => format!("[{index}]"),
            Key::Name(name) => format!("[{}]", quoted(name)),
        }
    }

    /// Returns the approximate length of the formatted key.
    pub fn length(&self) -> usize {
        match self {
            Key::None => 0,
            Key::Index(_) => "[10000]".len(),
            Key::Name(name) => "[\"\"]".len() + name.len(),
        }
    }
}

/// Quotes a string as HCL does.
fn quoted(text: &str) -> String {
    let mut written = String::from("\"");
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            '"' | '\\' => written.extend(['\\', letter]),
            '$' | '%' if letters.peek() == Some(&'{') => written.extend([letter, letter]),
            _ if is_printable(letter) => written.push(letter),
            _ if u32::from(letter) < 0x1_0000 => written.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => written.push_str(&format!("\\U{:08x}", u32::from(letter))),
        }
    }
    written.push('"');
    written
}

/// Returns `true` if a character is printable. Only the common invisible format characters are recognized.
fn is_printable(letter: char) -> bool {
    let hidden = letter.is_control() || (letter.is_whitespace() && letter != ' ');
    let formats = matches!(u32::from(letter), 0xad | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2064 | 0xfeff | 0xe000..=0xf8ff);
    !hidden && !formats
}
