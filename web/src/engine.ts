// SPDX-License-Identifier: Apache-2.0
// The worker: reads one file with the engine, says how far it is, and answers with the report page or with why there is none.
import { System } from "./wasi.js";

export interface Job {
  module: WebAssembly.Module;
  file: File;
}
export type Answer = { read: number } | { page: Blob } | { failure: string };

const answer = (what: Answer): void => postMessage(what);

// A word of the progress now and then: the reader's eye is no faster.
function progress(): (position: number) => void {
  let told = performance.now();
  return (position) => {
    if (performance.now() - told < 100) return;
    told = performance.now();
    answer({ read: position });
  };
}

async function run({ module, file }: Job): Promise<Answer> {
  const name = file.name === "-" ? "./-" : file.name; // "-" alone is standard input
  const { page, message } = await new System(file, name, progress()).run(module);
  return message ? { failure: message } : { page: new Blob(page, { type: "text/html;charset=utf-8" }) };
}

addEventListener("message", (event: MessageEvent<Job>) => {
  run(event.data).then(answer, (error: unknown) => answer({ failure: `The engine stopped: ${error instanceof Error ? error.message : String(error)}` }));
});
