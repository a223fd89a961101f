import { parseArgs } from "node:util";

/**
 * The target that a command line asks for; this machine's by default.
 * @throws Error for another: the native parts are compiled for the machine that compiles, and are tried there
 */
export function targetOf(args: readonly string[]): string {
  const here = `${process.platform}-${process.arch}`;
  const { values } = parseArgs({ args: [...args], options: { target: { type: "string", default: here } } });
  if (values.target !== here) {
    throw new Error(
      `this machine builds for ${here} alone: run scripts/build on one of ${values.target}, with the tools that scripts/setup names`,
    );
  }
  return values.target;
}
