import { spaceless } from "../search/index.ts";
import type { respelling } from "../transcripts/index.ts";
import type { Replacement } from "./replacements.ts";

type Entry = Pick<Replacement, "source" | "target" | "matchesCase">;

/**
 * The units of a text: one character of a script without spaces; all letters, marks and digits up to the next other
 * character; white space; any other character.
 */
const unit = new RegExp(`[${spaceless}]|(?:(?![${spaceless}])[\\p{L}\\p{M}\\p{N}])+|\\s+|.`, "gsu");
const word = /^[\p{L}\p{M}\p{N}]/u;
const apostrophe = /^['’ʼ]$/u;
const upperCase = /\p{Lu}/u;

interface Unit {
  readonly from: number;
  readonly text: string;
}

/** A state of the search: the units that entries have in common at their beginning. */
interface Node {
  readonly next: Map<string, Node>;
  /** The entries that end here. They differ in their case. */
  readonly entries: Entry[];
}

/** An entry that is found, and the number of the unit behind it. */
interface Found {
  readonly entry: Entry;
  readonly end: number;
}

/**
 * Finds the words in a text that an account's replacements replace. The entries are in a tree, through which the search
 * goes at each word for as long as an entry fits. So the time grows with the text and the length of an entry, and not with
 * the number of entries. The characters of an entry are literal.
 */
export class Matcher {
  readonly #root: Node = newNode();

  constructor(entries: readonly Entry[]) {
    for (const entry of entries) {
      let node = this.#root;
      for (const { text } of unitsOf(entry.source)) {
        const key = keyOf(text);
        const next = node.next.get(key) ?? newNode();
        node.next.set(key, next);
        node = next;
      }
      // An entry of exactly this case comes before one of any case.
      if (entry.matchesCase) node.entries.unshift(entry);
      else node.entries.push(entry);
    }
  }

  get isEmpty(): boolean {
    return this.#root.next.size === 0;
  }

  /**
   * Returns the places to replace, in order and without overlaps. Of several entries that fit at a word, the longest
   * counts. What is written instead is not searched again.
   */
  placesIn(text: string): respelling.TextReplacement[] {
    const places: respelling.TextReplacement[] = [];
    const units = unitsOf(text);
    for (let start = 0; start < units.length; ) {
      const found = this.#find(units, start);
      const { from = 0, text: first = "" } = units[start] ?? {};
      start = found?.end ?? start + 1;
      if (found === null) continue;
      const to = units[start]?.from ?? text.length;
      const written = writtenFor(found.entry, first);
      if (text.slice(from, to) !== written) places.push({ from, to, text: written });
    }
    return places;
  }

  /** Returns the longest entry that fits at a unit; null for none. */
  #find(units: readonly Unit[], start: number): Found | null {
    if (!beginsWord(units, start)) return null;
    let found: Found | null = null;
    let node: Node | undefined = this.#root;
    for (let end = start; end < units.length; ) {
      node = node.next.get(keyOf(units[end]?.text ?? ""));
      if (node === undefined) break;
      end += 1;
      if (node.entries.length === 0 || !endsWord(units, end)) continue;
      const entry = node.entries.find((each) => !each.matchesCase || isWritten(units, start, end, each.source));
      if (entry !== undefined) found = { entry, end };
    }
    return found;
  }
}

function newNode(): Node {
  return { next: new Map(), entries: [] };
}

function unitsOf(text: string): Unit[] {
  return Array.from(text.matchAll(unit), ({ 0: found, index }) => ({ from: index, text: found }));
}

/** Returns what is equal for units that fit each other. */
function keyOf(text: string): string {
  return text.trim() === "" ? " " : text.toLowerCase();
}

function isWritten(units: readonly Unit[], start: number, end: number, source: string): boolean {
  const texts = units.slice(start, end).map(({ text }) => (text.trim() === "" ? " " : text));
  return texts.join("") === source;
}

/** Returns whether a word begins at a unit. An apostrophe between two letters, as in don't, joins them. */
function beginsWord(units: readonly Unit[], at: number): boolean {
  return isWord(units[at]) && !(isApostrophe(units[at - 1]) && isWord(units[at - 2]));
}

/** Returns whether no word continues behind a unit. */
function endsWord(units: readonly Unit[], end: number): boolean {
  return !(isWord(units[end - 1]) && isApostrophe(units[end]) && isWord(units[end + 1]));
}

const isWord = (found: Unit | undefined) => found !== undefined && word.test(found.text);
const isApostrophe = (found: Unit | undefined) => found !== undefined && apostrophe.test(found.text);

/**
 * Returns what is written for an entry. One without capital letters takes over a capital letter at the beginning.
 * @param first the first replaced word
 */
function writtenFor({ source, target, matchesCase }: Entry, first: string): string {
  const [letter = ""] = first;
  if (matchesCase || !upperCase.test(letter) || upperCase.test(source + target)) return target;
  const [begin = ""] = target;
  return begin.toUpperCase() + target.slice(begin.length);
}
