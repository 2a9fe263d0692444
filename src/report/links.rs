//! Formats links for terminals (OSC 8): from a path to its file, and from a rule to its page.

use super::region::file_uri;
use source::SourceFile;

/// Formats `text` as a link to `file` if `wanted`, and if the file has an absolute path.
pub(super) fn to_file(text: &str, file: &SourceFile, wanted: bool) -> String {
    linked(text, file_uri(&file.path().to_string_lossy()).filter(|_| wanted))
}

/// Formats `rule` as a link to its page, if the page has a URL.
pub(super) fn to_page(rule: &str, page: Option<String>) -> String {
    linked(rule, page)
}

fn linked(text: &str, address: Option<String>) -> String {
    match address {
        Some(address) => format!("\u{1b}]8;;{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\"),
        None => text.to_owned(),
    }
}

/// Returns `true` if a terminal with these environment variables is known to support links. Others may display the
/// escape sequences.
pub fn are_supported(variable: impl Fn(&str) -> Option<String>) -> bool {
    if let Some(forced) = variable("FORCE_HYPERLINK") {
        return forced != "0";
    }
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let terminal = variable("TERM").unwrap_or_default();
    let program = variable("TERM_PROGRAM").unwrap_or_default();
    let version = variable("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    let names = ["kitty", "alacritty", "ghostty", "foot", "wezterm"];
    let programs = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio"];
    terminal != "dumb"
        && !is_set("CI")
        && (is_set("WT_SESSION")
            || version.is_some_and(|version| version >= 5000)
            || programs.contains(&program.as_str())
            || names.iter().any(|name| terminal.contains(name)))
}

#[cfg(test)]
mod tests {
    use super::are_supported;

    #[test]
    fn only_terminals_known_to_support_links_get_them() {
        for (variables, expected) in [
            (vec![], false),
            (vec![("TERM", "xterm-256color")], false),
            (vec![("TERM", "xterm-kitty")], true),
            (vec![("TERM", "dumb"), ("TERM_PROGRAM", "vscode")], false),
            (vec![("TERM_PROGRAM", "vscode")], true),
            (vec![("TERM_PROGRAM", "vscode"), ("CI", "true")], false),
            (vec![("VTE_VERSION", "4900")], false),
            (vec![("VTE_VERSION", "7200")], true),
            (vec![("WT_SESSION", "x"), ("FORCE_HYPERLINK", "0")], false),
            (vec![("FORCE_HYPERLINK", "1")], true),
        ] {
            let found = |name: &str| {
                let given = variables.iter().find(|(known, _)| *known == name);
                given.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(are_supported(found), expected, "{variables:?}");
        }
    }
}
