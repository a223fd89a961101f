/** ggml's numbers of the quantized types that are written. */
const Q4_0 = 2;
const Q5_0 = 6;
const Q8_0 = 8;
const BLOCK = 32;

/** Quantizes numbers in blocks of 32 with one scale each, like ggml. @param type ggml's number of the element type */
export function quantize(values: Float32Array, type: number): Uint8Array {
  const blocks = Array.from({ length: values.length / BLOCK }, (_, i) => values.subarray(i * BLOCK, (i + 1) * BLOCK));
  const encode = encoders.get(type);
  if (encode === undefined) throw new Error(`numbers cannot be quantized to type ${type}`);
  return Buffer.concat(blocks.map(encode));
}

const encoders: ReadonlyMap<number, (block: Float32Array) => Uint8Array> = new Map([
  [Q8_0, (block) => inBytes(block)],
  [Q5_0, (block) => inBits(block, 16)],
  [Q4_0, (block) => inBits(block, 8)],
]);

function scaleBytes(scale: number): Uint8Array {
  return new Uint8Array(Float16Array.of(scale).buffer);
}

function inBytes(block: Float32Array): Uint8Array {
  const scale = block.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127;
  const numbers = Int8Array.from(block, (value) => (scale === 0 ? 0 : Math.round(value / scale)));
  return Buffer.concat([scaleBytes(scale), new Uint8Array(numbers.buffer)]);
}

/** @param half 8: four bits each; 16: four bits each and the fifth bits before them */
function inBits(block: Float32Array, half: 8 | 16): Uint8Array {
  const extreme = block.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
  const scale = -extreme / half;
  const numbers = Array.from(block, (value) =>
    scale === 0 ? half : Math.max(0, Math.min(2 * half - 1, Math.floor(value / scale + half + 0.5))),
  );
  const low = Uint8Array.from(
    { length: BLOCK / 2 },
    (_, i) => ((numbers[i] ?? 0) & 15) | (((numbers[i + BLOCK / 2] ?? 0) & 15) << 4),
  );
  if (half === 8) return Buffer.concat([scaleBytes(scale), low]);
  const fifth = numbers.reduce((bits, number, i) => bits | ((number >> 4) << i), 0);
  return Buffer.concat([scaleBytes(scale), new Uint8Array(Uint32Array.of(fifth >>> 0).buffer), low]);
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
