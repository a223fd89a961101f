/** Number of columns that the addon's products process at a time. */
const panel = 64;

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
