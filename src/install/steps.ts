import { isSystemError } from "../text/index.ts";
import { ServiceError } from "./layout.ts";

/** One step of an installation or removal, which may be done already. */
export interface Step {
  /** Result of the step, e.g. `/etc/systemd/system/transcribe.service, the unit`. */
  readonly what: string;
  /** Whether a running service must restart to use the result. */
  readonly restarts?: boolean;
  /** Returns whether the step still has to be done. */
  readonly needed: () => boolean | Promise<boolean>;
  readonly apply: () => void | Promise<void>;
}

/** The outcome of a step: `done`, `unchanged` if it was done before, `would do` in a dry run. */
export interface StepReport {
  readonly what: string;
  readonly outcome: "done" | "unchanged" | "would do";
  /** Whether a running service must restart because of it. */
  readonly restarts: boolean;
}

/** Runs the steps in order and reports each; when one throws, the later ones are not run. */
export async function runSteps(
  steps: readonly Step[],
  dryRun: boolean,
  report: (report: StepReport) => void,
): Promise<StepReport[]> {
  const reports: StepReport[] = [];
  for (const { what, restarts = false, needed, apply } of steps) {
    const open = await needed();
    if (open && !dryRun) await asServiceError(what, apply);
    const outcome = !open ? "unchanged" : dryRun ? "would do" : "done";
    const done: StepReport = { what, outcome, restarts: restarts && outcome === "done" };
    report(done);
    reports.push(done);
  }
  return reports;
}

/**
 * Runs a step and turns errors of the file system, such as a full disk, into a ServiceError: the operator can fix them.
 */
async function asServiceError(what: string, apply: Step["apply"]): Promise<void> {
  try {
    await apply();
  } catch (error) {
    if (isSystemError(error)) {
      throw new ServiceError(`${what}: ${error.message}; earlier steps stay done, and the command can be repeated`);
    }
    throw error;
  }
}
