import { BLOCK_SECONDS, blockCount, WINDOW_SAMPLES } from "../blocks/index.ts";
import { chunkAudioSeconds, SAMPLE_RATE, secondsOf, type WorkArea } from "../timeline/index.ts";
import type { OperationName, Params } from "./protocol.ts";

/** A completed operation, for metrics. */
export interface CompletedOperation {
  readonly step: "detect" | "language" | "transcribe" | "translate" | "diarize" | LiveStep;
  /** `cpu`, or the backend of the GPU in lower case. Only the recognizer computes on a GPU. */
  readonly device: string;
  /** Label of the GPU; empty where the CPU computed. */
  readonly gpu: string;
  /** Duration, measured from the moment at which a lane was free. */
  readonly seconds: number;
  /** Duration of the processed audio; 0 for embedSentences and for operations that only use earlier results. */
  readonly audioSeconds: number;
}

/** Steps of live sessions. They read the same audio several times, so they would falsify the speed of the other steps. */
type LiveStep = "live_detect" | "live_language" | "live_transcribe" | "live_diarize";

/** All operations except self-tests, which are not counted. */
export type CountedOperation = Exclude<OperationName, "selfTest">;

interface WorkKind<N extends CountedOperation> {
  readonly step: CompletedOperation["step"];
  readonly audioSeconds: (params: Params<N>) => number;
}

/** Steps that the recognizer computes. */
const stepsOfRecognizer: ReadonlySet<CompletedOperation["step"]> = new Set([
  "language",
  "transcribe",
  "translate",
  "live_language",
  "live_transcribe",
]);

const none = () => 0;
const kinds: { readonly [N in CountedOperation]: WorkKind<N> } = {
  detectBlock: { step: "detect", audioSeconds: ({ area, block }) => blockSeconds(area, block) },
  planChunks: { step: "detect", audioSeconds: none },
  detectLanguage: { step: "language", audioSeconds: ({ chunk }) => chunkAudioSeconds(chunk) },
  transcribe: { step: "transcribe", audioSeconds: ({ chunk }) => chunkAudioSeconds(chunk) },
  translate: { step: "translate", audioSeconds: ({ chunk }) => chunkAudioSeconds(chunk) },
  embedBlock: { step: "diarize", audioSeconds: ({ area, block }) => blockSeconds(area, block) },
  clusterSpeakers: { step: "diarize", audioSeconds: none },
  describeSpeakers: { step: "diarize", audioSeconds: none },
  embedSentences: { step: "diarize", audioSeconds: none },
  compareSentences: { step: "diarize", audioSeconds: none },
  transcribeLive: { step: "live_transcribe", audioSeconds: ({ span }) => secondsOf(span) },
  detectLiveLanguage: { step: "live_language", audioSeconds: ({ span }) => secondsOf(span) },
  detectSpeech: { step: "live_detect", audioSeconds: () => WINDOW_SAMPLES / SAMPLE_RATE },
  embedSpeech: {
    step: "live_diarize",
    audioSeconds: ({ spans }) => spans.reduce((sum, span) => sum + secondsOf(span), 0),
  },
};

/** The device of a worker's recognizer. */
export interface SpeechDevice {
  /** `cpu`, or the backend of the recognizer's GPU in lower case. */
  readonly speechDevice: string;
  /** Label of that GPU; empty when the recognizer computes on the CPU. */
  readonly gpu: string;
}

/** Returns the metrics of an operation, without its duration. */
export function describeWork<N extends CountedOperation>(
  operation: N,
  params: Params<N>,
  { speechDevice, gpu }: SpeechDevice,
): Omit<CompletedOperation, "seconds"> {
  const { step, audioSeconds } = kinds[operation];
  const where = stepsOfRecognizer.has(step) ? { device: speechDevice, gpu } : { device: "cpu", gpu: "" };
  return { step, ...where, audioSeconds: audioSeconds(params) };
}

/** Returns a block's share of its recording in seconds; the shares of all blocks add up to the whole. */
function blockSeconds({ pcm: { sampleCount } }: WorkArea, block: number): number {
  const rest = sampleCount / SAMPLE_RATE - block * BLOCK_SECONDS;
  return Math.max(0, block < blockCount(sampleCount) - 1 ? Math.min(rest, BLOCK_SECONDS) : rest);
}
