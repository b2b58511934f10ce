// SPDX-License-Identifier: Apache-2.0
// Reads what src/report/html_*.c wrote: each <script type="text/plain"> is base64(zlib(bytes)). Elements behind the program are only
// complete once the document is parsed.

const parsed = new Promise<void>((done) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => done(), { once: true });
  else done();
});

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (native.fromBase64) return native.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The bytes of an element that stands before the program ("early") or behind it.
export async function bytesOf(id: string, early = false): Promise<Uint8Array> {
  if (!early) await parsed;
  const element = document.getElementById(`data.${id}`);
  if (!element) throw new Error(`this page lacks its part "${id}": it was cut or changed`);
  return inflate(fromBase64(element.textContent ?? ""));
}

export async function jsonOf<T>(id: string, early = false): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await bytesOf(id, early))) as T;
}

export async function textOf(id: string): Promise<string> {
  return new TextDecoder().decode(await bytesOf(id));
}

// Numbers one after the other, as ttm_block_number and ttm_block_delta wrote them. Exact up to 2^53.
export class Reader {
  private at = 0;
  private last = 0;
  constructor(private readonly bytes: Uint8Array) {}

  get ended(): boolean {
    return this.at >= this.bytes.length;
  }

  number(): number {
    let byte = this.bytes[this.at++];
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 128;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte >= 0x80);
    return value;
  }

  signed(): number {
    const folded = this.number();
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }

  delta(): number {
    this.last += this.signed();
    return this.last;
  }

  // A pair of the pyramid: the low value as a difference to the last high one, then how far the high one is above it.
  pair(low: Int32Array, high: Int32Array, i: number): void {
    low[i] = this.delta();
    high[i] = low[i] + this.number();
    this.last = high[i];
  }
}

// A column of small numbers (below 2^31); the hot loop of every large page.
export function unsignedColumn(bytes: Uint8Array, n: number): Uint32Array {
  const out = new Uint32Array(n);
  let at = 0;
  for (let i = 0; i < n; i++) {
    let byte = bytes[at++];
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = bytes[at++];
      value |= (byte & 0x7f) << shift;
    }
    out[i] = value;
  }
  return out;
}

export function deltaColumn(bytes: Uint8Array, n: number): Int32Array {
  const out = new Int32Array(n);
  let at = 0;
  let last = 0;
  for (let i = 0; i < n; i++) {
    let byte = bytes[at++];
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = bytes[at++];
      value |= (byte & 0x7f) << shift;
    }
    last += (value >>> 1) ^ -(value & 1);
    out[i] = last;
  }
  return out;
}

// The same for byte counts, which pass 2^31.
export function bigDeltaColumn(bytes: Uint8Array, n: number): Float64Array {
  const out = new Float64Array(n);
  const reader = new Reader(bytes);
  for (let i = 0; i < n; i++) out[i] = reader.delta();
  return out;
}

// Texts one after the other; each becomes a string when it is first asked for. Id 0 is "none".
export class Strings {
  private readonly starts: Uint32Array;
  private readonly made: (string | undefined)[];
  private readonly decoder = new TextDecoder();

  constructor(
    lengths: Uint8Array,
    private readonly bytes: Uint8Array,
  ) {
    const reader = new Reader(lengths);
    const starts = [0];
    while (!reader.ended) starts.push(starts[starts.length - 1] + reader.number());
    this.starts = Uint32Array.from(starts);
    this.made = new Array<string | undefined>(starts.length);
  }

  static async load(id: string): Promise<Strings> {
    const [lengths, bytes] = await Promise.all([bytesOf(`${id}.length`), bytesOf(id)]);
    return new Strings(lengths, bytes);
  }

  // All of them in lower case, one after the other, and where each ends, by id.
  lower(): { text: string; ends: Uint32Array } {
    const text = this.decoder.decode(this.bytes).toLowerCase();
    if (/^[\0-\x7f]*$/.test(text)) return { text, ends: this.starts };
    const texts = Array.from(this.starts, (_end, id) => this.get(id).toLowerCase());
    let end = 0;
    return { text: texts.join(""), ends: Uint32Array.from(texts, (one) => (end += one.length)) };
  }

  get(id: number): string {
    if (id === 0) return "";
    return (this.made[id] ??= this.decoder.decode(this.bytes.subarray(this.starts[id - 1], this.starts[id])));
  }
}
