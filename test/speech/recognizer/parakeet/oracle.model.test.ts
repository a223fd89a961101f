import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tinyModel } from "../../../../scripts/support/parakeet/random-model.ts";
import { isCpuLibrary, rateCpuLibrary } from "../../../../src/speech/ggml.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { canTranscribe, nativeDirectory, readSamples } from "../whisper/support.ts";
import { type ReferenceResult, referenceModel, transcribeByReference } from "./reference/index.ts";
import { writeModel } from "./support.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(180_000);

/** Spans of real recordings, in seconds. */
const clips = [
  { name: "shortest", recording: "formats/jfk.flac", from: 0.5, seconds: 0.1 },
  { name: "word", recording: "formats/jfk.flac", from: 3.2, seconds: 0.53 },
  { name: "phrase", recording: "single/de-fleurs-000.ogg", from: 1, seconds: 3.337 },
  { name: "sentence", recording: "single/ja-fleurs-1837.flac", from: 0, seconds: 9 },
  { name: "window", recording: "dialogue/ami-EN2001a-first30s.flac", from: 0, seconds: 30 },
];

/** Maximum difference of the encoder's output, whose deviation is 1, from the reference in 64 bits. */
const MAX_ERROR = 1e-3;

const isReady = canTranscribe("Parakeet by reference", ...new Set(clips.map(({ recording }) => recording)));
const variants = !isReady
  ? []
  : readdirSync(nativeDirectory).filter((file) => isCpuLibrary(file) && rateCpuLibrary(nativeDirectory, file) > 0);

describe.skipIf(!isReady)("Parakeet, compared with a 64-bit implementation of NeMo's", () => {
  const directory = temporaryDirectory();
  const expected = new Map<string, ReferenceResult>();
  let model = "";
  beforeAll(async () => {
    model = writeModel(directory.path);
    const reference = referenceModel(tinyModel);
    for (const { name, recording, from, seconds } of clips) {
      const samples = (await readSamples(recording)).slice(from * 16_000, Math.round((from + seconds) * 16_000));
      writeFileSync(join(directory.path, `${name}.f32`), new Uint8Array(samples.buffer));
      expected.set(`${name}.f32`, transcribeByReference(reference, samples));
    }
  });
  afterAll(() => directory[Symbol.dispose]());

  test("the clips have tokens, and no choice is so close that rounding could decide it", () => {
    const counts = clips.map(({ name }) => expected.get(`${name}.f32`)?.tokens.length ?? 0);
    expect(counts.reduce((total, count) => total + count, 0)).toBeGreaterThan(40);
    for (const { margin } of expected.values()) expect(margin).toBeGreaterThan(MAX_ERROR);
  });

  test.each(variants)("%s computes the same tokens, frames, durations and encoder output", async (variant) => {
    const script = join(import.meta.dir, "recognize-with.ts");
    const child = Bun.spawn([process.execPath, script, variant, model, directory.path], {
      ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit" },
    });
    const lines = (await new Response(child.stdout).text()).trim().split("\n");
    expect(await child.exited).toBe(0);
    expect(lines).toHaveLength(2 * clips.length);
    for (const line of lines) {
      const { clip, steps, output } = JSON.parse(line) as { clip: string; steps: number[][]; output: string };
      const reference = expected.get(clip);
      expect(steps).toEqual((reference?.tokens ?? []).map(({ id, frame, duration }) => [id, frame, duration]));
      const encoded = new Float32Array(await Bun.file(output).arrayBuffer());
      expect(encoded.length).toBe(reference?.encoded.values.length ?? 0);
      const errors = encoded.map((value, i) => Math.abs(value - (reference?.encoded.values[i] ?? 0)));
      expect(Math.max(...errors)).toBeLessThan(MAX_ERROR);
    }
  });
});
