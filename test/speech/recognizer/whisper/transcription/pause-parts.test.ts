import { describe, expect, test } from "bun:test";
import { pauseParts } from "../../../../../src/speech/recognizer/whisper/transcription/language-parts.ts";
import { soundAt } from "../../../sound-at.ts";

const sounds = (...spans: [number, number][]) => soundAt(spans.at(-1)?.[1] ?? 0, ...spans);

describe("speech is split in its pauses", () => {
  test.each<[string, Float32Array, number[]]>([
    ["in the middle of each", sounds([0, 4], [5, 8], [8.5, 12]), [0, 4.5, 8.25, 12]],
    ["what is short goes with the nearer neighbour", sounds([0, 4], [4.3, 5], [6, 9]), [0, 5.5, 9]],
    ["what is short goes with the nearer neighbour, also the next one", sounds([0, 4], [5, 6], [6.3, 9]), [0, 4.5, 9]],
    ["short parts are put together until they are long enough", sounds([0, 1], [1.4, 2.4], [3, 7]), [0, 2.7, 7]],
    ["nowhere where all is short", sounds([0, 1], [1.5, 2.5]), [0, 2.5]],
    ["where it is told where there is none, as in noise", sounds([0, 9]), [0, 3.5, 9]],
    ["not at the silence around it", soundAt(9, [0.5, 8]), [0, 9]],
  ])("%s", (_, samples, edges) => {
    const parts = pauseParts(samples, [1, 3.5, 8]);
    expect(parts[0]?.startSeconds).toBe(0);
    expect(parts.map(({ endSeconds }) => Math.round(endSeconds * 20) / 20)).toEqual(edges.slice(1));
    for (const [index, part] of parts.slice(1).entries())
      expect(part.startSeconds).toBe(parts[index]?.endSeconds ?? -1);
  });
});
