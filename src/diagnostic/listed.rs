//! Lists names: the first few of them, after the part that all share.

/// Maximum number of names in a list.
const NAMED: usize = 3;

/// Lists the first three of `all`, and the number of the others: `a, b, c and 9 more`.
pub fn few(all: &[String]) -> String {
    let named = all.iter().take(NAMED).map(String::as_str);
    let named = named.collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Lists `all` like [`few`], after the directories or the address that they share: `terraform/envs: dev, prod`,
/// `module.q["…"].aws_sqs_queue.this: a, b`. `quoted` formats the shared part.
pub fn grouped(all: &[&str], quoted: impl Fn(&str) -> String) -> String {
    let names = |all: &mut dyn Iterator<Item = &str>| few(&all.map(&quoted).collect::<Vec<_>>());
    let [first, others @ ..] = all else {
        return String::new();
    };
    let start = others.iter().fold(first.len(), |most, other| {
        common(first.chars(), other.chars()).min(most)
    });
    let start = first
        .get(..start)
        .and_then(|shared| shared.rfind(['/', '[', '.']))
        .map_or(0, |at| at + 1);
    let end = others.iter().fold(first.len() - start, |most, other| {
        let rest = other.len() - start;
        common(first.chars().rev(), other.chars().rev()).min(most).min(rest)
    });
    let end = first
        .get(first.len() - end..)
        .and_then(|shared| shared.find(['[', ']', '.']).map(|at| shared.len() - at));
    let end = end.unwrap_or(0);
    if others.is_empty() || start + end == 0 {
        return names(&mut all.iter().copied());
    }
    let (before, after) = (
        first.get(..start).unwrap_or_default(),
        first.get(first.len() - end..).unwrap_or_default(),
    );
    let shared = match before.strip_suffix('/') {
        Some(directory) if after.is_empty() => directory.to_owned(),
        _ => format!("{before}…{after}"),
    };
    let differing = all
        .iter()
        .map(|name| name.get(start..name.len() - end).unwrap_or(name).trim_matches('"'));
    format!(
        "{}: {}",
        quoted(&shared),
        few(&differing.map(str::to_owned).collect::<Vec<_>>())
    )
}

/// Returns the length in bytes of the characters with which both texts begin.
fn common(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    let same = one.zip(other).take_while(|(one, other)| one == other);
    same.map(|(character, _)| character.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn names_are_listed_after_what_they_share() {
        for (names, expected) in [
            ("a", "`a`"),
            ("a b", "`a`, `b`"),
            ("envs/dev envs/prod", "`envs`: dev, prod"),
            ("envs/dev envs/dev/eu", "`envs`: dev, dev/eu"),
            ("q[\"a\"] q[\"b\"] q[\"c\"] q[\"d\"]", "`q[…]`: a, b, c and 1 more"),
            ("module.a[0].q module.b[0].q", "`module.…[0].q`: a, b"),
            ("q q[0]", "`q`, `q[0]`"),
            ("ä.ö ä.ü", "`ä.…`: ö, ü"),
        ] {
            let names: Vec<&str> = names.split(' ').collect();
            assert_eq!(grouped(&names, |name| format!("`{name}`")), expected);
        }
    }
}
