import { invalidField } from "./errors.ts";

/** Encodes a cursor, which is opaque to clients: a letter for the kind of position, and the start of the page. */
export function encodeCursor(kind: "i" | "r", position: string): string {
  return Buffer.from(kind + position).toString("base64url");
}

/**
 * Decodes a cursor.
 * @param shape allowed form of a position
 * @returns the position; null without a cursor
 * @throws 422 under `cursor`
 */
export function decodeCursor(kind: "i" | "r", shape: RegExp, cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, "base64url").toString();
  const position = text.slice(1);
  if (text[0] !== kind || !shape.test(position) || encodeCursor(kind, position) !== cursor) {
    throw invalidField("cursor", "It is not a cursor of this list; take next_cursor of the page before as it is.");
  }
  return position;
}
