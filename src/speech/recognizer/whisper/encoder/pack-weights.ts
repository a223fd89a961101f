/** Number of outputs that the addon's products in bfloat16 compute at a time. */
const panel = 64;
/** The same of its products in 8 bits. */
const bytePanel = 32;
/** Number of inputs that have one scale in 8 bits. */
const blockInputs = 128;
/** Bytes of a panel's block: its weights, then a scale and a sum for each output. */
const blockBytes = bytePanel * (blockInputs + 2 * Float32Array.BYTES_PER_ELEMENT);

/** The forms of weights in bytes: the largest number, and what is added to store it. */
const BYTE_FORMS = {
  /** For AVX-512, whose products take weights without a sign. */
  int8: { largest: 127, zero: 128 },
  /** For AVX-VNNI. */
  "int8-signed": { largest: 127, zero: 0 },
  /** For AVX2, which adds pairs of products in 16 bits. */
  "int7-signed": { largest: 64, zero: 0 },
} as const;
export type ByteForm = keyof typeof BYTE_FORMS;

/** Transposes [outputs][inputs] to [inputs][outputs], the layout of ONNX products. */
export function transpose(weights: Float32Array, outputs: number, inputs: number): Float32Array {
  const transposed = new Float32Array(weights.length);
  for (let output = 0; output < outputs; output++) {
    for (let input = 0; input < inputs; input++) {
      transposed[input * outputs + output] = weights[output * inputs + input] ?? 0;
    }
  }
  return transposed;
}

/** Packs [outputs][inputs] into [outputs / 64][inputs / 2][64][2] of bfloat16, the layout of the addon's products. */
export function packForProducts(weights: Float32Array, outputs: number, inputs: number): Uint16Array {
  const bits = new Uint32Array(weights.buffer, weights.byteOffset, weights.length);
  const packed = new Uint16Array(weights.length);
  for (let output = 0; output < outputs; output++) {
    const start = Math.floor(output / panel) * panel * inputs + (output % panel) * 2;
    for (let input = 0; input < inputs; input++) {
      const at = start + (input >> 1) * panel * 2 + (input & 1);
      packed[at] = toBfloat16(bits[output * inputs + input] ?? 0);
    }
  }
  return packed;
}

/** Returns the upper half of a float's bits, rounded to nearest, ties to even. */
function toBfloat16(bits: number): number {
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

/**
 * Quantizes [outputs][inputs] to 7 or 8 bits, with a scale for each output and 128 inputs, in the layout of the addon's products
 * (PanelBlockOf in native/src/kernels/quantized.h): [outputs / 32][inputs / 128] of [32 times four inputs][32 outputs][4], 32 scales
 * and 32 sums.
 */
export function packInBytes(form: ByteForm, weights: Float32Array, outputs: number, inputs: number): Uint8Array {
  const { largest, zero } = BYTE_FORMS[form];
  const blocks = inputs / blockInputs;
  const packed = new Uint8Array((outputs / bytePanel) * blocks * blockBytes);
  const floats = new Float32Array(packed.buffer);
  for (let output = 0; output < outputs; output++) {
    const lane = output % bytePanel;
    for (let block = 0; block < blocks; block++) {
      const start = (Math.floor(output / bytePanel) * blocks + block) * blockBytes;
      const first = output * inputs + block * blockInputs;
      const values = weights.subarray(first, first + blockInputs);
      const most = values.reduce((size, value) => Math.max(size, Math.abs(value)), 0);
      const factor = most > 0 ? largest / most : 0;
      let sum = 0;
      for (const [i, value] of values.entries()) {
        const number = Math.round(value * factor);
        sum += number;
        packed[start + (i >> 2) * 4 * bytePanel + 4 * lane + (i & 3)] = zero + number;
      }
      const at = (start + bytePanel * blockInputs) / Float32Array.BYTES_PER_ELEMENT + lane;
      floats[at] = most / largest;
      floats[at + bytePanel] = (sum * most) / largest;
    }
  }
  return packed;
}
