import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { corpusPath } from "../../support/checkout.ts";

/** The corpus of formats, in the order of its names. */
export function corpusFiles(): Buffer[] {
  const names = readdirSync(corpusPath("formats")).sort();
  return names.map((name) => readFileSync(corpusPath(join("formats", name))));
}
