import { type SpeakerPart, speakerParts } from "../../engine/index.ts";
import { isGpuWithinReach } from "./gpu-presence.ts";
import { faultOf } from "./gpu-trial.ts";
import { type SpeakerGpuOptions, speakerVerdictKey, trySpeakerGpu } from "./speakers-self-test.ts";

/** Which of the models that tell speakers apart a GPU computes. */
export interface SpeakerGpuChoice {
  readonly onGpu: readonly SpeakerPart[];
  readonly leftOut: readonly { readonly part: SpeakerPart; readonly reason: string }[];
}

export interface ChooseSpeakerGpuOptions extends SpeakerGpuOptions {
  /** JSON file that keeps the verdicts; made when missing. */
  readonly verdictsPath: string;
  /** Whether this process can reach a GPU at all. */
  readonly withinReach?: () => boolean;
}

/**
 * Chooses the models that a GPU computes through ONNX Runtime's WebGPU provider: those that give the same answers there as on
 * the CPU in less time. What is found is kept for this machine, model and library. Where no GPU can be reached, nothing is tried.
 */
export async function chooseSpeakerGpu(options: ChooseSpeakerGpuOptions): Promise<SpeakerGpuChoice> {
  const onGpu: SpeakerPart[] = [];
  const leftOut: { part: SpeakerPart; reason: string }[] = [];
  if (!(options.withinReach ?? isGpuWithinReach)()) return { onGpu, leftOut };
  for (const part of speakerParts) {
    const key = await speakerVerdictKey(options, part);
    const fault = await faultOf(options.verdictsPath, key, `webgpu ${part}`, () => trySpeakerGpu(options, part));
    if (fault === null) onGpu.push(part);
    else leftOut.push({ part, reason: fault });
  }
  return { onGpu, leftOut };
}
