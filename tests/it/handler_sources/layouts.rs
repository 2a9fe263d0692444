//! Checks that the source is found in the layouts of bundlers, images, workspaces and layers, and in none of two.

use super::{GO, PYTHON, SCRIPT, assert_found, handlers, sam, terraform};

const DOCKERFILE: &str = "FROM public.ecr.aws/lambda/python:3.13\nCOPY app.py ./\nCMD [\"app.run\"]\n";
const NONE: &str = "source not found (the configuration does not locate it)";

/// Returns a module with an image of the repository `resource`, and another function with an image.
fn image(uri: &str, rest: &str) -> String {
    let other = "resource \"aws_lambda_function\" \"other\" {\n  function_name = \"other\"\n  role = \"r\"\n  package_type = \"Image\"\n  image_uri = \"other\"\n}\n";
    terraform(
        &format!("  package_type = \"Image\"\n  image_uri = {uri}"),
        &format!("{rest}\n{other}"),
    )
}

#[test]
fn image_is_that_of_the_directory_with_its_name() {
    let ecr =
        |name: &str| format!("resource \"aws_ecr_repository\" \"r\" {{\n  name = {name}\n}}\nvariable \"stage\" {{}}");
    let url = "\"${aws_ecr_repository.r.repository_url}:${var.stage}\"";
    let two: &[(&str, &str)] = &[
        ("services/new-router/Dockerfile", DOCKERFILE),
        ("services/new-router/app.py", PYTHON),
        ("services/other/Dockerfile", DOCKERFILE),
        ("services/other/app.py", PYTHON),
    ];
    let found = "run services/new-router/app.py:4";
    let data = "data \"aws_ecr_repository\" \"r\" {\n  name = \"new-router\"\n}\nvariable \"stage\" {}";
    let twice: &[(&str, &str)] = &[
        ("a/new-router/Dockerfile", DOCKERFILE),
        ("a/new-router/app.py", PYTHON),
        ("b/new-router/Dockerfile", DOCKERFILE),
        ("b/new-router/app.py", PYTHON),
    ];
    assert_found(
        "main.tf",
        &[
            ("name", image(url, &ecr("\"new-router\"")), two, found),
            ("underscore", image(url, &ecr("\"shop/new_router\"")), two, found),
            (
                "end of a name",
                image(url, &ecr("\"${var.stage}-new-router\"")),
                two,
                found,
            ),
            (
                "data source",
                image(&url.replace("aws_ecr", "data.aws_ecr"), data),
                two,
                found,
            ),
            (
                "written",
                image("\"1.dkr.ecr.x.amazonaws.com/new-router@sha256:0\"", ""),
                two,
                found,
            ),
            ("unknown name", image(url, &ecr("var.stage")), two, NONE),
            ("another name", image(url, &ecr("\"router\"")), two, NONE),
            ("two directories", image(url, &ecr("\"new-router\"")), twice, NONE),
        ],
    );
}

#[test]
fn image_is_that_of_the_directory_with_the_name_of_the_function() {
    let module = "resource \"aws_sqs_queue\" \"q\" {}\nvariable \"image\" {}\nresource \"aws_lambda_function\" \"push_mail\" {\n  function_name = <name>\n  role = \"r\"\n  package_type = \"Image\"\n  image_uri = var.image\n}\nresource \"aws_lambda_function\" \"x\" {\n  function_name = \"x\"\n  role = \"r\"\n  package_type = \"Image\"\n  image_uri = \"x\"\n}\nresource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.q.arn\n  function_name = aws_lambda_function.push_mail.arn\n}\n";
    let files = |directory: &'static str| {
        let path = |name: &str| format!("{directory}/{name}");
        [
            (path("Dockerfile"), DOCKERFILE),
            (path("app.py"), PYTHON),
            ("else/Dockerfile".to_owned(), DOCKERFILE),
        ]
    };
    for (name, directory, expected) in [
        ("\"send-letter\"", "send_letter", "run send_letter/app.py:4"),
        ("\"send-letter\"", "lambdas/push-mail", "run lambdas/push-mail/app.py:4"),
        ("var.image", "push_mail_lambda", "run push_mail_lambda/app.py:4"),
        ("\"shop-send-letter\"", "send_letter", "run send_letter/app.py:4"),
        ("\"${var.image}-letter\"", "letter", "run letter/app.py:4"),
        ("\"send-letter\"", "letter", NONE),
        ("\"send-letter\"", "push", NONE),
    ] {
        let module = module.replace("<name>", name);
        let files = files(directory);
        let files = files.iter().map(|(path, text)| (path.as_str(), *text));
        let files: Vec<(&str, &str)> = files.chain([("main.tf", &*module)]).collect();
        assert_eq!(handlers(&files), expected, "{name} {directory}");
    }
}

#[test]
fn code_of_an_image_is_in_the_directories_that_it_copies() {
    let uri = "\"1.dkr.ecr.x.amazonaws.com/receiver:1\"";
    let docker = |text: &str| format!("FROM base\n{text}\n");
    let program =
        docker("COPY app/ ./\nRUN go build\nFROM scratch\nCOPY --from=base /main ./main\nENTRYPOINT [\"./main\"]");
    let client = docker("COPY app ./app\nENTRYPOINT [\"python\", \"-m\", \"awslambdaric\", \"app.run\"]");
    let above = docker("COPY shop/app.py ./\nCMD [\"app.run\"]");
    let split = docker("COPY a \\\n  b ./\nCMD [\"app.run\"]");
    let shell = docker("COPY app ./\nENTRYPOINT [\"./start.sh\"]");
    let stage = "FROM base\nCMD [\"app.run\"]\nFROM base\nCOPY app ./".to_owned();
    let cases: [(&str, &str, &[(&str, &str)], &str); 8] = [
        (
            "program",
            &program,
            &[("x/receiver/app/main.go", GO)],
            "handle x/receiver/app/main.go:9",
        ),
        (
            "program next to it",
            &program,
            &[("x/receiver/main.go", GO)],
            "handle x/receiver/main.go:9",
        ),
        (
            "runtime client",
            &client,
            &[("x/receiver/app/app.py", PYTHON)],
            "run x/receiver/app/app.py:4",
        ),
        (
            "context above",
            &above,
            &[("shop/app.py", PYTHON), ("x/app.py", PYTHON)],
            "run shop/app.py:4",
        ),
        (
            "one of two",
            &split,
            &[("x/receiver/a/app.py", PYTHON), ("x/receiver/b/c.py", "")],
            "run x/receiver/a/app.py:4",
        ),
        (
            "both of two",
            &split,
            &[("x/receiver/a/app.py", PYTHON), ("x/receiver/b/app.py", PYTHON)],
            "source not found (looked for `x/receiver/app.*`)",
        ),
        ("shell", &shell, &[("x/receiver/app/app.py", PYTHON)], NONE),
        ("other stage", &stage, &[("x/receiver/app/app.py", PYTHON)], NONE),
    ];
    for (name, text, others, expected) in cases {
        let mut files = vec![("x/receiver/Dockerfile", text)];
        files.extend(others);
        let module = image(uri, "");
        files.push(("main.tf", &module));
        assert_eq!(handlers(&files), expected, "{name}");
    }
}

#[test]
fn bundle_is_read_from_its_entry_point() {
    let zip = |path: &str, handler: &str| terraform(&format!("  filename = \"{path}\"\n  handler = \"{handler}\""), "");
    let webpack = "module.exports = { entry: { 'sync-user': './src/sqs/syncUser.ts', other: './src/other.ts' }, output: { filename: '[name]/index.js' } }";
    let flat = webpack.replace("/index.js", ".js");
    let esbuild = "require('esbuild').build({ entryPoints: ['src/sqs/syncUser.ts', 'src/other.ts'], outdir: 'dist', bundle: true })";
    let command = r#"{"scripts": {"build": "esbuild src/sqs/syncUser.ts --bundle --outfile=dist/worker/index.js"}}"#;
    let both: &[(&str, &str)] = &[("src/sqs/syncUser.ts", SCRIPT), ("src/other.ts", SCRIPT)];
    let found = "run src/sqs/syncUser.ts:3";
    let missing = |path: &str| format!("source not found (looked for `src/{path}.*`, `{path}.*`, `dist/{path}.*`)");
    for (name, file, text, path, handler, expected) in [
        (
            "webpack",
            "webpack.config.js",
            webpack,
            "dist/sync-user.zip",
            "index.run",
            found.to_owned(),
        ),
        (
            "flat webpack",
            "webpack.config.ts",
            &flat,
            "dist/sync-user.zip",
            "sync-user.run",
            found.to_owned(),
        ),
        (
            "webpack's directory",
            "webpack.config.js",
            webpack,
            "dist/sync-user",
            "index.run",
            found.to_owned(),
        ),
        ("key", "webpack.prod.js", webpack, "s3", "index.run", found.to_owned()),
        (
            "esbuild",
            "build.mjs",
            esbuild,
            "dist",
            "sqs/syncUser.run",
            found.to_owned(),
        ),
        (
            "command of esbuild",
            "package.json",
            command,
            "dist/worker.zip",
            "index.run",
            found.to_owned(),
        ),
        (
            "another name",
            "webpack.config.js",
            webpack,
            "dist/user.zip",
            "index.run",
            missing("user/index"),
        ),
        (
            "another output",
            "package.json",
            command,
            "dist/jobs.zip",
            "index.run",
            missing("jobs/index"),
        ),
    ] {
        let module = match path {
            "s3" => terraform(
                "  s3_bucket = \"b\"\n  s3_key = \"v1/sync-user.zip\"\n  handler = \"index.run\"",
                "",
            ),
            path => zip(path, handler),
        };
        let files = [&[("main.tf", &*module), (file, text)], both].concat();
        assert_eq!(handlers(&files), expected, "{name}");
    }
    // Two configurations that build the same path of different files.
    let module = zip("dist/sync-user.zip", "index.run");
    let other = webpack.replace("sqs/syncUser", "other");
    let files = [
        &[
            ("main.tf", &*module),
            ("webpack.config.js", webpack),
            ("webpack.prod.js", &*other),
        ],
        both,
    ]
    .concat();
    assert_eq!(handlers(&files), missing("sync-user/index"));
}

#[test]
fn module_of_several_roots_has_one_handler() {
    let module = terraform(
        "  filename = \"${path.module}/../core/.build/zips/sendPush.zip\"\n  handler = \"sendPush.run\"",
        "",
    );
    let call = "module \"push\" {\n  source = \"../push\"\n}\n";
    let files: &[(&str, &str)] = &[
        ("push/main.tf", &module),
        ("core/push/sendPush.ts", SCRIPT),
        ("aws/main.tf", call),
    ];
    let found = "run core/push/sendPush.ts:3";
    assert_eq!(handlers(files), found);
    let both = [files, &[("local/main.tf", call)]].concat();
    assert_eq!(handlers(&both), format!("{found}; {found}"));
    // Two files fit, or another function has a handler of the same name.
    let two = [&both, &[("core/mail/sendPush.ts", SCRIPT)][..]].concat();
    assert!(!handlers(&two).contains("run core"));
    let other = module.replace("core/.build/zips", "mail/dist");
    let two = [&both, &[("mail/main.tf", &*other)][..]].concat();
    assert!(!handlers(&two).contains("run core"));
}

#[test]
fn imports_of_workspaces_and_layers_are_followed() {
    let app = sam("CodeUri: app/;Handler: app.run", "DependsOn: []");
    let exports = "export { run } from '@shop/orders';\n";
    let root = r#"{"workspaces": ["packages/*"]}"#;
    let package = r#"{"name": "@shop/orders", "main": "dist/index.js"}"#;
    let python = "from shared_orders import run\n";
    assert_found(
        "template.yaml",
        &[
            (
                "workspace",
                app.clone(),
                &[
                    ("app/app.ts", exports),
                    ("package.json", root),
                    ("packages/orders/package.json", package),
                    ("packages/orders/src/index.ts", SCRIPT),
                ],
                "run packages/orders/src/index.ts:3",
            ),
            (
                "pnpm",
                app.clone(),
                &[
                    ("app/app.ts", &exports.replace("orders'", "orders/handler'")),
                    ("package.json", "{}"),
                    ("pnpm-workspace.yaml", "packages:\n  - 'packages/*'\n"),
                    ("packages/orders/package.json", package),
                    ("packages/orders/handler.ts", SCRIPT),
                ],
                "run packages/orders/handler.ts:3",
            ),
            (
                "another package",
                app.clone(),
                &[
                    ("app/app.ts", exports),
                    ("package.json", root),
                    ("packages/orders/package.json", r#"{"name": "@shop/order"}"#),
                    ("packages/orders/src/index.ts", SCRIPT),
                ],
                "`app/app.ts` is not understood, or has no handler `run`",
            ),
            (
                "layer",
                app.clone(),
                &[
                    ("app/app.py", python),
                    ("layers/shared/python/shared_orders.py", PYTHON),
                ],
                "run layers/shared/python/shared_orders.py:4",
            ),
            (
                "layer of Node.js",
                app.clone(),
                &[
                    ("app/app.js", "exports.run = require('/opt/nodejs/orders').run;\n"),
                    ("layer/nodejs/orders.ts", SCRIPT),
                ],
                "run layer/nodejs/orders.ts:3",
            ),
            (
                "two layers",
                app,
                &[
                    ("app/app.py", python),
                    ("layers/a/python/shared_orders.py", PYTHON),
                    ("layers/b/python/shared_orders.py", PYTHON),
                ],
                "`app/app.py` is not understood, or has no handler `run`",
            ),
        ],
    );
}
