import { diffArrays } from "diff";
import { spaceless } from "../search/index.ts";
import type { StoredWord } from "../segments/index.ts";
import { cleanText, meetIn } from "../text/index.ts";

/** The part of a segment that a correction of its text changes. */
export interface TimedText {
  readonly startMilliseconds: number;
  readonly endMilliseconds: number;
  readonly text: string;
  readonly words: readonly StoredWord[];
}

/** A word with its place in the segment's text: from and to in UTF-16 code units, without surrounding space. */
interface PlacedWord {
  readonly word: StoredWord;
  readonly from: number;
  readonly to: number;
}

/** A word of a corrected text: the place of its letters, and its times. */
interface TimedSpan {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
  /** The recognized word, if its letters are unchanged; null: a person wrote it. */
  readonly word: StoredWord | null;
}

const isSpaceless = new RegExp(`[${spaceless}]`, "u");
const startsSpaceless = new RegExp(`^[\\p{Ps}\\p{Pi}]*[${spaceless}]`, "u");
/** Letters and punctuation of scripts without spaces. */
const unspaced = new RegExp(`[${spaceless}\\u3000-\\u303F\\uFF00-\\uFFEF]`, "u");
/** The units that a comparison of two texts keeps whole. */
const atom = new RegExp(
  `[${spaceless}]\\p{Variation_Selector}?|(?:(?![${spaceless}])[\\p{L}\\p{M}\\p{N}])+|\\s+|.`,
  "gsu",
);
const letters = /[\p{L}\p{M}\p{N}](?:.*[\p{L}\p{M}\p{N}])?/su;
const wordBreaks = new Intl.Segmenter("und", { granularity: "word" });
const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Number of changed atoms beyond which a text counts as written anew, so that no comparison takes long. */
const MAX_CHANGED_ATOMS = 600;
/** Probability of a word that a person wrote. */
const WRITTEN = 1;

/** Finds the words of a segment in its text. Words that are not in the text are left out. */
export function placeWords(text: string, words: readonly StoredWord[]): PlacedWord[] {
  let reached = 0;
  return words.flatMap((word) => {
    const written = word[0].trim();
    const from = written === "" ? -1 : text.indexOf(written, reached);
    if (from < 0) return [];
    reached = from + written.length;
    return [{ word, from, to: reached }];
  });
}

/**
 * Returns the words of a segment after a correction of its text. Unchanged words keep their times and probabilities.
 * New words share the time of the words that they replace, or the time between their neighbours, by their lengths.
 * Together, the words are the text.
 * @param text the corrected text, trimmed, with single spaces
 */
export function retimeWords(segment: TimedText, text: string): StoredWord[] {
  const placed = placeWords(segment.text, segment.words);
  const places = unchangedPlaces(segment.text, text);
  const spans: TimedSpan[] = [];
  let reached = 0;
  let replaced: PlacedWord[] = [];
  const write = (to: number, nextStart: number) => {
    const within = timeOf(replaced, spans.at(-1)?.end ?? segment.startMilliseconds, nextStart);
    spans.push(...newSpans(text, reached, to, replaced, within));
    replaced = [];
  };
  for (const each of placed) {
    const core = letters.exec(each.word[0].trim());
    const offset = each.from + (core?.index ?? 0);
    const from = placeOf(places, offset, core?.[0].length ?? each.to - each.from);
    if (from === null || from < reached) {
      replaced.push(each);
      continue;
    }
    const [, start, end] = each.word;
    write(from, start);
    reached = from + (core?.[0].length ?? each.to - each.from);
    spans.push({ from, to: reached, start, end, word: each.word });
  }
  write(text.length, segment.endMilliseconds);
  return wordsOf(text, spans, segment);
}

/** Returns the place in the second text of every unchanged character of the first; -1 for the others. */
function unchangedPlaces(before: string, after: string): Int32Array {
  const places = new Int32Array(before.length).fill(-1);
  const atoms = [before.match(atom) ?? [], after.match(atom) ?? []] as const;
  const changes = diffArrays([...atoms[0]], [...atoms[1]], { maxEditLength: MAX_CHANGED_ATOMS }) ?? [];
  let old = 0;
  let now = 0;
  for (const { value, added, removed } of changes) {
    const { length } = value.join("");
    if (!added && !removed) for (let offset = 0; offset < length; offset++) places[old + offset] = now + offset;
    if (!added) old += length;
    if (!removed) now += length;
  }
  return places;
}

/** Returns the place of unchanged, connected characters in the other text; null if they have changed. */
function placeOf(places: Int32Array, from: number, length: number): number | null {
  const first = places[from] ?? -1;
  if (first < 0) return null;
  for (let offset = 1; offset < length; offset++) if (places[from + offset] !== first + offset) return null;
  return first;
}

/** Returns the time that new words share. */
function timeOf(replaced: readonly PlacedWord[], previousEnd: number, nextStart: number): [number, number] {
  const first = replaced[0]?.word;
  const last = replaced.at(-1)?.word;
  const start = first === undefined ? previousEnd : first[1];
  return [start, Math.max(start, last === undefined ? nextStart : last[2])];
}

/** Returns the words between two offsets of the text, with their times. */
function newSpans(
  text: string,
  from: number,
  to: number,
  replaced: readonly PlacedWord[],
  [start, end]: readonly [number, number],
): TimedSpan[] {
  const places = lettersBetween(text, from, to);
  // As many words as before: each takes the time of the word at its place.
  if (places.length === replaced.length) {
    return places.map((place, index) => {
      const [, wordStart = start, wordEnd = end] = replaced[index]?.word ?? [];
      return { ...place, start: wordStart, end: wordEnd, word: null };
    });
  }
  const total = places.reduce((sum, place) => sum + place.to - place.from, 0);
  let done = 0;
  return places.map((place) => {
    const at = (characters: number) => Math.round(start + ((end - start) * characters) / total);
    const begun = at(done);
    done += place.to - place.from;
    return { ...place, start: begun, end: at(done), word: null };
  });
}

/** Returns the places of the words between two offsets of the text, each from its first to its last letter. */
function lettersBetween(text: string, from: number, to: number): { readonly from: number; readonly to: number }[] {
  const places: { readonly from: number; readonly to: number }[] = [];
  const add = (offset: number, piece: string) => {
    const found = letters.exec(piece);
    if (found !== null) places.push({ from: offset + found.index, to: offset + found.index + found[0].length });
  };
  for (const match of text.slice(from, to).matchAll(/\S+/gu)) {
    const [piece] = match;
    if (!isSpaceless.test(piece)) add(from + match.index, piece);
    else for (const { segment, index } of wordBreaks.segment(piece)) add(from + match.index + index, segment);
  }
  return places;
}

/** Divides a text into its words. Punctuation belongs to the word before it, up to the last space between two words. */
function wordsOf(text: string, spans: readonly TimedSpan[], segment: TimedText): StoredWord[] {
  const all: readonly TimedSpan[] =
    spans.length > 0
      ? spans
      : [{ from: 0, to: text.length, start: segment.startMilliseconds, end: segment.endMilliseconds, word: null }];
  let begun = 0;
  return all.map(({ to, start, end, word }, index): StoredWord => {
    const next = all[index + 1];
    const between = next === undefined ? "" : text.slice(to, next.from);
    const space = between.lastIndexOf(" ");
    const stop = next === undefined ? text.length : to + (space < 0 ? between.length - openingLength(between) : space);
    const written = text.slice(begun, stop);
    // The recognizers write a space before each word of a script with spaces, also before the first one.
    const spaced = index === 0 && !startsSpaceless.test(written) ? ` ${written}` : written;
    begun = stop;
    if (word === null) return [spaced, start, end, WRITTEN];
    return word[4] === false ? [spaced, start, end, word[3], false] : [spaced, start, end, word[3]];
  });
}

/** Returns the number of characters at the end of a text that open something, and so belong to the next word. */
function openingLength(text: string): number {
  return /[\p{Ps}\p{Pi}¿¡]*$/u.exec(text)?.[0].length ?? 0;
}

function within(time: number, min: number, max: number): number {
  return Math.round(Math.max(min, Math.min(max, time)));
}

/** Moves the times of words into a span. */
function wordsWithin(words: readonly StoredWord[], from: number, to: number): StoredWord[] {
  return words.map(
    ([text, start, end, ...rest]): StoredWord => [text, within(start, from, to), within(end, from, to), ...rest],
  );
}

/** The two parts of a segment, or null if one of them would have no text or no time. */
type Halves = readonly [TimedText, TimedText] | null;

/**
 * Splits a segment at a character of its text, or before the letter that the character belongs to. A word at the split
 * is divided like its text.
 */
export function splitAt(segment: TimedText, at: number): Halves {
  const { text, startMilliseconds, endMilliseconds } = segment;
  const character = graphemes.segment(text).containing(at)?.index ?? at;
  const left = cleanText(text.slice(0, character));
  const right = cleanText(text.slice(character));
  if (left === "" || right === "" || endMilliseconds - startMilliseconds < 2) return null;
  const first: StoredWord[] = [];
  const second: StoredWord[] = [];
  for (const { word, from, to } of placeWords(text, segment.words)) {
    const [written, start, end, ...rest] = word;
    if (to <= character) first.push(word);
    else if (from >= character) second.push(word);
    else {
      const space = written.length - written.trimStart().length;
      const middle = Math.round(start + ((end - start) * (character - from)) / (to - from));
      first.push([written.slice(0, space + character - from).trimEnd(), start, middle, ...rest]);
      second.push([written.slice(space + character - from).trimStart(), middle, end, ...rest]);
    }
  }
  const share = startMilliseconds + ((endMilliseconds - startMilliseconds) * left.length) / text.length;
  const reached = latestEnd(first) ?? share;
  const begun = earliestStart(second) ?? Math.max(share, reached);
  // The second part begins earlier if the segment was joined from two whose parties spoke at the same time.
  const isAtOnce = begun < reached;
  const end = within(reached, startMilliseconds + 1, isAtOnce ? endMilliseconds : endMilliseconds - 1);
  const start = within(begun, isAtOnce ? startMilliseconds : end, endMilliseconds - 1);
  const last = isAtOnce ? (latestEnd(second) ?? endMilliseconds) : endMilliseconds;
  const stop = within(last, start + 1, endMilliseconds);
  return [
    { startMilliseconds, endMilliseconds: end, text: left, words: wordsWithin(first, startMilliseconds, end) },
    { startMilliseconds: start, endMilliseconds: stop, text: right, words: wordsWithin(second, start, stop) },
  ];
}

/** Returns when the first of some words begins; null for none. They need not be in order of time. */
function earliestStart(words: readonly StoredWord[]): number | null {
  return words.length === 0 ? null : Math.min(...words.map(([, start]) => start));
}

/** Returns when the last of some words ends; null for none. */
function latestEnd(words: readonly StoredWord[]): number | null {
  return words.length === 0 ? null : Math.max(...words.map(([, , end]) => end));
}

/** Joins two segments, of which the first starts first. All words keep their times. */
export function joined(first: TimedText, second: TimedText): TimedText {
  const isClose = meetIn(unspaced, first.text, second.text);
  const [next, ...others] = second.words;
  const written = next?.[0].trimStart() ?? "";
  const begin: StoredWord[] =
    next === undefined ? [] : [[isClose ? written : ` ${written}`, ...(next.slice(1) as Rest<StoredWord>)]];
  return {
    startMilliseconds: first.startMilliseconds,
    endMilliseconds: Math.max(first.endMilliseconds, second.endMilliseconds),
    text: `${first.text}${isClose ? "" : " "}${second.text}`,
    words: [...first.words, ...begin, ...others],
  };
}

type Rest<T extends readonly unknown[]> = T extends readonly [unknown, ...infer R] ? R : never;
