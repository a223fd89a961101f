import { messageOf } from "../../text/index.ts";
import { type Check, type CheckContext, type Finding, problem } from "./check.ts";

/** What a check found, and what was mended. */
export interface Result {
  readonly check: Check;
  readonly finding: Finding;
  /** What `--fix` did, or why it could not. */
  readonly mended: { readonly what: string; readonly failure: string | null } | null;
}

export interface RunOptions {
  /** Mend what can be mended. */
  readonly fix: boolean;
  /** Told of the start of every check. */
  readonly onStart: (check: Check) => void;
}

/**
 * Runs checks and gives their results in the order of the checks. Those that compute run one after another, the others
 * beside them; what can be mended is mended when all have looked, and looked at again.
 * @throws the signal's reason after an abort
 */
export async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  { fix, onStart }: RunOptions,
): Promise<Result[]> {
  const findings = new Map<Check, Finding>();
  const look = async (check: Check) => {
    context.signal.throwIfAborted();
    onStart(check);
    findings.set(check, await lookAt(check, context));
  };
  const oneAfterAnother = async () => {
    for (const check of checks) if (check.heavy) await look(check);
  };
  await Promise.all([oneAfterAnother(), ...checks.filter((check) => !check.heavy).map(look)]);
  context.signal.throwIfAborted();
  const results: Result[] = [];
  for (const check of checks) {
    const finding = findings.get(check) ?? noFinding;
    results.push(fix ? await mend(check, finding, context) : { check, finding, mended: null });
  }
  return results;
}

const noFinding = problem("it was not looked at", { advice: "This is a fault of the program; please report it." });

/** A check that fails is a finding of its own, never the end of the others. */
async function lookAt(check: Check, context: CheckContext): Promise<Finding> {
  try {
    return await check.run(context);
  } catch (error) {
    context.signal.throwIfAborted();
    return problem(`this check itself failed: ${messageOf(error)}`, {
      advice: "What it looks at may be fine. The other checks say more; please report this one's message.",
    });
  }
}

async function mend(check: Check, finding: Finding, context: CheckContext): Promise<Result> {
  const { mending } = finding;
  if (mending === undefined) return { check, finding, mended: null };
  let failure: string | null = null;
  try {
    await mending.apply();
  } catch (error) {
    failure = messageOf(error);
  }
  return { check, finding: await lookAt(check, context), mended: { what: mending.what, failure } };
}
