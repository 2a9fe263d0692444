//! Checks that names are followed from one file to the next.

use super::{PYTHON, SCRIPT, handlers, sam, serverless};
use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, check};

#[test]
fn name_is_followed_to_the_file_that_defines_it() {
    let inner = ("src/inner.ts", SCRIPT);
    let paths = (
        "tsconfig.json",
        "{\"compilerOptions\": {\"paths\": {\"@in/*\": [\"src/*\"]}}}",
    );
    let other = ("src/other.ts", "export const x = 1;\n");
    let cases: [(&str, &[(&str, &str)], &str); 9] = [
        ("export { run } from './inner';\n", &[inner], "run src/inner.ts:3"),
        (
            "export { run as handle, run } from './inner.js';\n",
            &[inner],
            "run src/inner.ts:3",
        ),
        (
            "import { run as r } from './inner';\nexport { r as run };\n",
            &[inner],
            "run src/inner.ts:3",
        ),
        (
            "export * from './other';\nexport * from './inner';\n",
            &[inner, other],
            "run src/inner.ts:3",
        ),
        (
            "export { run } from '@in/inner';\n",
            &[inner, paths],
            "run src/inner.ts:3",
        ),
        (
            "export { run } from './gone';\n",
            &[inner],
            "`src/app.ts` is not understood, or has no handler `run`",
        ),
        ("module.exports = require('./inner');\n", &[inner], "run src/inner.ts:3"),
        (
            "exports.run = require('./inner').run;\n",
            &[inner],
            "run src/inner.ts:3",
        ),
        (
            "// export { run } from './inner';\nexport const run = async (e) => ship(e);\n",
            &[inner],
            "run src/app.ts:2",
        ),
    ];
    for (text, others, expected) in cases {
        let configuration = serverless("handler: src/app.run");
        let mut files = vec![("serverless.yml", configuration.as_str()), ("src/app.ts", text)];
        files.extend(others);
        assert_eq!(handlers(&files), expected, "{text}");
    }
    let python: [(&str, &str, &str); 5] = [
        ("from .inner import run\n", "src/inner.py", "run src/inner.py:4"),
        (
            "from orders.inner import (\n    run as run,  # c\n)\n",
            "src/orders/inner.py",
            "run src/orders/inner.py:4",
        ),
        (
            "from .orders import *\n",
            "src/orders/__init__.py",
            "run src/orders/__init__.py:4",
        ),
        (
            "from .inner import run\nrun = run\n",
            "src/inner.py",
            "run src/inner.py:4",
        ),
        (
            "from .inner import run\ndef run(event, context):\n    ship(event)\n",
            "src/inner.py",
            "run src/app.py:2",
        ),
    ];
    for (text, path, expected) in python {
        let configuration = sam("CodeUri: src;Handler: app.run", "DependsOn: []");
        let files = [
            ("template.yaml", configuration.as_str()),
            ("src/app.py", text),
            (path, PYTHON),
        ];
        assert_eq!(handlers(&files), expected, "{text}");
    }
}

#[cfg(unix)]
#[test]
fn source_outside_of_the_project_is_not_read() {
    let outside = TemporaryDirectory::with_files([("app.py", PYTHON)]);
    let linked = sam("CodeUri: src;Handler: app.run", "DependsOn: []");
    let directory = TemporaryDirectory::with_files([("template.yaml", linked.as_str()), (".git/HEAD", "")]);
    std::os::unix::fs::symlink(outside.path(), directory.path().join("src")).unwrap();
    let outcome = check(&Options {
        paths: vec![directory.path().to_owned()],
        ..Options::default()
    });
    let read = &outcome.coverage.handlers[0].read;
    assert!(
        read.as_ref()
            .is_err_and(|reason| reason.starts_with("source not found")),
        "{read:?}"
    );
}

#[test]
fn following_names_in_a_cycle_ends() {
    let configuration = serverless("handler: app.run");
    let files = [
        ("serverless.yml", configuration.as_str()),
        ("app.ts", "export { run } from './b';\n"),
        ("b.ts", "export { run } from './app';\n"),
    ];
    assert!(handlers(&files).contains("has no handler `run`"));
}
