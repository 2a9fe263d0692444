//! Runs the tests of `.ci/quotas.py`, which compares our quotas with those that AWS documents.

use needs::PYTHON;
use std::process::Command;

#[test]
fn changed_quotas_of_aws_are_found() {
    let Some(python) = PYTHON.found() else { return };
    let run = Command::new(python)
        .args(["-B", "tests/quotas.py"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("Python starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
