import { count } from "../../../text/index.ts";
import { type Check, ok, warning } from "../check.ts";
import { gpuBackendsOf } from "../files-of.ts";
import { findGpus } from "../gpus.ts";

export const gpuDevices: Check = {
  id: "gpu.devices",
  title: "GPU",
  explanation:
    "The graphics processors on the PCI bus, and whether this build has a backend that can use them: Vulkan for any vendor, CUDA for NVIDIA. Without one the CPU does all the work, correctly and more slowly.",
  run(context) {
    const gpus = findGpus(context.machine);
    const backends = gpuBackendsOf(context);
    if (gpus.length === 0) return ok("none on the PCI bus; the CPU does all the work");
    const detail = gpus.map(({ vendor, address, driver }) => `${vendor} at ${address}, driver ${driver ?? "none"}`);
    if (backends.length === 0) {
      return warning(`${named(gpus)} there, but this build has no backend for it: the CPU does all the work`, {
        detail,
        advice: "Use a build with the Vulkan or CUDA backend to have the GPU work. Nothing else is wrong.",
      });
    }
    const libraries = backends.map(({ library }) => library).join(", ");
    return ok(`${named(gpus)} there`, ...detail, `backends of this build: ${libraries}`);
  },
};

function named(gpus: readonly { vendor: string }[]): string {
  const vendors = [...new Set(gpus.map(({ vendor }) => vendor))].join(" and ");
  return `${count(gpus.length, `${vendors} GPU`)} ${gpus.length === 1 ? "is" : "are"}`;
}
