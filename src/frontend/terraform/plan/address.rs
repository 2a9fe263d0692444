//! Addresses and references as Terraform prints them, taken apart: names between dots, keys in brackets.

/// A part of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'t> {
    /// Between dots.
    Name(&'t str),
    /// With its brackets: `[0]`, `["a"]`.
    Key(&'t str),
}

impl<'t> Step<'t> {
    pub(super) fn name(self) -> Option<&'t str> {
        match self {
            Step::Name(name) => Some(name),
            Step::Key(_) => None,
        }
    }
}

/// The parts of `text`; of a text that is no address whatever parts it seems to have.
pub(super) fn steps(text: &str) -> Vec<Step<'_>> {
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

/// Where a key that starts `text` ends: behind its bracket, quoted brackets left aside.
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

/// Where the address of a resource is: the modules it lies in, outermost first, each with its key.
pub(super) fn modules(address: &str) -> Vec<(&str, &str)> {
    let mut all = Vec::new();
    let steps = steps(address);
    let mut rest = steps.as_slice();
    while let [Step::Name("module"), Step::Name(name), after @ ..] = rest {
        (rest, _) = match after {
            [Step::Key(key), after @ ..] => (after, all.push((*name, *key))),
            _ => (after, all.push((*name, ""))),
        };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_may_hold_what_parts_names() {
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
    fn anything_has_parts() {
        for text in ["", ".", "[", "[\"", "module", "module.", "a..b", "]", "[]]", "é[ü]"] {
            steps(text);
            modules(text);
        }
    }
}
