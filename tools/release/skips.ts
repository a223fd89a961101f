import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const acceptedSchema = Type.Object(
  {
    /** Beginning of the notice after `SKIPPED: `. */
    notice: Type.String({ minLength: 8 }),
    /** Test files that may skip tests then. */
    files: Type.Array(Type.String({ pattern: "^test/.*\\.test\\.tsx?$" })),
    /** Steps in which it is accepted. */
    steps: Type.Array(Type.String(), { minItems: 1 }),
    reason: Type.String({ minLength: 20 }),
  },
  { additionalProperties: false },
);

/** A skip that a release accepts. */
export type AcceptedSkip = Static<typeof acceptedSchema>;

/** Reads the list of accepted skips. */
export function acceptedSkips(): AcceptedSkip[] {
  const text = readFileSync(join(import.meta.dir, "accepted-skips.json"), "utf8");
  return Value.Parse(Type.Array(acceptedSchema), JSON.parse(text));
}

/** The skips of a run: reasons of accepted ones, and lines of all others. */
export interface Skips {
  readonly accepted: readonly AcceptedSkip[];
  readonly unexpected: readonly string[];
}

/**
 * Finds the skips in the output of tests: notices, which begin with `SKIPPED: `, and skipped tests, `(skip) `. A skipped
 * test is accepted if its file is listed and has given its notice.
 */
export function findSkips(output: string, step: string, accepted: readonly AcceptedSkip[]): Skips {
  const here = accepted.filter(({ steps }) => steps.includes(step));
  const given = new Set<AcceptedSkip>();
  const unexpected: string[] = [];
  const skippedTests: { readonly file: string; readonly line: string }[] = [];
  let file = "";
  let repeated = false;
  for (const line of output.split("\n")) {
    const next = /^(\S+\.test\.tsx?):$/.exec(line)?.[1];
    file = next ?? file;
    // After the last file, Bun lists all skipped tests again, without their files.
    repeated = next === undefined && (repeated || /^\d+ tests? skipped:$/.test(line));
    if (line.startsWith("(skip) ") && !repeated) skippedTests.push({ file, line });
    const notice = /(?:^|: )SKIPPED: (.*)$/.exec(line)?.[1];
    if (notice === undefined) continue;
    const known = here.find((each) => notice.startsWith(each.notice));
    if (known === undefined) unexpected.push(line.trim());
    else given.add(known);
  }
  for (const { file, line } of skippedTests) {
    if (![...given].some(({ files }) => files.includes(file))) unexpected.push(`${file}: ${line}`);
  }
  return { accepted: [...given], unexpected: [...new Set(unexpected)] };
}
