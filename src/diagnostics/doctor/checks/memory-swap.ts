import { size } from "../../../text/index.ts";
import { type Check, ok, skipped, warning } from "../check.ts";

export const memorySwap: Check = {
  id: "memory.swap",
  title: "Swap",
  explanation:
    "Whether the machine moves memory to disk right now. Inference touches the whole model for every piece of speech, so a machine that swaps is many times slower.",
  run({ machine }) {
    const info = machine.read("/proc/meminfo");
    if (info === null) return skipped("this system has no /proc/meminfo to read");
    const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(info)?.[1] ?? 0) * 1024;
    const total = bytes("SwapTotal");
    const used = total - bytes("SwapFree");
    if (total === 0) return ok("none");
    const summary = `${size(used)} of ${size(total)} used`;
    if (used > total / 2 && bytes("MemAvailable") < bytes("MemTotal") / 10) {
      return warning(`the machine is short of memory and swaps: ${summary}`, {
        advice: "Give it more memory, end other programs, or take a smaller model (transcribe models list).",
      });
    }
    return ok(summary);
  },
};
