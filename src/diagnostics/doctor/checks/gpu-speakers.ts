import { speakerParts } from "../../../engine/index.ts";
import { withSpeechSample } from "../../../server/index.ts";
import { testDiarizationGpu } from "../../../speech/index.ts";
import { type Check, ok } from "../check.ts";
import { filesOf } from "../files-of.ts";
import { inWords, noGpuToTry } from "../gpu-trials.ts";

export const gpuSpeakers: Check = {
  id: "gpu.speakers",
  title: "Speaker models on the GPU",
  explanation:
    "Each of the two models that find speech and tell speakers apart is computed by ONNX Runtime's WebGPU provider on the first GPU that Vulkan finds, and on the CPU, in a process of its own. The GPU is used for one that gives the same there, and sooner.",
  heavy: true,
  async run(context) {
    const untried = noGpuToTry(context);
    if (untried !== null) return untried;
    const files = filesOf(context);
    const { onnxBinding, segmentationModel, embeddingModel } = files;
    const options = {
      ...{ signal: context.signal, onnxBinding, segmentationModel, embeddingModel },
      withSample: <T>(use: (pcmPath: string) => Promise<T>) => withSpeechSample(files, use),
    };
    const used: string[] = [];
    const detail: string[] = [];
    for (const part of speakerParts) {
      const trial = await testDiarizationGpu(options, part);
      if (trial.ok) used.push(part);
      detail.push(`${part}: ${inWords(trial)}`);
    }
    return used.length > 0
      ? ok(`WebGPU is used for ${used.join(" and ")}`, ...detail)
      : ok("the CPU computes them: WebGPU is of no use for them here", ...detail);
  },
};
