import { expect, test } from "bun:test";
import { packChunks } from "../../../src/speech/diarization/index.ts";
import type { Span } from "../../../src/timeline/index.ts";
import { rounded, spans } from "../../support/spans.ts";

const cases: {
  promise: string;
  speech: Span[];
  total: number;
  options?: { maxGapSeconds: number };
  chunks: Span[];
}[] = [
  { promise: "no speech makes no chunk", speech: [], total: 60, chunks: [] },
  { promise: "speech gets room at both ends", speech: spans([5, 8]), total: 60, chunks: spans([4.8, 8.2]) },
  { promise: "no room is made beyond the recording", speech: spans([0.1, 9.95]), total: 10, chunks: spans([0, 10]) },
  {
    promise: "short silences stay inside a chunk",
    speech: spans([1, 4], [5, 9], [10.5, 14]),
    total: 20,
    chunks: spans([0.8, 14.2]),
  },
  {
    promise: "long silences are left out",
    speech: spans([1, 4], [9, 12]),
    total: 20,
    chunks: spans([0.8, 4.2], [8.8, 12.2]),
  },
  {
    promise: "a full chunk ends at the longest silence of its last third, not at the latest",
    speech: spans([0, 10], [10.3, 22], [23.5, 26], [26.2, 29], [29.1, 33]),
    total: 40,
    chunks: spans([0, 22.2], [23.3, 33.2]),
  },
  {
    promise: "where the only silence comes early, a chunk ends there rather than in speech",
    speech: spans([0, 4], [4.4, 32]),
    total: 40,
    chunks: spans([0, 4.2], [4.2, 32.2]),
  },
  {
    promise: "neighbours share a silence that is too short for room on both sides",
    speech: spans([0, 20], [20.2, 40]),
    total: 40,
    chunks: spans([0, 20.1], [20.1, 40]),
  },
  {
    promise: "speech without any silence is cut evenly",
    speech: spans([0, 70]),
    total: 70,
    chunks: spans([0, 23.333], [23.333, 46.667], [46.667, 70]),
  },
  {
    promise: "the longest silence in a chunk is an option",
    speech: spans([0, 4], [10, 12], [50, 52]),
    total: 52,
    options: { maxGapSeconds: Number.POSITIVE_INFINITY },
    chunks: spans([0, 12.2], [49.8, 52]),
  },
];

for (const { promise, speech, total, options, chunks } of cases) {
  test(promise, () => expect(rounded(packChunks(speech, total, options))).toEqual(chunks));
}

test("chunks are in order, at most 30 s long, disjoint and cover all speech", () => {
  // A fixed sequence of lengths and gaps that has no period in common with the packing.
  let at = 0;
  const speech = spans(
    ...Array.from({ length: 500 }, (_, index): [number, number] => {
      const start = at + 0.05 + ((index * 7919) % 97) / 40;
      at = start + 0.2 + ((index * 104729) % 89) / 4;
      return [start, at];
    }),
  );
  const chunks = packChunks(speech, at);
  let end = 0;
  for (const chunk of chunks) {
    expect(chunk.startSeconds).toBeGreaterThanOrEqual(end);
    expect(chunk.endSeconds - chunk.startSeconds).toBeLessThanOrEqual(30.000001);
    end = chunk.endSeconds;
  }
  for (const { startSeconds, endSeconds } of speech) {
    const holder = chunks.find((chunk) => chunk.startSeconds <= startSeconds && endSeconds <= chunk.endSeconds);
    expect(holder).toBeDefined();
  }
});
