import { getPriority, setPriority } from "node:os";

/** On the scale of nice(1). */
const usualNiceness = 10;

/**
 * Has a process wait for a processor more willingly than this one: answers take some milliseconds, what other processes do
 * takes all processors for minutes. What it starts later, threads too, inherits it.
 * @param processId this process' own where it is left out
 * @param niceness how much more willingly; 19 is the most there is
 */
export function yieldProcessor(processId = 0, niceness = usualNiceness): void {
  try {
    setPriority(processId, Math.min(19, getPriority() + niceness));
  } catch {
    // It may have ended, or the system may not allow it.
  }
}
