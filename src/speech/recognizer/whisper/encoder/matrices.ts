/** Columns that the addon's products take at a time. */
const panel = 64;

/** Turns [outputs][inputs] into [inputs][outputs], as ONNX multiplies. */
export function transpose(weights: Float32Array, outputs: number, inputs: number): Float32Array {
  const transposed = new Float32Array(weights.length);
  for (let output = 0; output < outputs; output++) {
    for (let input = 0; input < inputs; input++) {
      transposed[input * outputs + output] = weights[output * inputs + input] ?? 0;
    }
  }
  return transposed;
}

/** Turns [outputs][inputs] into [outputs / 64][inputs / 2][64][2] of bfloat16, as the addon multiplies. */
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

/** The upper half of a float's bits, rounded to the nearest, and to even where both are as near. */
function toBfloat16(bits: number): number {
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}
