import type { Mark } from "../../../console/contract.ts";
import { rangesIn } from "./highlights.ts";

/** Returns the part of a row to show: the marked range, or its text; null while the text is not loaded. */
export function partOf(row: HTMLElement, mark: Mark | null): Range | Element | null {
  const said = row.querySelector(".said:not(.coming)");
  if (said === null) return null;
  if (mark === null) return said;
  return rangesIn(said, [mark])[0] ?? said;
}
