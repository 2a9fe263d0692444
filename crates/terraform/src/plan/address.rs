//! Parses addresses and references as Terraform prints them: names between dots, and keys in brackets.

/// A step of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'t> {
    /// A name between dots.
    Name(&'t str),
    /// A key with its brackets: `[0]`, `["a"]`.
    Key(&'t str),
}

impl<'t> Step<'t> {
    pub(crate) fn name(self) -> Option<&'t str> {
        match self {
            Step::Name(name) => Some(name),
            Step::Key(_) => None,
        }
    }
}

/// Splits `text` into steps. A text that is not an address yields arbitrary ones.
pub(crate) fn steps(text: &str) -> Vec<Step<'_>> {
    let mut all = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if rest.starts_with('[') {
            let end = key_end(rest);
            let (key, after) = rest.split_at(end);
            all.push(Step::Key(key));
            rest = after.strip_prefix('.').unwrap_or(after);
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            all.push(Step::Name(name));
            rest = after.strip_prefix('.').unwrap_or(after);
        }
    }
    all
}

/// Returns the end of the key at the start of `text`, after its closing bracket. Brackets within quotes are ignored.
fn key_end(text: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b']' if !quoted => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the modules that contain the resource with this address, outermost first, each with its key.
pub(crate) fn modules(address: &str) -> Vec<(&str, &str)> {
    let mut all = Vec::new();
    let steps = steps(address);
    let mut rest = steps.as_slice();
    while let [Step::Name("module"), Step::Name(name), after @ ..] = rest {
        let key;
        (rest, key) = match after {
            [Step::Key(key), after @ ..] => (after, *key),
            _ => (after, ""),
        };
        all.push((*name, key));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_may_contain_separators() {
        let text = r#"module.a["x.y]\"["].module.b[0].aws_sqs_queue.q"#;
        assert_eq!(modules(text), [("a", r#"["x.y]\"["]"#), ("b", "[0]")]);
        assert_eq!(
            steps("aws_sqs_queue.q[0].arn"),
            [
                Step::Name("aws_sqs_queue"),
                Step::Name("q"),
                Step::Key("[0]"),
                Step::Name("arn")
            ]
        );
    }

    #[test]
    fn malformed_addresses_do_not_panic() {
        for text in ["", ".", "[", "[\"", "module", "module.", "a..b", "]", "[]]", "é[ü]"] {
            steps(text);
            modules(text);
        }
    }
}
