#!/usr/bin/env node
// Runs the program on this machine's files, with Node's WASI.

import { existsSync, readFileSync } from "node:fs";
import { parse } from "node:path";
import { setFlagsFromString } from "node:v8";
import { reason } from "./run.js";

/** Path as WebAssembly knows it: `/` is the drive of the working directory. */
const inside = (path: string) => path.slice(parse(path).root.length).replace(/^/, "/").replaceAll("\\", "/");

// Node warns that its WASI is experimental.
process.emitWarning = () => {};
const { WASI } = await import("node:wasi");

// The default of 1 MB is too little for deeply nested files; the main thread has 8 MB, on Windows 1 MB.
if (process.platform !== "win32") {
  setFlagsFromString("--stack-size=6000");
}
const args = process.argv.slice(2).map((given) => (process.platform === "win32" && existsSync(given) ? inside(given) : given));
const { columns } = process.stdout.isTTY ? process.stdout : process.stderr;
const variables = { ...process.env, PWD: inside(process.cwd()), COLUMNS: columns?.toString() };
const wasi = new WASI({
  version: "preview1",
  args: ["sqslint", ...args],
  env: Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined)),
  preopens: { "/": parse(process.cwd()).root },
});
const module = new WebAssembly.Module(readFileSync(new URL("sqslint.wasm", import.meta.url)));
try {
  process.exitCode = wasi.start(new WebAssembly.Instance(module, wasi.getImportObject() as WebAssembly.Imports));
} catch (error) {
  process.stderr.write(`sqslint: ${reason(error)}\n`);
  process.exitCode = 2;
}
