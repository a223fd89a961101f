/** A variable to write; `bytes` are its elements, little-endian. */
export interface FakeVariable {
  shape: number[];
  type: number;
  bytes: Uint8Array;
}

export interface FakeModel {
  version: number;
  specification: string;
  revision: number;
  variables: Map<string, FakeVariable>;
  aliases: Map<string, string>;
}

const TYPE = { float32: 0, int8: 1, int16: 2, float16: 4, bfloat16: 5 } as const;
export type WeightType = keyof typeof TYPE;

/** Sizes so small that the token embedding takes most of the file. */
export const SIZES = {
  vocabulary: 51_864,
  audioContext: 6,
  textContext: 4,
  width: 4,
  heads: 2,
  layers: 1,
  melBands: 80,
};

/** Returns weights derived from the tensor's name: multiples of 1/64 between -1 and 1, exact in every type. */
function weights(count: number, name: string): Float32Array {
  const values = new Float32Array(count);
  let state = Bun.hash.crc32(name);
  for (let index = 0; index < count; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    values[index] = ((state >>> 25) - 64) / 64;
  }
  return values;
}

export function encode(values: Float32Array, type: WeightType): Uint8Array {
  const whole = () => Array.from(values, (value) => Math.round(value * 64));
  switch (type) {
    case "float32":
      return new Uint8Array(Float32Array.from(values).buffer);
    case "float16":
      return new Uint8Array(new Float16Array(values).buffer);
    case "bfloat16":
      return new Uint8Array(
        Uint16Array.from(new Uint32Array(Float32Array.from(values).buffer), (bits) => bits >>> 16).buffer,
      );
    case "int8":
      return new Uint8Array(Int8Array.from(whole()).buffer);
    case "int16":
      return new Uint8Array(Int16Array.from(whole()).buffer);
  }
}

/** Creates a Whisper model with one encoder and one decoder layer; its weights are equal in every element type. */
export function fakeWhisper(type: WeightType, sizes: Partial<typeof SIZES> = {}): FakeModel {
  const size = { ...SIZES, ...sizes };
  const { width } = size;
  const variables = new Map<string, FakeVariable>();
  const quantised = type === "int8" || type === "int16";
  const plainType = quantised ? "float32" : type;
  const add = (name: string, shape: number[], stored: WeightType = plainType) => {
    const count = shape.reduce((product, length) => product * length, 1);
    const values = weights(count, name);
    variables.set(name, { shape, type: TYPE[stored], bytes: encode(values, stored) });
  };
  const matrix = (name: string, shape: number[]) => {
    add(`${name}/weight`, shape, type);
    if (!quantised) return;
    const scales = new Float32Array(type === "int8" ? (shape[0] ?? 0) : 1).fill(64);
    variables.set(`${name}/weight_scale`, {
      shape: type === "int8" ? [scales.length] : [],
      type: 0,
      bytes: encode(scales, "float32"),
    });
  };
  const scalar = (name: string, value: number) =>
    variables.set(name, { shape: [], type: TYPE.int16, bytes: new Uint8Array([value, 0]) });
  const norm = (name: string) => {
    add(`${name}/gamma`, [width]);
    add(`${name}/beta`, [width]);
  };
  const linear = (name: string, outputs: number, inputs: number) => {
    matrix(name, [outputs, inputs]);
    add(`${name}/bias`, [outputs]);
  };

  matrix("encoder/conv1", [width, size.melBands, 3]);
  add("encoder/conv1/bias", [width]);
  matrix("encoder/conv2", [width, width, 3]);
  add("encoder/conv2/bias", [width]);
  add("encoder/position_encodings/encodings", [size.audioContext, width]);
  add("decoder/position_encodings/encodings", [size.textContext, width]);
  matrix("decoder/embeddings", [size.vocabulary, width]);
  scalar("encoder/num_heads", size.heads);
  scalar("decoder/num_heads", size.heads);
  scalar("decoder/activation", 3);
  for (const part of ["encoder", "decoder"]) {
    norm(`${part}/layer_norm`);
    for (let layer = 0; layer < size.layers; layer++) {
      const at = `${part}/layer_${layer}`;
      norm(`${at}/self_attention/layer_norm`);
      linear(`${at}/self_attention/linear_0`, 3 * width, width);
      linear(`${at}/self_attention/linear_1`, width, width);
      norm(`${at}/ffn/layer_norm`);
      linear(`${at}/ffn/linear_0`, 4 * width, width);
      linear(`${at}/ffn/linear_1`, width, 4 * width);
      if (part === "encoder") continue;
      norm(`${at}/attention/layer_norm`);
      linear(`${at}/attention/linear_0`, width, width);
      linear(`${at}/attention/linear_1`, 2 * width, width);
      linear(`${at}/attention/linear_2`, width, width);
    }
  }
  const aliases = new Map([["decoder/projection/weight", "decoder/embeddings/weight"]]);
  return { version: 6, specification: "WhisperSpec", revision: 3, variables, aliases };
}

/** Serialises a model as `model.bin`. */
export function serialise(model: FakeModel): Uint8Array {
  const pieces: Uint8Array[] = [];
  const u32 = (...values: number[]) => pieces.push(new Uint8Array(Uint32Array.from(values).buffer));
  const name = (text: string) => {
    const bytes = Buffer.from(`${text}\0`);
    pieces.push(new Uint8Array(Uint16Array.of(bytes.length).buffer), bytes);
  };
  u32(model.version);
  name(model.specification);
  u32(model.revision, model.variables.size);
  for (const [variableName, { shape, type, bytes }] of model.variables) {
    name(variableName);
    pieces.push(Uint8Array.of(shape.length));
    u32(...shape);
    pieces.push(Uint8Array.of(type));
    u32(bytes.length);
    pieces.push(bytes);
  }
  u32(model.aliases.size);
  for (const [alias, target] of model.aliases) {
    name(alias);
    name(target);
  }
  return Buffer.concat(pieces);
}

/** Creates a vocabulary; the text tokens are single characters, of which "Ġ" (a space) is the first. */
export function fakeVocabulary(size: number, textTokens = 100): string[] {
  return Array.from({ length: size }, (_, number) => {
    if (number === 0) return "Ġ";
    if (number === 1) return "é".normalize("NFC");
    if (number === textTokens) return "<|endoftext|>";
    return number < textTokens ? "a" : `<|${number}|>`;
  });
}
