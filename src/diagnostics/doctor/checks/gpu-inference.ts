import { withSpeechSample } from "../../../server/index.ts";
import { type FoundGpu, type GpuBackend, GpuTester, listGpus } from "../../../speech/index.ts";
import { messageOf } from "../../../text/index.ts";
import { type Check, ok, skipped, warning } from "../check.ts";
import { filesOf, gpuBackendsOf, speechModelOf } from "../files-of.ts";
import { inWords, noGpuToTry } from "../gpu-trials.ts";
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
    const untried = noGpuToTry(context);
    if (untried !== null) return untried;
    const { device, cuda_library: cudaLibrary } = context.settings.engine;
    const { used: cpuLibrary } = await cpuSurvey(context);
    if (cpuLibrary === null) return skipped("no CPU variant works, and a GPU needs one beside it");
    const { signal } = context;
    const options = { signal, nativeDirectory, cpuLibrary };
    const tester = new GpuTester({
      ...{ ...options, speechModel: speechModelOf(context), mustBeFaster: device === "auto" },
      withSample: (use) => withSpeechSample(files, use),
    });
    const detail: string[] = [];
    const unusable: string[] = [];
    const found = async (backend: GpuBackend): Promise<FoundGpu[]> => {
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
      for (const gpu of await found(backend)) {
        const trial = await tester.test(gpu);
        if (trial.ok) working.push(gpu.label);
        detail.push(`${gpu.label}, ${gpu.name}: ${inWords(trial)}`);
      }
    }
    if (working.length > 0 && unusable.includes(cudaLibrary)) {
      return warning(`of use: ${working.join(", ")}; but not CUDA's backend, which engine.cuda_library names`, {
        detail,
        advice: "Mend what the details say of it (docs/gpu.md, CUDA), or leave the setting empty.",
      });
    }
    if (working.length > 0) return ok(`of use: ${working.join(", ")}`, ...detail);
    return warning("no GPU is of use here: the CPU does all the work", {
      detail,
      advice:
        'The details say why; often the GPU\'s driver has to be updated. One that is no faster than this CPU is left out rightly; engine.device = "cpu" spares the trial.',
    });
  },
};
