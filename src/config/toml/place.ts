/** A place in a text; lines and columns count from 1, columns in characters. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Returns the place of an offset, which counts UTF-16 units as the parser does. */
export function placeAt(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: [...(lines.at(-1) ?? "")].length + 1 };
}
