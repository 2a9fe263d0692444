// Compares the package with the native program. `SQSLINT` is the native program, and `SQSLINT_CORPUS` a folder of
// projects; without them, only the function for programs and the launcher are tested.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { check } from "../dist/index.js";

const LAUNCHER = resolve("dist/cli.js");
const { SQSLINT: NATIVE, SQSLINT_CORPUS: CORPUS } = process.env;
const QUEUES = 'resource "aws_sqs_queue" "orders" {\n  visibility_timeout_seconds = 30\n}\n';
const FUNCTION =
  'resource "aws_lambda_function" "worker" {\n  timeout = 60\n}\n\n' +
  'resource "aws_lambda_event_source_mapping" "orders" {\n' +
  "  event_source_arn = aws_sqs_queue.orders.arn\n  function_name    = aws_lambda_function.worker.arn\n}\n";
const RULE = "visibility-timeout-below-function-timeout";

/** Makes a folder that is removed after the test. */
function folder(t, files = {}) {
  const place = mkdtempSync(join(tmpdir(), "sqslint-npm-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(place, name), text);
  }
  return place;
}

function start(command, args, cwd, input) {
  const { status, stdout, stderr } = spawnSync(command[0], [...command.slice(1), ...args], { cwd, input, encoding: "utf8", maxBuffer: 1 << 28 });
  return { status, stdout, stderr };
}

const launch = (args, cwd, input) => start([process.execPath, LAUNCHER], args, cwd, input);

/** Returns up to `count` projects, spread over the corpus. */
function projects(count) {
  const all = readdirSync(CORPUS).filter((name) => statSync(join(CORPUS, name)).isDirectory()).sort();
  return all.filter((_, at) => at % Math.ceil(all.length / count) === 0).map((name) => join(CORPUS, name));
}

test("the function returns the findings of files", async () => {
  const { findings, errors } = await check({ "infra/queues.tf": QUEUES, "infra/function.tf": FUNCTION }, ["--select", RULE]);
  assert.deepEqual(errors, []);
  assert.deepEqual(findings.map(({ rule, file, line }) => [rule, file, line]), [[RULE, "infra/queues.tf", 2]]);
  assert.deepEqual((await check({ "queues.tf": QUEUES }, ["--select", RULE])).findings, []);
});

test("the function reads no other files", async (t) => {
  const { errors, findings } = await check({});
  assert.deepEqual(findings, []);
  assert.equal(errors.length, 1);
});

test("the function rejects wrong arguments", async () => {
  await assert.rejects(check({ "queues.tf": QUEUES }, ["--no-such-flag"]), /no-such-flag/);
});

test("the launcher has the exit codes of the program", (t) => {
  const place = folder(t, { "queues.tf": QUEUES, "function.tf": FUNCTION });
  assert.equal(launch(["check", "--select", RULE], place).status, 1);
  assert.equal(launch(["check", "--select", RULE, "--exit-zero"], place).status, 0);
  assert.equal(launch(["check", "--no-such-flag"], place).status, 2);
  assert.equal(launch(["check"], folder(t)).status, 3);
  assert.equal(launch(["--version"], place).stdout, "sqslint 0.1.0\n");
});

test("the launcher reads standard input and folders above the working directory", (t) => {
  const place = folder(t, { "queues.tf": QUEUES, "function.tf": FUNCTION });
  mkdirSync(join(place, "deep", "er"), { recursive: true });
  assert.match(launch(["check", "--select", RULE, "../../queues.tf"], join(place, "deep", "er")).stdout, new RegExp(RULE));
  assert.match(launch(["check", "--select", RULE, "-", "--stdin-filename", "other.tf"], place, QUEUES + FUNCTION).stdout, /other\.tf/);
});

test("--fix writes the fix, and a second run finds nothing", (t) => {
  const place = folder(t, { "queues.tf": QUEUES, "function.tf": FUNCTION });
  const args = ["check", "--select", RULE, "--fix", "--unsafe-fixes"];
  const { status, stderr } = launch(args, place);
  assert.equal(status, 0, stderr);
  assert.match(readFileSync(join(place, "queues.tf"), "utf8"), /visibility_timeout_seconds = 360/);
  assert.deepEqual(readdirSync(place).sort(), ["function.tf", "queues.tf"]);
  assert.equal(launch(args.slice(0, 3), place).status, 0);
});

test("what WebAssembly cannot do is an error of one sentence", (t) => {
  const place = folder(t, { "queues.tf": QUEUES });
  assert.deepEqual(launch(["server"], place), {
    status: 2,
    stdout: "",
    stderr: "sqslint: the language server needs threads, and WebAssembly has none: install the native program\n",
  });
  spawnSync("git", ["init", "--quiet"], { cwd: place });
  const since = launch(["check", "--since", "main"], place);
  assert.equal(since.status, 2);
  assert.match(since.stderr, /WebAssembly starts no programs/);
});

test("a file that is nested too deeply ends with a sentence, or is reported", (t) => {
  for (const text of ["[".repeat(200_000), `x = ${"(".repeat(100_000)}`, `a: ${"{a: ".repeat(50_000)}`]) {
    const place = folder(t, { "main.tf": text, "template.json": text, "template.yaml": `Resources:\n  ${text}` });
    const { status, stderr } = launch(["check"], place);
    assert.ok([1, 2, 3].includes(status), `${status}: ${stderr}`);
    assert.doesNotMatch(stderr, /at .*\.js|wasm:/, stderr);
  }
});

test("ten projects have the same report as with the native program", { skip: !NATIVE || !CORPUS }, async (t) => {
  for (const project of projects(10)) {
    await t.test(project, () => {
      for (const args of [["--format", "json"], []]) {
        assert.deepEqual(launch(["check", ...args, "."], project), start([NATIVE], ["check", ...args, "."], project));
      }
    });
  }
});

test("three projects have the same fixes as with the native program", { skip: !NATIVE || !CORPUS }, (t) => {
  for (const project of projects(3)) {
    const [own, native] = [folder(t), folder(t)];
    for (const copy of [own, native]) {
      cpSync(project, copy, { recursive: true });
      // WebAssembly does not see modes: the superuser would write files that are read-only.
      assert.equal(spawnSync("chmod", ["-R", "u+w", copy]).status, 0);
    }
    const args = ["check", "--fix", "--unsafe-fixes", "."];
    assert.deepEqual(launch(args, own), start([NATIVE], args, native));
    assert.equal(spawnSync("diff", ["-r", own, native]).status, 0, project);
  }
});
