import { cleanText, meetIn } from "../text/index.ts";
import type { ExportSegment } from "./document.ts";

/** A paragraph of uninterrupted speech of one speaker. */
export interface Turn {
  readonly startMilliseconds: number;
  readonly speaker: number;
  /** Cleaned text on one line, never empty. */
  readonly text: string;
}

/** Minimum pause that starts a new paragraph of the same speaker. */
const PARAGRAPH_PAUSE_MILLISECONDS = 4_000;
/** Duration after which a long speech gets a new paragraph, so that readers can find its place in the recording. */
const LONG_PARAGRAPH_MILLISECONDS = 60_000;

/** Characters of Chinese and Japanese, which have no space between sentences. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303F\uFF00-\uFFEF]/u;

/** Joins consecutive segments of one speaker into paragraphs of at most about a minute. */
export async function* toTurns(segments: AsyncIterable<ExportSegment> | Iterable<ExportSegment>): AsyncGenerator<Turn> {
  let speaker = -1;
  let startMilliseconds = 0;
  let endMilliseconds = 0;
  let text = "";
  for await (const segment of segments) {
    const added = cleanText(segment.text);
    if (added === "") continue;
    const continues =
      text !== "" &&
      segment.speaker === speaker &&
      segment.startMilliseconds - endMilliseconds < PARAGRAPH_PAUSE_MILLISECONDS &&
      segment.startMilliseconds - startMilliseconds < LONG_PARAGRAPH_MILLISECONDS;
    if (continues) {
      text = joinSentences(text, added);
      endMilliseconds = Math.max(endMilliseconds, segment.endMilliseconds);
      continue;
    }
    if (text !== "") yield { startMilliseconds, speaker, text };
    ({ speaker, startMilliseconds, endMilliseconds } = segment);
    text = added;
  }
  if (text !== "") yield { startMilliseconds, speaker, text };
}

/** Joins two texts, with a space where their scripts have one between sentences. */
export function joinSentences(before: string, after: string): string {
  return meetIn(unspaced, before, after) ? before + after : `${before} ${after}`;
}
