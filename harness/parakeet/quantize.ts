/** ggml's numbers of the quantized types that are written. */
const Q4_0 = 2;
const Q5_0 = 6;
const Q8_0 = 8;
const BLOCK = 32;

/** Writes the block that begins at an index of the numbers to a position of the view. */
type Encode = (values: Float32Array, start: number, view: DataView, at: number) => void;

/** Bytes of a block, and what writes it. Models have millions of blocks, so nothing is allocated for one. */
const encoders: ReadonlyMap<number, readonly [number, Encode]> = new Map([
  [Q8_0, [34, inBytes]],
  [Q5_0, [22, inFiveBits]],
  [Q4_0, [18, inFourBits]],
] as const);

/** Quantizes numbers in blocks of 32 with one scale each, like ggml. @param type ggml's number of the element type */
export function quantize(values: Float32Array, type: number): Uint8Array {
  const encoder = encoders.get(type);
  if (encoder === undefined) throw new Error(`numbers cannot be quantized to type ${type}`);
  const [size, encode] = encoder;
  const bytes = new Uint8Array((values.length / BLOCK) * size);
  const view = new DataView(bytes.buffer);
  for (let start = 0, at = 0; start < values.length; start += BLOCK, at += size) encode(values, start, view, at);
  return bytes;
}

function inBytes(values: Float32Array, start: number, view: DataView, at: number): void {
  const scale = Math.abs(extremeOf(values, start)) / 127;
  view.setFloat16(at, scale, true);
  for (let i = 0; i < BLOCK; i++) {
    view.setInt8(at + 2 + i, scale === 0 ? 0 : Math.round((values[start + i] ?? 0) / scale));
  }
}

function inFourBits(values: Float32Array, start: number, view: DataView, at: number): void {
  inBits(values, start, view, at, 8);
}

/** Stores the fifth bits of all numbers before their lower bits. */
function inFiveBits(values: Float32Array, start: number, view: DataView, at: number): void {
  view.setUint32(at + 2, inBits(values, start, view, at, 16), true);
}

/**
 * Writes the scale at the begin of a block, and four bits of each number at its end.
 * @param half half of the values that a number can have
 * @returns the fifth bits, the first number's lowest
 */
function inBits(values: Float32Array, start: number, view: DataView, at: number, half: 8 | 16): number {
  const scale = -extremeOf(values, start) / half;
  view.setFloat16(at, scale, true);
  const low = at + (half === 8 ? 2 : 6);
  const numberAt = (i: number) => {
    if (scale === 0) return half;
    return Math.max(0, Math.min(2 * half - 1, Math.floor((values[start + i] ?? 0) / scale + half + 0.5)));
  };
  let fifth = 0;
  for (let i = 0; i < BLOCK / 2; i++) {
    const [first, second] = [numberAt(i), numberAt(i + BLOCK / 2)];
    view.setUint8(low + i, (first & 15) | ((second & 15) << 4));
    fifth |= ((first >> 4) << i) | ((second >> 4) << (i + BLOCK / 2));
  }
  return fifth >>> 0;
}

/** Returns the number of a block with the largest magnitude, the first of several. */
function extremeOf(values: Float32Array, start: number): number {
  let extreme = 0;
  for (let i = start; i < start + BLOCK; i++) {
    const value = values[i] ?? 0;
    if (Math.abs(value) > Math.abs(extreme)) extreme = value;
  }
  return extreme;
}

/** Returns the numbers of quantized blocks. @param type ggml's number of the element type */
export function dequantize(bytes: Uint8Array, type: number): Float64Array {
  const bits = type === Q8_0 ? 8 : type === Q5_0 ? 5 : 4;
  const header = type === Q5_0 ? 6 : 2;
  const size = header + (BLOCK * (bits === 8 ? 8 : 4)) / 8;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float64Array.from({ length: (bytes.length / size) * BLOCK }, (_, i) => {
    const start = Math.floor(i / BLOCK) * size;
    const at = i % BLOCK;
    const scale = view.getFloat16(start, true);
    if (bits === 8) return scale * view.getInt8(start + header + at);
    const low = (view.getUint8(start + header + (at % 16)) >> (at < 16 ? 0 : 4)) & 15;
    const fifth = bits === 5 ? (view.getUint32(start + 2, true) >>> at) & 1 : 0;
    return scale * (low + 16 * fifth - 2 ** (bits - 1));
  });
}
