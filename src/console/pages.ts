import { ConsoleError } from "./errors.ts";

/**
 * Encodes the position where a page begins; opaque to the browser. It contains one letter for the list and the last
 * entry of the page before.
 */
export function encodeCursor(list: string, position: string): string {
  return Buffer.from(list + position).toString("base64url");
}

/**
 * Decodes a cursor.
 * @returns the position; null without a cursor
 * @throws {ConsoleError} 422 for a cursor of another list, or a malformed one
 */
export function decodeCursor(list: string, shape: RegExp, cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, "base64url").toString();
  const position = text.slice(1);
  if (text[0] === list && shape.test(position)) return position;
  throw new ConsoleError("validation_failed", "The list has changed; begin it again.", { field: "cursor" });
}

/**
 * Returns the first `limit` rows of a list and the cursor of the next page. The cursor is null if there are no more
 * rows.
 */
export function firstPage<Row extends { readonly id: string }>(
  list: string,
  rows: readonly Row[],
  limit: number,
): { readonly page: readonly Row[]; readonly nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(list, last.id) : null };
}
