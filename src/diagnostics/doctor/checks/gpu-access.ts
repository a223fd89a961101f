import { type Check, ok, skipped, warning } from "../check.ts";
import { findGpus } from "../gpus.ts";

export const gpuAccess: Check = {
  id: "gpu.access",
  title: "Access to the GPU",
  explanation:
    "GPUs are used through files in /dev (nvidia0, nvidiactl and nvidia-uvm; dri/renderD128; kfd). They belong to the groups video and render, or are missing in a container that was started without the GPU.",
  run({ machine }) {
    const gpus = findGpus(machine);
    if (gpus.length === 0) return skipped("there is no GPU");
    const nodes = [
      ...machine.list("/dev").filter((name) => /^(nvidia\d+|nvidiactl|nvidia-uvm|kfd)$/.test(name)),
      ...machine.list("/dev/dri").flatMap((name) => (name.startsWith("renderD") ? [`dri/${name}`] : [])),
    ].map((name) => `/dev/${name}`);
    if (nodes.length === 0) {
      return warning("no GPU device is in /dev, so no program can use one", {
        advice:
          "In a container, hand the GPU in (docker: --gpus all, or --device /dev/dri). Else the driver is not loaded.",
      });
    }
    const closed = nodes.filter((node) => !machine.mayUse(node));
    if (closed.length > 0) {
      return warning(`this user may not use ${closed.join(", ")}`, {
        advice: "Add the service's user to their groups (usermod -aG video,render USER) and start the service again.",
      });
    }
    return ok(`this user may use ${nodes.join(", ")}`);
  },
};
