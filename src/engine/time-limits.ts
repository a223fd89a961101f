import { statSync } from "node:fs";
import { BLOCK_SECONDS } from "../blocks/index.ts";
import type { OperationName, Params, WorkerStart } from "../operations/index.ts";
import { SAMPLE_RATE, type Span, secondsOf, type WorkArea } from "../timeline/index.ts";

/** An operation and its parameters. */
export interface Operation<N extends OperationName = OperationName> {
  readonly name: N;
  readonly params: Params<N>;
  /** Device that the recognizer computes on; one of several GPUs may be slower than another. */
  readonly speechDevice: string;
}

interface PaceKind<N extends OperationName> {
  /** Seconds of audio that the work is proportional to. */
  readonly audioSeconds: (params: Params<N>) => number;
  /**
   * Seconds of work for one second of audio, before the first measurement. It is at least 30 times the pace of base on
   * two cores, so that a slow machine with a large model stays within the limit. Those measured paces are 0.05 for
   * transcribe, 0.03 for detecting a language and 0.003 for a block.
   */
  readonly firstPace: number;
}

/** Minimum seconds of audio for any operation: the recognizer's encoder takes as long for one word as for 30 s. */
const MIN_AUDIO_SECONDS = 30;
const wholeRecording = ({ area }: { area: WorkArea }) => area.pcm.sampleCount / SAMPLE_RATE;
const allSpans = ({ spans }: { spans: readonly Span[] }) => spans.reduce((sum, span) => sum + secondsOf(span), 0);

const kinds: { readonly [N in OperationName]: PaceKind<N> } = {
  detectBlock: { audioSeconds: () => BLOCK_SECONDS, firstPace: 0.5 },
  planChunks: { audioSeconds: wholeRecording, firstPace: 0.01 },
  detectLanguage: { audioSeconds: () => MIN_AUDIO_SECONDS, firstPace: 2 },
  transcribe: { audioSeconds: () => MIN_AUDIO_SECONDS, firstPace: 2 },
  translate: { audioSeconds: () => MIN_AUDIO_SECONDS, firstPace: 2 },
  embedBlock: { audioSeconds: () => BLOCK_SECONDS, firstPace: 0.5 },
  clusterSpeakers: { audioSeconds: wholeRecording, firstPace: 0.01 },
  embedSentences: { audioSeconds: allSpans, firstPace: 1 },
  compareSentences: {
    audioSeconds: ({ sentences }) => sentences.reduce((sum, { seconds }) => sum + seconds, 0),
    firstPace: 0.01,
  },
  describeSpeakers: { audioSeconds: wholeRecording, firstPace: 0.01 },
  transcribeLive: { audioSeconds: () => MIN_AUDIO_SECONDS, firstPace: 2 },
  detectSpeech: { audioSeconds: () => MIN_AUDIO_SECONDS, firstPace: 0.5 },
  embedSpeech: { audioSeconds: allSpans, firstPace: 1 },
  detectLiveLanguage: { audioSeconds: () => MIN_AUDIO_SECONDS, firstPace: 2 },
  selfTest: { audioSeconds: () => MIN_AUDIO_SECONDS, firstPace: 2 },
};

/**
 * An operation is considered stuck after 10 times its expected duration: a chunk read in three languages takes 4 times.
 */
const STUCK_FACTOR = 10;
/** Minimum limit of an operation: a machine that swaps or is short of CPU time delays everything. */
const MIN_LIMIT_SECONDS = 60;
/** Weight of a new measurement that is faster than the stored pace; a slower one replaces it at once. */
const FASTER_PACE_WEIGHT = 0.1;

/** Assumed minimum pace of reading a model: that of a slow network drive. */
const MIN_LOAD_BYTES_PER_SECOND = 10_000_000;
/** Time limit of the rest of a start: GPU libraries compile their kernels. */
const START_SECONDS = 300;

/**
 * Time limits after which a worker is considered stuck: ten times the slowest recent pace, at least one minute. The
 * pace is the time per second of audio, by operation; for the recognizer's operations also by model and device.
 */
export class TimeLimits {
  readonly #paces = new Map<string, number>();
  readonly #minSeconds: number;
  readonly #startSeconds: number;

  constructor({ minSeconds = MIN_LIMIT_SECONDS, startSeconds = START_SECONDS } = {}) {
    this.#minSeconds = minSeconds;
    this.#startSeconds = startSeconds;
  }

  /** Returns the expected seconds of an operation; a generous guess for the first of its kind. */
  expected(operation: Operation): number {
    return (this.#paces.get(keyOf(operation)) ?? kindOf(operation.name).firstPace) * audioSecondsOf(operation);
  }

  /**
   * Returns the seconds after which the worker is considered stuck.
   * @param isFirst whether the worker has to load the operation's model first
   */
  of(operation: Operation, isFirst: boolean): number {
    const model = isFirst ? modelOf(operation) : null;
    const loading = model === null ? 0 : loadSeconds(model);
    return loading + Math.max(this.#minSeconds, STUCK_FACTOR * this.expected(operation));
  }

  /** Returns the seconds after which a worker that is still not ready is considered stuck. */
  ofStart({ speechModel }: WorkerStart): number {
    return this.#startSeconds + loadSeconds(speechModel);
  }

  /** Learns from the duration of a completed operation. */
  learn(operation: Operation, seconds: number): void {
    const key = keyOf(operation);
    const pace = seconds / audioSecondsOf(operation);
    const before = this.#paces.get(key) ?? pace;
    this.#paces.set(key, Math.max(pace, before + (pace - before) * FASTER_PACE_WEIGHT));
  }
}

const kindOf = <N extends OperationName>(name: N) => kinds[name] as PaceKind<OperationName>;

function audioSecondsOf({ name, params }: Operation): number {
  return Math.max(MIN_AUDIO_SECONDS, kindOf(name).audioSeconds(params));
}

/** Returns the path of the operation's speech model; null for an operation without the recognizer. */
export function modelOf({ params }: Pick<Operation, "params">): string | null {
  return "model" in params ? (params.model ?? null) : null;
}

function keyOf(operation: Operation): string {
  const model = modelOf(operation);
  return model === null ? operation.name : `${operation.name} ${operation.speechDevice} ${model}`;
}

/** Returns the seconds that loading a model may take; 0 for an unreadable file, whose error the loader reports. */
function loadSeconds(path: string): number {
  try {
    return statSync(path).size / MIN_LOAD_BYTES_PER_SECOND;
  } catch {
    return 0;
  }
}
