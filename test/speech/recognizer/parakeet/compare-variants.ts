import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tinyModel } from "../../../../harness/parakeet/random-model.ts";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";
import { isCpuLibrary, rateCpuLibrary } from "../../../../src/speech/ggml.ts";
import { canTranscribe, nativeDirectory, readSamples } from "../whisper/support.ts";
import { type ReferenceResult, referenceModel, transcribeByReference } from "./reference/index.ts";
import { writeModel } from "./support.ts";

/** A span of a real recording, in seconds. */
export interface Clip {
  readonly name: string;
  readonly recording: string;
  readonly from: number;
  readonly seconds: number;
  /** Minimum number of tokens in it with weights in floats, and in 8 bits. */
  readonly minTokens: readonly [floats: number, bytes: number];
}

/** Spans that are short enough for every run of the tests. */
export const shortClips: readonly Clip[] = [
  { name: "shortest", recording: "formats/jfk.flac", from: 0.5, seconds: 0.1, minTokens: [0, 0] },
  { name: "word", recording: "formats/jfk.flac", from: 3.2, seconds: 0.53, minTokens: [0, 0] },
  { name: "phrase", recording: "single/de-fleurs-000.ogg", from: 1, seconds: 3.337, minTokens: [3, 0] },
  { name: "sentence", recording: "single/ja-fleurs-1837.flac", from: 0, seconds: 9, minTokens: [12, 4] },
];

/**
 * Forms of the model with the maximum difference of the encoder's output, whose deviation is 1, from the reference in 64
 * bits with the same weights: of ggml's encoder, and of our own one on the CPU variants `own`. Ours multiplies in bfloat16
 * or, like ggml, in 8 bits: both differ by 0.003 and 0.01 on average, by up to 0.02 and 0.07. Seeds are chosen so that no
 * choice of a token is close enough to change.
 */
const bfloat16 = { own: /zen4|sapphirerapids/, maxOwnError: 0.03, minMargin: 0.01, minTokens: 0 as const };
const forms = [
  { form: "f32", options: { ...tinyModel, seed: 44 }, maxError: 1e-3, ...bfloat16 },
  { form: "f16", options: { ...tinyModel, weightForm: 1, seed: 44 }, maxError: 5e-3, ...bfloat16 },
  {
    ...{ form: "q8_0", options: { ...tinyModel, weightForm: 7, seed: 146 }, maxError: 0.1, maxOwnError: 0.1 },
    ...{ own: /icelake|zen4|sapphirerapids/, minMargin: 0.025, minTokens: 1 as const },
  },
];

/** A line that the process prints. */
interface Recognition {
  clip: string;
  threads: number;
  steps: number[][];
  output: string;
}

const isReady = canTranscribe("Parakeet by reference");
/** The CPU variants that this processor supports. */
const variants = !isReady
  ? []
  : readdirSync(nativeDirectory).filter((file) => isCpuLibrary(file) && rateCpuLibrary(nativeDirectory, file) > 0);

/** Defines tests that compare each CPU variant and each form of the model with the reference in 64 bits. */
export function compareVariants(clips: readonly Clip[]): void {
  for (const form of forms) {
    describe.skipIf(
      !isReady || !canTranscribe("Parakeet by reference", ...new Set(clips.map((clip) => clip.recording))),
    )(`Parakeet in ${form.form}, compared with a 64-bit implementation of NeMo's`, () => compareForm(form, clips));
  }
}

function compareForm(model: (typeof forms)[number], clips: readonly Clip[]): void {
  const { options, own, maxError, maxOwnError, minMargin, minTokens } = model;
  const directory = temporaryDirectory();
  const expected = new Map<string, ReferenceResult>();
  const outputs = new Map<string, Float32Array>();
  let path = "";
  beforeAll(async () => {
    path = writeModel(directory.path, options);
    const reference = referenceModel(options);
    for (const { name, recording, from, seconds } of clips) {
      const samples = (await readSamples(recording)).slice(from * 16_000, Math.round((from + seconds) * 16_000));
      writeFileSync(join(directory.path, `${name}.f32`), new Uint8Array(samples.buffer));
      expected.set(`${name}.f32`, transcribeByReference(reference, samples));
    }
  });
  afterAll(() => directory[Symbol.dispose]());

  test("the clips have tokens, and no choice is so close that rounding could decide it", () => {
    const counts = clips.map(({ name }) => expected.get(`${name}.f32`)?.tokens.length ?? 0);
    expect(counts.reduce((total, count) => total + count, 0)).toBeGreaterThan(
      clips.reduce((total, clip) => total + clip.minTokens[minTokens], 0),
    );
    for (const { margin } of expected.values()) expect(margin).toBeGreaterThan(minMargin);
  });

  test.each(variants)("%s computes the same tokens, frames, durations and encoder output", async (variant) => {
    const script = join(import.meta.dir, "recognize-with.ts");
    const child = Bun.spawn([process.execPath, script, variant, path, directory.path], {
      ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit" },
    });
    const lines = (await new Response(child.stdout).text()).trim().split("\n");
    expect(await child.exited).toBe(0);
    expect(lines).toHaveLength(2 * clips.length);
    for (const line of lines) {
      const { clip, threads, steps, output } = JSON.parse(line) as Recognition;
      const reference = expected.get(clip);
      expect(steps).toEqual((reference?.tokens ?? []).map(({ id, frame, duration }) => [id, frame, duration]));
      const encoded = new Float32Array(await Bun.file(output).arrayBuffer());
      expect(encoded.length).toBe(reference?.encoded.values.length ?? 0);
      const errors = encoded.map((value, i) => Math.abs(value - (reference?.encoded.values[i] ?? 0)));
      expect(Math.max(...errors)).toBeLessThan(own.test(variant) ? maxOwnError : maxError);
      if (clip === "sentence.f32") outputs.set(`${variant} ${threads}`, encoded);
    }
  });

  const withOwnEncoder = variants.filter((variant) => own.test(variant));
  const withoutIt = variants.find((variant) => variant.includes("haswell"));
  if (isReady && withOwnEncoder.length === 0)
    console.warn(`SKIPPED: on newer processors, our own encoder with Parakeet in ${model.form}`);
  test.skipIf(withOwnEncoder.length === 0)("CPUs that can use our own encoder, whose numbers are not ggml's", () => {
    const [first, ...others] = withOwnEncoder.flatMap((variant) => [1, 2].map((threads) => `${variant} ${threads}`));
    for (const other of others) expect(outputs.get(other)).toEqual(outputs.get(first ?? "") ?? new Float32Array());
    const ggml = outputs.get(`${withoutIt} 1`) ?? new Float32Array();
    const differences = (outputs.get(first ?? "") ?? ggml).map((value, i) => Math.abs(value - (ggml[i] ?? 0)));
    expect(Math.max(...differences)).toBeGreaterThan(0.005);
  });
}
