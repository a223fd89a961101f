import { type SpeakerPart, speakerParts } from "../diarization/index.ts";
import { isGpuWithinReach } from "./gpu-presence.ts";
import { type SpeakerGpuOptions, speakerVerdictKey, trySpeakerGpu } from "./speakers-self-test.ts";
import { addVerdicts, failureVerdict, readVerdicts, type Verdict } from "./verdicts.ts";

/** Which of the models that tell speakers apart a GPU computes. */
export interface SpeakerGpuChoice {
  readonly onGpu: readonly SpeakerPart[];
  readonly leftOut: readonly { readonly part: SpeakerPart; readonly reason: string }[];
}

export interface ChooseSpeakerGpuOptions extends SpeakerGpuOptions {
  /** JSON file that keeps the verdicts; made when missing. */
  readonly verdictsPath: string;
  /** Whether there is anything that a GPU could be reached through. */
  readonly withinReach?: () => boolean;
}

/**
 * Chooses the models that a GPU computes by ONNX Runtime's WebGPU provider: those that give what they give on the CPU, and
 * sooner. What is found is kept for this machine, model and library. Where no GPU can be reached, nothing is tried.
 */
export async function chooseSpeakerGpu(options: ChooseSpeakerGpuOptions): Promise<SpeakerGpuChoice> {
  const onGpu: SpeakerPart[] = [];
  const leftOut: { part: SpeakerPart; reason: string }[] = [];
  if (!(options.withinReach ?? isGpuWithinReach)()) return { onGpu, leftOut };
  for (const part of speakerParts) {
    const key = await speakerVerdictKey(options, part);
    const kept = readVerdicts(options.verdictsPath)[key];
    const known = kept === undefined ? null : { ok: kept.state === "works", reason: kept.reason };
    const found = known ?? (await tryAndKeep(options, part, key));
    if (found.ok) onGpu.push(part);
    else leftOut.push({ part, reason: found.reason });
  }
  return { onGpu, leftOut };
}

async function tryAndKeep(options: ChooseSpeakerGpuOptions, part: SpeakerPart, key: string) {
  const trial = await trySpeakerGpu(options, part);
  const library = `webgpu ${part}`;
  const verdict: Verdict | null = trial.ok
    ? { library, score: trial.cpuSeconds / trial.seconds, state: "works", reason: "" }
    : failureVerdict(library, trial);
  if (verdict !== null) addVerdicts(options.verdictsPath, { [key]: verdict });
  return { ok: trial.ok, reason: trial.ok ? "" : trial.reason };
}
