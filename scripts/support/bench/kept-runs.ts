import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { messageOf } from "../../../src/text/index.ts";
import { runSchema } from "./competitor.ts";

const benchSchema = Type.Object({
  date: Type.String(),
  commit: Type.String(),
  machine: Type.String(),
  threads: Type.Integer(),
  /** ISO code that all were told; null: everybody found it out. */
  language: Type.Union([Type.String(), Type.Null()]),
  runs: Type.Array(runSchema),
});
/** Runs, and what they have in common. */
export type Bench = Static<typeof benchSchema>;

/** All but the runs and their day has to be the same where runs are put together. */
const common = ["commit", "machine", "threads", "language"] as const;

/** The runs that earlier calls kept with --json. @throws Error that says which file they can't be taken from, and why */
export async function readRuns(paths: readonly string[], now: Omit<Bench, "runs">): Promise<Bench["runs"]> {
  const kept: Bench["runs"] = [];
  for (const path of paths) {
    const bench = await readBench(path);
    const other = common.find((key) => bench[key] !== now[key]);
    if (other !== undefined) throw new Error(`${path} is of another ${other}: ${bench[other]}, not ${now[other]}`);
    kept.push(...bench.runs);
  }
  return kept;
}

async function readBench(path: string): Promise<Bench> {
  try {
    return Value.Parse(benchSchema, await Bun.file(path).json());
  } catch (error) {
    throw new Error(`${path} is not what --json has written: ${messageOf(error)}`);
  }
}
