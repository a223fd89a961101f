import { ServiceError } from "./service-error.ts";

/** One thing to be done, which may have been done before. */
export interface Step {
  /** What there is after it, e.g. `/etc/systemd/system/transcribe.service, the unit`. */
  readonly what: string;
  /** A running service has to start again to have it. */
  readonly restarts?: boolean;
  /** Whether it is yet to be done. */
  readonly needed: () => boolean | Promise<boolean>;
  readonly apply: () => void | Promise<void>;
}

/** What became of a step: `done`, `kept` for one that was done before, `would do` where nothing may be changed. */
export interface StepReport {
  readonly what: string;
  readonly outcome: "done" | "kept" | "would do";
  /** Whether a running service has to start again for it. */
  readonly restarts: boolean;
}

/** Takes the steps in order and reports each; those after one that throws are not taken. */
export async function takeSteps(
  steps: readonly Step[],
  dryRun: boolean,
  report: (report: StepReport) => void,
): Promise<StepReport[]> {
  const reports: StepReport[] = [];
  for (const { what, restarts = false, needed, apply } of steps) {
    const open = await needed();
    if (open && !dryRun) await asServiceError(what, apply);
    const outcome = !open ? "kept" : dryRun ? "would do" : "done";
    const done: StepReport = { what, outcome, restarts: restarts && outcome === "done" };
    report(done);
    reports.push(done);
  }
  return reports;
}

/** What the file system refuses, a full disk above all, is the operator's to mend. */
async function asServiceError(what: string, apply: Step["apply"]): Promise<void> {
  try {
    await apply();
  } catch (error) {
    if (error instanceof Error && "code" in error && "syscall" in error) {
      throw new ServiceError(`${what}: ${error.message}; what was done before stays, and this can be run again`);
    }
    throw error;
  }
}
