import { existsSync } from "node:fs";
import { join } from "node:path";
import { corpusPath } from "../../harness/checkout.ts";
import { text, UsageError } from "../shared/options.ts";
import { CommandError } from "../shared/run-command.ts";
import { type Reference, readCorpus } from "./references.ts";

export const corpusOption = text("DIRECTORY", "use another corpus in the same format", corpusPath(""));

export function hasCorpus(directory: string): boolean {
  return existsSync(join(directory, "manifest.json"));
}

/** @throws {UsageError} when a directory contains no corpus */
export function requireCorpus(directory: string): void {
  if (!hasCorpus(directory)) throw new UsageError(`${directory} contains no manifest.json`);
}

/** Returns a function that decides whether a path contains one of the names; without names it contains all. */
export function selectorOf(names: readonly string[]): (path: string) => boolean {
  return (path) => names.length === 0 || names.some((name) => path.includes(name));
}

/**
 * Reads a corpus, and selects the recordings whose path contains one of the names.
 * @param what the recordings that the command needs: `recording with turns`
 * @throws {UsageError} when the directory contains no corpus
 * @throws {CommandError} when no recording is selected
 */
export async function readSelected(
  { audio, names }: { readonly audio: string; readonly names: readonly string[] },
  what = "recording",
  isNeeded: (reference: Reference) => boolean = () => true,
): Promise<{ readonly corpus: readonly Reference[]; readonly chosen: readonly Reference[] }> {
  requireCorpus(audio);
  const corpus = await readCorpus(audio);
  const isNamed = selectorOf(names);
  const chosen = corpus.filter((reference) => isNamed(reference.path) && isNeeded(reference));
  if (chosen.length === 0) throw new CommandError(`no ${what} has such a name`);
  return { corpus, chosen };
}
