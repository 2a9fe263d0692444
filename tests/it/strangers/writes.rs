//! Checks that writes are contained: no planted name is written through, no link is followed out of the repository, and
//! several files are changed together or not at all.

use super::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// Redrive policy with a quoted count, for which there is a safe fix.
const QUOTED: &str = r#"resource "aws_sqs_queue" "orders" {
  redrive_policy = jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-west-1:123456789012:failed", maxReceiveCount = "5" })
}
"#;

/// Lists the names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn is_fixed(text: &str) -> bool {
    text.contains("maxReceiveCount = 5")
}

#[test]
fn fixes_do_not_write_through_planted_links() {
    let scene = HostileRepository::with(&[("main.tf", QUOTED), (".git/hooks/.keep", "")]);
    fs::set_permissions(scene.path("main.tf"), fs::Permissions::from_mode(0o755)).unwrap();
    // These are the temporary names of an earlier version, for every possible process id.
    for id in 1..=4000 {
        scene.link(".git/hooks/post-checkout", &format!(".main.tf.sqslint-{id}"));
        scene.link(".git/hooks/post-checkout", &format!(".sqslint-baseline.json.{id}"));
    }
    let run = scene.run(&["check", "--fix"]);
    assert!(is_fixed(&scene.read("main.tf")), "{}", run.text());
    scene.run(&["baseline", "create"]);
    assert!(scene.path(".sqslint-baseline.json").exists());
    assert_eq!(names(&scene.path(".git/hooks")), [".keep"]);
}

#[test]
fn fixed_files_keep_their_mode_and_hard_links() {
    let scene = HostileRepository::with(&[("main.tf", QUOTED)]);
    fs::set_permissions(scene.path("main.tf"), fs::Permissions::from_mode(0o640)).unwrap();
    scene.run(&["check", "--fix"]);
    assert!(is_fixed(&scene.read("main.tf")));
    assert_eq!(fs::metadata(scene.path("main.tf")).unwrap().mode() & 0o7777, 0o640);

    let scene = HostileRepository::with(&[("main.tf", QUOTED)]);
    fs::hard_link(scene.path("main.tf"), scene.outside("copy")).unwrap();
    scene.run(&["check", "--fix"]);
    assert!(is_fixed(&scene.read("main.tf")));
    assert!(is_fixed(&fs::read_to_string(scene.outside("copy")).unwrap()));
    assert_eq!(names(&scene.root()), [".git", "main.tf"]);
}

#[test]
fn fixed_symlink_stays_a_symlink() {
    let scene = HostileRepository::with(&[("shared/q.tf", QUOTED), ("infra/.keep", "")]);
    scene
        .link("../shared/q.tf", "infra/q.tf")
        .run(&["check", "--fix", "infra"]);
    assert!(is_fixed(&scene.read("shared/q.tf")));
    assert!(fs::symlink_metadata(scene.path("infra/q.tf")).unwrap().is_symlink());
}

#[test]
fn several_files_are_fixed_together_or_not_at_all() {
    let scene = HostileRepository::with(&[("a/main.tf", QUOTED), ("b/main.tf", QUOTED), ("c/main.tf", QUOTED)]);
    fs::set_permissions(scene.path("b/main.tf"), fs::Permissions::from_mode(0o444)).unwrap();
    let run = scene.run(&["check", "--fix"]);
    assert_eq!(run.code(), 2);
    run.says("cannot write `b/main.tf`: it is read-only; no file was changed");
    for name in ["a", "b", "c"] {
        assert_eq!(scene.read(&format!("{name}/main.tf")), QUOTED);
        assert_eq!(names(&scene.path(name)), ["main.tf"]);
    }
}

/// Files are replaced by renaming, so at any moment there may be one additional file. It must be complete.
#[test]
fn killed_run_leaves_only_complete_files() {
    let many: Vec<(String, &str)> = (0..40).map(|n| (format!("m{n}/main.tf"), QUOTED)).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    for wait in [20, 60, 100, 140, 180, 220, 260, 300] {
        let scene = HostileRepository::with(&many);
        let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
        command.args(["check", "--fix"]).current_dir(scene.root());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut left_over = Vec::new();
        for (name, _) in &many {
            let text = scene.read(name);
            assert!(text == QUOTED || is_fixed(&text), "half a text in {name}: {text}");
            let directory = scene.path(name).parent().unwrap().to_owned();
            let others = names(&directory).into_iter().filter(|name| name != "main.tf");
            left_over.extend(others.map(|name| directory.join(name)));
        }
        assert!(left_over.len() <= 1, "{left_over:?}");
        for path in left_over {
            assert!(is_fixed(&fs::read_to_string(&path).unwrap()), "half a text in {path:?}");
        }
    }
}

#[test]
fn init_does_not_write_through_links() {
    let scene = HostileRepository::with(&[]);
    let run = scene.link("../planted", "sqslint.toml").run(&["init"]);
    assert_eq!(run.code(), 2);
    run.says("`sqslint.toml` already exists");
    assert!(!scene.outside("planted").exists());
}

#[test]
fn reports_are_written_only_to_allowed_paths() {
    let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
    fs::write(scene.outside("victim"), "as it was").unwrap();
    scene
        .link("../victim", "out.sarif")
        .link("../planted", "new.sarif")
        .link(".git/config", "git.sarif");
    for (name, why) in [
        ("out.sarif", "it is a link that leads out of the repository"),
        ("new.sarif", "it is a link that leads nowhere"),
        ("git.sarif", "it is one of git's own files"),
    ] {
        let run = scene.run(&["check", "--report", &format!("sarif={name}")]);
        assert_eq!(run.code(), 2, "{name}");
        run.says(&format!("cannot write `{name}`: {why}"));
    }
    assert_eq!(fs::read_to_string(scene.outside("victim")).unwrap(), "as it was");
    assert!(scene.read(".git/config").contains(SECRET) && !scene.outside("planted").exists());
    // A report must not overwrite an input, another file, or a report of another format, nor create a file of git.
    fs::write(scene.path("other.txt"), "mine").unwrap();
    fs::write(
        scene.path("report.xml"),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites",
    )
    .unwrap();
    for (target, why) in [
        ("json=main.tf", "it exists and is not a report of this format"),
        ("html=other.txt", "it exists and is not a report of this format"),
        ("checkstyle=report.xml", "it exists and is not a report of this format"),
        ("json=.git/hooks.json", "it is one of git's own files"),
        ("json=./.git/new", "it is one of git's own files"),
    ] {
        let run = scene.run(&["check", "--report", target]);
        assert_eq!(run.code(), 2);
        run.says(&format!("cannot write `{}`: {why}", target.split_once('=').unwrap().1));
    }
    assert_eq!(
        (scene.read("main.tf"), scene.read("other.txt")),
        (QUEUE.to_owned(), "mine".to_owned())
    );
    assert!(!scene.path(".git/hooks.json").exists());
    assert_eq!(scene.run(&["check", "--report", "junit=report.xml"]).code(), 1);
    // A path outside that the user names is allowed, and so is a device.
    for target in ["json=../report.json", "json=/dev/null", "json=new.json"] {
        assert_eq!(scene.run(&["check", "--report", target]).code(), 1, "{target}");
    }
    assert!(scene.outside("report.json").exists() && scene.path("new.json").exists());
    let mode = fs::metadata(scene.path("new.json")).unwrap().mode() & 0o777;
    assert_ne!(mode & 0o044, 0, "others may read it as any new file: {mode:o}");
}

#[test]
fn configurations_cannot_name_a_baseline_outside() {
    for name in ["../new.json", "../secret", ".git/new.json"] {
        let scene = HostileRepository::with(&[("main.tf", QUEUE), ("sqslint.toml", &format!("baseline = {name:?}\n"))]);
        let run = scene.run(&["baseline", "create"]);
        assert_eq!(run.code(), 2, "{name}: {}", run.text());
        run.shows_no_secret();
        assert!(!scene.outside("new.json").exists() && !scene.path(".git/new.json").exists());
        scene.run(&["check"]).shows_no_secret();
    }
    let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
    scene.link("../planted", ".sqslint-baseline.json");
    assert_eq!(scene.run(&["baseline", "create"]).code(), 2);
    assert_eq!(scene.run(&["baseline", "update"]).code(), 2);
    assert!(!scene.outside("planted").exists());
    // The command line may name any path.
    let run = scene.run(&["baseline", "create", "--baseline", "../named.json"]);
    assert_eq!(run.code(), 0, "{}", run.text());
    assert!(scene.outside("named.json").exists());
}

#[test]
fn suppressions_are_not_written_outside() {
    let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
    fs::write(scene.outside("far.tf"), QUEUE).unwrap();
    scene
        .link("../far.tf", "far.tf")
        .run(&["check", "--add-ignore", "later"]);
    assert!(scene.read("main.tf").contains("sqslint: ignore"));
    assert_eq!(fs::read_to_string(scene.outside("far.tf")).unwrap(), QUEUE);
}
