//! The plugin `serverless-pseudo-parameters`: it replaces `#{Queue.Arn}` and `#{AWS::Region}` by `Fn::Sub` in every
//! string of the compiled template. <https://github.com/svdgraaf/serverless-pseudo-parameters>

use super::{mapping, set, text};
use trees::{Node, Value};

/// Part of the names of the plugin and of its successors.
pub(super) const PLUGIN: &str = "serverless-pseudo-parameters";

/// Replaces the plugin's references in `node` and below it. References to resources are replaced only if
/// `with_resources` is `true`.
pub(super) fn substitute(node: &mut Node, with_resources: bool) {
    match &mut node.value {
        Value::String(written) => {
            if let Some(replaced) = replaced(written, with_resources) {
                let argument = text(node.span, replaced);
                *node = mapping(node.span, vec![set("Fn::Sub", argument)]);
            }
        }
        Value::Sequence(items) => items.iter_mut().for_each(|item| substitute(item, with_resources)),
        Value::Mapping(entries) => {
            for entry in entries {
                match &entry.value.value {
                    Value::String(written) if &*entry.key == "Fn::Sub" => {
                        let replaced = replaced(written, with_resources);
                        entry.value.value = Value::String(replaced.map_or_else(|| written.clone(), Into::into));
                    }
                    _ => substitute(&mut entry.value, with_resources),
                }
            }
        }
        _ => {}
    }
}

/// Returns `text` with each `#{…}` replaced by `${…}`, or `None` if it has none.
fn replaced(text: &str, with_resources: bool) -> Option<String> {
    let (mut made, mut rest) = (String::new(), text);
    while let Some((before, (name, after))) = rest
        .split_once("#{")
        .and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        let is_pseudo = name
            .strip_prefix("AWS::")
            .is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic()));
        if is_pseudo || (with_resources && !name.is_empty()) {
            made.extend([before, "${", name, "}"]);
            rest = after;
        } else {
            made.extend([before, "#{"]);
            rest = rest.get(before.len() + 2..)?;
        }
    }
    made.push_str(rest);
    (made != text).then_some(made)
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn references_of_the_plugin_become_references_of_sub() {
        for (text, all, pseudo) in [
            ("a", None, None),
            ("#{", None, None),
            ("#{}", None, None),
            ("a #{Q", None, None),
            ("#{AWS::Region}", Some("${AWS::Region}"), Some("${AWS::Region}")),
            ("#{Q.Arn}", Some("${Q.Arn}"), None),
            (
                "#{Q}-#{AWS::Region}!",
                Some("${Q}-${AWS::Region}!"),
                Some("#{Q}-${AWS::Region}!"),
            ),
            ("#{AWS::}", Some("${AWS::}"), None),
            ("#{}#{Q}", Some("#{}${Q}"), None),
        ] {
            assert_eq!(replaced(text, true).as_deref(), all, "{text}");
            assert_eq!(replaced(text, false).as_deref(), pseudo, "{text}");
        }
    }
}
