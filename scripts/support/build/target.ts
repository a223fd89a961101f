import { parseArgs } from "node:util";
import { nativeArchitectures } from "../../../native/build.ts";

/** Those that there is a Bun of, by Node's names. */
const bunArchitectures = ["x64", "arm64"] as const;

/** A kind of machine that the program is built for. */
export interface Target {
  readonly name: `linux-${(typeof bunArchitectures)[number]}`;
  /** By Node's name. */
  readonly architecture: (typeof bunArchitectures)[number];
}

/**
 * The target that a command line asks for; this machine's by default.
 * @param architectures that can be compiled for here, this machine's first
 * @throws Error for another, with those that there are
 */
export function targetOf(args: readonly string[], architectures: readonly string[] = nativeArchitectures): Target {
  const targets: Target[] = architectures
    .flatMap((name) => bunArchitectures.filter((architecture) => architecture === name))
    .map((architecture) => ({ name: `linux-${architecture}`, architecture }));
  const { values } = parseArgs({ args: [...args], options: { target: { type: "string", default: targets[0]?.name } } });
  const target = targets.find(({ name }) => name === values.target);
  if (target === undefined) {
    const names = targets.map(({ name }) => name).join(" and ");
    throw new Error(`this machine builds for ${names}, not for ${values.target}: run scripts/build on one that does`);
  }
  return target;
}
