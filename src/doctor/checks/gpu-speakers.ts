import { withSpeechSample } from "../../appliance/index.ts";
import { isGpuWithinReach, speakerParts, trySpeakerGpu } from "../../engine/index.ts";
import { ownCommand } from "../../program/index.ts";
import { type Check, ok, skipped } from "../check.ts";
import { filesOf } from "../files-of.ts";

export const gpuSpeakers: Check = {
  id: "gpu.speakers",
  title: "Speaker models on the GPU",
  explanation:
    "Each of the two models that find speech and tell speakers apart is computed by ONNX Runtime's WebGPU provider on the first GPU that Vulkan finds, and on the CPU, in a process of its own. The GPU is used for one that gives the same there, and sooner.",
  heavy: true,
  async run(context) {
    if (!isGpuWithinReach()) return skipped("no GPU can be reached here: /dev has none");
    if (context.settings.engine.device === "cpu")
      return skipped("the setting engine.device says that the CPU does the work");
    const files = filesOf(context);
    const { onnxBinding, segmentationModel, embeddingModel } = files;
    const options = {
      ...{ command: ownCommand("__selftest"), signal: context.signal, onnxBinding, segmentationModel, embeddingModel },
      withSample: <T>(use: (pcmPath: string) => Promise<T>) => withSpeechSample(files, use),
    };
    const used: string[] = [];
    const detail: string[] = [];
    for (const part of speakerParts) {
      const trial = await trySpeakerGpu(options, part);
      if (trial.ok) used.push(part);
      const times = trial.ok && `${trial.seconds.toFixed(2)} s for what takes the CPU ${trial.cpuSeconds.toFixed(2)} s`;
      detail.push(`${part}: ${trial.ok ? times : trial.reason}`);
    }
    return used.length > 0
      ? ok(`WebGPU is used for ${used.join(" and ")}`, ...detail)
      : ok("the CPU computes them: WebGPU is of no use for them here", ...detail);
  },
};
