import type { LiveFormat } from "../contract.ts";

type Encoding = LiveFormat["encoding"];

/** Decodes complete samples to the range from -1 to 1. `bytes` has a whole number of samples. */
type Decode = (bytes: Uint8Array, target: Float32Array) => void;

const BYTES_PER_SAMPLE: Readonly<Record<Encoding, number>> = { pcm16: 2, float32: 4, mulaw: 1, alaw: 1 };
const FULL_SCALE = 32_768;

const decoders: Readonly<Record<Encoding, Decode>> = {
  pcm16(bytes, target) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < target.length; at++) target[at] = view.getInt16(2 * at, true) / FULL_SCALE;
  },
  float32(bytes, target) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < target.length; at++) target[at] = finite(view.getFloat32(4 * at, true));
  },
  mulaw: byTable(Float32Array.from({ length: 256 }, (_, code) => decodeMulaw(code) / FULL_SCALE)),
  alaw: byTable(Float32Array.from({ length: 256 }, (_, code) => decodeAlaw(code) / FULL_SCALE)),
};

/** Decoder of the samples of one stream. Bytes of a sample that is not complete wait for the next call. */
export class SampleDecoder {
  readonly bytesPerSample: number;
  readonly #decode: Decode;
  /** The first bytes of a sample. */
  #rest = new Uint8Array(0);

  constructor(encoding: Encoding) {
    this.bytesPerSample = BYTES_PER_SAMPLE[encoding];
    this.#decode = decoders[encoding];
  }

  decode(bytes: Uint8Array): Float32Array {
    const all = this.#rest.length === 0 ? bytes : joined(this.#rest, bytes);
    const count = Math.floor(all.length / this.bytesPerSample);
    const samples = new Float32Array(count);
    this.#decode(all.subarray(0, count * this.bytesPerSample), samples);
    this.#rest = all.slice(count * this.bytesPerSample);
    return samples;
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}

/** Returns 0 for what is no number or infinite, and limits a sample to twice the full scale. */
function finite(sample: number): number {
  return Number.isFinite(sample) ? Math.max(-2, Math.min(2, sample)) : 0;
}

function byTable(table: Float32Array): Decode {
  return (bytes, target) => {
    for (let at = 0; at < target.length; at++) target[at] = table[bytes[at] ?? 0] ?? 0;
  };
}

/** Decodes µ-law to 16 bits (ITU-T G.711, table 2): the bits are inverted, and the steps are 14 bits wide. */
function decodeMulaw(code: number): number {
  const bits = ~code & 0xff;
  const exponent = (bits >> 4) & 7;
  const magnitude = ((((bits & 15) << 3) + 132) << exponent) - 132;
  return (bits & 0x80) === 0 ? magnitude : -magnitude;
}

/** Decodes A-law to 16 bits (ITU-T G.711, table 1): every other bit is inverted, and the steps are 13 bits wide. */
function decodeAlaw(code: number): number {
  const bits = code ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const mantissa = ((bits & 15) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 256) << (exponent - 1);
  return (bits & 0x80) === 0 ? -magnitude : magnitude;
}
