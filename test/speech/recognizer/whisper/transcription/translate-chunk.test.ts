import { expect, test } from "bun:test";
import { translateChunk } from "../../../../../src/speech/recognizer/whisper/transcription/translate-chunk.ts";
import type { TranscribeOptions, WhisperSegment } from "../../../../../src/speech/recognizer/whisper/types.ts";
import { segmentOf, spread, textOf } from "./support.ts";

const samples = new Float32Array(16_000 * 12);
const loop = Array.from({ length: 9 }, () => "other words").join(" ");
const signal = new AbortController().signal;

/** Translates with a state that returns these segments, call by call. @returns the text and the options of the calls */
async function translated(...answers: WhisperSegment[][]) {
  const calls: TranscribeOptions[] = [];
  const transcribe = async (_: Float32Array, options: TranscribeOptions) => {
    calls.push(options);
    const segments = answers[calls.length - 1];
    if (segments === undefined) throw new Error("a call too many");
    return { aborted: false, segments };
  };
  const options = { language: "de", threads: 1, signal };
  return { text: textOf([...(await translateChunk({ transcribe }, samples, options))]), calls };
}

test("a chunk is translated once, with its spoken language", async () => {
  // A translation is less probable than a transcript, and does not fill the time of its speech.
  const { text, calls } = await translated([segmentOf(spread("It rains, and nobody minds.", 0.5, 4, 0.2))]);
  expect(text).toBe("It rains, and nobody minds.");
  expect(calls).toEqual([
    {
      ...{ language: "de", threads: 1, translate: true },
      ...{ beamSize: 5, withoutTimestamps: true, suppressNonSpeech: true, temperatureIncrement: 0 },
    },
  ]);
});

test("a translation that repeats itself is made again with timestamps, and the better one is returned", async () => {
  const good = spread("These are the other words.", 0.5, 11);
  const { text, calls } = await translated([segmentOf(spread(loop, 0.5, 11))], [segmentOf(good)]);
  expect([text, calls.map(({ withoutTimestamps }) => withoutTimestamps)]).toEqual([
    "These are the other words.",
    [true, false],
  ]);
});

test("copies for which there is no time, and text without a letter, are removed", async () => {
  const fast = [segmentOf([...spread("Well.", 0, 0.4), ...spread(loop, 0.5, 1.2)]), segmentOf(spread("...", 2, 3))];
  const { text } = await translated(fast, fast);
  expect(text).toBe("Well. other words");
});

test("an abort ends the translation", async () => {
  const options = { language: "de", threads: 1, signal: AbortSignal.abort(new Error("stopped")) };
  const transcribe = async () => ({ aborted: false, segments: [] });
  await expect(translateChunk({ transcribe }, samples, options)).rejects.toThrow("stopped");
  const aborted = async () => ({ aborted: true, segments: [] });
  await expect(translateChunk({ transcribe: aborted }, samples, { ...options, signal })).rejects.toThrow("aborted");
});
