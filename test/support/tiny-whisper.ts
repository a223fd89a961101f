import { writeFileSync } from "node:fs";

/** A whisper model's encoder in small, with the names and the file format of a real one. */
export interface TinyModel {
  readonly positions: number;
  readonly width: number;
  readonly heads: number;
  readonly layers: number;
  readonly mels: number;
  readonly tensors: ReadonlyMap<string, { shape: number[]; values: Float32Array }>;
}

export function tinyModel(width = 8): TinyModel {
  const [positions, heads, layers, mels] = [12, 2, 2, 4];
  const tensors = new Map<string, { shape: number[]; values: Float32Array }>();
  let seed = 7;
  const random = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 31 - 1;
  };
  const add = (name: string, ...shape: number[]) => {
    const count = shape.reduce((product, size) => product * size, 1);
    const base = name.includes("ln") && name.endsWith("weight") ? 1 : 0;
    tensors.set(`encoder.${name}`, {
      shape,
      values: Float32Array.from({ length: count }, () => base + 0.5 * random()),
    });
  };
  const both = (name: string, outputs: number, ...inputs: number[]) => {
    add(`${name}.weight`, outputs, ...inputs);
    add(`${name}.bias`, outputs);
  };
  add("positional_embedding", positions, width);
  add("conv1.weight", width, mels, 3);
  add("conv1.bias", width, 1);
  add("conv2.weight", width, width, 3);
  add("conv2.bias", width, 1);
  for (let layer = 0; layer < layers; layer++) {
    const name = `blocks.${layer}`;
    both(`${name}.attn_ln`, width);
    both(`${name}.attn.query`, width, width);
    add(`${name}.attn.key.weight`, width, width);
    both(`${name}.attn.value`, width, width);
    both(`${name}.attn.out`, width, width);
    both(`${name}.mlp_ln`, width);
    both(`${name}.mlp.0`, 4 * width, width);
    both(`${name}.mlp.2`, width, 4 * width);
  }
  both("ln_post", width);
  return { positions, width, heads, layers, mels, tensors };
}

/** Writes a ggml file of 32-bit floats, or with matrices in 8 bits (of zeros), for which rows must be 32 long. */
export function writeGgml(path: string, model: TinyModel, form: "float" | "q8_0" = "float"): void {
  const { positions, width, heads, layers, mels, tensors } = model;
  const words = ["a", "bc"];
  const parts: Uint8Array[] = [];
  const integers = (...values: number[]) => parts.push(new Uint8Array(Int32Array.from(values).buffer));
  const text = (value: string) => parts.push(new TextEncoder().encode(value));
  integers(0x67676d6c, words.length, positions, width, heads, layers, 4, width, heads, layers, mels, 0);
  integers(mels, 3);
  parts.push(new Uint8Array(mels * 3 * 4));
  integers(words.length);
  for (const word of words) {
    integers(word.length);
    text(word);
  }
  for (const [name, { shape, values }] of tensors) {
    const isQuantised = form === "q8_0" && shape.length === 2 && name.endsWith("weight");
    integers(shape.length, name.length, isQuantised ? 8 : 0, ...shape.toReversed());
    text(name);
    parts.push(isQuantised ? new Uint8Array((values.length / 32) * 34) : new Uint8Array(values.buffer));
  }
  writeFileSync(path, Buffer.concat(parts));
}
