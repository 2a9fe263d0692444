//! Finds the commit that `--since` compares with, and its tree.

use super::git::Git;
use super::snapshot::Snapshot;
use std::path::Path;
use std::sync::Arc;

/// Returns the commit that is checked out in the repository at `root`, if any.
pub fn head(root: &Path) -> Option<String> {
    Git::of(root).commit("HEAD").ok().flatten()
}

/// Returns the name of the repository at `root` where it was cloned from, such as `shop/orders`. It does not depend on
/// the directory of the clone.
pub fn repository_name(root: &Path) -> Option<String> {
    let address = Git::of(root).remote()?;
    name_in(&address).map(str::to_owned)
}

/// Returns the path of a repository's address without its host, which may contain credentials.
fn name_in(address: &str) -> Option<&str> {
    let path = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => address.split_once(':')?.1,
    };
    let path = path.trim_matches('/');
    Some(path.strip_suffix(".git").unwrap_or(path)).filter(|path| !path.is_empty())
}

/// Returns the tree at the merge base of `name` and `HEAD`, or the reason why it cannot be determined.
pub(crate) fn snapshot(name: &str, root: &Path) -> Result<Arc<Snapshot>, String> {
    let git = Git::of(root);
    let base = base(name, &git)?;
    Ok(Arc::new(Snapshot::new(&git, &base, root)?))
}

/// Returns the commit to compare with.
fn base(name: &str, git: &Git) -> Result<String, String> {
    const SHALLOW: &str = "this clone is shallow; fetch the whole history (`fetch-depth: 0` of actions/checkout, \
                           `git fetch --unshallow`)";
    let head = git.commit("HEAD")?.ok_or("there is no commit yet")?;
    let Some(other) = git.commit(name)? else {
        return Err(if git.is_shallow() {
            format!("there is no such commit or branch here, and {SHALLOW}")
        } else {
            "there is no such commit or branch here".to_owned()
        });
    };
    git.merge_base(&other, &head).ok_or_else(|| {
        if git.is_shallow() {
            format!("the merge base is not here: {SHALLOW}")
        } else {
            "it has no commit in common with `HEAD`".to_owned()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::name_in;

    #[test]
    fn name_is_the_path_of_the_address() {
        for (address, name) in [
            ("https://github.com/shop/orders.git", Some("shop/orders")),
            (
                "https://user:secret@example.com/group/sub/orders/",
                Some("group/sub/orders"),
            ),
            ("ssh://git@example.com:2222/shop/orders", Some("shop/orders")),
            ("git@github.com:shop/orders.git", Some("shop/orders")),
            ("../orders", None),
            ("https://example.com", None),
            ("", None),
        ] {
            assert_eq!(name_in(address), name, "{address}");
        }
    }
}
