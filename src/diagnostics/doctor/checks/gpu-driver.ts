import { size } from "../../../text/index.ts";
import { type Check, ok, skipped, warning } from "../check.ts";
import { findGpus } from "../gpus.ts";

const query = "--query-gpu=name,driver_version,memory.free,memory.total";

export const gpuDriver: Check = {
  id: "gpu.driver",
  title: "GPU driver",
  explanation:
    "Every GPU needs its kernel driver. For NVIDIA the driver's version and the free memory are asked of nvidia-smi; large-v3-turbo takes about 2 GB, large-v3 about 4 GB.",
  async run({ machine }) {
    const gpus = findGpus(machine);
    if (gpus.length === 0) return skipped("there is no GPU");
    const without = gpus.filter(({ driver }) => driver === null);
    if (without.length > 0) {
      return warning(`no driver is loaded for ${without.map((gpu) => `${gpu.vendor} ${gpu.address}`).join(", ")}`, {
        advice:
          "Install the vendor's driver (NVIDIA: the package nvidia-driver; AMD and Intel: firmware-amd-graphics or firmware-misc-nonfree) and restart the machine.",
      });
    }
    if (!gpus.some(({ vendor }) => vendor === "NVIDIA")) {
      return ok(gpus.map(({ vendor, driver }) => `${vendor}: ${driver}`).join(", "));
    }
    const kernelSide = /Kernel Module.*?(\d+\.\d+(?:\.\d+)?)/.exec(
      machine.read("/proc/driver/nvidia/version") ?? "",
    )?.[1];
    const asked = await machine.run(["nvidia-smi", query, "--format=csv,noheader,nounits"]);
    if (asked === null || asked.exitCode !== 0) {
      return warning(
        `nvidia-smi does not answer${kernelSide === undefined ? "" : `; the kernel has driver ${kernelSide}`}`,
        {
          detail: asked === null ? [] : asked.output.trim().split("\n").slice(0, 3),
          advice:
            "In a container, start it with the GPU handed in (docker: --gpus all). After an upgrade of the driver, restart the machine: kernel and libraries must be of one version.",
        },
      );
    }
    const cards = asked.output.trim().split("\n").map(describe);
    return ok(cards.join("; "));
  },
};

function describe(line: string): string {
  const [name = "", driver = "", free = "", total = ""] = line.split(",").map((field) => field.trim());
  const memory = [free, total].every((field) => /^\d+$/.test(field))
    ? `${size(Number(free) * 2 ** 20)} of ${size(Number(total) * 2 ** 20)} free`
    : "memory unknown";
  return `${name}, driver ${driver}, ${memory}`;
}
