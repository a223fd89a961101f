import type { Mark } from "../../../console/contract.ts";
import { rangesIn } from "./highlights.ts";

/** What is to be seen of a row: a marked place, else its text; null while that has not come. */
export function partOf(row: HTMLElement, mark: Mark | null): Range | Element | null {
  const said = row.querySelector(".said:not(.coming)");
  if (said === null) return null;
  if (mark === null) return said;
  return rangesIn(said, [mark])[0] ?? said;
}
