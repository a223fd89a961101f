import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { available, corpusPath } from "../../../harness/checkout.ts";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { SAMPLE_RATE } from "../../../src/timeline/index.ts";
import { loudPart, openedModels } from "../../support/diarization-models.ts";
import { readSamples } from "../../support/whisper.ts";

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
    const { regionsOf, write } = openedModels();

    /** Seconds of `between` that are taken for speech. */
    async function secondsFound(between: Float32Array): Promise<number> {
      const [first = between, ...rest] = await Promise.all(
        [before, ...after].map(async (clip) => loudPart(await readSamples(clip))),
      );
      const start = first.length / SAMPLE_RATE;
      const end = start + between.length / SAMPLE_RATE;
      const regions = await regionsOf(await write(first, between, ...rest));
      return regions.reduce((sum, { startSeconds, endSeconds }) => {
        const from = Math.max(startSeconds, start + edgeSeconds);
        return sum + Math.max(0, Math.min(endSeconds, end - edgeSeconds) - from);
      }, 0);
    }

    test("a sentence is found that is 50 dB quieter", async () => {
      expect(await secondsFound(loudPart(await readSamples(sentence)))).toBeGreaterThan(2.5);
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

/** As loud as the sentence. */
function quiet(samples: Float32Array): Float32Array {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  return samples.map((sample) => sample * Math.sqrt(10 ** (sentenceDecibels / 10) / power));
}
