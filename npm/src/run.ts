// Runs the program on files in memory, in Node and in browsers. It reads and writes nothing else.

import { ConsoleStdout, Directory, File, Inode, OpenFile, PreopenDirectory, WASI, WASIProcExit, wasi } from "@bjorn3/browser_wasi_shim";

/** Files by path, with `/` between folders: `{ "infra/queues.tf": "…" }`. */
export type Files = Record<string, string | Uint8Array>;

/** Result of a run. */
export interface Run {
  /** Exit code: 0, 1 for findings, 2 for errors, 3 if there is nothing to check. */
  exit: number;
  out: string;
  err: string;
  /** All files after the run. */
  files: Record<string, Uint8Array>;
}

/** Runs the program with `args` in a folder that contains `files`. */
export function run(module: WebAssembly.Module, args: readonly string[], files: Files): Run {
  const root = tree(files);
  const [out, err] = [new Output(), new Output()];
  const streams = [new OpenFile(new File([])), out.stream, err.stream, new PreopenDirectory("/", new Map([["project", new Directory(root)]]))];
  const host = new WASI(["sqslint", ...args], ["PWD=/project"], streams, { debug: false });
  // The shim has no links, and no function that reads one.
  const imports = { ...host.wasiImport, path_readlink: () => wasi.ERRNO_INVAL };
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports });
  let exit: number;
  try {
    exit = host.start(instance as Parameters<WASI["start"]>[0]);
  } catch (error) {
    if (!(error instanceof WASIProcExit)) {
      throw new Error(reason(error, err.text()), { cause: error });
    }
    exit = error.code;
  }
  return { exit, out: out.text(), err: err.text(), files: listed(root) };
}

/** Returns a sentence about a run that ended without an exit code. */
export function reason(error: unknown, printed = ""): string {
  if (error instanceof RangeError) {
    return "an input is nested too deeply for WebAssembly";
  }
  if (printed.includes("memory allocation")) {
    return "the run needs more memory than WebAssembly may have";
  }
  return `the run failed: ${printed.trim() || String(error)}`;
}

/** Text that is printed in pieces. */
class Output {
  private readonly decoder = new TextDecoder();
  private readonly pieces: string[] = [];
  readonly stream = new ConsoleStdout((bytes) => this.pieces.push(this.decoder.decode(bytes, { stream: true })));

  text(): string {
    return this.pieces.join("");
  }
}

function tree(files: Files): Map<string, Inode> {
  const root = new Map<string, Inode>();
  for (const [path, content] of Object.entries(files)) {
    const names = path.split("/").filter((name) => name !== "" && name !== "." && name !== "..");
    const name = names.pop();
    let folder = root;
    for (const name of names) {
      const known = folder.get(name);
      const next = known instanceof Directory ? known : new Directory(new Map());
      folder.set(name, next);
      folder = next.contents;
    }
    if (name !== undefined) {
      folder.set(name, new File(typeof content === "string" ? new TextEncoder().encode(content) : content));
    }
  }
  return root;
}

function listed(folder: Map<string, Inode>, prefix = ""): Record<string, Uint8Array> {
  const entries = [...folder].flatMap(([name, node]) =>
    node instanceof Directory
      ? Object.entries(listed(node.contents, `${prefix}${name}/`))
      : node instanceof File
        ? [[prefix + name, node.data] as const]
        : [],
  );
  return Object.fromEntries(entries);
}
