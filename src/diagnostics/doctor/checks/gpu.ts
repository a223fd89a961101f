import { basename, dirname } from "node:path";
import { GpuTester, isGpuWithinReach, listGpus } from "../../../devices/index.ts";
import type { GpuBackend } from "../../../runtimes/index.ts";
import { withSpeechSample } from "../../../server/index.ts";
import { count, messageOf, size } from "../../../text/index.ts";
import { type Check, ok, skipped, warning } from "../check.ts";
import { cpuSurvey, filesOf, gpuBackendsOf, speechModelOf } from "../context.ts";
import type { Machine } from "../machine.ts";
import { findGpus } from "../machine-facts.ts";

const devices: Check = {
  id: "gpu.devices",
  title: "GPU",
  explanation:
    "The graphics processors on the PCI bus, and whether this build has a backend that can use them: Vulkan for any vendor, CUDA for NVIDIA. Without a GPU the CPU does all the work, with the same results but more slowly.",
  run(context) {
    const gpus = findGpus(context.machine);
    const backends = gpuBackendsOf(context);
    if (gpus.length === 0) return ok("none on the PCI bus; the CPU does all the work");
    const vendors = [...new Set(gpus.map(({ vendor }) => vendor))].join(" and ");
    const found = `found ${count(gpus.length, `${vendors} GPU`)}`;
    const detail = gpus.map(({ vendor, address, driver }) => `${vendor} at ${address}, driver ${driver ?? "none"}`);
    if (backends.length === 0) {
      return warning(`${found}, but this build has no backend for it: the CPU does all the work`, {
        detail,
        advice: "Use a build with the Vulkan or CUDA backend to use the GPU. Nothing else is wrong.",
      });
    }
    return ok(found, ...detail, `backends of this build: ${backends.map(({ library }) => library).join(", ")}`);
  },
};

const driver: Check = {
  id: "gpu.driver",
  title: "GPU driver",
  explanation:
    "Every GPU needs its kernel driver. For NVIDIA, nvidia-smi reports the driver's version and the free memory; large-v3-turbo takes about 2 GB, large-v3 about 4 GB.",
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
    const query = "--query-gpu=name,driver_version,memory.free,memory.total";
    const answer = await machine.run(["nvidia-smi", query, "--format=csv,noheader,nounits"]);
    if (answer?.exitCode === 0) return ok(answer.output.trim().split("\n").map(describeCard).join("; "));
    const versionFile = machine.read("/proc/driver/nvidia/version") ?? "";
    const version = /Kernel Module.*?(\d+\.\d+(?:\.\d+)?)/.exec(versionFile)?.[1];
    return warning(`nvidia-smi does not answer${version === undefined ? "" : `; the kernel has driver ${version}`}`, {
      detail: answer?.output.trim().split("\n").slice(0, 3) ?? [],
      advice:
        "Start a container with access to the GPU (docker: --gpus all). After an upgrade of the driver, restart the machine: the kernel and the libraries need the same version.",
    });
  },
};

function describeCard(line: string): string {
  const [name = "", driver = "", free = "", total = ""] = line.split(",").map((field) => field.trim());
  const memory = [free, total].every((field) => /^\d+$/.test(field))
    ? `${size(Number(free) * 2 ** 20)} of ${size(Number(total) * 2 ** 20)} free`
    : "memory unknown";
  return `${name}, driver ${driver}, ${memory}`;
}

const access: Check = {
  id: "gpu.access",
  title: "Access to the GPU",
  explanation:
    "Programs use GPUs through files in /dev (nvidia0, nvidiactl and nvidia-uvm; dri/renderD128; kfd). These belong to the groups video and render, or are missing in a container that was started without the GPU.",
  run({ machine }) {
    if (findGpus(machine).length === 0) return skipped("there is no GPU");
    const nodes = [
      ...machine.list("/dev").filter((name) => /^(nvidia\d+|nvidiactl|nvidia-uvm|kfd)$/.test(name)),
      ...machine.list("/dev/dri").flatMap((name) => (name.startsWith("renderD") ? [`dri/${name}`] : [])),
    ].map((name) => `/dev/${name}`);
    if (nodes.length === 0) {
      return warning("no GPU device is in /dev, so no program can use one", {
        advice:
          "In a container, pass the GPU through (docker: --gpus all, or --device /dev/dri). Otherwise the driver is not loaded.",
      });
    }
    const closed = nodes.filter((node) => !machine.mayUse(node));
    if (closed.length === 0) return ok(`this user may use ${nodes.join(", ")}`);
    return warning(`this user may not use ${closed.join(", ")}`, {
      advice: "Add the service's user to their groups (usermod -aG video,render USER) and restart the service.",
    });
  },
};

/** System library that each backend needs. No program can ship it. */
const needs: Readonly<Record<GpuBackend["kind"], { readonly library: string; readonly from: string }>> = {
  vulkan: {
    library: "libvulkan.so.1",
    from: "Install the Vulkan loader (Debian: libvulkan1) and the GPU's Vulkan driver (AMD, Intel: mesa-vulkan-drivers).",
  },
  cuda: { library: "libcuda.so.1", from: "Install NVIDIA's driver; the library is part of it." },
};

const libraryFolders = ["/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib"];

const backends: Check = {
  id: "gpu.backends",
  title: "GPU libraries",
  explanation:
    "A GPU backend needs a library of the system: Vulkan its loader (libvulkan.so.1), CUDA the driver's libcuda.so.1. Without it the backend is skipped and the CPU computes. The CUDA backend is not part of the program: engine.cuda_library is its path, and NVIDIA's cuBLAS must be in the same directory.",
  run(context) {
    const { machine } = context;
    const backends = gpuBackendsOf(context);
    if (backends.length === 0) return skipped("this build has no GPU backend");
    const cuda = context.settings.engine.cuda_library;
    if (cuda !== "" && !machine.list(dirname(cuda)).includes(basename(cuda))) {
      return warning(`the setting engine.cuda_library is ${cuda}, which does not exist`, {
        advice: "Put the CUDA backend there, readable by the service's user, or leave the setting empty.",
      });
    }
    if (findGpus(machine).length === 0) return skipped("there is no GPU");
    const lacking = backends.filter(({ kind }) => !hasLibrary(machine, needs[kind].library));
    if (lacking.length === backends.length) {
      const libraries = lacking.map(({ kind }) => needs[kind].library).join(" and ");
      return warning(`${libraries} missing: no GPU backend can be used`, {
        advice: lacking.map(({ kind }) => needs[kind].from).join(" Or: "),
      });
    }
    const loadable = backends.filter((backend) => !lacking.includes(backend));
    return ok(`${loadable.map(({ library }) => library).join(", ")} can be loaded`);
  },
};

function hasLibrary(machine: Machine, library: string): boolean {
  const own = (machine.environment.LD_LIBRARY_PATH ?? "").split(":").filter((path) => path !== "");
  // Debian has library folders for each architecture, e.g. /usr/lib/x86_64-linux-gnu.
  const multiarch = libraryFolders.flatMap((folder) =>
    machine.list(folder).flatMap((name) => (name.endsWith("-linux-gnu") ? [`${folder}/${name}`] : [])),
  );
  return [...own, ...libraryFolders, ...multiarch].some((folder) => machine.list(folder).includes(library));
}

const inference: Check = {
  id: "gpu.inference",
  title: "GPU self-test",
  explanation:
    "Each GPU transcribes ten seconds with the current model, through each backend of this build that supports it. This runs in a separate process, so a driver that crashes affects nothing else. A GPU is used if it recognizes the same words as the CPU and is faster. CUDA is preferred to Vulkan; the setting engine.device overrides this. Each of several GPUs has its own worker.",
  heavy: true,
  async run(context) {
    const files = filesOf(context);
    const { nativeDirectory } = files;
    const all = gpuBackendsOf(context);
    if (all.length === 0) return skipped("this build has no GPU backend");
    if (!isGpuWithinReach()) return skipped("no GPU is accessible here: /dev has none");
    const { device, cuda_library: cudaLibrary } = context.settings.engine;
    if (device === "cpu") return skipped("the setting engine.device selects the CPU");
    const { used: cpuLibrary } = await cpuSurvey(context);
    if (cpuLibrary === null) return skipped("no CPU variant works, and a GPU also needs one");
    const { signal } = context;
    const options = { signal, nativeDirectory, cpuLibrary };
    const tester = new GpuTester({
      ...{ ...options, speechModel: speechModelOf(context), mustBeFaster: device === "auto" },
      withSample: (use) => withSpeechSample(files, use),
    });
    const detail: string[] = [];
    const unusable: string[] = [];
    const gpusOf = async (backend: GpuBackend): ReturnType<typeof listGpus> => {
      try {
        return await listGpus(options, backend);
      } catch (error) {
        signal.throwIfAborted();
        unusable.push(backend.library);
        detail.push(`${backend.library}: ${messageOf(error)}`);
        return [];
      }
    };
    const working: string[] = [];
    for (const backend of all.filter(({ kind }) => device === "auto" || device === kind)) {
      for (const gpu of await gpusOf(backend)) {
        const test = await tester.test(gpu);
        if (test.ok) working.push(gpu.label);
        detail.push(`${gpu.label}, ${gpu.name}: ${describeTest(test)}`);
      }
    }
    if (working.length > 0 && unusable.includes(cudaLibrary)) {
      return warning(`usable: ${working.join(", ")}; but not the CUDA backend of engine.cuda_library`, {
        detail,
        advice: "Correct the fault in the details (docs/gpu.md, CUDA), or leave the setting empty.",
      });
    }
    if (working.length > 0) return ok(`usable: ${working.join(", ")}`, ...detail);
    return warning("no GPU is usable here: the CPU does all the work", {
      detail,
      advice:
        'The details have the reasons; often the GPU\'s driver needs an update. A GPU that is not faster than this CPU is rightly not used; engine.device = "cpu" skips its self-test.',
    });
  },
};

function describeTest(test: Awaited<ReturnType<GpuTester["test"]>>): string {
  return test.ok
    ? `${test.seconds.toFixed(2)} s, compared with ${test.cpuSeconds.toFixed(2)} s on the CPU`
    : test.reason;
}

export const gpuChecks = [devices, driver, access, backends, inference];
