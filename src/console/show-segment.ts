import { type SegmentWithWords, speakerLabel } from "../recordings/index.ts";
import type { Segment, Word } from "./contract/transcript.ts";

/** Returns a segment whose words have their positions in the text. Words that are not in the text are left out. */
export function showSegment({ words, text, ...segment }: SegmentWithWords): Segment {
  let reached = 0;
  return {
    index: segment.index,
    start: segment.startMilliseconds / 1000,
    end: segment.endMilliseconds / 1000,
    speaker: speakerLabel(segment.speaker),
    text,
    words: words.flatMap(([written, start, end, probability]): Word[] => {
      const word = written.trim();
      const from = word === "" ? -1 : text.indexOf(word, reached);
      if (from < 0) return [];
      reached = from + word.length;
      return [[from, reached, start / 1000, end / 1000, probability]];
    }),
  };
}
