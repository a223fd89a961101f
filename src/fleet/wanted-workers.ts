/** A number of workers for the audio that waits, and the values from which it was computed. */
export interface WantedWorkers {
  readonly wanted: number;
  /** Workers that take parts now. */
  readonly present: number;
  readonly waitingAudioSeconds: number;
  /** Seconds of recordings that a lane processes in one second, in all distributed steps together. */
  readonly laneSpeed: number;
  /** Lanes of a worker on average. */
  readonly lanesOfWorker: number;
}

/** The bounds of the number of workers. */
interface WorkerGoal {
  /** Time in which the waiting audio should be processed. */
  readonly target_minutes: number;
  readonly max_workers: number;
}

/** Speed of a lane until it is measured: that of one core of a server with the default model (820 s an hour). */
const FIRST_LANE_SPEED = 4;
/** Audio after which the measurement of a step counts: two blocks of speech detection. */
const MIN_AUDIO_SECONDS = 240;
/** Audio after which earlier measurements count half, so that the speed follows another model or other machines. */
const HALVING_AUDIO_SECONDS = 4 * 3600;
/**
 * The steps whose cost counts. Language detection reads a few seconds of a recording, and live sessions do not wait. A
 * long recording passes through one step after the other, so each step has a measurement of its own.
 */
const STEPS: readonly string[] = ["detect", "transcribe", "diarize"];

/** Measures the speed of the workers' lanes, and computes how many workers the waiting audio needs. */
export class WorkerDemand {
  readonly #measured = new Map<string, { seconds: number; audioSeconds: number }>();
  #lanesOfWorker = 1;

  /** Notes an operation that a worker completed. */
  note({
    step,
    seconds,
    audioSeconds,
  }: {
    readonly step: string;
    readonly seconds: number;
    readonly audioSeconds: number;
  }) {
    if (!STEPS.includes(step)) return;
    const measured = this.#measured.get(step) ?? { seconds: 0, audioSeconds: 0 };
    this.#measured.set(step, measured);
    measured.seconds += seconds;
    measured.audioSeconds += audioSeconds;
    if (measured.audioSeconds < HALVING_AUDIO_SECONDS) return;
    measured.seconds /= 2;
    measured.audioSeconds /= 2;
  }

  /** @param machines the workers of the fleet */
  wanted(
    waitingAudioSeconds: number,
    machines: readonly { readonly lanes: number; readonly problem: string | null }[],
    { target_minutes, max_workers }: WorkerGoal,
  ): WantedWorkers {
    const usable = machines.filter(({ lanes, problem }) => lanes > 0 && problem === null);
    // The number of lanes is remembered for the time without workers.
    if (usable.length > 0) this.#lanesOfWorker = usable.reduce((sum, { lanes }) => sum + lanes, 0) / usable.length;
    const laneSpeed = this.#laneSpeed();
    const needed = waitingAudioSeconds / (laneSpeed * this.#lanesOfWorker * 60 * target_minutes);
    return {
      wanted: Math.min(Math.ceil(needed), max_workers),
      present: usable.length,
      waitingAudioSeconds,
      laneSpeed,
      lanesOfWorker: this.#lanesOfWorker,
    };
  }

  /** Returns the speed with speech without pauses, because the share of speech is not known before. */
  #laneSpeed(): number {
    const measured = [...this.#measured.values()].filter(({ audioSeconds }) => audioSeconds >= MIN_AUDIO_SECONDS);
    const secondsOfAudio = measured.reduce((sum, { seconds, audioSeconds }) => sum + seconds / audioSeconds, 0);
    return this.#measured.size > 0 && measured.length === this.#measured.size && secondsOfAudio > 0
      ? 1 / secondsOfAudio
      : FIRST_LANE_SPEED;
  }
}
