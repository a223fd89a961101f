import { messageOf } from "../../text/index.ts";
import { type Check, type CheckContext, type Finding, problem } from "./check.ts";

/** Finding of a check, and the repair that was made. */
export interface Result {
  readonly check: Check;
  readonly finding: Finding;
  /** The repair by `--fix` and, if it failed, the reason; null if none was attempted. */
  readonly mended: { readonly what: string; readonly failure: string | null } | null;
}

export interface RunOptions {
  /** Whether to make the available repairs. */
  readonly fix: boolean;
  /** Called at the start of every check. */
  readonly onStart: (check: Check) => void;
}

/**
 * Runs checks and returns their results in the same order. Heavy checks run one after another, in parallel with the
 * others. After all checks have finished, available repairs are made and those checks run again.
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

/** Runs a check. An exception in a check becomes a finding and does not stop the other checks. */
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
