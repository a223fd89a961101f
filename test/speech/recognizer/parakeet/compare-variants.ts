import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tinyModel } from "../../../../harness/parakeet/random-model.ts";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";
import { type ReferenceResult, referenceModel, transcribeByReference } from "../../../support/parakeet/index.ts";
import { canTranscribe, readSamples } from "../../../support/whisper.ts";
import { cpuVariants, type EncoderError, encoderError, recognizeWith, writeModel } from "./support.ts";

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

/** CPU variants whose encoder computes with the same instructions and therefore gives the same numbers. */
interface OwnEncoder {
  readonly variants: RegExp;
  readonly maxError: EncoderError;
}

/**
 * Forms of the model with the maximum difference of the encoder's output, whose deviation is 1, from the reference in 64
 * bits with the same weights: of ggml's encoder, and of our own one. Ours multiplies in bfloat16, with a root mean square
 * of 0.0043 and at most 0.024, or in 8 bits like ggml, with 0.0078 and at most 0.038. With AVX2 a block's inputs have only
 * 7 bits, from its smallest to its largest number: 0.0099 and at most 0.048. Seeds are chosen so that no choice of a token
 * is close enough to change.
 */
const floats = {
  own: [
    { variants: /zen4|sapphirerapids/, maxError: { largest: 0.03, rootMeanSquare: 0.005 } },
  ] as readonly OwnEncoder[],
  ...{ minMargin: 0.01, minTokens: 0 as const },
};
const bytes = { largest: 0.1, rootMeanSquare: 0.01 };
const forms = [
  { form: "f32", options: { ...tinyModel, seed: 44 }, maxError: { largest: 1e-3, rootMeanSquare: 1e-4 }, ...floats },
  {
    form: "f16",
    options: { ...tinyModel, weightForm: 1, seed: 44 },
    maxError: { largest: 5e-3, rootMeanSquare: 1e-3 },
    ...floats,
  },
  {
    ...{ form: "q8_0", options: { ...tinyModel, weightForm: 7, seed: 146 }, maxError: bytes },
    own: [
      { variants: /haswell|skylakex/, maxError: { largest: 0.1, rootMeanSquare: 0.0125 } },
      { variants: /alderlake/, maxError: bytes },
      { variants: /icelake|zen4|sapphirerapids/, maxError: bytes },
    ] as readonly OwnEncoder[],
    ...{ minMargin: 0.025, minTokens: 1 as const },
  },
];

const isReady = canTranscribe("Parakeet by reference");
/** The CPU variants that this processor supports. */
const variants = isReady ? cpuVariants() : [];
/** The variant for every processor, whose encoder is ggml's. */
const plain = variants.at(-1);

/** Defines tests that compare each CPU variant and each form of the model with the reference in 64 bits. */
export function compareVariants(clips: readonly Clip[]): void {
  for (const form of forms) {
    describe.skipIf(
      !isReady || !canTranscribe("Parakeet by reference", ...new Set(clips.map((clip) => clip.recording))),
    )(`Parakeet in ${form.form}, compared with a 64-bit implementation of NeMo's`, () => compareForm(form, clips));
  }
}

function compareForm(model: (typeof forms)[number], clips: readonly Clip[]): void {
  const { options, own, maxError, minMargin, minTokens } = model;
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
    const recognitions = await recognizeWith(variant, path, directory.path);
    expect(recognitions).toHaveLength(2 * clips.length);
    const pairs = recognitions.map(({ clip, threads, steps, encoded }) => {
      const reference = expected.get(clip);
      expect(steps).toEqual((reference?.tokens ?? []).map(({ id, frame, duration }) => [id, frame, duration]));
      expect(encoded.length).toBe(reference?.encoded.values.length ?? 0);
      if (clip === "sentence.f32") outputs.set(`${variant} ${threads}`, encoded);
      return { encoded, expected: reference?.encoded.values ?? [] };
    });
    const error = encoderError(pairs);
    const limit = own.find((encoder) => encoder.variants.test(variant))?.maxError ?? maxError;
    expect(error.largest).toBeLessThan(limit.largest);
    expect(error.rootMeanSquare).toBeLessThan(limit.rootMeanSquare);
  });

  for (const { variants: which } of own) {
    const withOwnEncoder = variants.filter((variant) => which.test(variant));
    if (isReady && withOwnEncoder.length === 0)
      console.warn(`SKIPPED: our own encoder with Parakeet in ${model.form} on CPUs of ${which.source}`);
    test.skipIf(withOwnEncoder.length === 0)(
      `${which.source} uses our own encoder, whose numbers are not ggml's`,
      () => {
        const [first, ...others] = withOwnEncoder.flatMap((variant) =>
          [1, 2].map((threads) => `${variant} ${threads}`),
        );
        for (const other of others) expect(outputs.get(other)).toEqual(outputs.get(first ?? "") ?? new Float32Array());
        const ggml = outputs.get(`${plain} 1`) ?? new Float32Array();
        const { largest } = encoderError([{ encoded: outputs.get(first ?? "") ?? ggml, expected: ggml }]);
        expect(largest).toBeGreaterThan(0.005);
      },
    );
  }
}
