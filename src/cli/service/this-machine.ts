import { existsSync } from "node:fs";
import { type Machine, runTool, ServiceError, type StepReport } from "../../install/index.ts";

/** The machine on which this process runs. */
export const thisMachine: Machine = {
  run: runTool,
  hasSystemd: existsSync("/run/systemd/system"),
  isRoot: process.geteuid?.() === 0,
};

/** Requires root. @throws {ServiceError} when the user is not root */
export function requireRoot(command: string): void {
  if (!thisMachine.isRoot)
    throw new ServiceError(`only root can do this: sudo ${command}; --dry-run shows what it does`);
}

/** Prints one line for a completed step. */
export function printStep({ what, outcome }: StepReport): void {
  process.stdout.write(`${outcome.padEnd(8)}  ${what}\n`);
}
