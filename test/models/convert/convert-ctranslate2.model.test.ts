import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertCtranslate2, ModelError } from "../../../src/models/index.ts";
import { encode, type FakeModel, fakeVocabulary, fakeWhisper, SIZES, serialise } from "./ctranslate2-file.ts";
import { type GgmlFile, readGgml } from "./ggml-file.ts";

// Thousands of small conversions take seconds on an idle machine, more on a busy one.
setDefaultTimeout(60_000);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "transcribe-convert-"));
});

afterAll(() => rm(folder, { recursive: true }));

async function convertBytes(parts: Uint8Array[], vocabulary = fakeVocabulary(SIZES.vocabulary)): Promise<GgmlFile> {
  const vocabularyDirectory = await mkdtemp(join(folder, "model-"));
  try {
    await writeFile(join(vocabularyDirectory, "vocabulary.json"), JSON.stringify(vocabulary));
    const modelFiles = parts.map((_, index) => join(vocabularyDirectory, `model.bin.part${index}`));
    for (const [index, part] of parts.entries()) await writeFile(modelFiles[index] ?? "", part);
    const output = join(vocabularyDirectory, "ggml.bin");
    await convertCtranslate2({ modelFiles, vocabularyDirectory }, output);
    return readGgml(await Bun.file(output).bytes());
  } finally {
    await rm(vocabularyDirectory, { recursive: true });
  }
}

function bytesOf(model: FakeModel, name: string): Uint8Array {
  return model.variables.get(name)?.bytes ?? new Uint8Array(0);
}

describe("a converted model", () => {
  test("has its sizes, filters and tokens in the header", async () => {
    const ggml = await convertBytes([serialise(fakeWhisper("float16"))]);
    const { vocabulary, audioContext, textContext, width, heads, layers, melBands } = SIZES;
    expect(ggml.header).toEqual([
      0x67676d6c,
      ...[vocabulary, audioContext, width, heads, layers, textContext, width, heads, layers, melBands, 1],
    ]);
    expect([ggml.filters.bands, ggml.filters.bins]).toEqual([80, 201]);
    expect(ggml.tokens).toHaveLength(100);
    // Byte-level BPE is decoded: "Ġ" is a space, and "é" is the single byte E9, not its UTF-8 encoding.
    expect(ggml.tokens.slice(0, 3)).toEqual([Uint8Array.of(0x20), Uint8Array.of(0xe9), Uint8Array.of(0x61)]);
  });

  test("has separate query, key and value projections, and no bias for the key", async () => {
    const model = fakeWhisper("float16");
    const { tensors } = await convertBytes([serialise(model)]);
    const fused = bytesOf(model, "decoder/layer_0/self_attention/linear_0/weight");
    const third = fused.length / 3;
    for (const [index, name] of ["query", "key", "value"].entries()) {
      expect(tensors.get(`decoder.blocks.0.attn.${name}.weight`)?.bytes).toEqual(
        fused.slice(index * third, (index + 1) * third),
      );
    }
    const cross = bytesOf(model, "decoder/layer_0/attention/linear_1/weight");
    expect(tensors.get("decoder.blocks.0.cross_attn.value.weight")?.bytes).toEqual(cross.slice(cross.length / 2));
    expect([...tensors.keys()].filter((name) => name.endsWith("key.bias"))).toEqual([]);
  });

  test("has matrices in float16, vectors and positions in float32, convolution biases as columns", async () => {
    const { tensors } = await convertBytes([serialise(fakeWhisper("float32"))]);
    const form = (name: string) => [tensors.get(name)?.type, tensors.get(name)?.shape];
    const { width, audioContext } = SIZES;
    expect(form("encoder.conv1.weight")).toEqual(["float16", [width, 80, 3]]);
    expect(form("encoder.conv1.bias")).toEqual(["float32", [width, 1]]);
    expect(form("encoder.positional_embedding")).toEqual(["float32", [audioContext, width]]);
    expect(form("decoder.blocks.0.mlp.0.weight")).toEqual(["float16", [4 * width, width]]);
    expect(form("decoder.ln.bias")).toEqual(["float32", [width]]);
  });

  test.each(["float32", "bfloat16", "int8", "int16"] as const)("is the same from %s as from float16", async (type) => {
    const [wanted, got] = await Promise.all([
      convertBytes([serialise(fakeWhisper("float16"))]),
      convertBytes([serialise(fakeWhisper(type))]),
    ]);
    expect(got).toEqual(wanted);
  });

  test("divides quantised rows by their own scale", async () => {
    const model = fakeWhisper("int8");
    const name = "encoder/layer_0/ffn/linear_0/weight";
    const rows = 4 * SIZES.width;
    const scales = Float32Array.from({ length: rows }, (_, row) => 2 ** (row % 4));
    model.variables.set(`${name}_scale`, { shape: [rows], type: 0, bytes: encode(scales, "float32") });
    const { tensors } = await convertBytes([serialise(model)]);
    const stored = new Int8Array(bytesOf(model, name).slice().buffer);
    const wanted = Float16Array.from(stored, (value, index) => value / (scales[Math.floor(index / SIZES.width)] ?? 0));
    expect(tensors.get("encoder.blocks.0.mlp.0.weight")?.bytes).toEqual(new Uint8Array(wanted.buffer));
  });

  test("is the same from one file as from parts split anywhere", async () => {
    const file = serialise(fakeWhisper("float16"));
    const whole = await convertBytes([file]);
    for (const cut of [1, 37, 1_000, file.length - 5]) {
      expect(await convertBytes([file.slice(0, cut), file.slice(cut)])).toEqual(whole);
    }
  });

  test("may have 128 mel bands, several layers, and a vocabulary as text", async () => {
    const ggml = await convertBytes([serialise(fakeWhisper("float16", { melBands: 128, layers: 3 }))]);
    expect([ggml.filters.bands, ggml.header[5], ggml.header[10]]).toEqual([128, 3, 128]);
    expect(ggml.tensors.has("decoder.blocks.2.cross_attn.out.bias")).toBe(true);

    const directory = join(folder, "text");
    await Bun.write(join(directory, "vocabulary.txt"), `${fakeVocabulary(SIZES.vocabulary).join("\n")}\n`);
    await Bun.write(join(directory, "model.bin"), serialise(fakeWhisper("float16")));
    const input = { modelFiles: [join(directory, "model.bin")], vocabularyDirectory: directory };
    await convertCtranslate2(input, join(directory, "ggml.bin"));
    expect(readGgml(await Bun.file(join(directory, "ggml.bin")).bytes()).tokens).toHaveLength(100);
  });
});

describe("a model that can't be converted is refused:", () => {
  const cases: [string, RegExp, (model: FakeModel) => void][] = [
    ["another file version", /begins with 5/, (model) => Object.assign(model, { version: 5 })],
    [
      "another kind of model",
      /"TransformerSpec", not Whisper/,
      (model) => Object.assign(model, { specification: "TransformerSpec" }),
    ],
    ["a newer revision", /revision 9/, (model) => Object.assign(model, { revision: 9 })],
    [
      "a missing tensor",
      /no decoder\/layer_norm\/gamma/,
      (model) => model.variables.delete("decoder/layer_norm/gamma"),
    ],
    [
      "a tensor of another size",
      /shape \[3\] where the model needs \[4\]/,
      (model) => model.variables.set("decoder/layer_norm/beta", { shape: [3], type: 4, bytes: new Uint8Array(6) }),
    ],
    [
      "a tensor that is a vector where a matrix is due",
      /2 dimensions are expected/,
      (model) =>
        model.variables.set("decoder/embeddings/weight", {
          shape: [51_864],
          type: 4,
          bytes: new Uint8Array(2 * 51_864),
        }),
    ],
    [
      "bytes that don't match a shape",
      /needs 8/,
      (model) => model.variables.set("decoder/layer_norm/beta", { shape: [4], type: 4, bytes: new Uint8Array(6) }),
    ],
    [
      "a shape beyond all numbers",
      /where its shape/,
      (model) =>
        model.variables.set("x", { shape: Array<number>(8).fill(0xffffffff), type: 0, bytes: new Uint8Array(4) }),
    ],
    [
      "an unknown element type",
      /element type 17/,
      (model) => model.variables.set("x", { shape: [], type: 17, bytes: new Uint8Array(4) }),
    ],
    [
      "too many dimensions",
      /200 dimensions/,
      (model) => model.variables.set("x", { shape: Array<number>(200).fill(1), type: 1, bytes: new Uint8Array(1) }),
    ],
    [
      "quantised weights without a scale",
      /scale is missing/,
      (model) =>
        model.variables.set("decoder/embeddings/weight", {
          shape: [51_864, 4],
          type: 1,
          bytes: new Uint8Array(4 * 51_864),
        }),
    ],
    [
      "heads that don't divide the width",
      /is 3, which does not divide/,
      (model) => model.variables.set("encoder/num_heads", { shape: [], type: 2, bytes: Uint8Array.of(3, 0) }),
    ],
    [
      "no heads",
      /is 0, which does not divide/,
      (model) => model.variables.set("encoder/num_heads", { shape: [], type: 2, bytes: Uint8Array.of(0, 0) }),
    ],
    [
      "another activation",
      /not GELU/,
      (model) => model.variables.set("decoder/activation", { shape: [], type: 1, bytes: Uint8Array.of(0) }),
    ],
    [
      "an output projection of its own",
      /not the token embedding/,
      (model) => {
        model.aliases.clear();
        model.variables.set("decoder/projection/weight", { shape: [1], type: 4, bytes: new Uint8Array(2) });
      },
    ],
    ["an alias of nothing", /refers to nothing/, (model) => model.aliases.set("x", "nothing")],
    ["a name twice", /two variables named/, (model) => model.aliases.set("encoder/conv1/bias", "encoder/conv2/bias")],
    [
      "a weight beyond float16",
      /can't hold/,
      (model) => {
        const shape = [SIZES.width, SIZES.width];
        const bytes = encode(new Float32Array(16).fill(1e30), "float32");
        model.variables.set("encoder/layer_0/self_attention/linear_1/weight", { shape, type: 0, bytes });
      },
    ],
  ];
  test.each(cases)("%s", async (_, message, spoil) => {
    const model = fakeWhisper("float16");
    spoil(model);
    const conversion = convertBytes([serialise(model)]);
    await expect(conversion).rejects.toThrow(ModelError);
    await expect(conversion).rejects.toThrow(message);
  });

  test("a vocabulary that is not a regular file", async () => {
    const directory = await mkdtemp(join(folder, "model-"));
    await symlink("/dev/zero", join(directory, "vocabulary.txt"));
    await Bun.write(join(directory, "model.bin"), serialise(fakeWhisper("float16")));
    const input = { modelFiles: [join(directory, "model.bin")], vocabularyDirectory: directory };
    await expect(convertCtranslate2(input, join(directory, "ggml.bin"))).rejects.toThrow("is not a regular file");
  });

  test("a vocabulary of another size, without an end, or not in byte-level BPE", async () => {
    const file = serialise(fakeWhisper("float16"));
    await expect(convertBytes([file], fakeVocabulary(51_865))).rejects.toThrow(/do not belong together/);
    await expect(convertBytes([file], ["a", "b"])).rejects.toThrow(/no <\|endoftext\|>/);
    await expect(convertBytes([file], ["a b", "<|endoftext|>"])).rejects.toThrow(/not in byte-level BPE/);
    await expect(convertBytes([serialise(fakeWhisper("float16", { vocabulary: 1_000 }))])).rejects.toThrow(
      /1000 tokens/,
    );
  });

  test("a file with bytes after its end", async () => {
    const file = Buffer.concat([serialise(fakeWhisper("float16")), Uint8Array.of(0)]);
    await expect(convertBytes([file])).rejects.toThrow(/bytes after its end/);
  });

  test("a file truncated anywhere", async () => {
    const file = serialise(fakeWhisper("float16"));
    for (let step = 0; step < 60; step++) {
      const cut = Math.floor((file.length * step) / 60);
      await expect(convertBytes([file.slice(0, cut)])).rejects.toThrow(ModelError);
    }
    for (let cut = 0; cut < 80; cut++) await expect(convertBytes([file.slice(0, cut)])).rejects.toThrow(ModelError);
  });

  test("a file damaged anywhere in its headers, always with a ModelError", async () => {
    const model = fakeWhisper("float16");
    // Without the large tensor, all headers are within the first kilobytes.
    model.variables.delete("decoder/embeddings/weight");
    model.aliases.clear();
    const file = serialise(model);
    for (let position = 0; position < file.length; position += 5) {
      for (const value of [0x00, 0x7f, 0xff]) {
        const damaged = Uint8Array.from(file);
        damaged[position] = value;
        await expect(convertBytes([damaged], ["<|endoftext|>"])).rejects.toThrow(ModelError);
      }
    }
  });
});
