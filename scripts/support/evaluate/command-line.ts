import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { messageOf } from "../../../src/text/index.ts";

/** Options and names from the command line. Where --help is asked for, prints `usage`; that and what is wrong ends the process. */
export function readCommandLine<T extends ParseArgsOptionsConfig>(args: string[], options: T, usage: string) {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    const { values, positionals: names } = parseArgs({ args, options, allowPositionals: true });
    return { values, names };
  } catch (error) {
    // What follows the first sentence is about arguments that begin with a dash, which no name does.
    return refuse(`${messageOf(error).split(". ")[0]}; scripts/evaluate --help says what there is`, 2);
  }
}

/** Ends the process where a directory holds no corpus. */
export function requireCorpus(directory: string): void {
  if (!existsSync(join(directory, "manifest.json"))) refuse(`${directory} holds no manifest.json`, 2);
}

export function refuse(why: string, exitCode: number): never {
  console.error(`evaluate: ${why}`);
  process.exit(exitCode);
}
