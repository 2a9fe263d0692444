//! Checks where the source of a handler is found, for each way of finding it and each dialect that has it.

mod following;
mod layouts;
mod packages;

use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, check};
use std::path::Path;

const PYTHON: &str = "import json\n\n\ndef run(event, context):\n    ship(event)\n";
const SCRIPT: &str =
    "import { ship } from './ship';\n\nexport const run = async (event) => {\n  await ship(event);\n};\n";
const PLAIN: &str = "exports.run = async (event) => ship(event);\n";
const GO: &str = "package main\n\nimport \"github.com/aws/aws-lambda-go/lambda\"\n\nfunc main() {\n\tlambda.Start(handle)\n}\n\nfunc handle(ctx context.Context, event events.SQSEvent) error {\n\treturn nil\n}\n";
const DOCKERFILE: &str = "FROM public.ecr.aws/lambda/python:3.13\nCOPY . .\nCMD [\"app.run\"]\n";
const JAVA: &str =
    "package com.example;\npublic class Orders {\n    public void run(SQSEvent event, Context context) {\n    }\n}\n";
const SHARP: &str = "namespace Shop.Orders;\npublic class Functions {\n    public Task Run(SQSEvent e) {\n        return Task.CompletedTask;\n    }\n}\n";

/// A SAM template. `properties` and `rest` are further lines of the function, with `;` for a line break.
fn sam(properties: &str, rest: &str) -> String {
    let lines = |text: &str, indent: &str| {
        text.split(';')
            .map(|line| format!("{indent}{line}\n"))
            .collect::<String>()
    };
    format!(
        "Transform: AWS::Serverless-2016-10-31\nResources:\n  Q: {{Type: AWS::SQS::Queue}}\n  F:\n    Type: AWS::Serverless::Function\n{}    Properties:\n{}      Events: {{E: {{Type: SQS, Properties: {{Queue: !GetAtt Q.Arn}}}}}}\n",
        lines(rest, "    "),
        lines(properties, "      ")
    )
}

/// A CloudFormation template whose function has `code` and the handler `app.run`.
fn cloudformation(code: &str) -> String {
    format!(
        "AWSTemplateFormatVersion: 2010-09-09\nResources:\n  Q: {{Type: AWS::SQS::Queue}}\n  F: {{Type: AWS::Lambda::Function, Properties: {{Handler: app.run, Code: {code}}}}}\n  M: {{Type: AWS::Lambda::EventSourceMapping, Properties: {{EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}}}\n"
    )
}

/// A Terraform module with `rest` and a function with `arguments`.
fn terraform(arguments: &str, rest: &str) -> String {
    format!(
        "resource \"aws_sqs_queue\" \"q\" {{}}\n{rest}\nresource \"aws_lambda_function\" \"f\" {{\n  function_name = \"f\"\n  role = \"r\"\n{arguments}\n}}\nresource \"aws_lambda_event_source_mapping\" \"m\" {{\n  event_source_arn = aws_sqs_queue.q.arn\n  function_name = aws_lambda_function.f.arn\n}}\n"
    )
}

/// A service of the Serverless Framework whose function has `settings`.
fn serverless(settings: &str) -> String {
    format!(
        "service: s\nprovider: {{name: aws}}\nfunctions:\n  f: {{{settings}, events: [{{sqs: !GetAtt Q.Arn}}]}}\nresources: {{Resources: {{Q: {{Type: AWS::SQS::Queue}}}}}}\n"
    )
}

/// Returns `text` with the paths in `directory` relative to it, however they are shown.
fn within(directory: &Path, text: &str) -> String {
    let name = format!("{}/", directory.file_name().unwrap().display());
    let mut relative = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&name) {
        let start = before.rfind('`').map_or(0, |at| at + 1);
        relative += &before[..start];
        rest = after;
    }
    relative + rest
}

/// Returns `name` with the file and line of the handler of each function that a queue invokes, or why it was not read.
fn handlers(files: &[(&str, &str)]) -> String {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    let outcome = check(&Options {
        paths: vec![directory.path().to_owned()],
        ..Options::default()
    });
    let read = outcome.coverage.handlers.iter().map(|handler| match &handler.read {
        Ok((name, span)) => {
            let file = outcome.sources.file(span.file);
            let path = file
                .path()
                .strip_prefix(directory.path())
                .unwrap_or(file.path())
                .display();
            let name = name.rsplit("::").next().unwrap_or(name);
            format!("{name} {path}:{}", file.position(span.start as usize).line)
        }
        Err(reason) => within(directory.path(), reason),
    });
    read.collect::<Vec<_>>().join("; ")
}

/// Asserts the handlers of cases: a name, the configuration, the other files, and the expected text.
fn assert_found(file: &str, cases: &[(&str, String, &[(&str, &str)], &str)]) {
    for (name, configuration, others, expected) in cases {
        let mut files = vec![(file, configuration.as_str())];
        files.extend(*others);
        assert_eq!(handlers(&files), *expected, "{name}");
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list")]
fn code_of_sam_functions_is_found() {
    let app = |uri: &str| sam(&format!("CodeUri: {uri};Handler: app.run"), "DependsOn: []");
    let esbuild = |uri: &str, entry: &str| {
        let metadata = format!("Metadata: {{BuildMethod: esbuild, BuildProperties: {{EntryPoints: [{entry}]}}}}");
        sam(&format!("Handler: orders.run{uri}"), &metadata)
    };
    let dotnet = |handler: &str| {
        sam(
            &format!("CodeUri: orders/bin/Release/publish;Handler: {handler}"),
            "DependsOn: []",
        )
    };
    assert_found(
        "template.yaml",
        &[
            ("directory", app("src/"), &[("src/app.py", PYTHON)], "run src/app.py:4"),
            ("other case", app("src/"), &[("src/App.py", PYTHON)], "run src/App.py:4"),
            (
                "two cases",
                app("src/"),
                &[("src/App.py", PYTHON), ("src/APP.py", PYTHON)],
                "source not found (looked for `src/app.*`)",
            ),
            (
                "package",
                app("src/"),
                &[("src/app/__init__.py", PYTHON)],
                "run src/app/__init__.py:4",
            ),
            (
                "no code",
                sam("Handler: app.run", "DependsOn: []"),
                &[("app.py", PYTHON)],
                "run app.py:4",
            ),
            (
                "no code, other directory",
                sam("Handler: app.run", "DependsOn: []"),
                &[("a/app.py", PYTHON)],
                "source not found (looked for `app.*`)",
            ),
            (
                "entry point",
                esbuild("", "src/a/orders.ts"),
                &[("src/a/orders.ts", SCRIPT)],
                "run src/a/orders.ts:3",
            ),
            (
                "entry point in code",
                esbuild(";CodeUri: code", "orders.ts"),
                &[("code/orders.ts", SCRIPT)],
                "run code/orders.ts:3",
            ),
            (
                "other entry point",
                esbuild("", "src/a/carts.ts"),
                &[("src/a/carts.ts", SCRIPT)],
                "source not found (looked for `orders.*`)",
            ),
            (
                "makefile",
                sam("CodeUri: .;Handler: app.run", "Metadata: {BuildMethod: makefile}"),
                &[("app.py", PYTHON), ("Makefile", "")],
                "run app.py:4",
            ),
            (
                "build output",
                app("dist/orders"),
                &[("src/orders/app.ts", SCRIPT)],
                "run src/orders/app.ts:3",
            ),
            (
                "build output of two",
                app("dist/orders"),
                &[("a/orders/app.ts", SCRIPT), ("b/orders/app.ts", SCRIPT)],
                "source not found (looked for `src/orders/app.*`, `orders/app.*`, `dist/orders/app.*`)",
            ),
            (
                "build output elsewhere",
                app("dist/orders"),
                &[("src/lambdas/orders/app.ts", SCRIPT)],
                "run src/lambdas/orders/app.ts:3",
            ),
            (
                "outDir",
                app("js/a"),
                &[
                    (
                        "tsconfig.json",
                        "{\n  // c\n  \"compilerOptions\": {\"outDir\": \"./js\", \"rootDir\": \"ts\",},\n}",
                    ),
                    ("ts/a/app.ts", SCRIPT),
                ],
                "run ts/a/app.ts:3",
            ),
            (
                "outDir of extended",
                app("js"),
                &[
                    ("tsconfig.json", "{\"extends\": \"./base.json\"}"),
                    ("base.json", "{\"outDir\": \"js\", \"rootDir\": \"ts\"}"),
                    ("ts/app.ts", SCRIPT),
                ],
                "run ts/app.ts:3",
            ),
            (
                "bucket",
                app("s3://b/orders.zip"),
                &[("a/app.py", PYTHON)],
                "run a/app.py:4",
            ),
            (
                "bucket without symbol",
                app("s3://b/orders.zip"),
                &[("a/app.py", "x = 1\n")],
                "source not found (looked for `app.*`)",
            ),
            (
                "bucket, two files",
                app("s3://b/orders.zip"),
                &[("a/app.py", PYTHON), ("b/app.ts", SCRIPT)],
                "source not found (looked for `app.*`)",
            ),
            (
                "bucket, package named",
                app("s3://b/orders.zip"),
                &[("a/app.py", PYTHON), ("orders/app.py", PYTHON)],
                "run orders/app.py:4",
            ),
            (
                "bucket, test",
                app("s3://b/orders.zip"),
                &[("tests/app.py", PYTHON), ("node_modules/app.py", PYTHON)],
                "source not found (looked for `app.*`)",
            ),
            (
                "image",
                sam(
                    "PackageType: Image;ImageConfig: {Command: [app.run]}",
                    "Metadata: {DockerContext: ./code}",
                ),
                &[("code/app.py", PYTHON)],
                "run code/app.py:4",
            ),
            (
                "image with a Dockerfile",
                sam(
                    "PackageType: Image",
                    "Metadata: {DockerContext: ./code, Dockerfile: Dockerfile}",
                ),
                &[
                    ("code/Dockerfile", DOCKERFILE),
                    ("code/src/app.py", PYTHON),
                    ("other/app.py", PYTHON),
                ],
                "run code/src/app.py:4",
            ),
            (
                "generated",
                dotnet("'Shop::Shop.Orders.Functions_Run_Generated::Run'"),
                &[("orders/Orders/Functions.cs", SHARP)],
                "Run orders/Orders/Functions.cs:3",
            ),
            (
                "project",
                dotnet("'Shop::Shop.Orders.Functions::Run'"),
                &[("orders/Functions.cs", SHARP)],
                "Run orders/Functions.cs:3",
            ),
            (
                "jar",
                sam(
                    "CodeUri: orders/target/o-1.jar;Handler: 'com.example.Orders::run'",
                    "DependsOn: []",
                ),
                &[("orders/src/main/java/com/example/Orders.java", JAVA)],
                "run orders/src/main/java/com/example/Orders.java:3",
            ),
            (
                "Kotlin",
                sam("CodeUri: a;Handler: 'com.example.Orders::run'", "DependsOn: []"),
                &[("a/src/main/kotlin/com/example/Orders.kt", "")],
                "`a/src/main/kotlin/com/example/Orders.kt` is not judged in Kotlin",
            ),
            (
                "Go",
                sam("CodeUri: a;Handler: bootstrap", "Metadata: {BuildMethod: go1.x}"),
                &[("a/server.go", GO), ("a/server_test.go", GO)],
                "handle a/server.go:9",
            ),
            (
                "Go by name",
                sam("CodeUri: artifact;Handler: orders", "DependsOn: []"),
                &[("cmd/orders/main.go", GO), ("cmd/carts/main.go", GO)],
                "handle cmd/orders/main.go:9",
            ),
            (
                "Go by the directory of its package",
                sam("CodeUri: build/orders/lambda.zip;Handler: bootstrap", "DependsOn: []"),
                &[("cmd/orders/main.go", GO), ("cmd/carts/main.go", GO)],
                "handle cmd/orders/main.go:9",
            ),
            (
                "Go, two programs",
                sam("CodeUri: artifact;Handler: bootstrap", "DependsOn: []"),
                &[("cmd/orders/main.go", GO), ("cmd/carts/main.go", GO)],
                "source not found (looked for `src/bootstrap.*`, `bootstrap.*`, `artifact/bootstrap.*`)",
            ),
            (
                "Go, one program with a handler",
                sam("CodeUri: artifact;Handler: bootstrap", "DependsOn: []"),
                &[
                    ("cmd/server/main.go", "package main\n\nfunc main() {\n}\n"),
                    ("cmd/worker/main.go", GO),
                ],
                "handle cmd/worker/main.go:9",
            ),
            (
                "path of a program",
                sam("CodeUri: .;Handler: ./bin/orders", "DependsOn: []"),
                &[
                    ("main.go", GO),
                    ("functions/orders/main.go", GO),
                    ("functions/carts/main.go", GO),
                ],
                "handle functions/orders/main.go:9",
            ),
        ],
    );
}

#[test]
fn code_of_cloudformation_functions_is_found() {
    assert_found(
        "template.yaml",
        &[
            (
                "inline",
                cloudformation("{ZipFile: \"def run(event, context):\\n    ship(event)\\n\"}"),
                &[("app.py", PYTHON)],
                "run template.yaml:4",
            ),
            (
                "directory",
                cloudformation("./src"),
                &[("src/app.py", PYTHON)],
                "run src/app.py:4",
            ),
            (
                "object",
                cloudformation("{S3Bucket: b, S3Key: a/orders.zip}"),
                &[("orders/app.py", PYTHON), ("carts/app.py", PYTHON)],
                "run orders/app.py:4",
            ),
            (
                "object below an unknown prefix",
                cloudformation("{S3Bucket: b, S3Key: !Sub '${Prefix}/orders.zip'}"),
                &[("orders/app.py", PYTHON), ("carts/app.py", PYTHON)],
                "run orders/app.py:4",
            ),
            (
                "object with an unknown part of its name",
                cloudformation("{S3Bucket: b, S3Key: !Sub '${Stage}orders.zip'}"),
                &[("orders/app.py", PYTHON), ("carts/app.py", PYTHON)],
                "source not found (looked for `app.*`)",
            ),
            (
                "object with other separators",
                cloudformation("{S3Bucket: b, S3Key: refund-orders/function.zip}"),
                &[("refund_orders/app.py", PYTHON), ("refundCarts/app.py", PYTHON)],
                "run refund_orders/app.py:4",
            ),
            (
                "object of another runtime",
                cloudformation("{S3Bucket: b, S3Key: orders.zip}, Runtime: nodejs22.x"),
                &[("orders/app.py", PYTHON)],
                "source not found (looked for `app.*`)",
            ),
            (
                "object of the same runtime",
                cloudformation("{S3Bucket: b, S3Key: orders.zip}, Runtime: python3.13"),
                &[("orders/app.py", PYTHON), ("web/orders/app.js", SCRIPT)],
                "run orders/app.py:4",
            ),
            (
                "object whose name has a word of packages",
                cloudformation("{S3Bucket: b, S3Key: deployments/orders_code/function.zip}"),
                &[("orders_code/app.py", PYTHON), ("orders/app.py", PYTHON)],
                "run orders_code/app.py:4",
            ),
            (
                "object that two directories fit",
                cloudformation("{S3Bucket: b, S3Key: refund-orders.zip}"),
                &[("refund_orders/app.py", PYTHON), ("refundOrders/app.py", PYTHON)],
                "source not found (looked for `app.*`)",
            ),
            (
                "unknown object",
                cloudformation("{S3Bucket: b, S3Key: !Ref Key}"),
                &[("orders/app.py", PYTHON)],
                "run orders/app.py:4",
            ),
            (
                "two",
                cloudformation("{S3Bucket: b, S3Key: !Ref Key}"),
                &[("orders/app.py", PYTHON), ("carts/app.py", PYTHON)],
                "source not found (looked for `app.*`)",
            ),
        ],
    );
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list")]
fn code_of_terraform_functions_is_found() {
    let archive = |arguments: &str| {
        let archive =
            format!("data \"archive_file\" \"a\" {{\n  type = \"zip\"\n  output_path = \"a.zip\"\n  {arguments}\n}}");
        terraform(
            "  handler = \"app.run\"\n  filename = data.archive_file.a.output_path",
            &archive,
        )
    };
    let zip = |path: &str| terraform(&format!("  handler = \"app.run\"\n  filename = \"{path}\""), "");
    let object = |object: &str| {
        let object = format!(
            "resource \"aws_s3_object\" \"o\" {{\n  bucket = \"b\"\n  key = \"k.zip\"\n  {object}\n}}\ndata \"archive_file\" \"a\" {{\n  type = \"zip\"\n  output_path = \"a.zip\"\n  source_dir = \"code\"\n}}"
        );
        terraform(
            "  handler = \"app.run\"\n  s3_bucket = \"b\"\n  s3_key = aws_s3_object.o.key",
            &object,
        )
    };
    let built = |uri: &str| {
        terraform(
            &format!("  package_type = \"Image\"\n  image_uri = {uri}"),
            "resource \"aws_ecr_repository\" \"r\" {}",
        )
    };
    let image = "  package_type = \"Image\"\n  image_uri = \"x.dkr.ecr.eu-west-1.amazonaws.com/orders:1\"\n  image_config {\n    command = [\"app.run\"]\n  }";
    assert_found(
        "main.tf",
        &[
            (
                "directory",
                archive("source_dir = \"code\""),
                &[("code/app.py", PYTHON)],
                "run code/app.py:4",
            ),
            (
                "file",
                archive("source_file = \"code/app.py\""),
                &[("code/app.py", PYTHON)],
                "run code/app.py:4",
            ),
            (
                "other file",
                archive("source_file = \"code/b.py\""),
                &[("code/b.py", PYTHON)],
                "source not found (looked for `code/app.*`)",
            ),
            (
                "content",
                archive("source_content = \"exports.run = async () => {}\"\n  source_content_filename = \"app.js\""),
                &[],
                "run main.tf:5",
            ),
            (
                "one of several",
                archive(
                    "source {\n    filename = \"b.py\"\n    content = \"\"\n  }\n  source {\n    filename = \"app.py\"\n    content = \"def run(event, context): ship(event)\"\n  }",
                ),
                &[],
                "run main.tf:11",
            ),
            (
                "placeholder",
                archive("source_content = \"exports.run = async () => {}\"\n  source_content_filename = \"app.js\"")
                    .replace(
                        "  handler = \"app.run\"",
                        "  lifecycle {\n    ignore_changes = [filename]\n  }\n  handler = \"app.run\"",
                    ),
                &[("orders/app.py", PYTHON), ("carts/app.py", PYTHON)],
                "source not found (looked for `app.*`)",
            ),
            (
                "object of archive",
                object("source = data.archive_file.a.output_path"),
                &[("code/app.py", PYTHON)],
                "run code/app.py:4",
            ),
            (
                "object of file",
                object("source = \"dist/orders.zip\""),
                &[("orders/app.py", PYTHON), ("carts/app.py", PYTHON)],
                "run orders/app.py:4",
            ),
            (
                "archive named like a directory",
                zip("../dist/orders.zip"),
                &[("orders/app.ts", SCRIPT), ("carts/app.ts", SCRIPT)],
                "run orders/app.ts:3",
            ),
            (
                "archive named like a directory, with more words",
                zip("../dist/lambda_orders-latest.zip"),
                &[("orders/app.py", PYTHON), ("carts/app.py", PYTHON)],
                "run orders/app.py:4",
            ),
            (
                "archive next to its source",
                zip("code/orders/deployment.zip"),
                &[("code/orders/app.py", PYTHON), ("code/carts/app.py", PYTHON)],
                "run code/orders/app.py:4",
            ),
            (
                "archive with the name of something else",
                zip("dist/orders-history.zip"),
                &[("orders/app.py", PYTHON), ("carts/app.py", PYTHON)],
                "source not found (looked for `src/orders-history/app.*`, `orders-history/app.*`, `dist/orders-history/app.*`)",
            ),
            (
                "file of a build output",
                archive("source_file = \"dist/orders/app.js\""),
                &[("orders/app.ts", SCRIPT), ("carts/app.ts", SCRIPT)],
                "run orders/app.ts:3",
            ),
            (
                "archive named like the file that a bundler starts from",
                terraform("  handler = \"index.run\"\n  filename = \"out/orders.zip\"", ""),
                &[("api/orders.ts", SCRIPT), ("api/index.ts", "export const x = 1;\n")],
                "run api/orders.ts:3",
            ),
            (
                "output that a bundler of another directory has, too",
                terraform(
                    "  handler = \"app.run\"\n  filename = data.archive_file.a.output_path",
                    "data \"archive_file\" \"a\" {\n  type = \"zip\"\n  output_path = \"a.zip\"\n  source_dir = \"orders/dist\"\n}",
                ),
                &[
                    ("orders/src/app.ts", SCRIPT),
                    (
                        "carts/package.json",
                        "{\"scripts\": {\"build\": \"esbuild src/other.ts --outfile=dist/app.js\"}}",
                    ),
                    ("carts/src/other.ts", SCRIPT),
                ],
                "run orders/src/app.ts:3",
            ),
            (
                "archive named in the list of a script that bundles",
                terraform("  handler = \"index.run\"\n  filename = \"out/orders.zip\"", ""),
                &[
                    (
                        "scripts/build-all.mjs",
                        "const all = [{ name: 'orders', entry: 'src/work/app.ts' }, { name: 'carts', entry: 'src/cart/app.ts' }];",
                    ),
                    ("src/work/app.ts", SCRIPT),
                    ("src/cart/app.ts", SCRIPT),
                ],
                "run src/work/app.ts:3",
            ),
            (
                "only file",
                zip("x.zip"),
                &[("orders/app.js", PLAIN)],
                "run orders/app.js:1",
            ),
            (
                "compiled next to its source",
                zip("x.zip"),
                &[("orders/app.js", PLAIN), ("orders/app.ts", SCRIPT)],
                "run orders/app.ts:3",
            ),
            (
                "image",
                terraform(image, ""),
                &[("orders/app.py", PYTHON)],
                "run orders/app.py:4",
            ),
            (
                "image named like a directory",
                built("\"x.dkr.ecr.eu-west-1.amazonaws.com/orders:1\""),
                &[
                    ("orders/Dockerfile", DOCKERFILE),
                    ("orders/app.py", PYTHON),
                    ("carts/Dockerfile", DOCKERFILE),
                    ("carts/app.py", PYTHON),
                ],
                "run orders/app.py:4",
            ),
            (
                "image of a Dockerfile with a name",
                built("\"${aws_ecr_repository.r.repository_url}:1\""),
                &[
                    ("orders/app.py", PYTHON),
                    ("orders/Dockerfile.lambda", DOCKERFILE),
                    ("orders/Dockerfile", "CMD [\"python\", \"-m\", \"http.server\"]"),
                ],
                "run orders/app.py:4",
            ),
            (
                "image of one of two named Dockerfiles",
                built("\"${aws_ecr_repository.r.repository_url}:1\""),
                &[
                    ("orders/app.py", PYTHON),
                    ("orders/Dockerfile.lambda", DOCKERFILE),
                    ("orders/dev.Dockerfile", DOCKERFILE),
                ],
                "source not found (the configuration does not locate it)",
            ),
            (
                "image of the only Dockerfile with a handler",
                built("\"${aws_ecr_repository.r.repository_url}:1\""),
                &[
                    ("a/Dockerfile", DOCKERFILE),
                    ("a/app.py", PYTHON),
                    ("b/Dockerfile", "FROM node\nCMD [\"node\", \"server.js\"]\n"),
                ],
                "run a/app.py:4",
            ),
            (
                "image of one of two Dockerfiles",
                built("\"${aws_ecr_repository.r.repository_url}:1\""),
                &[
                    ("a/Dockerfile", DOCKERFILE),
                    ("b/Dockerfile", DOCKERFILE),
                    ("a/app.py", PYTHON),
                ],
                "source not found (the configuration does not locate it)",
            ),
            (
                "image with an unknown command",
                terraform(
                    "  package_type = \"Image\"\n  image_uri = \"orders\"\n  image_config {\n    command = var.command\n  }",
                    "variable \"command\" {}",
                ),
                &[("orders/Dockerfile", DOCKERFILE), ("orders/app.py", PYTHON)],
                "source not found (the configuration does not locate it)",
            ),
            (
                "nothing",
                terraform("  handler = \"app.run\"", ""),
                &[("app.py", PYTHON)],
                "source not found (the configuration does not locate it)",
            ),
            (
                "Ruby",
                archive("source_dir = \"code\""),
                &[("code/app.rb", "")],
                "`code/app.rb` is not judged in Ruby",
            ),
        ],
    );
}

#[test]
fn dockerfile_of_several_images_belongs_to_none() {
    let image = |name: &str| {
        format!(
            "resource \"aws_lambda_function\" \"{name}\" {{\n  function_name = \"{name}\"\n  role = \"r\"\n  package_type = \"Image\"\n  image_uri = aws_ecr_repository.{name}.repository_url\n}}\nresource \"aws_ecr_repository\" \"{name}\" {{}}\n"
        )
    };
    let mapping = "resource \"aws_sqs_queue\" \"q\" {}\nresource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.q.arn\n  function_name = aws_lambda_function.one.arn\n}\n";
    let one = format!("{mapping}{}", image("one"));
    let both = format!("{one}{}", image("two"));
    let others = [("a/app.py", PYTHON), ("a/Dockerfile", DOCKERFILE)];
    assert_eq!(
        handlers(&[&[("main.tf", &*one)], &others[..]].concat()),
        "run a/app.py:4"
    );
    assert_eq!(
        handlers(&[&[("main.tf", &*both)], &others[..]].concat()),
        "source not found (the configuration does not locate it)"
    );
}

#[test]
fn code_of_serverless_functions_is_found() {
    assert_found(
        "serverless.yml",
        &[
            (
                "service",
                serverless("handler: src/app.run"),
                &[("src/app.ts", SCRIPT)],
                "run src/app.ts:3",
            ),
            (
                "index",
                serverless("handler: src/orders.run"),
                &[("src/orders/index.ts", SCRIPT)],
                "run src/orders/index.ts:3",
            ),
            (
                "output",
                serverless("handler: dist/orders/app.run"),
                &[("orders/src/app.ts", SCRIPT)],
                "run orders/src/app.ts:3",
            ),
            (
                "module",
                serverless("handler: app.run, module: orders"),
                &[("orders/app.py", PYTHON)],
                "run orders/app.py:4",
            ),
            (
                "artifact",
                serverless("handler: app.run, package: {artifact: dist/orders.zip}"),
                &[("orders/app.py", PYTHON)],
                "run orders/app.py:4",
            ),
        ],
    );
}
