import { BLOCK_SECONDS, blockCount, chunkAudioSeconds, SAMPLE_RATE, type WorkArea } from "../timeline/index.ts";
import type { OperationName, Params, SpeakerPart } from "./protocol.ts";

/** A completed operation, for metrics. */
export interface CompletedOperation {
  readonly step: "detect" | "language" | "transcribe" | "diarize";
  /** `cpu`, the GPU backend that the recognizer computes on, or `webgpu` where ONNX Runtime computes on a GPU. */
  readonly device: string;
  /** Label of the GPU; empty where the CPU computed. */
  readonly gpu: string;
  /** Duration, measured from the moment at which a lane was free. */
  readonly seconds: number;
  /** Duration of the processed audio; 0 for embedSentences and for operations that only use earlier results. */
  readonly audioSeconds: number;
}

/** All operations except self-tests, which are not counted. */
export type CountedOperation = Exclude<OperationName, "selfTest">;

interface WorkKind<N extends CountedOperation> {
  readonly step: CompletedOperation["step"];
  /** The model that computes it; `cpu` is code without a model. */
  readonly by: "recognizer" | SpeakerPart | "cpu";
  readonly audioSeconds: (params: Params<N>) => number;
}

const none = () => 0;
const kinds: { readonly [N in CountedOperation]: WorkKind<N> } = {
  detectBlock: { step: "detect", by: "segmentation", audioSeconds: ({ area, block }) => blockSeconds(area, block) },
  planChunks: { step: "detect", by: "cpu", audioSeconds: none },
  detectLanguage: { step: "language", by: "recognizer", audioSeconds: ({ chunk }) => chunkAudioSeconds(chunk) },
  transcribe: {
    step: "transcribe",
    by: "recognizer",
    audioSeconds: ({ chunk }) => chunkAudioSeconds(chunk),
  },
  embedBlock: { step: "diarize", by: "embedding", audioSeconds: ({ area, block }) => blockSeconds(area, block) },
  clusterSpeakers: { step: "diarize", by: "cpu", audioSeconds: none },
  embedSentences: { step: "diarize", by: "embedding", audioSeconds: none },
  compareSentences: { step: "diarize", by: "cpu", audioSeconds: none },
};

/** The devices that a worker computes on. */
export interface WorkerDevices {
  /** `cpu`, or the backend of the recognizer's GPU in lower case. */
  readonly speechDevice: string;
  /** Label of that GPU; empty when the recognizer computes on the CPU. */
  readonly gpu: string;
  /** The speaker diarization models that a GPU computes. */
  readonly speakersOnGpu: readonly SpeakerPart[];
}

/** Returns the device on which a worker with these devices runs an operation. */
export function deviceOf(operation: OperationName, worker: WorkerDevices): Pick<CompletedOperation, "device" | "gpu"> {
  const by = operation === "selfTest" ? "cpu" : kinds[operation].by;
  if (by === "recognizer") return { device: worker.speechDevice, gpu: worker.gpu };
  // ONNX Runtime does not report which GPU it uses.
  if (worker.speakersOnGpu.some((part) => part === by)) return { device: "webgpu", gpu: "WebGPU" };
  return { device: "cpu", gpu: "" };
}

/** Returns the metrics of an operation, without its duration. */
export function describeWork<N extends CountedOperation>(
  operation: N,
  params: Params<N>,
  worker: WorkerDevices,
): Omit<CompletedOperation, "seconds"> {
  const { step, audioSeconds } = kinds[operation];
  return { step, ...deviceOf(operation, worker), audioSeconds: audioSeconds(params) };
}

/** Returns a block's share of its recording in seconds; the shares of all blocks add up to the whole. */
function blockSeconds({ pcm: { sampleCount } }: WorkArea, block: number): number {
  const rest = sampleCount / SAMPLE_RATE - block * BLOCK_SECONDS;
  return Math.max(0, block < blockCount(sampleCount) - 1 ? Math.min(rest, BLOCK_SECONDS) : rest);
}
