import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { messageOf } from "../../src/text/index.ts";

/** Parses options and names. Prints `usage` and exits on --help; exits with an error on an invalid option. */
export function readCommandLine<T extends ParseArgsOptionsConfig>(args: string[], options: T, usage: string) {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    const { values, positionals: names } = parseArgs({ args, options, allowPositionals: true });
    return { values, names };
  } catch (error) {
    // The sentences after the first one explain arguments that begin with a dash, which names never do.
    return refuse(`${messageOf(error).split(". ")[0]}; scripts/evaluate --help lists the options`, 2);
  }
}

/** Exits with an error when a directory contains no corpus. */
export function requireCorpus(directory: string): void {
  if (!existsSync(join(directory, "manifest.json"))) refuse(`${directory} contains no manifest.json`, 2);
}

/** Prints an error and exits. */
export function refuse(reason: string, exitCode: number): never {
  console.error(`evaluate: ${reason}`);
  process.exit(exitCode);
}
