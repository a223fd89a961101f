import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { tinyModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";
import { runCli } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

setDefaultTimeout(180_000);

const recording = samplePath("jfk.mp3");
const spoken =
  "And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.";

describe.if(available("checking a model", recording))("transcribe models check", () => {
  const directory = temporaryDirectory();
  afterAll(() => directory[Symbol.dispose]());
  const check = async (model: string, text: string) => {
    const transcript = join(directory.path, "transcript.txt");
    await Bun.write(transcript, text);
    return await checkWith(model, transcript);
  };
  const checkWith = async (model: string, transcript: string) => {
    const args = ["models", "check", model, recording, "--transcript", transcript, "--json"];
    return await runCli(args, { TRANSCRIBE_DATA_DIR: directory.path });
  };

  test("measures the word errors of a model", async () => {
    const { stdout, stderr, exitCode } = await check("whisper-base", `${spoken} Nobody says these five words.`);
    expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ model: "whisper-base", language: "en", unit: "words", length: 27 });
    expect(result.errors).toBeGreaterThanOrEqual(5);
    expect(result.errors).toBeLessThan(9);
    expect(result.error_rate).toBeCloseTo(result.errors / 27);
  });

  test("shows that random weights write wrong words", async () => {
    const path = join(directory.path, "random.bin");
    writeRandomModel(path, tinyModel);
    const { stdout } = await check(path, spoken);
    expect(JSON.parse(stdout).error_rate).toBeGreaterThan(0.8);
  });

  test("reads no endless transcript", async () => {
    const { exitCode, stderr } = await checkWith("whisper-base", "/dev/zero");
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("it has more than 262 KB")]);
  });

  test.each([
    ["an empty transcript", "whisper-base", " . ", "has no words"],
    ["an unknown model", "nope", spoken, "nope"],
  ])("refuses %s", async (_, model, text, message) => {
    const { exitCode, stderr } = await check(model, text);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});
