// The function for programs: files in, findings out.

import { readFile } from "node:fs/promises";
import { type Files, run } from "./run.js";

export type { Files };

/** Place in a file. Lines and columns start at 1; offsets are bytes of UTF-8. */
export interface Place {
  file: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  offset: number;
  end_offset: number;
}

/** Finding of a rule. The first of its labels is the place to edit. */
export interface Finding extends Place {
  rule: string;
  severity: "error" | "warning" | "info";
  message: string;
  /** Root module, template or service. */
  unit: string;
  /** Address of the resource. */
  address: string;
  attribute: string | null;
  labels: (Place & { message: string; primary: boolean })[];
  calculation: string | null;
  help: string | null;
  /** Conditions under which it applies. */
  when: string | null;
  calls: string[];
  fix: { title: string; safety: "safe" | "unsafe" } | null;
  /** Edits that make the fix. */
  edits: (Place & { text: string })[];
  timeline: { harm: string; summary: string; events: TimelineEvent[] } | null;
  fingerprint: string;
}

export interface TimelineEvent {
  milliseconds: number;
  event: string;
  /** Receive of the message that the event belongs to. */
  receive: number;
  message: string;
}

/** Result of `check`: the document of `sqslint check --format json`. */
export interface Report {
  version: 1;
  summary: Record<string, unknown> & { errors: number; warnings: number; infos: number };
  findings: Finding[];
  /** Queues and event source mappings that a rule could not judge. */
  unjudged: Record<string, unknown>[];
  /** Errors that prevented a part of the run. */
  errors: string[];
}

let loaded: Promise<WebAssembly.Module> | undefined;

/**
 * Checks `files`, a project with its `sqslint.toml` if it has one. `args` are further arguments of `sqslint check`, such
 * as `["--select", "visibility"]`. Rejects if the arguments are wrong or the run ends early.
 */
export async function check(files: Files, args: readonly string[] = []): Promise<Report> {
  loaded ??= readFile(new URL("sqslint.wasm", import.meta.url)).then((bytes) => WebAssembly.compile(bytes));
  const { out, err } = run(await loaded, ["check", ...args, "--format", "json"], files);
  if (out === "") {
    throw new Error(err.trim());
  }
  return JSON.parse(out) as Report;
}
