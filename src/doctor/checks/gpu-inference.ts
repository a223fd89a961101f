import { withSpeechSample } from "../../appliance/index.ts";
import { type FoundGpu, type GpuBackend, GpuTester, isGpuWithinReach, listGpus } from "../../engine/index.ts";
import { ownCommand } from "../../program/index.ts";
import { messageOf } from "../../wording/index.ts";
import { type Check, ok, skipped, warning } from "../check.ts";
import { filesOf, gpuBackendsOf, whisperModelOf } from "../files-of.ts";
import { cpuSurvey } from "../survey.ts";

export const gpuInference: Check = {
  id: "gpu.inference",
  title: "Work on the GPU",
  explanation:
    "Each GPU transcribes ten seconds with the model in use by each backend of this build that drives it, in a process of its own, so that a driver that crashes takes nothing with it. One is used that hears the same words as the CPU, and sooner; CUDA comes before Vulkan, and the setting engine.device may say otherwise. Of several GPUs each has a worker.",
  heavy: true,
  async run(context) {
    const files = filesOf(context);
    const { nativeDirectory } = files;
    const all = gpuBackendsOf(context);
    if (all.length === 0) return skipped("this build has no GPU backend");
    if (!isGpuWithinReach()) return skipped("no GPU can be reached here: /dev has none");
    const { device } = context.settings.engine;
    if (device === "cpu") return skipped("the setting engine.device says that the CPU does the work");
    const { used: cpuLibrary } = await cpuSurvey(context);
    if (cpuLibrary === null) return skipped("no CPU variant works, and a GPU needs one beside it");
    const { signal } = context;
    const options = { command: ownCommand("__selftest"), signal, nativeDirectory, cpuLibrary };
    const tester = new GpuTester({
      ...{ ...options, whisperModel: whisperModelOf(context), mustBeFaster: device === "auto" },
      withSample: (use) => withSpeechSample(files, use),
    });
    const detail: string[] = [];
    const found = async (backend: GpuBackend): Promise<FoundGpu[]> => {
      try {
        return await listGpus(options, backend);
      } catch (error) {
        signal.throwIfAborted();
        detail.push(`${backend.library}: ${messageOf(error)}`);
        return [];
      }
    };
    const working: string[] = [];
    for (const backend of all.filter(({ kind }) => device === "auto" || device === kind)) {
      for (const gpu of await found(backend)) {
        const trial = await tester.try(gpu);
        if (trial.ok) working.push(gpu.label);
        const outcome = trial.ok
          ? `${trial.seconds.toFixed(2)} s for what takes the CPU ${trial.cpuSeconds.toFixed(2)} s`
          : trial.reason;
        detail.push(`${gpu.label}, ${gpu.name}: ${outcome}`);
      }
    }
    if (working.length > 0) return ok(`of use: ${working.join(", ")}`, ...detail);
    return warning("no GPU is of use here: the CPU does all the work", {
      detail,
      advice:
        'Update the GPU\'s driver. One that is no faster than this CPU is left out rightly; engine.device = "cpu" spares the trial.',
    });
  },
};
