//! Packs: policies that a configuration names instead of containing them. They are the examples in `docs/policies.md`,
//! in the sections with the name of a pack.

/// Page with the packs.
const PAGE: &str = include_str!("../../docs/policies.md");

/// Policies with a common name.
#[derive(Debug, Clone, Copy)]
pub struct Pack {
    /// Name in a configuration.
    pub name: &'static str,
    /// Its policies with their tests, as TOML.
    pub(super) text: &'static str,
}

/// Returns all packs, in the order of the page.
pub fn all() -> impl Iterator<Item = Pack> {
    let sections = PAGE.split("\n### ").skip(1);
    sections.filter_map(|section| {
        let mut lines = section.lines();
        let name = lines.find_map(|line| line.strip_prefix("Pack: `")?.strip_suffix('`'))?;
        let (_, text) = section.split_once("```toml\n")?;
        let (text, _) = text.split_once("\n```\n")?;
        Some(Pack { name, text })
    })
}
