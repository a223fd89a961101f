import { type AST, ParseError, parseTOML } from "toml-eslint-parser";

/** A place in a text; lines and columns count from 1, columns in characters. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

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

/** A text that is not TOML. The parser stops at the first fault. */
export class TomlError extends Error {
  override readonly name = "TomlError";
  readonly place: Place;

  constructor(message: string, place: Place) {
    super(message);
    this.place = place;
  }
}

/** Reads a TOML file (1.0) with the place of every entry. @throws {TomlError} */
export function readToml(text: string): TomlEntry[] {
  try {
    return entriesOf(parseTOML(text, { tomlVersion: "1.0" }), text);
  } catch (error) {
    if (error instanceof ParseError) throw faultOf(text, error);
    if (error instanceof RangeError) throw new TomlError("this is nested too deeply", { line: 1, column: 1 });
    throw error;
  }
}

function entriesOf(program: AST.TOMLProgram, text: string): TomlEntry[] {
  const place = (node: AST.TOMLNode) => placeAt(text, node.range[0]);
  const ofPairs = (pairs: readonly AST.TOMLKeyValue[], prefix: readonly string[]): TomlEntry[] =>
    pairs.flatMap((pair) => {
      const path = [...prefix, ...namesOf(pair.key)];
      if (pair.value.type === "TOMLInlineTable") {
        return [{ path, value: {}, source: null, place: place(pair) }, ...ofPairs(pair.value.body, path)];
      }
      const source = text.slice(...pair.value.range);
      return [{ path, value: contentOf(pair.value), source, place: place(pair) }];
    });
  return program.body[0].body.flatMap((node): TomlEntry[] => {
    if (node.type === "TOMLKeyValue") return ofPairs([node], []);
    const path = namesOf(node.key);
    // A list of tables is not valid for any setting: its head gets a value that no setting accepts.
    const value = node.kind === "array" ? [{}] : {};
    return [{ path, value, source: null, place: place(node.key) }, ...ofPairs(node.body, path)];
  });
}

function namesOf({ keys }: AST.TOMLKey): string[] {
  return keys.map((name) => (name.type === "TOMLBare" ? name.name : name.value));
}

function contentOf(node: AST.TOMLContentNode): unknown {
  if (node.type === "TOMLArray") return node.elements.map(contentOf);
  return node.type === "TOMLInlineTable" ? {} : node.value;
}

function faultOf(text: string, { index, message }: ParseError): TomlError {
  if (message === "Defining a key multiple times is invalid") {
    return new TomlError("this is set a second time", placeAt(text, index));
  }
  // The parser reports the next token, but a missing token belongs to the end of the previous line.
  const before = text.slice(0, index);
  const isMissing = /(?:^|\n)\s*$/.test(before) && !message.startsWith("Unexpected");
  const place = placeAt(text, isMissing ? before.trimEnd().length : index);
  return new TomlError(`this is not valid TOML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`, place);
}

/** Returns the place of an offset, which counts UTF-16 units as the parser does. */
function placeAt(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: [...(lines.at(-1) ?? "")].length + 1 };
}
