import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { corpusPath } from "../checkout.ts";

/** Returns the files of the format corpus, sorted by name. */
export function corpusFiles(): Buffer[] {
  const names = readdirSync(corpusPath("formats")).sort();
  return names.map((name) => readFileSync(corpusPath(join("formats", name))));
}
