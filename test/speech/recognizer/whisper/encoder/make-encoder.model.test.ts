import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { temporaryDirectory } from "../../../../../harness/temporary-directory.ts";
import {
  isSoundEncoder,
  makeEncoder,
  noteEncoderUse,
} from "../../../../../src/speech/recognizer/whisper/encoder/make-encoder.ts";
import { tinyModel, writeGgml } from "../../../../support/tiny-whisper.ts";
import { encodeSlowly } from "./reference.ts";

const model = tinyModel();

function spectrumOf(frames: number): number[][] {
  return Array.from({ length: model.mels }, (_, mel) =>
    Array.from({ length: frames }, (_, frame) => Math.fround(Math.sin(mel + frame * 0.7) + 0.1 * mel)),
  );
}

/** Returns the deviation of the encoder's output from the reference, relative to its size. */
async function errorOf(path: string, frames: number): Promise<number> {
  const spectrum = spectrumOf(frames);
  const session = await InferenceSession.create(path);
  const input = new Tensor("float32", Float32Array.from(spectrum.flat()), [1, model.mels, frames]);
  const { encoding } = await session.run({ spectrum: input });
  const expected = encodeSlowly(model, spectrum).flat();
  expect(encoding?.dims).toEqual([1, frames / 2, model.width]);
  const values = encoding?.data as Float32Array;
  return Math.hypot(...expected.map((value, i) => value - (values[i] ?? 0))) / Math.hypot(...expected);
}

/** Returns a directory with a small model, and the directory of its encoders. */
function place(written = model) {
  const directory = temporaryDirectory();
  const ggml = join(directory.path, "tiny.bin");
  writeGgml(ggml, written);
  const other = join(directory.path, "other.bin");
  return {
    ggml,
    other,
    encoders: join(directory.path, "encoders"),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

describe("a whisper model's encoder in ONNX form", () => {
  test("gives the model's results for whole and shorter windows", async () => {
    using here = place();
    const { ggml, encoders } = here;
    const path = await makeEncoder(ggml, "float", encoders);
    expect(await errorOf(path, 2 * model.positions)).toBeLessThan(1e-5);
    expect(await errorOf(path, model.positions)).toBeLessThan(1e-5);
  });

  test("is built once for each model", async () => {
    using here = place();
    const { ggml, other, encoders } = here;
    writeGgml(other, { ...model, heads: 1 });
    const [one, two] = await Promise.all([makeEncoder(ggml, "float", encoders), makeEncoder(ggml, "float", encoders)]);
    expect(one).toBe(two);
    const made = statSync(one).mtimeMs;
    expect(await makeEncoder(ggml, "float", encoders)).toBe(one);
    expect(statSync(one).mtimeMs).toBe(made);
    expect(await makeEncoder(other, "float", encoders)).not.toBe(one);
    expect(readdirSync(encoders).filter((name) => name.startsWith("."))).toEqual([]);
    expect(readdirSync(dirname(one)).sort()).toEqual(["encoder.onnx", "sha256", "weights.bin"]);
  });

  test("are removed after a month without use, and unfinished ones after a day", async () => {
    using here = place();
    const { ggml, other, encoders } = here;
    writeGgml(other, { ...model, heads: 1 });
    const [old, used] = [await makeEncoder(ggml, "float", encoders), await makeEncoder(other, "float", encoders)];
    const longAgo = new Date(Date.now() - 40 * 86_400_000);
    for (const path of [old, used]) utimesSync(join(dirname(path), "sha256"), longAgo, longAgo);
    for (const name of [".making-old", ".making-new"]) mkdirSync(join(encoders, name));
    utimesSync(join(encoders, ".making-old"), longAgo, longAgo);
    await noteEncoderUse(used);
    writeGgml(ggml, { ...model, heads: 4 });
    const made = await makeEncoder(ggml, "float", encoders);
    const kept = [basename(dirname(used)), basename(dirname(made)), ".making-new"].sort();
    expect(readdirSync(encoders).sort()).toEqual(kept);
  });

  test.each(["encoder.onnx", "weights.bin", "sha256"])("is made again where its %s was changed", async (name) => {
    using here = place();
    const { ggml, encoders } = here;
    const path = await makeEncoder(ggml, "float", encoders);
    expect(await isSoundEncoder(path)).toBe(true);
    const file = join(dirname(path), name);
    const content = readFileSync(file);
    const changed = Buffer.from(content);
    changed.writeUInt8((changed.at(-1) ?? 0) ^ 1, changed.length - 1);
    writeFileSync(file, changed);
    expect(await isSoundEncoder(path)).toBe(false);
    expect(await makeEncoder(ggml, "float", encoders)).toBe(path);
    expect(readFileSync(file)).toEqual(content);
  });

  test.each<["bfloat16" | "int8", number, number, string]>([
    ["bfloat16", 8, 2, "heads are not 64"],
    ["int8", 8, 2, "heads are not 64"],
    ["int8", 64, 1, "no multiple of 128"],
  ])("is refused in %s for the width %i with %i heads", async (form, width, heads, message) => {
    using here = place({ ...tinyModel(width), heads });
    await expect(makeEncoder(here.ggml, form, here.encoders)).rejects.toThrow(message);
  });

  test.each<[string, (path: string) => void, string]>([
    ["quantised weights", (path) => writeGgml(path, tinyModel(32), "q8_0"), "quantised"],
    ["a file cut short", (path) => truncateSync(path, statSync(path).size - 5), "bytes are missing"],
    ["a header of nonsense", (path) => writeFileSync(path, Buffer.alloc(100, 0xff)), "not a whisper model"],
    ["an empty file", (path) => truncateSync(path, 0), "not a whisper model"],
    [
      "a tensor under another name",
      (path) => writeFileSync(path, readFileSync(path, "latin1").replace("conv2.bias", "conv9.bias"), "latin1"),
      "has no encoder.conv2.bias",
    ],
  ])("is refused for %s and leaves no files", async (_, spoil, message) => {
    using here = place();
    const { ggml, encoders } = here;
    spoil(ggml);
    await expect(makeEncoder(ggml, "float", encoders)).rejects.toThrow(message);
    await makeEncoder(ggml, "float", encoders).catch(() => {});
    expect(readdirSync(encoders)).toEqual([]);
  });
});
