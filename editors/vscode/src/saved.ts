// Findings on save, from the program as WebAssembly: for machines on which the program is not installed. It has no
// threads, so it cannot serve.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

const run = promisify(execFile);
const SEVERITIES = { error: vscode.DiagnosticSeverity?.Error, warning: vscode.DiagnosticSeverity?.Warning, info: vscode.DiagnosticSeverity?.Information };

/** Label of a finding in the JSON report. The first is the place to edit. */
interface Label {
  file: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  message: string;
}

interface Finding extends Label {
  rule: string;
  severity: "error" | "warning" | "info";
  labels: Label[];
  calculation: string | null;
  help: string | null;
}

/** Runs the launcher `script` with the editor's own Node. */
export async function launch(script: string, args: string[], cwd: string): Promise<{ stdout: string; stderr: string }> {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: "1", SQSLINT_FORMAT: "" };
  const limits = { timeout: 60_000, maxBuffer: 64 << 20 };
  try {
    return await run(process.execPath, [script, ...args], { cwd, env, ...limits });
  } catch (error) {
    const failed = error as { code?: unknown; stdout: string; stderr: string };
    // 1: there are findings; 3: there is nothing to check.
    if (failed.code === 1 || failed.code === 3) {
      return failed;
    }
    throw new Error(failed.stderr || String(error));
  }
}

/** Checks the folders now and after each save, until it is disposed. */
export class SavedFindings implements vscode.Disposable {
  private readonly shown = vscode.languages.createDiagnosticCollection("sqslint");
  private readonly saves = vscode.workspace.onDidSaveTextDocument(() => this.check());
  private running: Promise<void> | undefined;
  private again = false;

  constructor(
    private readonly script: string,
    private readonly folders: () => string[],
    private readonly args: () => string[],
    private readonly failed: (message: string) => void,
  ) {}

  dispose(): void {
    this.shown.dispose();
    this.saves.dispose();
  }

  /** Checks all folders. A save during a check makes another one follow. */
  check(): Promise<void> {
    this.again = this.running !== undefined;
    return (this.running ??= this.all().finally(() => {
      this.running = undefined;
      if (this.again) {
        void this.check();
      }
    }));
  }

  private async all(): Promise<void> {
    const found = new Map<string, vscode.Diagnostic[]>();
    for (const folder of this.folders()) {
      try {
        const { stdout } = await launch(this.script, ["check", "--format", "json", ...this.args(), "."], folder);
        for (const finding of (JSON.parse(stdout) as { findings: Finding[] }).findings) {
          const file = join(folder, finding.file);
          const text = [finding.message, finding.calculation, finding.help].filter((part) => part !== null).join("\n");
          const diagnostic = new vscode.Diagnostic(range(finding), text, SEVERITIES[finding.severity]);
          diagnostic.source = "sqslint";
          diagnostic.code = { value: finding.rule, target: vscode.Uri.parse(`sqslint-rule:/${finding.rule}.md`) };
          diagnostic.relatedInformation = finding.labels.slice(1).map((label) => {
            const place = new vscode.Location(vscode.Uri.file(join(folder, label.file)), range(label));
            return new vscode.DiagnosticRelatedInformation(place, label.message);
          });
          found.set(file, [...(found.get(file) ?? []), diagnostic]);
        }
      } catch (error) {
        this.failed(error instanceof Error ? error.message : String(error));
      }
    }
    this.shown.clear();
    found.forEach((diagnostics, file) => this.shown.set(vscode.Uri.file(file), diagnostics));
  }
}

function range({ line, column, end_line, end_column }: Label): vscode.Range {
  return new vscode.Range(line - 1, column - 1, end_line - 1, end_column - 1);
}
