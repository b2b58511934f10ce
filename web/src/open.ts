// SPDX-License-Identifier: Apache-2.0
// The page that needs nothing installed: a file is dropped or chosen, the engine inside reads it in a worker, and its report page is shown
// here. Nothing is sent anywhere.
import "./style.css";
import "./open.css";
import { bytesOf } from "./data.js";
import { add, h, replace, run, visible } from "./dom.js";
import type { Answer, Job } from "./engine.js";
import { bytes } from "./format.js";
import { download } from "./save.js";
import { watchTheme } from "./theme.js";

interface Engine {
  module: WebAssembly.Module;
  worker: string; // address of its program
}

async function loadEngine(): Promise<Engine> {
  const program = new Blob([(await bytesOf("worker")) as Uint8Array<ArrayBuffer>], { type: "text/javascript" });
  return { module: await WebAssembly.compile((await bytesOf("engine")) as Uint8Array<ArrayBuffer>), worker: URL.createObjectURL(program) };
}

// ", 512.0 MB/s"; of a small file it would be the time of everything else.
const speed = (read: number, seconds: number): string => (read > 1 << 24 && seconds > 0 ? `, ${bytes(Math.round(read / seconds))}/s` : "");

class Opener {
  private readonly root = document.getElementById("app")!;
  private readonly engine = loadEngine();
  private readonly input = h("input", { type: "file", id: "file", class: "visually-hidden", tabindex: -1, "aria-hidden": "true", change: () => this.chosen() });
  private worker: Worker | null = null;
  private shown = ""; // address of the report page
  private frame: HTMLIFrameElement | null = null;

  async start(): Promise<void> {
    add(document.body, this.input);
    document.addEventListener("dragover", (event) => this.over(event));
    document.addEventListener("dragleave", () => this.mark(false));
    document.addEventListener("drop", (event) => this.drop(event));
    window.addEventListener("message", (event) => {
      if (event.source === this.frame?.contentWindow && event.data instanceof File) void this.open(event.data); // dropped on the report
    });
    this.ask();
    await this.engine;
    document.documentElement.dataset.ready = "true";
  }

  private mark(over: boolean): void {
    document.documentElement.toggleAttribute("data-over", over);
  }

  private over(event: DragEvent): void {
    event.preventDefault();
    this.mark(true);
  }

  private drop(event: DragEvent): void {
    event.preventDefault();
    this.mark(false);
    const files = event.dataTransfer?.files ?? [];
    const folder = [...(event.dataTransfer?.items ?? [])].some((item) => item.webkitGetAsEntry()?.isDirectory);
    if (folder) this.ask("This is a folder. Drop a file of it: the log, or db.sqlite of a report of ttnn-visualizer.");
    else if (files.length > 1) this.ask("These are several files. Drop one.");
    else if (files.length) void this.open(files[0]);
  }

  private chosen(): void {
    const file = this.input.files?.[0];
    this.input.value = ""; // the same file may be chosen again
    if (file) void this.open(file);
  }

  private choose(words: string, small = false): HTMLElement {
    return h("button", { type: "button", id: "choose", class: small ? "small" : "primary", click: () => this.input.click() }, words);
  }

  // Nothing is open: what can be, and what went wrong with the last one.
  private ask(failure = "", of = ""): void {
    this.stop();
    const wrong = failure && h("div", { class: "failure", role: "alert" }, of && h("h2", { class: "break" }, visible(of)), h("pre", { class: "break" }, visible(failure.trim())));
    replace(this.root, h("main", { class: "open" }, h("h1", {}, "ttmem"), wrong, h("div", { class: "drop" }, h("p", { class: "drop-words" }, "Drop a log here"), this.choose("Choose a file"), h("p", { class: "muted" }, "A log of TT-XLA or TT-MLIR (.gz and .zst too), a graph capture of ttnn, a recording of ttmem run, a TTNN module, or db.sqlite of ttnn-visualizer.")), h("p", { class: "muted" }, "The file is read here, in this page. Nothing leaves this machine: the page may not ask the network for anything.")));
    document.title = "ttmem";
    if (failure) document.getElementById("choose")!.focus();
  }

  private stop(): void {
    this.worker?.terminate();
    this.worker = null;
    this.frame = null;
    if (this.shown) URL.revokeObjectURL(this.shown);
    this.shown = "";
  }

  private async open(file: File): Promise<void> {
    this.stop();
    const bar = h("progress", { max: Math.max(file.size, 1), value: 0, "aria-label": "Read" });
    const words = h("p", { class: "muted num", role: "status" }, "Reading");
    const cancel = h("button", { type: "button", id: "cancel", click: () => this.ask() }, "Cancel");
    replace(this.root, h("main", { class: "open" }, h("h1", { class: "break" }, visible(file.name)), bar, words, cancel));
    document.title = `${visible(file.name)} — ttmem`;
    cancel.focus();
    const { module, worker } = await this.engine;
    if (!cancel.isConnected) return; // canceled, or another file came
    const begin = performance.now();
    this.worker = new Worker(worker);
    this.worker.addEventListener("error", (event) => this.ask(`The engine stopped: ${event.message || "no reason was given"}`, file.name));
    this.worker.addEventListener("message", (event: MessageEvent<Answer>) => {
      const seconds = (performance.now() - begin) / 1000;
      if ("page" in event.data) return this.show(file, event.data.page, seconds);
      if ("failure" in event.data) return this.ask(event.data.failure, file.name);
      const { read } = event.data;
      bar.value = read;
      replace(words, read < file.size ? `${bytes(read)} of ${bytes(file.size)}${speed(read, seconds)}` : `${bytes(file.size)} read, analyzing`);
    });
    this.worker.postMessage({ module, file } satisfies Job);
  }

  // The report in a frame of its own origin: of what a log says nothing reaches this page.
  private show(file: File, page: Blob, seconds: number): void {
    this.stop();
    const name = visible(file.name);
    this.shown = URL.createObjectURL(page);
    this.frame = h("iframe", { id: "report", title: `Report of ${name}`, sandbox: "allow-scripts allow-downloads allow-modals", src: this.shown });
    const took = h("span", { class: "muted" }, `${bytes(file.size)}${speed(file.size, seconds)}`);
    const save = h("button", { type: "button", class: "small", id: "save", click: () => download(`${file.name.replace(/\.[^.]*$/, "")}_report.html`, page) }, "Save page");
    replace(this.root, h("header", { class: "open-bar" }, h("strong", { class: "open-name", title: name }, name), took, save, this.choose("Open another file", true)), this.frame);
    this.frame.focus();
  }
}

watchTheme(() => undefined);
run(() => new Opener().start(), "ttmem analyze LOG");
