import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const verdictSchema = Type.Object({
  /** File name of the variant, for people who read the file. */
  library: Type.String(),
  /** ggml's rating for this CPU; 0: not for this CPU. */
  score: Type.Number({ minimum: 0 }),
  state: Type.Union([Type.Literal("untested"), Type.Literal("works"), Type.Literal("failed")]),
  /** Why it failed, else empty. */
  reason: Type.String(),
});

/** What is known about a variant on this machine. */
export type Verdict = Static<typeof verdictSchema>;

const fileSchema = Type.Object({
  version: Type.Literal(1),
  /** By a hash of the CPU, the model and the libraries. */
  verdicts: Type.Record(Type.String(), verdictSchema),
});

/** Reads the verdicts; a file that is missing or not ours counts as none, since they can be found out again. */
export function readVerdicts(path: string): Record<string, Verdict> {
  try {
    return parse(readFileSync(path, "utf8")) ?? {};
  } catch {
    return {};
  }
}

/** Whether a text is what a file of verdicts holds. */
export function areVerdicts(text: string): boolean {
  return parse(text) !== null;
}

function parse(text: string): Record<string, Verdict> | null {
  try {
    const content: unknown = JSON.parse(text);
    return Value.Check(fileSchema, content) ? content.verdicts : null;
  } catch {
    return null;
  }
}

/**
 * Adds verdicts to those that the file holds by now. A reader never sees half of it, and of several models that are tried at
 * once none comes in between.
 */
export function addVerdicts(path: string, verdicts: Record<string, Verdict>): void {
  const all = { ...readVerdicts(path), ...verdicts };
  const content: Static<typeof fileSchema> = { version: 1, verdicts: all };
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(temporary, path);
}
