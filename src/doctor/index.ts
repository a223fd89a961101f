/** What an operator asks when something is wrong: every condition that the service needs, looked at and explained. */
export type { Check, Finding, Status } from "./check.ts";
export { checks } from "./checks/index.ts";
export { type DoctorOptions, openContext } from "./context.ts";
export { type Result, runChecks } from "./run-checks.ts";
