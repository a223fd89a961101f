import { BLOCK_SECONDS, blockCount, heardSeconds, type PcmFile, SAMPLE_RATE } from "../timeline/index.ts";
import type { OperationName, Params, SpeakerPart } from "./protocol.ts";

/** An operation that was done, for counting. */
export interface WorkDone {
  readonly step: "detect" | "language" | "transcribe" | "diarize";
  /** `cpu`; the GPU backend that whisper computes on; or `webgpu`, where ONNX Runtime computes on a GPU. */
  readonly device: string;
  /** The GPU's label; empty where the CPU did it. */
  readonly gpu: string;
  /** Counted from when a lane was free for it. */
  readonly seconds: number;
  /** What it worked through; 0 for what works on the results of others. */
  readonly audioSeconds: number;
}

/** All but a trial, which is no work. */
export type CountedOperation = Exclude<OperationName, "tryOut">;

interface Kind<N extends CountedOperation> {
  readonly step: WorkDone["step"];
  /** What computes it; `cpu`: code that uses no model. */
  readonly by: "whisper" | SpeakerPart | "cpu";
  readonly audioSeconds: (params: Params<N>) => number;
}

const none = () => 0;
const kinds: { readonly [N in CountedOperation]: Kind<N> } = {
  detectBlock: { step: "detect", by: "segmentation", audioSeconds: ({ pcm, block }) => blockSeconds(pcm, block) },
  planChunks: { step: "detect", by: "cpu", audioSeconds: none },
  detectLanguage: { step: "language", by: "whisper", audioSeconds: ({ chunk }) => heardSeconds(chunk) },
  transcribe: {
    step: "transcribe",
    by: "whisper",
    audioSeconds: ({ chunk }) => heardSeconds(chunk),
  },
  embedBlock: { step: "diarize", by: "embedding", audioSeconds: ({ pcm, block }) => blockSeconds(pcm, block) },
  clusterSpeakers: { step: "diarize", by: "cpu", audioSeconds: none },
  embedSentences: { step: "diarize", by: "embedding", audioSeconds: none },
  compareSentences: { step: "diarize", by: "cpu", audioSeconds: none },
};

/** What a worker computes on. */
export interface WorkerDevices {
  /** `cpu`, or the backend of the GPU that whisper computes on, in lower case. */
  readonly speechDevice: string;
  /** That GPU's label; empty: whisper computes on none. */
  readonly gpu: string;
  /** Those of the models that tell speakers apart that a GPU computes. */
  readonly speakersOnGpu: readonly SpeakerPart[];
}

/** The device on which a worker with these devices does an operation. */
export function deviceOf(operation: OperationName, worker: WorkerDevices): Pick<WorkDone, "device" | "gpu"> {
  const by = operation === "tryOut" ? "cpu" : kinds[operation].by;
  if (by === "whisper") return { device: worker.speechDevice, gpu: worker.gpu };
  // ONNX Runtime does not say which GPU it uses.
  if (worker.speakersOnGpu.some((part) => part === by)) return { device: "webgpu", gpu: "WebGPU" };
  return { device: "cpu", gpu: "" };
}

/** What doing an operation counts as. */
export function workOf<N extends CountedOperation>(
  operation: N,
  params: Params<N>,
  worker: WorkerDevices,
): Omit<WorkDone, "seconds"> {
  const { step, audioSeconds } = kinds[operation];
  return { step, ...deviceOf(operation, worker), audioSeconds: audioSeconds(params) };
}

/** A block's share of its recording, so that those of all blocks are the whole. */
function blockSeconds({ sampleCount }: PcmFile, block: number): number {
  const rest = sampleCount / SAMPLE_RATE - block * BLOCK_SECONDS;
  return Math.max(0, block < blockCount(sampleCount) - 1 ? Math.min(rest, BLOCK_SECONDS) : rest);
}
