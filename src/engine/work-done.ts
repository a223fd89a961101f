import { BLOCK_SECONDS, blockCount } from "./diarization/index.ts";
import { heardSeconds } from "./heard-pieces.ts";
import type { OperationName, Params, PcmFile } from "./protocol.ts";
import { SAMPLE_RATE } from "./sample-rate.ts";

/** An operation that was done, for counting. */
export interface WorkDone {
  readonly step: "detect" | "language" | "transcribe" | "diarize";
  /** `cpu`, or the GPU backend that whisper computes on. */
  readonly device: string;
  /** The GPU's label; empty where the CPU did it. */
  readonly gpu: string;
  /** From when a lane was free for it. */
  readonly seconds: number;
  /** What it worked through; 0 for what works on the results of others. */
  readonly audioSeconds: number;
}

/** All but a trial, which is no work. */
export type CountedOperation = Exclude<OperationName, "tryOut">;

interface Kind<N extends CountedOperation> {
  readonly step: WorkDone["step"];
  readonly byWhisper: boolean;
  readonly audioSeconds: (params: Params<N>) => number;
}

const none = () => 0;
const kinds: { readonly [N in CountedOperation]: Kind<N> } = {
  detectBlock: { step: "detect", byWhisper: false, audioSeconds: ({ pcm, block }) => blockSeconds(pcm, block) },
  planChunks: { step: "detect", byWhisper: false, audioSeconds: none },
  detectLanguage: { step: "language", byWhisper: true, audioSeconds: ({ chunk }) => heardSeconds(chunk) },
  transcribe: {
    step: "transcribe",
    byWhisper: true,
    audioSeconds: ({ chunk }) => heardSeconds(chunk),
  },
  embedBlock: { step: "diarize", byWhisper: false, audioSeconds: ({ pcm, block }) => blockSeconds(pcm, block) },
  clusterSpeakers: { step: "diarize", byWhisper: false, audioSeconds: none },
  embedSentences: { step: "diarize", byWhisper: false, audioSeconds: none },
  compareSentences: { step: "diarize", byWhisper: false, audioSeconds: none },
};

/** What doing an operation counts as. @param speech what whisper computes on; the speaker models stay on the CPU */
export function workOf<N extends CountedOperation>(
  operation: N,
  params: Params<N>,
  speech: { readonly speechDevice: string; readonly gpu: string },
): Omit<WorkDone, "seconds"> {
  const { step, byWhisper, audioSeconds } = kinds[operation];
  const { speechDevice: device, gpu } = byWhisper ? speech : { speechDevice: "cpu", gpu: "" };
  return { step, device, gpu, audioSeconds: audioSeconds(params) };
}

/** A block's share of its recording, so that those of all blocks are the whole. */
function blockSeconds({ sampleCount }: PcmFile, block: number): number {
  const rest = sampleCount / SAMPLE_RATE - block * BLOCK_SECONDS;
  return Math.max(0, block < blockCount(sampleCount) - 1 ? Math.min(rest, BLOCK_SECONDS) : rest);
}
