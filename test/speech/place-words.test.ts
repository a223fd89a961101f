import { expect, test } from "bun:test";
import { placeWords } from "../../src/speech/place-words.ts";
import { transcribedSpans } from "../../src/timeline/index.ts";
import { rounded, spans } from "../support/spans.ts";

const sampleRate = 16_000;
/** Speech from 10 to 12 s and from 40 to 43 s, of one side of a call. */
const chunk = {
  ...{ startSeconds: 9.8, endSeconds: 43.2 },
  speech: spans([10, 12], [40, 43]),
};
const pieces = transcribedSpans(chunk);

/** Returns samples of the chunk: a tone where there is speech, almost silence elsewhere. */
function heardSamples(): Float32Array {
  const moments = pieces.flatMap(({ startSeconds, endSeconds }) =>
    Array.from(
      { length: Math.round((endSeconds - startSeconds) * sampleRate) },
      (_, i) => startSeconds + i / sampleRate,
    ),
  );
  return Float32Array.from(moments, (seconds) => {
    const isSpeech = chunk.speech.some((one) => seconds >= one.startSeconds && seconds < one.endSeconds);
    return Math.sin(2 * Math.PI * 200 * seconds) * (isSpeech ? 0.3 : 0.0001);
  });
}

/** Returns words by the seconds from the start of the joined spans. */
function timed(...words: readonly (readonly [string, number, number])[]) {
  return words.map(([text, startSeconds, endSeconds]) => ({ text, startSeconds, endSeconds }));
}

test("words of a chunk without its long silence have their times in the recording", () => {
  expect(pieces).toEqual(spans([9.8, 13], [39, 43.2]));
  const heard = timed([" Good", 0.2, 1], [" morning.", 1, 2.2], [" Bye", 4.2, 5], [" then.", 5.5, 7.2]);
  const words = placeWords(heard, chunk, pieces, heardSamples());
  expect(words.map(({ text }) => text)).toEqual(heard.map(({ text }) => text));
  expect(rounded(words, 2)).toEqual(spans([10, 10.8], [10.8, 12], [40, 40.8], [41.3, 43]));
});

test("a word that alignment puts across the cut stays on one side of it", () => {
  const heard = timed([" Good", 0.2, 1], [" morning.", 1.2, 4.4], [" Bye.", 4.4, 5]);
  const words = placeWords(heard, chunk, pieces, heardSamples());
  expect(words.map(({ text }) => text)).toEqual([" Good", " morning.", " Bye."]);
  for (const { startSeconds, endSeconds } of words) {
    expect(endSeconds - startSeconds).toBeWithin(0.001, 3);
    expect(endSeconds <= 13 || startSeconds >= 39).toBe(true);
  }
});
