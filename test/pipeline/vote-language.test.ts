import { expect, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { voteLanguage } from "../../src/pipeline/vote-language.ts";
import type { Probabilities } from "../../src/speech/index.ts";
import { chunkAudioSeconds, type Span } from "../../src/timeline/index.ts";

const area = { directory: "none", pcm: { path: "none", sampleCount: 0 } };

/** Returns consecutive chunks of 1 to 30 s, some of which have a long silence. */
function chunksOf(next: () => number) {
  let at = 0;
  return Array.from({ length: 1 + Math.floor(60 * next()) }, () => {
    const [startSeconds, seconds] = [at, 1 + 29 * next()];
    at += seconds;
    const speech: Span[] =
      seconds > 12 && next() < 0.3
        ? [
            { startSeconds, endSeconds: startSeconds + 4 },
            { startSeconds: startSeconds + 8, endSeconds: at },
          ]
        : [{ startSeconds, endSeconds: at }];
    return { area, chunk: { startSeconds, endSeconds: at, speech } };
  });
}

test("the vote on a language has the same result however many chunks are checked at once, and checks at most one more", async () => {
  const next = randomNumbers(3);
  for (let round = 0; round < 100; round++) {
    const speech = chunksOf(next);
    const agreement = next();
    const probabilities = new Map<string, Probabilities>();
    const vote = async (limit: number) => {
      let asked = 0;
      const result = await voteLanguage(
        speech,
        async ({ chunk }) => {
          asked += 1;
          await Promise.resolve();
          const key = `${chunk.startSeconds} ${chunkAudioSeconds(chunk)}`;
          const de = next() < agreement ? 0.9 * next() : 0.1 * next();
          const known = probabilities.get(key) ?? { de, en: 1 - de };
          probabilities.set(key, known);
          return known;
        },
        { partsAtOnce: limit },
      );
      return { result, asked };
    };
    const alone = await vote(1);
    for (const limit of [2, 4, 32]) {
      const { result, asked } = await vote(limit);
      expect(result).toEqual(alone.result);
      expect(asked - alone.asked).toBeWithin(0, 2);
    }
  }
});
