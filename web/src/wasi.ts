// SPDX-License-Identifier: Apache-2.0
// What the engine asks of a system (WASI, preview 1): one file that is read in pieces, a page that is written, a message.

const BAD_DESCRIPTOR = 8, IO_ERROR = 29, NO_ENTRY = 44, NO_SUCH_CALL = 52;
const DEVICE = 2, FOLDER = 3, FILE = 4; // kinds of descriptors
const PAGE = 1, MESSAGE = 2, ROOT = 3; // descriptors; those behind are of the file

// A worker's way to read without waiting for a promise. The type library of pages does not know it.
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

class Exit extends Error {
  constructor(readonly status: number) {
    super();
  }
}

interface Piece {
  start: number;
  bytes: Uint8Array<ArrayBuffer>;
}

// A browser that lets the engine wait for a promise (JSPI) reads on while the engine works.
interface Waiting {
  Suspending?: new (call: (...values: never[]) => unknown) => WebAssembly.ImportValue;
  promising?: (call: WebAssembly.ExportValue) => () => Promise<void>;
}
const { Suspending, promising } = WebAssembly as unknown as Waiting;

// The file in order from `at` on, one piece ahead. Its rooms are used again, so that a long file leaves no garbage.
class Ahead {
  private static readonly ROOM = 1 << 22;
  private readonly reader: ReadableStreamBYOBReader;
  private next: Promise<Piece>;
  constructor(file: Blob, private at: number) {
    this.reader = file.slice(at).stream().getReader({ mode: "byob" });
    this.next = this.load(new ArrayBuffer(Ahead.ROOM));
  }

  // The next piece; `used` is one that nobody reads any more.
  async take(used?: Piece): Promise<Piece> {
    const piece = await this.next;
    this.next = this.load(used?.bytes.buffer.byteLength === Ahead.ROOM ? used.bytes.buffer : new ArrayBuffer(Ahead.ROOM));
    this.next.catch(() => undefined); // whoever takes it hears of it
    return piece;
  }

  stop(): void {
    void this.reader.cancel();
  }

  private async load(room: ArrayBuffer): Promise<Piece> {
    const start = this.at;
    let n = 0;
    while (n < Ahead.ROOM) {
      const { done, value } = await this.reader.read(new Uint8Array(room, n));
      if (!value) break;
      room = value.buffer;
      n += value.length;
      if (done) break;
    }
    this.at += n;
    return { start, bytes: new Uint8Array(room, 0, n) };
  }
}

// The file in pieces: small ones while it is read here and there (SQLite), large ones once it is read in order. The last two are kept: the
// engine looks back to where a line began.
class Pieces {
  private static readonly LEAST = 1 << 16;
  private static readonly LARGE = 1 << 20;
  private static readonly MOST = 1 << 24;
  private readonly reader = new FileReaderSync();
  private kept: Piece[] = [];
  private size = Pieces.LEAST;
  private ahead: Ahead | null = null;
  constructor(private readonly file: Blob) {}

  // Copies what a piece has from `at` on; 0 at the end of the file.
  read(at: number, into: Uint8Array): number | Promise<number> {
    if (at >= this.file.size) return 0;
    const copy = ({ start, bytes }: Piece): number => {
      const part = bytes.subarray(at - start, at - start + into.length);
      into.set(part);
      return part.length;
    };
    const there = this.kept.find(({ start, bytes }) => at >= start && at < start + bytes.length) ?? this.move(at);
    return there instanceof Promise ? there.then(copy) : copy(there);
  }

  private move(at: number): Piece | Promise<Piece> {
    const [last] = this.kept;
    const inOrder = last && at === last.start + last.bytes.length;
    if (!inOrder) this.leaveOrder();
    else if (Suspending && this.size >= Pieces.LARGE) return this.follow(at);
    const piece = { start: at, bytes: new Uint8Array(this.reader.readAsArrayBuffer(this.file.slice(at, at + this.size))) };
    this.size = Math.min(this.size * 4, Pieces.MOST);
    return this.keep(piece);
  }

  private async follow(at: number): Promise<Piece> {
    this.ahead ??= new Ahead(this.file, at);
    return this.keep(await this.ahead.take(this.kept[1]));
  }

  private keep(piece: Piece): Piece {
    this.kept = [piece, ...this.kept.slice(0, 1)];
    return piece;
  }

  private leaveOrder(): void {
    this.size = Pieces.LEAST;
    this.ahead?.stop();
    this.ahead = null;
  }
}

export interface Outcome {
  page: Uint8Array<ArrayBuffer>[];
  message: string; // why there is no page; empty otherwise
}

export class System {
  private readonly page: Uint8Array<ArrayBuffer>[] = [];
  private readonly positions = new Map<number, number>(); // by descriptor of the file
  private readonly pieces: Pieces;
  private readonly words: Uint8Array[];
  private message = "";
  private memory = new WebAssembly.Memory({ initial: 0 });

  // `read` hears how far the file is read.
  constructor(private readonly file: File, private readonly name: string, private readonly read: (position: number) => void) {
    this.pieces = new Pieces(file);
    this.words = ["engine", name].map((word) => new TextEncoder().encode(`${word}\0`));
  }

  async run(module: WebAssembly.Module): Promise<Outcome> {
    const calls: Record<string, WebAssembly.ImportValue> = {};
    for (const { name } of WebAssembly.Module.imports(module)) calls[name] = () => NO_SUCH_CALL; // what only writers of files need
    Object.assign(calls, this.calls());
    for (const [name, call] of Object.entries(this.reads())) calls[name] = Suspending ? new Suspending(call) : call;
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: calls });
    this.memory = instance.exports.memory as WebAssembly.Memory;
    const { _start } = instance.exports;
    try {
      await (promising ? promising(_start)() : (_start as () => void)());
    } catch (error) {
      if (!(error instanceof Exit)) throw error;
      return { page: [], message: this.message || `The engine ended with status ${error.status}.` };
    }
    return { page: this.page, message: "" };
  }

  private get view(): DataView {
    return new DataView(this.memory.buffer);
  }

  private bytes(at: number, n: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, at, n);
  }

  // The buffers of a call that reads or writes: `n` pairs of an address and a length.
  private buffers(at: number, n: number): Uint8Array[] {
    const view = this.view;
    return Array.from({ length: n }, (_, i) => this.bytes(view.getUint32(at + i * 8, true), view.getUint32(at + i * 8 + 4, true)));
  }

  // Fills the first buffer, or less of it: the engine asks again.
  private fill(buffers: number, from: number, count: number, done: (n: number) => void = () => undefined): number | Promise<number> {
    const end = (n: number): number => {
      this.view.setUint32(count, n, true);
      this.read(from + n);
      done(n);
      return 0;
    };
    try {
      const got = this.pieces.read(from, this.buffers(buffers, 1)[0]);
      return got instanceof Promise ? got.then(end, () => IO_ERROR) : end(got);
    } catch {
      return IO_ERROR; // it changed, or may not be read
    }
  }

  private write(descriptor: number, buffers: Uint8Array[], count: number): number {
    if (descriptor !== PAGE && descriptor !== MESSAGE) return BAD_DESCRIPTOR;
    let n = 0;
    for (const buffer of buffers) {
      n += buffer.length;
      if (descriptor === PAGE) this.page.push(buffer.slice());
      else this.message += new TextDecoder().decode(buffer);
    }
    this.view.setUint32(count, n, true);
    return 0;
  }

  private isThere(path: number, length: number): boolean {
    return new TextDecoder().decode(this.bytes(path, length)).replace(/^(\.?\/)+/, "") === this.name.replace(/^\.\//, "");
  }

  private putState(at: number, kind: number, size: number): number {
    this.bytes(at, 64).fill(0);
    this.view.setUint8(at + 16, kind);
    this.view.setBigUint64(at + 32, BigInt(size), true);
    this.view.setBigUint64(at + 48, BigInt(this.file.lastModified) * 1000000n, true); // nanoseconds
    return 0;
  }

  private kind(descriptor: number): number {
    return descriptor < ROOT ? DEVICE : descriptor === ROOT ? FOLDER : this.positions.has(descriptor) ? FILE : 0;
  }

  private open(): number {
    const descriptor = ROOT + 1 + Math.max(0, ...[...this.positions.keys()].map((used) => used - ROOT));
    this.positions.set(descriptor, 0);
    return descriptor;
  }

  private calls(): Record<string, (...values: never[]) => number> {
    return {
      args_sizes_get: (count: number, size: number) => {
        this.view.setUint32(count, this.words.length, true);
        this.view.setUint32(size, this.words.reduce((sum, word) => sum + word.length, 0), true);
        return 0;
      },
      args_get: (pointers: number, at: number) => {
        this.words.forEach((word, i) => {
          this.view.setUint32(pointers + i * 4, at, true);
          this.bytes(at, word.length).set(word);
          at += word.length;
        });
        return 0;
      },
      clock_time_get: (_clock: number, _precision: bigint, at: number) => {
        this.view.setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
      },
      random_get: (at: number, n: number) => {
        crypto.getRandomValues(this.bytes(at, n) as Uint8Array<ArrayBuffer>);
        return 0;
      },
      proc_exit: (status: number) => {
        throw new Exit(status);
      },
      fd_prestat_get: (descriptor: number, at: number) => {
        if (descriptor !== ROOT) return BAD_DESCRIPTOR;
        this.view.setUint32(at, 0, true);
        this.view.setUint32(at + 4, 1, true);
        return 0;
      },
      fd_prestat_dir_name: (_descriptor: number, at: number) => {
        this.view.setUint8(at, 0x2f); // "/"
        return 0;
      },
      fd_fdstat_get: (descriptor: number, at: number) => {
        this.bytes(at, 24).fill(0xff); // all rights
        this.view.setUint8(at, this.kind(descriptor));
        this.view.setUint16(at + 2, 0, true);
        return this.kind(descriptor) ? 0 : BAD_DESCRIPTOR;
      },
      fd_filestat_get: (descriptor: number, at: number) => (this.kind(descriptor) ? this.putState(at, this.kind(descriptor), this.kind(descriptor) === FILE ? this.file.size : 0) : BAD_DESCRIPTOR),
      path_filestat_get: (_root: number, _flags: number, path: number, length: number, at: number) => (this.isThere(path, length) ? this.putState(at, FILE, this.file.size) : NO_ENTRY),
      path_open: (_root: number, _look: number, path: number, length: number, _how: number, _rights: bigint, _inherited: bigint, _flags: number, at: number) => {
        if (!this.isThere(path, length)) return NO_ENTRY;
        this.view.setUint32(at, this.open(), true);
        return 0;
      },
      fd_advise: () => 0,
      fd_close: (descriptor: number) => (this.positions.delete(descriptor) ? 0 : BAD_DESCRIPTOR),
      fd_write: (descriptor: number, at: number, n: number, count: number) => this.write(descriptor, this.buffers(at, n), count),
    };
  }

  private reads(): Record<string, (...values: never[]) => number | Promise<number>> {
    return {
      fd_read: (descriptor: number, buffers: number, _n: number, count: number) => {
        const position = this.positions.get(descriptor);
        return position === undefined ? BAD_DESCRIPTOR : this.fill(buffers, position, count, (n) => this.positions.set(descriptor, position + n));
      },
      fd_pread: (descriptor: number, buffers: number, _n: number, from: bigint, count: number) => (this.positions.has(descriptor) ? this.fill(buffers, Number(from), count) : BAD_DESCRIPTOR),
    };
  }
}
