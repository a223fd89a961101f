import type { Counter } from "prom-client";
import type { Declarations } from "./declare.ts";

/** The live sessions. */
export interface LiveSource {
  live(): {
    /** Number of sessions that are open, also of those whose client may come back. */
    readonly open: number;
    /** Number of sessions that the machine serves at the same time. */
    readonly places: number;
  };
}

/** Registers metrics of open live sessions. */
export function registerLiveGauges(declare: Declarations, source: LiveSource): void {
  declare.gauge(
    "transcribe_live_sessions_open",
    "Live sessions that are open, also without a client that may come back",
    () => source.live().open,
  );
  declare.gauge(
    "transcribe_live_sessions_places",
    "Live sessions that are served at the same time",
    () => source.live().places,
  );
}

/** Metrics of live sessions, from their sound to their end. */
export class LiveMetrics {
  readonly #ended: Counter<"reason">;
  readonly #audioSeconds: Counter;
  readonly #passes: Counter;
  readonly #passSeconds: Counter;

  /** @param reasons all reasons for the end of a session */
  constructor(declare: Declarations, reasons: readonly string[]) {
    this.#ended = declare.counter(
      "transcribe_live_sessions_ended_total",
      "Live sessions that have ended, by the reason; stopping: the server stopped, and the session may continue",
      ["reason"],
      reasons.map((reason) => ({ reason })),
    );
    this.#audioSeconds = declare.counter(
      "transcribe_live_audio_seconds_total",
      "Duration of the sound that live sessions received",
    );
    this.#passes = declare.counter(
      "transcribe_live_passes_total",
      "Passes of the recognizer over the latest sound of live sessions",
    );
    this.#passSeconds = declare.counter(
      "transcribe_live_pass_seconds_total",
      "Time that the passes took from their request to their result",
    );
  }

  received(seconds: number): void {
    this.#audioSeconds.inc(seconds);
  }

  passed(seconds: number): void {
    this.#passes.inc();
    this.#passSeconds.inc(seconds);
  }

  ended(reason: string): void {
    this.#ended.inc({ reason });
  }
}
