import { invalidField } from "./errors.ts";

/** An opaque cursor that names the index a page begins at. */
export function encodeCursor(index: number): string {
  return Buffer.from(`i${index}`).toString("base64url");
}

/**
 * @returns the index; 0 without a cursor
 * @throws 422 under `cursor`
 */
export function decodeCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const index = /^i(0|[1-9]\d{0,8})$/.exec(Buffer.from(cursor, "base64url").toString())?.[1];
  if (index === undefined || encodeCursor(Number(index)) !== cursor) {
    throw invalidField("cursor", "It is not a cursor of ours; take next_cursor of the page before as it is.");
  }
  return Number(index);
}
