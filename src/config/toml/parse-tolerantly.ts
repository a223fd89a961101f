import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import { type Place, placeAt } from "./place.ts";

export interface TomlFault {
  readonly place: Place;
  readonly message: string;
}

/** Maps the parsed text back to the original text. */
export interface Original {
  offset(parsedOffset: number): number;
  text(parsedRange: readonly [number, number]): string;
  /** Removes the names that were inserted for a second definition. */
  names(parsed: readonly string[]): string[];
}

interface Parsed {
  /** Null when too little can be read to continue. */
  readonly program: AST.TOMLProgram | null;
  readonly original: Original;
  readonly faults: readonly TomlFault[];
}

/** Character of the private use area: no setting's name starts with it. */
const secondTime = "\u{e000}";
const duplicate = "Defining a key multiple times is invalid";
const mostFaults = 20;

/**
 * Parses a text with faults as far as it can be understood. The parser stops at its first fault, so the text is changed
 * and parsed again. A second definition gets a unique name, and a line that is not TOML is blanked. After a broken
 * table head, the rest of the text is removed.
 */
export function parseTolerantly(text: string): Parsed {
  const insertions: Insertion[] = [];
  const faults: TomlFault[] = [];
  const original = originalOf(text, insertions);
  let parsed = text;
  let lastBroken = -1;
  while (faults.length < mostFaults) {
    const error = faultOf(parsed);
    if (!(error instanceof ParseError)) return { program: error, original, faults };
    if (error.message === duplicate) {
      faults.push({ place: placeAt(text, original.offset(error.index)), message: "this is set a second time" });
      const name = `"${secondTime}${faults.length}".`;
      insertions.push({ at: error.index, length: name.length });
      parsed = parsed.slice(0, error.index) + name + parsed.slice(error.index);
      continue;
    }
    const index = brokenAt(parsed, error);
    const offset = original.offset(index);
    // A fault that results from removing later text is not a fault of the file.
    if (offset > lastBroken) {
      faults.push({ place: placeAt(text, offset), message: `this is no TOML: ${inWords(error.message)}` });
      lastBroken = offset;
    }
    const rest = withoutLine(parsed, index);
    // The parser may report an empty line at the end of something that an earlier line has begun.
    const shorter = rest === parsed ? withoutLine(parsed, parsed.slice(0, index).trimEnd().length) : rest;
    if (shorter === parsed || shorter.trim() === "") break;
    parsed = shorter;
  }
  return { program: null, original, faults };
}

/** Returns the parsed program or its first fault. */
function faultOf(text: string): AST.TOMLProgram | ParseError {
  try {
    return parseTOML(text, { tomlVersion: "1.0" });
  } catch (error) {
    if (error instanceof ParseError) return error;
    throw error;
  }
}

/**
 * Returns the offset of a fault. The parser reports the next token, but a missing token belongs to the end of the
 * previous line.
 */
function brokenAt(text: string, { index, message }: ParseError): number {
  const before = text.slice(0, index);
  const isFirstOfLine = /(?:^|\n)\s*$/.test(before);
  return isFirstOfLine && !message.startsWith("Unexpected") ? before.trimEnd().length : index;
}

function withoutLine(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const next = text.indexOf("\n", start);
  const end = next === -1 ? text.length : next;
  if (/^\s*\[/.test(text.slice(start, end))) return text.slice(0, start);
  return text.slice(0, start) + " ".repeat(end - start) + text.slice(end);
}

interface Insertion {
  /** Offset in the text that contains all earlier insertions. */
  readonly at: number;
  readonly length: number;
}

function originalOffset(insertions: readonly Insertion[], offset: number): number {
  return insertions
    .toReversed()
    .reduce((at, made) => (at > made.at ? Math.max(made.at, at - made.length) : at), offset);
}

function originalOf(text: string, insertions: readonly Insertion[]): Original {
  const offset = (parsedOffset: number) => originalOffset(insertions, parsedOffset);
  return {
    offset,
    text: ([from, to]) => text.slice(offset(from), offset(to)),
    names: (parsed) => parsed.filter((name) => !name.startsWith(secondTime)),
  };
}

function inWords(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
