import type { Segment } from "../../src/segments/index.ts";

/** Returns segments of about 1,000 characters each. */
export function longSegments(count: number): Segment[] {
  const text = "Sentence after sentence. ".repeat(40).trim();
  return Array.from({ length: count }, (_, index) => ({
    ...{ index, startSeconds: index, endSeconds: index + 0.9, speaker: index % 2, text, words: [] },
  }));
}
