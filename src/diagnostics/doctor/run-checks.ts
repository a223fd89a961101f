import { messageOf } from "../../text/index.ts";
import { type Check, type CheckContext, type Finding, problem } from "./check.ts";

/** Finding of a check, and the repair that was made. */
export interface Result {
  readonly check: Check;
  readonly finding: Finding;
  /** The repair by `--fix` and, if it failed, the reason; null if none was attempted. */
  readonly repaired: { readonly what: string; readonly failure: string | null } | null;
}

/**
 * Runs checks and returns their results in the same order. Heavy checks run one after another, in parallel with the
 * others. After all checks have finished, available repairs are made if `fix` is set, and those checks run again.
 * @param onStart called at the start of every check
 * @throws the signal's reason after an abort
 */
export async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  { fix, onStart }: { readonly fix: boolean; readonly onStart: (check: Check) => void },
): Promise<Result[]> {
  let heavyChecks: Promise<unknown> = Promise.resolve();
  const start = (check: Check) => {
    context.signal.throwIfAborted();
    onStart(check);
    return run(check, context);
  };
  const results = await Promise.all(
    checks.map(async (check): Promise<Result> => {
      const finding = check.heavy ? heavyChecks.then(() => start(check)) : start(check);
      if (check.heavy) heavyChecks = finding;
      return { check, finding: await finding, repaired: null };
    }),
  );
  context.signal.throwIfAborted();
  if (!fix) return results;
  const after: Result[] = [];
  for (const result of results) after.push(await repair(result, context));
  return after;
}

/** Runs a check. An exception in a check becomes a finding and does not stop the other checks. */
async function run(check: Check, context: CheckContext): Promise<Finding> {
  try {
    return await check.run(context);
  } catch (error) {
    context.signal.throwIfAborted();
    return problem(`this check itself failed: ${messageOf(error)}`, {
      advice: "Its subject may be fine. See the other checks, and please report this message.",
    });
  }
}

async function repair(result: Result, context: CheckContext): Promise<Result> {
  const { check, finding } = result;
  if (finding.repair === undefined) return result;
  let failure: string | null = null;
  try {
    await finding.repair.apply();
  } catch (error) {
    failure = messageOf(error);
  }
  return { check, finding: await run(check, context), repaired: { what: finding.repair.what, failure } };
}
