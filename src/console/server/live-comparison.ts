import { setImmediate as nextTick } from "node:timers/promises";
import type { LiveSegment } from "../../live/index.ts";
import type { SegmentWithWords } from "../../segments/index.ts";
import { meetIn } from "../../text/index.ts";
import { placeWords } from "../../transcripts/index.ts";
import type { LiveComparison } from "../contract/index.ts";

/** Duration of a part at least. A part ends between two segments of the live text. */
const PART_SECONDS = 20;
/** Number of parts in an answer. */
const PARTS_AT_ONCE = 100;
/** Number of segments of the transcript that are read before other requests have their turn. */
const SEGMENTS_AT_ONCE = 500;

/** A span of the recording, with its words in the live text. */
interface Part {
  /** Start of its first segment. */
  readonly startSeconds: number;
  /** The part covers the time from the end of the previous one. */
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly live: string;
}

/**
 * Compares the live text of a recording with its transcript, by the times of both.
 * @param segments the live text
 * @param transcript the segments of the transcript, in order
 * @param after number of parts that the page has already
 */
export async function compareLiveText(
  segments: readonly Pick<LiveSegment, "startSeconds" | "endSeconds" | "text">[],
  transcript: Iterable<SegmentWithWords>,
  after: number,
): Promise<LiveComparison> {
  const all = partsOf(segments);
  const parts = all.slice(after, after + PARTS_AT_ONCE);
  const texts = await textsWithin(transcript, parts);
  const next = after + parts.length;
  return {
    parts: parts.map(({ startSeconds, live }, index) => ({
      start: startSeconds,
      live,
      transcript: texts[index] ?? "",
    })),
    next_after: next < all.length ? next : null,
  };
}

/** Divides the live text into parts, which together cover the recording. */
function partsOf(segments: Parameters<typeof compareLiveText>[0]): Part[] {
  const parts: Part[] = [];
  for (const { startSeconds, endSeconds, text } of segments) {
    const last = parts.at(-1);
    if (last !== undefined && startSeconds - last.startSeconds < PART_SECONDS) {
      parts[parts.length - 1] = { ...last, toSeconds: endSeconds, live: joined(last.live, text) };
    } else {
      const fromSeconds = last === undefined ? Number.NEGATIVE_INFINITY : (last.toSeconds + startSeconds) / 2;
      if (last !== undefined) parts[parts.length - 1] = { ...last, toSeconds: fromSeconds };
      parts.push({ startSeconds, fromSeconds, toSeconds: endSeconds, live: text.trim() });
    }
  }
  const last = parts.at(-1);
  return last === undefined ? [] : [...parts.slice(0, -1), { ...last, toSeconds: Number.POSITIVE_INFINITY }];
}

/** Returns the text of the transcript within each part. A word belongs to the part in which its middle lies. */
async function textsWithin(transcript: Iterable<SegmentWithWords>, parts: readonly Part[]): Promise<string[]> {
  const texts = parts.map(() => "");
  const from = parts[0]?.fromSeconds ?? 0;
  const to = parts.at(-1)?.toSeconds ?? 0;
  let read = 0;
  for (const { startMilliseconds, endMilliseconds, text, words } of transcript) {
    if (++read % SEGMENTS_AT_ONCE === 0) await nextTick();
    if (endMilliseconds / 1000 < from) continue;
    if (startMilliseconds / 1000 > to) break;
    for (const [part, spoken] of wordsByPart(text, words, parts)) texts[part] = joined(texts[part] ?? "", spoken);
  }
  return texts;
}

/** Divides the text of a segment by the parts in which its words lie. */
function wordsByPart(text: string, words: SegmentWithWords["words"], parts: readonly Part[]): Map<number, string> {
  const spoken = new Map<number, string>();
  const placed = placeWords(text, words);
  for (const [index, { word, from }] of placed.entries()) {
    const [, start, end] = word;
    const middle = (start + end) / 2000;
    const part = parts.findIndex(({ fromSeconds, toSeconds }) => middle >= fromSeconds && middle < toSeconds);
    // With the punctuation and the space up to the next word.
    const added = text.slice(from, placed[index + 1]?.from);
    if (part >= 0) spoken.set(part, (spoken.get(part) ?? "") + added);
  }
  return spoken;
}

/** Scripts that are written without spaces. */
const spaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Joins two texts, with a space if their script has spaces. */
function joined(before: string, after: string): string {
  const [first, second] = [before.trim(), after.trim()];
  if (first === "" || second === "") return first + second;
  return first + (meetIn(spaceless, first, second) ? "" : " ") + second;
}
