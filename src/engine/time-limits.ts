import { statSync } from "node:fs";
import { BLOCK_SECONDS, SAMPLE_RATE, type Span, secondsOf } from "../timeline/index.ts";
import type { OperationName, Params, Start } from "./protocol.ts";

/** An operation and what it is done with. */
export interface Operation<N extends OperationName = OperationName> {
  readonly name: N;
  readonly params: Params<N>;
  /** What whisper computes on; of several GPUs one may be slower than another. */
  readonly speechDevice: string;
}

interface Kind<N extends OperationName> {
  /** Seconds of audio that its work grows with. */
  readonly audioSeconds: (params: Params<N>) => number;
  /**
   * Seconds of work for a second of audio, where none has been measured: 30 times and more of what base took on two cores
   * (0.05 for transcribe, 0.03 for a language, 0.003 for a block), so that a slow machine with a large model is in time.
   */
  readonly firstPace: number;
}

/** Whisper's encoder takes as long for a word as for this; so much is counted at least, whatever the operation. */
const leastSeconds = 30;
const ofWhole = ({ pcm }: { pcm: { sampleCount: number } }) => pcm.sampleCount / SAMPLE_RATE;
const ofSpans = ({ spans }: { spans: readonly Span[] }) => spans.reduce((sum, span) => sum + secondsOf(span), 0);

const kinds: { readonly [N in OperationName]: Kind<N> } = {
  detectBlock: { audioSeconds: () => BLOCK_SECONDS, firstPace: 0.5 },
  planChunks: { audioSeconds: ofWhole, firstPace: 0.01 },
  detectLanguage: { audioSeconds: () => leastSeconds, firstPace: 2 },
  transcribe: { audioSeconds: () => leastSeconds, firstPace: 2 },
  embedBlock: { audioSeconds: () => BLOCK_SECONDS, firstPace: 0.5 },
  clusterSpeakers: { audioSeconds: ofWhole, firstPace: 0.01 },
  embedSentences: { audioSeconds: ofSpans, firstPace: 1 },
  compareSentences: {
    audioSeconds: ({ sentences }) => sentences.reduce((sum, { seconds }) => sum + seconds, 0),
    firstPace: 0.01,
  },
  tryOut: { audioSeconds: () => leastSeconds, firstPace: 2 },
};

/** So many times the expected time is no slow chunk any more: one that is read in three languages takes four times as long. */
const patience = 10;
/** Below this no operation is late: a machine that swaps or is short of CPU makes everything wait. */
const leastLimitSeconds = 60;
/** How fast a pace that was measured once is forgotten; a slower one counts at once. */
const forgetting = 0.1;

/** A model is read at this pace at least: a slow network drive's. */
const loadBytesPerSecond = 10_000_000;
/** What else a start takes: GPU libraries compile their kernels. */
const leastStartSeconds = 300;

/**
 * How long operations may take before their worker counts as stuck: ten times what the slowest of late took for its
 * length of audio, by operation, model and device; a minute at least.
 */
export class TimeLimits {
  readonly #paces = new Map<string, number>();
  readonly #leastSeconds: number;
  readonly #startSeconds: number;

  constructor({ leastSeconds = leastLimitSeconds, startSeconds = leastStartSeconds } = {}) {
    this.#leastSeconds = leastSeconds;
    this.#startSeconds = startSeconds;
  }

  /** Seconds that the operation is expected to take; of the first of its kind, generously. */
  expected(operation: Operation): number {
    return (this.#paces.get(keyOf(operation)) ?? kindOf(operation.name).firstPace) * audioSecondsOf(operation);
  }

  /** Seconds after which the worker counts as stuck. @param isFirst the worker has to load the operation's model before */
  of(operation: Operation, isFirst: boolean): number {
    const model = isFirst ? modelOf(operation) : null;
    const loading = model === null ? 0 : loadSeconds(model);
    return loading + Math.max(this.#leastSeconds, patience * this.expected(operation));
  }

  /** Seconds after which a worker that was told what to load, and is not ready, counts as stuck. */
  ofStart({ whisperModel }: Start): number {
    return this.#startSeconds + loadSeconds(whisperModel);
  }

  /** Takes note of one that was done. */
  learn(operation: Operation, seconds: number): void {
    const key = keyOf(operation);
    const pace = seconds / audioSecondsOf(operation);
    const before = this.#paces.get(key) ?? pace;
    this.#paces.set(key, Math.max(pace, before + (pace - before) * forgetting));
  }
}

const kindOf = <N extends OperationName>(name: N) => kinds[name] as Kind<OperationName>;

function audioSecondsOf({ name, params }: Operation): number {
  return Math.max(leastSeconds, kindOf(name).audioSeconds(params));
}

/** The path of the whisper model that it is done with; null for what whisper has no part in. */
export function modelOf({ params }: Pick<Operation, "params">): string | null {
  return "model" in params ? (params.model ?? null) : null;
}

function keyOf(operation: Operation): string {
  const model = modelOf(operation);
  return model === null ? operation.name : `${operation.name} ${operation.speechDevice} ${model}`;
}

/** None for a file that can't be looked at: what is wrong with it is said by whoever loads it. */
function loadSeconds(path: string): number {
  try {
    return statSync(path).size / loadBytesPerSecond;
  } catch {
    return 0;
  }
}
