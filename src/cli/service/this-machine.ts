import { existsSync } from "node:fs";
import { type Machine, runTool, ServiceError, type StepReport } from "../../install/index.ts";

/** The machine this runs on. */
export const thisMachine: Machine = {
  run: runTool,
  hasSystemd: existsSync("/run/systemd/system"),
  isRoot: process.geteuid?.() === 0,
};

/** @throws {ServiceError} where this user may not change the machine */
export function requireRoot(command: string): void {
  if (!thisMachine.isRoot)
    throw new ServiceError(`only root can do this: sudo ${command}; --dry-run shows what it does`);
}

/** One line a step, as it is taken. */
export function printStep({ what, outcome }: StepReport): void {
  process.stdout.write(`${outcome.padEnd(8)}  ${what}\n`);
}
