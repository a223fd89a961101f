import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { cpuShares } from "../../../engine/index.ts";
import { size } from "../../../text/index.ts";
import { cgroupLimits } from "../cgroup.ts";
import { type Check, ok, problem, skipped, warning } from "../check.ts";
import { speechModelOf } from "../files-of.ts";
import { findGpus } from "../gpus.ts";
import { memoryNeed } from "../memory-need.ts";

export const memorySize: Check = {
  id: "memory.size",
  title: "Memory",
  explanation:
    "Memory of the machine, or what its container or service may use, against what the server, the model in use and the decoders of recordings that run at once take. When it runs out, the kernel ends the worker in the middle of its work.",
  run(context) {
    const { machine, settings, server } = context;
    const info = machine.read("/proc/meminfo");
    if (info === null) return skipped("this system has no /proc/meminfo to read");
    const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(info)?.[1] ?? 0);
    const installed = kilobytes("MemTotal") * 1024;
    const limit = cgroupLimits(machine).memoryBytes;
    const total = Math.min(installed, limit ?? installed);
    const available = Math.min(kilobytes("MemAvailable") * 1024, total);
    const gpus = settings.engine.device === "cpu" ? 0 : findGpus(machine).length;
    const lanes = gpus > 0 ? 1 : cpuShares(settings.engine.threads || availableParallelism()).lanes;
    const model = statSync(speechModelOf(context)).size;
    const need = memoryNeed(model, settings.queue.slots, Math.max(1, gpus), lanes);
    const of = limit !== null && limit < installed ? "the container or service may use" : "there are";
    const detail = [`needed: about ${size(need)}; ${of} ${size(total)}, of which ${size(available)} are free`];
    const advice =
      "Give the machine or container more memory, take a smaller model (transcribe models list), or lower queue.slots or engine.threads.";
    if (total < need)
      return problem(`too little: ${size(total)}, and about ${size(need)} are needed`, { detail, advice });
    // A running server already holds its memory, so the available memory does not include it.
    if (server === null && available < need) {
      return warning(`${size(available)} are free now, and about ${size(need)} are needed`, {
        detail,
        advice: `Other programs hold the rest: end some, or ${advice[0]?.toLowerCase()}${advice.slice(1)}`,
      });
    }
    return ok(`${size(total)}, and about ${size(need)} are needed`, ...detail);
  },
};
