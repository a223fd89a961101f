import { type GpuTestResult, isGpuWithinReach } from "../../speech/index.ts";
import { type CheckContext, type Finding, skipped } from "./check.ts";

/** Returns the reason why there is no GPU to test; null if there may be one. */
export function noGpuToTry({ settings }: CheckContext): Finding | null {
  if (!isGpuWithinReach()) return skipped("no GPU can be reached here: /dev has none");
  if (settings.engine.device !== "cpu") return null;
  return skipped("the setting engine.device says that the CPU does the work");
}

/** Describes the result of a GPU self-test in words. */
export function inWords(trial: GpuTestResult): string {
  if (!trial.ok) return trial.reason;
  return `${trial.seconds.toFixed(2)} s for what takes the CPU ${trial.cpuSeconds.toFixed(2)} s`;
}
