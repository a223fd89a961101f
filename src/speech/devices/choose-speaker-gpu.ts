import { type SpeakerPart, speakerParts } from "../../engine/index.ts";
import { isGpuWithinReach } from "./gpu-presence.ts";
import { faultOf } from "./gpu-trial.ts";
import { type SpeakerGpuOptions, speakerVerdictKey, trySpeakerGpu } from "./speakers-self-test.ts";

/** The diarization models that run on a GPU, and those that do not. */
export interface SpeakerGpuChoice {
  readonly onGpu: readonly SpeakerPart[];
  readonly leftOut: readonly { readonly part: SpeakerPart; readonly reason: string }[];
}

export interface ChooseSpeakerGpuOptions extends SpeakerGpuOptions {
  /** JSON file that stores the verdicts; created if missing. */
  readonly verdictsPath: string;
  /** Returns whether this process can reach any GPU. */
  readonly withinReach?: () => boolean;
}

/**
 * Chooses the diarization models that run on a GPU through ONNX Runtime's WebGPU provider. A model must give the same
 * results as on the CPU and be faster. Stores the results for this machine, model and library. Tests nothing if no GPU
 * can be reached.
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
