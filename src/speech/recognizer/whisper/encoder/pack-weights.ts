/** Number of outputs that the addon's products in bfloat16 compute at a time. */
const panel = 64;
/** The same of its products in 8 bits. */
const bytePanel = 32;
/** Number of inputs that have one scale in 8 bits. */
const blockInputs = 128;
/** Bytes of a panel's block: its weights, then a scale for each output. */
const blockBytes = bytePanel * (blockInputs + Float32Array.BYTES_PER_ELEMENT);
/** Largest number of 8 bits, and the number that is added to store it without a sign. */
const [LARGEST, UNSIGNED_ZERO] = [127, 128];

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
 * Quantizes [outputs][inputs] to 8 bits, with a scale for each output and 128 inputs, in the layout of the addon's products
 * (PanelBlockOf in native/src/quantized.h): [outputs / 32][inputs / 128] of [32 times four inputs][32 outputs][4] and 32 scales.
 */
export function packInBytes(weights: Float32Array, outputs: number, inputs: number): Uint8Array {
  const blocks = inputs / blockInputs;
  const packed = new Uint8Array((outputs / bytePanel) * blocks * blockBytes);
  const scales = new Float32Array(packed.buffer);
  for (let output = 0; output < outputs; output++) {
    const lane = output % bytePanel;
    for (let block = 0; block < blocks; block++) {
      const start = (Math.floor(output / bytePanel) * blocks + block) * blockBytes;
      const first = output * inputs + block * blockInputs;
      const values = weights.subarray(first, first + blockInputs);
      const most = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
      const factor = most > 0 ? LARGEST / most : 0;
      for (const [i, value] of values.entries()) {
        packed[start + (i >> 2) * 4 * bytePanel + 4 * lane + (i & 3)] = UNSIGNED_ZERO + Math.round(value * factor);
      }
      scales[(start + bytePanel * blockInputs) / Float32Array.BYTES_PER_ELEMENT + lane] = most / LARGEST;
    }
  }
  return packed;
}
