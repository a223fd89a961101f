import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { WhisperState } from "../../../../../src/speech/recognizer/whisper/index.ts";
import { transcribeChunk } from "../../../../../src/speech/recognizer/whisper/transcription/transcribe-chunk.ts";
import { canTranscribe, openBase, readSamples, threads } from "../../../../support/whisper.ts";

const dialogue = "dialogue/dlg-05-3spk-FFF.flac";
const jfk = "formats/jfk.flac";
const talk = "dialogue/dlg-07-4spk.flac";
const spanish = "single/es-fleurs-000.ogg";
const sampleRate = 16_000;

// A doubtful chunk is decoded up to four times.
setDefaultTimeout(240_000);

/** One for all tests, as a worker has one for its recordings: what is left over in it must not become words. */
let state: WhisperState;

async function textOf(samples: Float32Array, language = "en"): Promise<string> {
  const utterances = await transcribeChunk(state, samples, { language, threads });
  return utterances.flatMap(({ words }) => words.map((word) => word.text)).join("");
}

function joined(...parts: Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Samples of what `wave` is at each second, at most half of full scale. */
function sound(seconds: number, wave: (at: number) => number): Float32Array {
  return Float32Array.from({ length: seconds * sampleRate }, (_, index) => 0.5 * wave(index / sampleRate));
}

const sine = (hertz: number, at: number) => Math.sin(2 * Math.PI * hertz * at);
let seed = 1;
const noise = () => {
  seed = (seed * 48_271) % 2_147_483_647;
  return (seed / 2_147_483_647) * 2 - 1;
};

describe.skipIf(!canTranscribe("doubtful words", jfk, dialogue, talk, spanish))("with the real model", () => {
  beforeAll(() => {
    state = openBase().createState();
  });
  afterAll(() => state.dispose());

  test("no sentence between two others is omitted", async () => {
    const samples = await readSamples(dialogue);
    const text = await textOf(samples.subarray(0, 16.473 * sampleRate));
    expect(text).toMatch(/without spilling its contents.*as good as a knight.*silly/);
  });

  test("no words at the end of a chunk are omitted", async () => {
    const samples = await readSamples(talk);
    const text = await textOf(samples.subarray(79.186 * sampleRate, 96.393 * sampleRate));
    expect(text).toMatch(/without spilling its contents.*strange change/);
  });

  test("among similar words the more probable one is written", async () => {
    expect(await textOf(await readSamples(spanish), "es")).toMatch(/planes de viaje\.$/);
  });

  test("a text that is said five times is written five times", async () => {
    const samples = await readSamples(jfk);
    const phrase = samples.subarray(3.2 * sampleRate, 5.4 * sampleRate);
    const text = await textOf(joined(phrase, phrase, phrase, phrase, phrase));
    expect(text.match(/\bask\b/gi)).toHaveLength(5);
  });

  test.each([
    ["silence", sound(10, () => 0)],
    ["noise that rises and falls like speech", sound(5, (at) => noise() * Math.max(0, sine(1.7, at)))],
    ["a siren", sound(5, (at) => sine(700, at + 0.07 * sine(0.5, at)))],
    [
      "a siren that wails",
      sound(8, (at) => 0.2 * Math.sin(2 * Math.PI * 600 * at - (400 / 1.3) * Math.cos(2 * Math.PI * 1.3 * at))),
    ],
  ])("%s after speech has no words", async (_, samples) => {
    expect(await textOf(samples)).toBe("");
  });
});
