import { count } from "../../../text/index.ts";
import { cgroupLimits } from "../cgroup.ts";
import { type Check, ok, warning } from "../check.ts";

export const cpuThreads: Check = {
  id: "cpu.threads",
  title: "CPU threads",
  explanation:
    "How many threads compute (`engine.threads`, by default one per processor), against the processors there are and the share of them that a container or service may use. More threads than processors wait for each other and make everything slower.",
  run({ settings, machine }) {
    const { processors } = machine;
    const threads = settings.engine.threads || processors;
    const allowed = cgroupLimits(machine).processors;
    const usable = Math.min(processors, allowed ?? processors);
    const advised = Math.max(1, Math.floor(usable));
    if (threads > processors) {
      return warning(`${threads} threads on ${count(processors, "processor")}: they wait for each other`, {
        advice: `Set engine.threads to ${advised}, or to 0 for one per processor.`,
      });
    }
    if (threads > Math.ceil(usable)) {
      return warning(
        `${threads} threads, but the container or service may use only ${usable.toFixed(1)} of ${count(processors, "processor")}`,
        { advice: `Set engine.threads to ${advised}, or raise the limit (docker: --cpus, systemd: CPUQuota=).` },
      );
    }
    if (settings.engine.threads > 0 && threads <= usable / 2) {
      return ok(
        `${threads} of ${count(processors, "processor")} by engine.threads; the others are left to other programs`,
      );
    }
    return ok(`${count(threads, "thread")} on ${count(processors, "processor")}`);
  },
};
