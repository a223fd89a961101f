import { basename, dirname } from "node:path";
import type { GpuBackend } from "../../../speech/index.ts";
import { type Check, ok, skipped, warning } from "../check.ts";
import { gpuBackendsOf } from "../files-of.ts";
import { findGpus } from "../gpus.ts";
import type { Machine } from "../machine.ts";

/** System library that each backend needs. No program can ship it. */
const needs: Readonly<Record<GpuBackend["kind"], { readonly library: string; readonly from: string }>> = {
  vulkan: {
    library: "libvulkan.so.1",
    from: "Install the Vulkan loader (Debian: libvulkan1) and the GPU's Vulkan driver (AMD, Intel: mesa-vulkan-drivers).",
  },
  cuda: { library: "libcuda.so.1", from: "Install NVIDIA's driver; the library is part of it." },
};

const places = ["/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib"];

export const gpuBackends: Check = {
  id: "gpu.backends",
  title: "GPU libraries",
  explanation:
    "A GPU backend needs a library of the system: Vulkan its loader (libvulkan.so.1), CUDA the driver's libcuda.so.1. Without it the backend is passed over and the CPU computes. CUDA's backend, which is no part of the program, is where engine.cuda_library says, with NVIDIA's cuBLAS beside it.",
  run(context) {
    const { machine } = context;
    const backends = gpuBackendsOf(context);
    if (backends.length === 0) return skipped("this build has no GPU backend");
    const elsewhere = context.settings.engine.cuda_library;
    if (elsewhere !== "" && !machine.list(dirname(elsewhere)).includes(basename(elsewhere))) {
      return warning(`the setting engine.cuda_library names ${elsewhere}, which is not there`, {
        advice: "Put CUDA's backend there, where the service's user may read it, or leave the setting empty.",
      });
    }
    if (findGpus(machine).length === 0) return skipped("there is no GPU");
    const lacking = backends.filter(({ kind }) => !hasLibrary(machine, needs[kind].library));
    if (lacking.length === backends.length) {
      return warning(
        `${lacking.map(({ kind }) => needs[kind].library).join(" and ")} missing: no GPU backend can be used`,
        {
          advice: lacking.map(({ kind }) => needs[kind].from).join(" Or: "),
        },
      );
    }
    const loadable = backends.filter((backend) => !lacking.includes(backend));
    return ok(`${loadable.map(({ library }) => library).join(", ")} can be loaded`);
  },
};

function hasLibrary(machine: Machine, library: string): boolean {
  const own = (machine.environment.LD_LIBRARY_PATH ?? "").split(":").filter((path) => path !== "");
  const folders = [...own, ...places, ...places.flatMap((place) => multiarch(machine, place))];
  return folders.some((folder) => machine.list(folder).includes(library));
}

/** Returns Debian's library folders for one architecture, e.g. /usr/lib/x86_64-linux-gnu. */
function multiarch(machine: Machine, place: string): string[] {
  return machine.list(place).flatMap((name) => (name.endsWith("-linux-gnu") ? [`${place}/${name}`] : []));
}
