import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { available, corpusPath } from "../../../harness/checkout.ts";
import { openModels } from "../../../harness/diarized-recording.ts";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { type DiarizationModels, detectBlock, speechRegions } from "../../../src/speech/diarization/index.ts";
import { SAMPLE_RATE } from "../../../src/timeline/index.ts";
import { readSamples } from "../recognizer/whisper/support.ts";

// Inference on a machine that is busy with other tests.
setDefaultTimeout(60_000);

/** Loud speech, and the recordings after it, some of them as quiet as the sentence; their noise is quieter. */
const before = "single/en-jfk.flac";
const after = ["single/en-fleurs-005.ogg", "single/en-fleurs-007.ogg", "single/en-fleurs-009.ogg"];
/** 50 dB quieter than its neighbours. */
const sentence = "single/en-fleurs-004.ogg";
const sentenceDecibels = -66;
const music = "formats/nospeech-music-20s.flac";
const recordings = [before, ...after, sentence, music];

const betweenSeconds = 4;
/** Margin at the edges of an examined span, which belongs to its neighbours. */
const edgeSeconds = 0.4;

describe.skipIf(!available("speech beside louder speech", ...recordings.map(corpusPath)))(
  "between louder speech",
  () => {
    let models: DiarizationModels;
    let directory: string;
    beforeAll(async () => {
      models = await openModels();
      directory = await mkdtemp(join(tmpdir(), "quiet-"));
    });
    afterAll(async () => {
      await models.dispose();
      await rm(directory, { recursive: true });
    });

    /** Seconds of `between` that are taken for speech. */
    async function secondsFound(between: Float32Array): Promise<number> {
      const [first, ...rest] = await Promise.all(
        [before, ...after].map(async (clip) => spoken(await readSamples(clip))),
      );
      const start = (first?.length ?? 0) / SAMPLE_RATE;
      const parts = [first ?? between, between, ...rest];
      const values = parts.flatMap((part) => Array.from(part, (sample) => Math.round(sample * 32_767)));
      const pcm = { path: join(directory, "pcm"), sampleCount: values.length };
      await Bun.write(pcm.path, Int16Array.from(values));
      const area = { directory, pcm };
      await detectBlock(models, area, 0);
      const end = start + between.length / SAMPLE_RATE;
      return (await speechRegions(area)).reduce((sum, { startSeconds, endSeconds }) => {
        const from = Math.max(startSeconds, start + edgeSeconds);
        return sum + Math.max(0, Math.min(endSeconds, end - edgeSeconds) - from);
      }, 0);
    }

    test("a sentence is found that is 50 dB quieter", async () => {
      expect(await secondsFound(spoken(await readSamples(sentence)))).toBeGreaterThan(2.5);
    });

    const random = randomNumbers(1);
    const noise = sound(() => random() - 0.5);
    const sounds: [string, Float32Array][] = [
      ["noise", noise],
      [
        "noise that rises and falls as syllables do",
        noise.map((sample, at) => sample * Math.sin((8 * Math.PI * at) / SAMPLE_RATE)),
      ],
      ["a tone", sound((at) => Math.sin(880 * Math.PI * at))],
      ["a mains hum", sound((at) => Math.sin(100 * Math.PI * at) + Math.sin(300 * Math.PI * at) / 3)],
    ];
    test.each(sounds)("%s at the same level is not detected as speech", async (_, samples) => {
      expect(await secondsFound(quiet(samples))).toBe(0);
    });

    test("nor is music", async () => {
      expect(await secondsFound(quiet((await readSamples(music)).slice(0, betweenSeconds * SAMPLE_RATE)))).toBe(0);
    });
  },
);

function sound(wave: (at: number) => number): Float32Array {
  return Float32Array.from({ length: betweenSeconds * SAMPLE_RATE }, (_, index) => wave(index / SAMPLE_RATE));
}

/** From the first loud sample to the last. */
function spoken(samples: Float32Array): Float32Array {
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const isLoud = (sample: number) => Math.abs(sample) > 0.05 * loudest;
  return samples.slice(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
}

/** As loud as the sentence. */
function quiet(samples: Float32Array): Float32Array {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  return samples.map((sample) => sample * Math.sqrt(10 ** (sentenceDecibels / 10) / power));
}
