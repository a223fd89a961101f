import type { AST } from "toml-eslint-parser";
import { parseTolerantly, type TomlFault } from "./parse-tolerantly.ts";
import { type Place, placeAt } from "./place.ts";

/** A key of a TOML file with its value, or a table's head without a value. */
export interface TomlEntry {
  /** Names of the tables and of the key, e.g. `["server", "port"]`. */
  readonly path: readonly string[];
  /** A text, a number, a boolean, a list of these, or another value that is shown only by its source text. */
  readonly value: unknown;
  /** The value as the file writes it; null for the head of a table, or an inline table. */
  readonly source: string | null;
  readonly place: Place;
}

export interface TomlReading {
  readonly entries: readonly TomlEntry[];
  readonly faults: readonly TomlFault[];
}

/** Reads a TOML file (1.0) with the place of every entry. Finds all faults and still returns the readable entries. */
export function readToml(text: string): TomlReading {
  try {
    return readTree(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { entries: [], faults: [{ place: { line: 1, column: 1 }, message: "this is nested too deeply" }] };
  }
}

function readTree(text: string): TomlReading {
  const { program, original, faults } = parseTolerantly(text);
  const place = (node: AST.TOMLNode) => placeAt(text, original.offset(node.range[0]));
  const ofPairs = (pairs: readonly AST.TOMLKeyValue[], prefix: readonly string[]): TomlEntry[] =>
    pairs.flatMap((pair) => {
      const path = [...prefix, ...namesOf(pair.key)];
      if (pair.value.type === "TOMLInlineTable") {
        return [{ path, value: {}, source: null, place: place(pair) }, ...ofPairs(pair.value.body, path)];
      }
      const source = original.text(pair.value.range);
      return [{ path, value: readValue(pair.value), source, place: place(pair) }];
    });
  const namesOf = (key: AST.TOMLKey) => original.names(key.keys.map((name) => nameOf(name)));
  const entries = (program?.body[0].body ?? []).flatMap((node): TomlEntry[] => {
    if (node.type === "TOMLKeyValue") return ofPairs([node], []);
    const path = namesOf(node.key);
    // A list of tables is not valid for any setting: its head gets a value that no setting accepts.
    const value = node.kind === "array" ? [{}] : {};
    return [{ path, value, source: null, place: place(node.key) }, ...ofPairs(node.body, path)];
  });
  return { entries, faults };
}

function nameOf(name: AST.TOMLBare | AST.TOMLQuoted): string {
  return name.type === "TOMLBare" ? name.name : name.value;
}

function readValue(node: AST.TOMLContentNode): unknown {
  if (node.type === "TOMLArray") return node.elements.map(readValue);
  if (node.type === "TOMLInlineTable") return {};
  return node.value;
}
