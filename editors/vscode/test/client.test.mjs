// The language client's own protocol against the server, and what the extension decides by itself. `SQSLINT` names the
// program; without it the tests of the server are skipped.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";

const require = createRequire(import.meta.url);
const protocol = require("vscode-languageserver-protocol/node");

const QUEUES = 'resource "aws_sqs_queue" "orders" {\n  visibility_timeout_seconds = 300\n}\n';
const FUNCTION =
  'resource "aws_lambda_function" "worker" {\n  timeout = 30\n}\n\n' +
  'resource "aws_lambda_event_source_mapping" "orders" {\n' +
  "  event_source_arn = aws_sqs_queue.orders.arn\n  function_name    = aws_lambda_function.worker.arn\n}\n";
const RULE = "visibility-timeout-below-function-timeout";

function folder(files) {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "sqslint-vscode-")));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(place, name), text);
  }
  return place;
}

/** The module of the extension that knows nothing of the editor. */
function own() {
  const place = folder({});
  const outfile = join(place, "program.cjs");
  buildSync({ entryPoints: ["src/program.ts"], bundle: true, platform: "node", format: "cjs", outfile });
  return { ...require(outfile), place };
}

test("the program is the one that is set, the bundled one, or that on the PATH", () => {
  const { program, place } = own();
  const installed = folder({ sqslint: "", "sqslint.exe": "" });
  assert.equal(program(" /opt/sqslint ", place), "/opt/sqslint");
  assert.equal(program("", place, [], installed), join(installed, "sqslint"));
  assert.equal(program("sqslint", place, [], installed), join(installed, "sqslint"));
  assert.equal(program("", place, [], installed, "win32"), join(installed, "sqslint.exe"));
  mkdirSync(join(place, "bin"));
  writeFileSync(join(place, "bin", "sqslint"), "");
  assert.equal(program("", place, [], installed, "linux"), join(place, "bin", "sqslint"));
  assert.equal(program("", place, [], "", "win32"), undefined);
});

test("a program in the opened folder is not found by its name", () => {
  const { program, place } = own();
  const opened = folder({ sqslint: "", "sqslint.exe": "" });
  const [installed, links] = [folder({ sqslint: "" }), folder({})];
  symlinkSync(join(opened, "sqslint"), join(links, "sqslint"));
  const before = process.cwd();
  process.chdir(opened);
  for (const search of [opened, ".", "", links]) {
    assert.equal(program("", place, [opened], search), undefined, search);
    assert.equal(program("", place, [opened], search, "win32"), undefined, search);
  }
  for (const set of ["./sqslint", "sub/sqslint", "..\\sqslint.exe", "."]) {
    assert.equal(program(set, place, [opened], installed), undefined, set);
  }
  process.chdir(before);
  assert.equal(program("", place, [opened], [opened, installed].join(delimiter)), join(installed, "sqslint"));
  assert.equal(program("", place, [`${installed}-2`], installed), join(installed, "sqslint"));
});

test("nothing is started in a workspace that is not trusted", async () => {
  const { place } = own();
  const outfile = join(place, "extension.cjs");
  buildSync({ entryPoints: ["src/extension.ts"], bundle: true, platform: "node", format: "cjs", outfile, external: ["vscode"] });
  const started = [];
  const inert = () => new Proxy(function () {}, { get: (_, name) => (name === "then" ? undefined : inert()), apply: () => inert(), construct: () => inert() });
  const workspace = { isTrusted: false, workspaceFolders: [], getConfiguration: () => ({ get: () => "" }) };
  for (const name of ["registerTextDocumentContentProvider", "onDidChangeConfiguration", "onDidGrantWorkspaceTrust"]) {
    workspace[name] = () => ({});
  }
  const vscode = new Proxy({ workspace, window: { createOutputChannel: () => ({}), createStatusBarItem: () => ({ show() {} }), showErrorMessage: async (text) => void started.push(text) }, StatusBarAlignment: {}, commands: { registerCommand: () => ({}) } }, { get: (own, name) => own[name] ?? class {} });
  const Module = require("node:module");
  const load = Module._load;
  const processes = require("node:child_process");
  Module._load = (name, ...more) => {
    if (name === "vscode") return vscode;
    if (name === "node:child_process" || name === "child_process") {
      return { ...processes, spawn: (...given) => started.push(given), execFile: (...given) => started.push(given) };
    }
    return load(name, ...more);
  };
  const { activate } = require(outfile);
  await activate({ extensionPath: place, subscriptions: [] });
  Module._load = load;
  assert.deepEqual(started, []);
});

const LAUNCHER = "../../npm/dist/cli.js";

test("without a program, findings appear on save", { skip: !existsSync(LAUNCHER) && "npm/dist is not built" }, async () => {
  const { place, flags, launcher } = own();
  assert.equal(launcher(place), undefined);
  const files = { select: [RULE], configuration: "own.toml" };
  assert.deepEqual(flags((name) => files[name], "/work"), ["--config", join("/work", "own.toml"), "--select", RULE]);
  cpSync("../../npm/dist", join(place, "dist", "wasm"), { recursive: true });
  writeFileSync(join(place, "dist", "wasm", "package.json"), '{"type":"module"}');
  const outfile = join(place, "extension.cjs");
  buildSync({ entryPoints: ["src/extension.ts"], bundle: true, platform: "node", format: "cjs", outfile, external: ["vscode"] });
  const root = folder({ "queues.tf": QUEUES, "function.tf": FUNCTION.replace("timeout = 30", "timeout = 301") });
  const [shown, saves, status] = [new Map(), [], { show() {} }];
  class Value {
    constructor(...given) { this.given = given; }
  }
  const inert = () => ({ dispose() {} });
  const vscode = {
    workspace: {
      isTrusted: true,
      workspaceFolders: [{ uri: { scheme: "file", fsPath: root } }],
      getConfiguration: () => ({ get: (name) => (name === "select" ? [RULE] : "") }),
      registerTextDocumentContentProvider: inert,
      onDidChangeConfiguration: inert,
      onDidGrantWorkspaceTrust: inert,
      onDidSaveTextDocument: (call) => (saves.push(call), inert()),
    },
    window: { createOutputChannel: () => ({ append: (text) => assert.fail(text) }), createStatusBarItem: () => status },
    languages: { createDiagnosticCollection: () => ({ clear: () => shown.clear(), set: (uri, all) => shown.set(uri, all), dispose() {} }) },
    commands: { registerCommand: inert },
    Uri: { file: (path) => path, parse: (text) => text },
    StatusBarAlignment: {},
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2 },
    Range: Value,
    Location: Value,
    Diagnostic: Value,
    DiagnosticRelatedInformation: Value,
  };
  const Module = require("node:module");
  const load = Module._load;
  Module._load = (name, ...more) => (name === "vscode" ? new Proxy(vscode, { get: (of, name) => of[name] ?? class {} }) : load(name, ...more));
  const path = process.env.PATH;
  process.env.PATH = "";
  try {
    await require(outfile).activate({ extensionPath: place, subscriptions: [] });
    const found = () => [...shown].map(([file, all]) => [file, ...all.map(({ given: [range], code }) => [range.given[0] + 1, code.value])]);
    assert.match(status.tooltip, /findings on save/);
    assert.deepEqual(found(), [[join(root, "queues.tf"), [2, RULE]]]);
    writeFileSync(join(root, "queues.tf"), QUEUES.replace("300", "3000"));
    await saves[0]();
    assert.deepEqual(found(), []);
  } finally {
    process.env.PATH = path;
    Module._load = load;
  }
});

test("a workspace that is not trusted sets neither the program nor the configuration", () => {
  const { capabilities } = require("../package.json");
  const restricted = capabilities.untrustedWorkspaces.restrictedConfigurations;
  assert.deepEqual(restricted, ["sqslint.path", "sqslint.configuration"]);
});

test("options that say nothing are left out", () => {
  const { options } = own();
  const set = { select: ["redrive"], ignore: [], configuration: "", inlayHints: false };
  assert.deepEqual(options((name) => set[name]), { select: ["redrive"], rulePages: "sqslint-rule:/" });
  const named = options((name) => ({ configuration: "own.toml" })[name], "/work");
  assert.equal(named.configuration, join("/work", "own.toml"));
});

test("a drawing is shown where nothing runs", () => {
  const { page } = own();
  const text = page("<b>", "<svg></svg>");
  assert.match(text, /default-src 'none'/);
  assert.ok(!text.includes("<b>") && text.includes("<svg></svg>"));
});

test("what the extension declares it registers", async () => {
  const { readFileSync } = await import("node:fs");
  const declared = JSON.parse(readFileSync("package.json", "utf8")).contributes.commands;
  const code = readFileSync("src/extension.ts", "utf8");
  for (const { command } of declared) {
    assert.ok(code.includes(`"${command}"`), command);
  }
});

test("a session", { skip: process.env.SQSLINT === undefined && "SQSLINT names no program" }, async () => {
  const root = folder({ "queues.tf": QUEUES, "function.tf": FUNCTION });
  const uri = (name) => pathToFileURL(join(root, name)).href;
  const server = spawn(process.env.SQSLINT, ["server", "--stdio"]);
  const connection = protocol.createProtocolConnection(
    new protocol.StreamMessageReader(server.stdout),
    new protocol.StreamMessageWriter(server.stdin),
  );
  const diagnostics = new Map();
  let wake = () => {};
  connection.onNotification(protocol.PublishDiagnosticsNotification.type, (params) => {
    diagnostics.set(params.uri, params.diagnostics);
    wake();
  });
  connection.onRequest(protocol.RegistrationRequest.type, () => {});
  connection.listen();
  const { options } = own();
  const folders = [{ uri: pathToFileURL(root).href, name: "root" }];
  const capabilities = {
    textDocument: { publishDiagnostics: { relatedInformation: true, codeDescriptionSupport: true } },
    workspace: { workspaceEdit: { documentChanges: true } },
  };
  await connection.sendRequest(protocol.InitializeRequest.type, {
    processId: process.pid,
    rootUri: folders[0].uri,
    workspaceFolders: folders,
    capabilities,
    initializationOptions: options(() => undefined),
  });
  await connection.sendNotification(protocol.InitializedNotification.type, {});
  const document = (name, text) => ({ uri: uri(name), languageId: "terraform", version: 1, text });
  await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
    textDocument: document("function.tf", FUNCTION),
  });
  await connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, {
    textDocument: { uri: uri("function.tf"), version: 2 },
    contentChanges: [{ text: FUNCTION.replace("30", "400") }],
  });
  const found = () => (diagnostics.get(uri("queues.tf")) ?? []).find((one) => one.code === RULE);
  while (found() === undefined) {
    await new Promise((resolve) => (wake = resolve));
  }
  assert.equal(found().codeDescription.href, `sqslint-rule:/${RULE}.md`);
  assert.equal(found().relatedInformation[0].location.uri, uri("function.tf"));
  const textDocument = { uri: uri("queues.tf") };
  const position = { line: 1, character: 4 };
  const hover = await connection.sendRequest(protocol.HoverRequest.type, { textDocument, position });
  assert.match(hover.contents.value, /visibility_timeout_seconds = 300 s/);
  const actions = await connection.sendRequest(protocol.CodeActionRequest.type, {
    textDocument,
    range: { start: position, end: position },
    context: { diagnostics: [found()] },
  });
  assert.ok(actions.some((action) => action.title.includes("unsafe fix")));
  const drawing = await connection.sendRequest(protocol.ExecuteCommandRequest.type, {
    command: "sqslint.graph",
    arguments: [{ uri: uri("queues.tf"), format: "svg" }],
  });
  assert.match(drawing, /<svg/);
  await connection.sendRequest(protocol.ShutdownRequest.type);
  await connection.sendNotification(protocol.ExitNotification.type);
  const code = await new Promise((resolve) => server.on("exit", resolve));
  assert.equal(code, 0);
  rmSync(root, { recursive: true });
});
