// The extension: starts the language server, says how it is, and puts its commands into the editor.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { LanguageClient, State, TransportKind } from "vscode-languageclient/node";
import { flags, launcher, options, page, program } from "./program.js";
import { SavedFindings, launch } from "./saved.js";

const run = promisify(execFile);

/** What sqslint may have something to say of. */
const LANGUAGES = ["terraform", "terraform-vars", "opentofu", "hcl", "yaml", "json", "jsonc", "toml", "cloudformation"];

let client: LanguageClient | undefined;
/** Findings on save, if there is no program. */
let saved: SavedFindings | undefined;
let status: vscode.StatusBarItem;
let output: vscode.OutputChannel;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  output = vscode.window.createOutputChannel("sqslint");
  status = vscode.window.createStatusBarItem("sqslint", vscode.StatusBarAlignment.Right);
  status.name = "sqslint";
  status.command = "sqslint.restart";
  const rules = vscode.workspace.registerTextDocumentContentProvider("sqslint-rule", {
    provideTextDocumentContent: (uri) => rulePage(context, uri),
  });
  const commands: [string, () => Promise<void>][] = [
    ["sqslint.restart", () => restart(context)],
    ["sqslint.showGraph", showGraph],
    ["sqslint.explainHere", explainHere],
    ["sqslint.baseline", () => baseline(context)],
  ];
  const registered = commands.map(([name, work]) => vscode.commands.registerCommand(name, work));
  const changed = vscode.workspace.onDidChangeConfiguration(async (event) => {
    if (event.affectsConfiguration("sqslint")) {
      await restart(context);
    }
  });
  const trusted = vscode.workspace.onDidGrantWorkspaceTrust(() => restart(context));
  context.subscriptions.push(output, status, rules, changed, trusted, ...registered);
  await restart(context);
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
  client = undefined;
  saved?.dispose();
  saved = undefined;
}

/** Folders that are open on this machine. */
function folders(): string[] {
  const all = vscode.workspace.workspaceFolders ?? [];
  return all.filter((folder) => folder.uri.scheme === "file").map((folder) => folder.uri.fsPath);
}

/** Returns the launcher of the program as WebAssembly, if there is no program, and none that the user wants instead. */
function fallback(context: vscode.ExtensionContext): string | undefined {
  const isSet = (vscode.workspace.getConfiguration("sqslint").get<string>("path") ?? "").trim() !== "";
  return vscode.workspace.isTrusted && !isSet && chosen(context) === undefined
    ? launcher(context.extensionPath)
    : undefined;
}

/** Runs the program, or its WebAssembly. */
async function runAny(context: vscode.ExtensionContext, args: string[], cwd: string): Promise<{ stdout: string; stderr: string }> {
  const command = chosen(context);
  if (command !== undefined) {
    return run(command, args, { cwd });
  }
  const script = fallback(context);
  if (script === undefined) {
    throw new Error("no program was found");
  }
  return launch(script, args, cwd);
}

/** Returns the program, or `undefined` if there is none or the workspace is not trusted: then nothing is started. */
function chosen(context: vscode.ExtensionContext): string | undefined {
  if (!vscode.workspace.isTrusted) {
    return undefined;
  }
  const set = vscode.workspace.getConfiguration("sqslint").get<string>("path") ?? "";
  return program(set, context.extensionPath, folders());
}

async function restart(context: vscode.ExtensionContext): Promise<void> {
  await deactivate();
  const command = chosen(context);
  const script = fallback(context);
  if (script !== undefined) {
    const settings = vscode.workspace.getConfiguration("sqslint");
    const failed = (message: string) => output.append(`${message}\n`);
    saved = new SavedFindings(script, folders, () => flags((name) => settings.get(name), folders()[0]), failed);
    show(State.Running, "without an installed program: findings on save, from WebAssembly");
    await saved.check();
    return;
  }
  if (command === undefined) {
    const { isTrusted } = vscode.workspace;
    show(State.Stopped, isTrusted ? "no program was found" : "this workspace is not trusted");
    if (isTrusted) {
      await offerSettings("sqslint: no program was found; set `sqslint.path` to its absolute path");
    }
    return;
  }
  const settings = vscode.workspace.getConfiguration("sqslint");
  const started = new LanguageClient(
    "sqslint",
    "sqslint",
    { command, args: ["server"], transport: TransportKind.stdio, options: { cwd: context.extensionPath } },
    {
      documentSelector: LANGUAGES.flatMap((language) =>
        ["file", "untitled"].map((scheme) => ({ scheme, language })),
      ),
      initializationOptions: options((name) => settings.get(name), folders()[0]),
      outputChannel: output,
      progressOnInitialization: true,
      // The server's own commands are asked for by ours.
      middleware: { executeCommand: (name, given, next) => next(name, given) },
    },
  );
  client = started;
  started.onDidChangeState(({ newState }) => show(newState, command));
  try {
    await started.start();
  } catch (error) {
    show(State.Stopped, command);
    await offerSettings(
      `sqslint cannot be started as \`${command}\`: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function offerSettings(message: string): Promise<void> {
  const choice = await vscode.window.showErrorMessage(message, "Open Settings");
  if (choice !== undefined) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "sqslint.path");
  }
}

/** Shows a state, with the program or the reason for it. */
function show(state: State, detail: string): void {
  const [icon, words] = {
    [State.Starting]: ["$(sync~spin)", "starting"],
    [State.Running]: ["$(check)", "running"],
    [State.Stopped]: ["$(error)", "not running"],
  }[state];
  status.text = `${icon} sqslint`;
  status.tooltip = `sqslint is ${words} (${detail}); click to restart it`;
  status.show();
}

/** Asks the server for a text about the place of the cursor. */
async function ask(command: string, more: Record<string, unknown> = {}): Promise<string | undefined> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || client === undefined || !client.isRunning()) {
    void vscode.window.showInformationMessage("sqslint: open a file that it reads first");
    return undefined;
  }
  const position = client.code2ProtocolConverter.asPosition(editor.selection.active);
  const uri = client.code2ProtocolConverter.asUri(editor.document.uri);
  const text = await client.sendRequest<string | null>("workspace/executeCommand", {
    command,
    arguments: [{ uri, position, ...more }],
  });
  if (text === null) {
    void vscode.window.showInformationMessage("sqslint: nothing is known of this place");
    return undefined;
  }
  return text;
}

async function showGraph(): Promise<void> {
  const drawing = await ask("sqslint.graph", { format: "svg" });
  if (drawing === undefined) {
    return;
  }
  const title = "sqslint: graph";
  const beside = vscode.ViewColumn.Beside;
  const panel = vscode.window.createWebviewPanel("sqslint.graph", title, beside, { enableScripts: false });
  panel.webview.html = page(title, drawing);
}

async function explainHere(): Promise<void> {
  const content = await ask("sqslint.explain");
  if (content === undefined) {
    return;
  }
  const document = await vscode.workspace.openTextDocument({ content, language: "plaintext" });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

/** The page of a rule, from the program itself. */
async function rulePage(context: vscode.ExtensionContext, uri: vscode.Uri): Promise<string> {
  const rule = uri.path.replace(/^\//, "").replace(/\.md$/, "");
  if (!/^[a-z0-9-]+$/.test(rule)) {
    return "";
  }
  const { stdout } = await runAny(context, ["explain", rule], context.extensionPath);
  return stdout;
}

async function baseline(context: vscode.ExtensionContext): Promise<void> {
  const [folder] = folders();
  if (folder === undefined) {
    return;
  }
  const choice = await vscode.window.showWarningMessage(
    "sqslint: accept all findings of today? Only new ones will be reported from then on.",
    { modal: true },
    "Accept",
  );
  if (choice === undefined) {
    return;
  }
  try {
    const { stderr } = await runAny(context, ["baseline", "create"], folder);
    output.append(stderr);
    void vscode.window.showInformationMessage(stderr.trim() || "sqslint: the baseline is written");
    await restart(context);
  } catch (error) {
    void vscode.window.showErrorMessage(`sqslint: ${error instanceof Error ? error.message : String(error)}`);
  }
}
