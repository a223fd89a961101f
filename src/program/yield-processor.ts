import { getPriority, setPriority } from "node:os";

/** Default increment on the scale of nice(1). */
const usualNiceness = 10;

/**
 * Gives a process a lower scheduling priority than this one has now. Responses need some milliseconds, while other
 * processes use all processors for minutes. Processes and threads that it starts later inherit the priority.
 * @param processId this process when omitted
 * @param niceness increment; the resulting niceness is at most 19
 */
export function yieldProcessor(processId = 0, niceness = usualNiceness): void {
  try {
    setPriority(processId, Math.min(19, getPriority() + niceness));
  } catch {
    // The process may have exited, or the system may not allow the change.
  }
}
