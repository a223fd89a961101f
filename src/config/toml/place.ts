/** A place in a text; lines and columns count from 1, columns in characters. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** The place of an offset in UTF-16 units, as the parser counts. */
export function placeAt(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: [...(lines.at(-1) ?? "")].length + 1 };
}
