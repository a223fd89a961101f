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
  const times = wordTimes(segment, text);
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
        startMilliseconds: times.startOf(from),
        endMilliseconds: times.endOf(from + shown.length),
        bindsToNext: bindsToNext(fragment, language),
      };
    });
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

/** An offset in a text whose time is known. In a list, offsets and times ascend. */
interface Anchor {
  readonly offset: number;
  readonly milliseconds: number;
}

/**
 * Finds the times at which the characters of a segment's clean text were spoken. Times between words, and of missing
 * words, are interpolated.
 */
function wordTimes(segment: ExportSegment, text: string) {
  const start = segment.startMilliseconds;
  const end = Math.max(start, segment.endMilliseconds);
  const anchors: Anchor[] = [{ offset: 0, milliseconds: start }];
  let offset = 0;
  let reached = start;
  const add = (at: number, milliseconds: number) => {
    offset = at;
    reached = Math.min(end, Math.max(reached, milliseconds));
    anchors.push({ offset, milliseconds: reached });
  };
  for (const [wordText, wordStart, wordEnd] of segment.words) {
    const word = cleanText(wordText.trim());
    const found = word === "" ? -1 : text.indexOf(word, offset);
    if (found < 0) continue;
    add(found, wordStart);
    add(found + word.length, wordEnd);
  }
  anchors.push({ offset: text.length, milliseconds: end });

  const between = (before: number, after: number, at: number): number => {
    const from = anchors[before];
    const to = anchors[after];
    if (from === undefined || to === undefined) return (from ?? to)?.milliseconds ?? 0;
    if (to.offset === from.offset) return from.milliseconds;
    const share = (at - from.offset) / (to.offset - from.offset);
    return Math.round(from.milliseconds + share * (to.milliseconds - from.milliseconds));
  };
  return {
    /** Returns the start time of the text that begins at this offset. */
    startOf(at: number): number {
      const last = anchors.findLastIndex((anchor) => anchor.offset <= at);
      return between(last, last + 1, at);
    },
    /** Returns the end time of the text that ends at this offset. */
    endOf(at: number): number {
      const next = anchors.findIndex((anchor) => anchor.offset >= at);
      return between(next - 1, next, at);
    },
  };
}
