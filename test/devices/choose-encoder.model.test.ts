import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  describeEncoder,
  type EncoderTestOptions,
  storedEncoder,
  testEncoder,
} from "../../src/devices/encoder-self-test.ts";
import { makeEncoder } from "../../src/speech/recognizer/whisper/encoder/make-encoder.ts";
import { tinyModel, writeGgml } from "../support/tiny-whisper.ts";

interface Comparison {
  readonly seconds: number;
  readonly ownSeconds: number;
  readonly error: number;
}

/** Returns options with a small model and its encoder, and a scripted result of their comparison. */
async function placeOf(root: string, said: Comparison | string): Promise<EncoderTestOptions> {
  const nativeDirectory = join(root, "native");
  mkdirSync(nativeDirectory);
  for (const name of ["libggml-cpu-this.so", "libwhisper.so"]) writeFileSync(join(nativeDirectory, name), name);
  const speechModel = join(root, "tiny.bin");
  writeGgml(speechModel, tinyModel());
  const encoderDirectory = join(root, "encoders");
  const onnxBinding = join(root, "onnx.node");
  writeFileSync(onnxBinding, "");
  const path = await makeEncoder(speechModel, "float", encoderDirectory);
  const script =
    typeof said === "string"
      ? said
      : `echo '${JSON.stringify({ name: basename(dirname(path)), form: "8-bit products", ...said })}'`;
  return {
    ...{ nativeDirectory, speechModel, onnxBinding, cpuLibrary: "libggml-cpu-this.so" },
    command: ["sh", "-c", script, "sh"],
    verdictsPath: join(root, "verdicts.json"),
    cpu: "a CPU",
  };
}

describe("a model's encoder in ONNX form", () => {
  test("is used where it is correct and faster, and not tested again", async () => {
    using directory = temporaryDirectory();
    const options = await placeOf(directory.path, { seconds: 0.4, ownSeconds: 0.8, error: 0.01 });
    expect(await storedEncoder(options)).toBeUndefined();
    expect(await describeEncoder(options)).toBeNull();
    const { path, detail } = await testEncoder(options);
    expect(await describeEncoder(options)).toEqual({ form: "8-bit products", text: detail });
    expect(existsSync(path ?? "")).toBe(true);
    expect(detail).toBe("8-bit products, 2.00 times as fast as the model's own");
    expect(await storedEncoder(options)).toBe(path);
  });

  test.each<[string, Comparison | string, string]>([
    ["is hardly faster", { seconds: 0.8, ownSeconds: 0.81, error: 0.01 }, "1.01 times as fast"],
    ["is slower", { seconds: 0.8, ownSeconds: 0.4, error: 0.01 }, "0.50 times as fast"],
    ["computes nonsense", { seconds: 0.1, ownSeconds: 0.8, error: 1.2 }, "deviates by 1.20"],
    ["crashes", "kill -ILL $$", "SIGILL"],
    ["can't be made", `echo '{"unsuitable":"its weights are quantised"}'`, "quantised"],
  ])("is not used where it %s, and not tested again", async (_, said, why) => {
    using directory = temporaryDirectory();
    const options = await placeOf(directory.path, said);
    const { path, detail } = await testEncoder(options);
    expect(path).toBeNull();
    expect(detail).toContain(why);
    expect(await describeEncoder(options)).toEqual({ form: null, text: expect.stringContaining(why) });
    expect(await storedEncoder(options)).toBeNull();
  });

  test("is tested again where the self-test was killed or printed nothing", async () => {
    for (const script of ["kill -KILL $$", "exit 1"]) {
      using directory = temporaryDirectory();
      const options = await placeOf(directory.path, script);
      await expect(testEncoder(options)).rejects.toThrow();
      expect(await storedEncoder(options)).toBeUndefined();
    }
  });

  test.each<[string, Comparison | string, Pick<EncoderTestOptions, "timeoutMilliseconds">, number]>([
    [
      "a week where it was no faster: something else may have been at work",
      { seconds: 1, ownSeconds: 1, error: 0 },
      {},
      7,
    ],
    ["a day where it took too long", "exec sleep 60", { timeoutMilliseconds: 500 }, 1],
  ])("is tested again after %s", async (_, said, limit, days) => {
    using directory = temporaryDirectory();
    const options = { ...(await placeOf(directory.path, said)), ...limit };
    await testEncoder(options);
    expect(await storedEncoder(options)).toBeNull();
    const kept = readFileSync(options.verdictsPath, "utf8");
    const until = Number(/"holdsUntil": (\d+)/.exec(kept)?.[1]);
    expect((until - Date.now()) / 86_400_000).toBeCloseTo(days, 1);
    writeFileSync(options.verdictsPath, kept.replace(String(until), String(Date.now())));
    expect(await storedEncoder(options)).toBeUndefined();
  });

  test("is tested again on another CPU, for another model, and where it was removed", async () => {
    using directory = temporaryDirectory();
    const options = await placeOf(directory.path, { seconds: 0.4, ownSeconds: 0.8, error: 0.01 });
    const { path } = await testEncoder(options);
    expect(await storedEncoder({ ...options, cpu: "another" })).toBeUndefined();
    writeFileSync(join(directory.path, "other.bin"), "");
    expect(await storedEncoder({ ...options, speechModel: join(directory.path, "other.bin") })).toBeUndefined();
    expect(await storedEncoder(options)).toBe(path);
    rmSync(dirname(path ?? ""), { recursive: true });
    expect(await storedEncoder(options)).toBeUndefined();
  });
});
