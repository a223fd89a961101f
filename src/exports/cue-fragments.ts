import { cleanText } from "../text/index.ts";
import { breakableFragments, graphemesOf } from "./break-points.ts";
import type { ExportSegment } from "./document.ts";

/** The smallest fragment of a subtitle, which contains no line break opportunity. */
export interface CueFragment {
  /** Text with the space after it. */
  readonly text: string;
  /** Columns of the text, without the space after it, and of that space. */
  readonly width: number;
  readonly spaceWidth: number;
  readonly startMilliseconds: number;
  readonly endMilliseconds: number;
  /** Whether a line should not break after this fragment, because it belongs to the next one, as an article does. */
  readonly bindsToNext: boolean;
  /** Whether this is a part of the speaker's label before the text, and not of the text. */
  readonly isLabel?: true;
}

/**
 * Splits a segment's text into fragments of at most `maxWidth` columns. A column is the width of a Latin letter. East
 * Asian wide characters take two columns, combining marks none.
 * @param text the segment's text as `cleanText` returns it
 * @param language ISO 639-1; null if unknown
 */
export function cueFragments(
  segment: ExportSegment,
  text: string,
  { language, maxWidth }: { language: string | null; maxWidth: number },
): CueFragment[] {
  const timeOf = timesIn(segment, text);
  let offset = 0;
  return breakableFragments(text)
    .flatMap((fragment) => (columns(fragment.trimEnd()) > maxWidth ? cutToWidth(fragment, maxWidth) : [fragment]))
    .map((fragment) => {
      const from = offset;
      offset += fragment.length;
      const shown = fragment.trimEnd();
      const width = columns(shown);
      return {
        text: fragment,
        width,
        spaceWidth: columns(fragment) - width,
        ...timeOf(from, from + shown.length),
        bindsToNext: bindsToNext(fragment, language),
      };
    });
}

/**
 * Returns the label of a speaker before a text, which takes no time. It is one fragment, so that no label is alone in a
 * cue: a long name is cut.
 * @param at the text's start
 */
export function labelFragment(name: string, at: number, maxWidth: number): CueFragment {
  let shown = name;
  if (columns(shown) + 1 > maxWidth) {
    const [beginning = ""] = cutToWidth(name, maxWidth - 2);
    shown = `${beginning.trimEnd()}…`;
  }
  const text = `${shown}: `;
  const times = { startMilliseconds: at, endMilliseconds: at };
  return { text, width: columns(text) - 1, spaceWidth: 1, ...times, bindsToNext: true, isLabel: true };
}

function columns(text: string): number {
  return Bun.stringWidth(text);
}

/**
 * Splits a fragment that is too wide between characters, because it has no better place to break. Examples are a web
 * address or a word of repeated letters.
 */
function cutToWidth(fragment: string, maxWidth: number): string[] {
  const parts: string[] = [];
  let part = "";
  let width = 0;
  for (const grapheme of graphemesOf(fragment)) {
    const added = columns(grapheme);
    if (part !== "" && width + added > maxWidth && grapheme.trim() !== "") {
      parts.push(part);
      part = "";
      width = 0;
    }
    part += grapheme;
    width += added;
  }
  parts.push(part);
  return parts;
}

/** Articles, prepositions and conjunctions that are separate words, for the languages with a known list. */
const wordsByLanguage: Readonly<Record<string, string>> = {
  en: "a an the and or but nor if than as because of to in on at by for from with without into onto upon about between through during within against towards",
  fr: "le la les un une des du de au aux à ce cet cette ces et ou mais ni que qui si comme dans en par pour sur sous avec sans chez vers entre",
  de: "der die das dem den des ein eine einem einen einer eines und oder aber sondern denn weil dass wenn ob als wie in im ins an am ans auf aus bei beim bis durch für gegen mit nach ohne über um unter von vom vor zu zum zur zwischen",
  es: "el la los las lo un una unos unas de del a al y e o u pero ni que si como porque en con por para sin sobre entre hasta desde hacia",
  it: "il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal dallo dalla dai dagli dalle in nel nello nella nei negli nelle su sul sullo sulla sui sugli sulle con per tra fra e ed o ma che se come",
  pt: "o a os as um uma uns umas de do da dos das em no na nos nas num numa ao à aos às por pelo pela pelos pelas para com sem sobre entre até e ou mas nem que se como porque",
  nl: "de het een en of maar want dat als om te in op aan bij van voor met naar uit door over tot tussen zonder tegen onder",
};

const leadingWords = new Map(Object.entries(wordsByLanguage).map(([code, words]) => [code, new Set(words.split(" "))]));
const opening = /^["'“‘„«‹([¿¡-]+/u;

/**
 * Returns whether a word belongs to the next one, so that a line should not end with it: "de", "the", "und". Always
 * false for a word followed by punctuation, and in a language without a list.
 * @param language ISO 639-1; null if unknown
 */
export function bindsToNext(word: string, language: string | null): boolean {
  const text = word.trim().replace(opening, "").toLowerCase();
  return leadingWords.get(language ?? "")?.has(text) ?? false;
}

/** Maximum time by which a start is delayed to prevent a short overlap: a frame of video at 25 per second. */
const MAX_DELAY_MILLISECONDS = 40;

/** Returns a start, or the end of what comes before if it overlaps by no more than `MAX_DELAY_MILLISECONDS`. */
export function withoutShortOverlap(start: number, endBefore: number): number {
  return endBefore - start <= MAX_DELAY_MILLISECONDS ? Math.max(start, endBefore) : start;
}

/** A word at its place in a segment's clean text; `from` and `to` are offsets. */
interface TimedSpan {
  readonly from: number;
  readonly to: number;
  readonly startMilliseconds: number;
  readonly endMilliseconds: number;
}

/**
 * Finds the words of a segment in its clean text. Times are those of the words, within the segment. A word that begins
 * a little before the end of the previous one begins at that end. One that begins earlier keeps its time: a person has
 * joined segments of two parties who spoke at the same time.
 */
function timedWords(segment: ExportSegment, text: string): TimedSpan[] {
  const earliest = segment.startMilliseconds;
  const latest = Math.max(earliest, segment.endMilliseconds);
  const within = (milliseconds: number) => Math.max(earliest, Math.min(latest, milliseconds));
  let offset = 0;
  let reached = earliest;
  return segment.words.flatMap(([wordText, wordStart, wordEnd]) => {
    const word = cleanText(wordText.trim());
    const from = word === "" ? -1 : text.indexOf(word, offset);
    if (from < 0) return [];
    offset = from + word.length;
    const startMilliseconds = withoutShortOverlap(within(wordStart), reached);
    reached = Math.max(startMilliseconds, within(wordEnd));
    return [{ from, to: offset, startMilliseconds, endMilliseconds: reached }];
  });
}

/**
 * Creates a function that returns the time in which a part of a segment's clean text was spoken. The time of a word is
 * divided among its characters. Text without a word takes the time between its neighbours.
 */
function timesIn(segment: ExportSegment, text: string) {
  const words = timedWords(segment, text);
  const first = { from: 0, to: 0, endMilliseconds: segment.startMilliseconds };
  const last = { from: text.length, startMilliseconds: Math.max(segment.startMilliseconds, segment.endMilliseconds) };
  let next = 0;
  /** @param from not before that of the previous call */
  return (from: number, to: number): Pick<TimedSpan, "startMilliseconds" | "endMilliseconds"> => {
    while ((words[next]?.to ?? Number.POSITIVE_INFINITY) <= from) next++;
    let end = next;
    while ((words[end]?.from ?? Number.POSITIVE_INFINITY) < to) end++;
    const [begun, ended] = [words[next], words[end - 1]];
    if (end > next && begun !== undefined && ended !== undefined) {
      const startMilliseconds = timeAt(begun, Math.max(from, begun.from));
      return { startMilliseconds, endMilliseconds: Math.max(startMilliseconds, timeAt(ended, Math.min(to, ended.to))) };
    }
    const before = words[next - 1] ?? first;
    const after = begun ?? last;
    const gap = {
      from: before.to,
      to: after.from,
      startMilliseconds: before.endMilliseconds,
      endMilliseconds: Math.max(before.endMilliseconds, after.startMilliseconds),
    };
    return { startMilliseconds: timeAt(gap, from), endMilliseconds: timeAt(gap, to) };
  };
}

function timeAt({ from, to, startMilliseconds, endMilliseconds }: TimedSpan, offset: number): number {
  if (from === to) return startMilliseconds;
  return Math.round(startMilliseconds + ((offset - from) / (to - from)) * (endMilliseconds - startMilliseconds));
}
