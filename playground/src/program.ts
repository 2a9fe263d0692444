// Starts runs of the program, one after the other, and ends one that takes too long.

import { decompress } from "brotli/decompress";
import type { Files, Run } from "../../npm/src/run.js";
import type { Answer, Request } from "./worker.js";
// A worker in a `blob:` has the content security policy of the page; one with an address of its own would have none.
import Worker from "./worker.js?worker&inline";

/** Milliseconds after which a run is ended. */
const LONGEST = 10_000;

let module: Promise<WebAssembly.Module> | undefined;
let worker: Worker | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Unpacks and compiles the program, once. */
export function load(): Promise<WebAssembly.Module> {
  return (module ??= import("virtual:program").then(({ default: { packed, length } }) => {
    const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
    return WebAssembly.compile(decompress(bytes, length) as BufferSource);
  }));
}

/** Runs the program with `args` in a folder of `files`. Rejects with a sentence if the run ends early. */
export function start(args: string[], files: Files = {}): Promise<Run> {
  const next = last.then(() => attempt(args, files));
  last = next.catch(() => {});
  return next;
}

async function attempt(args: string[], files: Files): Promise<Run> {
  const request: Request = { module: await load(), args, files };
  const used = (worker ??= new Worker());
  const { promise, resolve, reject } = Promise.withResolvers<Run>();
  const end = (reason: string) => {
    // After a failure, a new worker begins with new memory.
    used.terminate();
    worker = undefined;
    reject(new Error(reason));
  };
  const timer = setTimeout(end, LONGEST, `the run was ended after ${LONGEST / 1000} s; the native program has no such limit`);
  used.onmessage = ({ data }: MessageEvent<Answer>) => ("failure" in data ? end(data.failure) : resolve(data));
  used.onerror = () => end("the run failed: the browser ended it");
  used.postMessage(request);
  return promise.finally(() => clearTimeout(timer));
}
