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
  const change = (others: Partial<FakeModel>) => (model: FakeModel) => Object.assign(model, others);
  const zeros = (count: number) => new Uint8Array(count);
  /** Replaces or adds a variable. */
  const put = (name: string, shape: number[], type: number, bytes: Uint8Array) => (model: FakeModel) =>
    model.variables.set(name, { shape, type, bytes });
  const [embeddings, beta, heads] = ["decoder/embeddings/weight", "decoder/layer_norm/beta", "encoder/num_heads"];
  const { vocabulary, width } = SIZES;
  const huge = encode(new Float32Array(16).fill(1e30), "float32");
  const cases: [string, RegExp, (model: FakeModel) => unknown][] = [
    ["another file version", /begins with 5/, change({ version: 5 })],
    ["another kind of model", /"TransformerSpec", not Whisper/, change({ specification: "TransformerSpec" })],
    ["a newer revision", /revision 9/, change({ revision: 9 })],
    ["a missing tensor", /no decoder\/layer_norm\/beta/, (model) => model.variables.delete(beta)],
    ["a tensor of another size", /shape \[3\] where the model needs \[4\]/, put(beta, [3], 4, zeros(6))],
    [
      "a tensor that is a vector where a matrix is due",
      /2 dimensions are expected/,
      put(embeddings, [vocabulary], 4, zeros(2 * vocabulary)),
    ],
    ["bytes that don't match a shape", /needs 8/, put(beta, [4], 4, zeros(6))],
    ["a shape beyond all numbers", /where its shape/, put("x", Array<number>(8).fill(0xffffffff), 0, zeros(4))],
    ["an unknown element type", /element type 17/, put("x", [], 17, zeros(4))],
    ["too many dimensions", /200 dimensions/, put("x", Array<number>(200).fill(1), 1, zeros(1))],
    [
      "quantised weights without a scale",
      /scale is missing/,
      put(embeddings, [vocabulary, width], 1, zeros(width * vocabulary)),
    ],
    ["heads that don't divide the width", /is 3, which does not divide/, put(heads, [], 2, Uint8Array.of(3, 0))],
    ["no heads", /is 0, which does not divide/, put(heads, [], 2, zeros(2))],
    ["another activation", /not GELU/, put("decoder/activation", [], 1, zeros(1))],
    [
      "an output projection of its own",
      /not the token embedding/,
      (model) => put("decoder/projection/weight", [1], 4, zeros(2))(Object.assign(model, { aliases: new Map() })),
    ],
    ["an alias of nothing", /refers to nothing/, (model) => model.aliases.set("x", "nothing")],
    ["a name twice", /two variables named/, (model) => model.aliases.set("encoder/conv1/bias", "encoder/conv2/bias")],
    [
      "a weight beyond float16",
      /can't hold/,
      put("encoder/layer_0/self_attention/linear_1/weight", [width, width], 0, huge),
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
    const cuts = [...Array(60).keys()].map((step) => Math.floor((file.length * step) / 60));
    for (const cut of [...cuts, ...Array(80).keys()]) {
      // With a vocabulary of one token, which is read sooner. It is compared only with a whole file.
      const error: unknown = await convertBytes([file.slice(0, cut)], ["<|endoftext|>"]).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(ModelError);
      expect(String(error)).not.toContain("do not belong together");
    }
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
