// Runs the program, apart from the page: a run can be ended.

import { type Files, type Run, run } from "../../npm/src/run.js";

export interface Request {
  module: WebAssembly.Module;
  args: string[];
  files: Files;
}

export type Answer = Run | { failure: string };

addEventListener("message", ({ data }: MessageEvent<Request>) => {
  let answer: Answer;
  try {
    answer = run(data.module, data.args, data.files);
  } catch (error) {
    answer = { failure: error instanceof Error ? error.message : String(error) };
  }
  postMessage(answer);
});
