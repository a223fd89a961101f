import type { Logger } from "../telemetry/index.ts";
import type { Failure } from "./states.ts";

/** A recording that the pipeline has ended. Its step files are removed, and it will not change by itself any more. */
export interface RecordingEnded {
  readonly id: string;
  /** Null when the recording was deleted while it was processed. */
  readonly accountId: string | null;
  readonly workspaceId: string | null;
  /** `cancelled`: a command ended the recording while it was queued or processed. */
  readonly outcome: "completed" | "failed" | "cancelled";
  /** Why it failed; null otherwise. */
  readonly failure: Failure | null;
  readonly language: string | null;
  readonly durationSeconds: number | null;
  readonly processingSeconds: number;
}

type Subscriber = (event: RecordingEnded) => void;

/**
 * Publishes the end of recordings to other parts of the server. A subscriber that fails is logged; it harms neither the
 * recording nor the other subscribers.
 */
export class RecordingEvents {
  readonly #log: Logger;
  readonly #subscribers = new Map<string, Subscriber>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param name unique name of the subscriber, for the log @returns a function that ends the subscription */
  onEnded(name: string, subscriber: Subscriber): () => void {
    if (this.#subscribers.has(name)) throw new Error(`${name} has subscribed already`);
    this.#subscribers.set(name, subscriber);
    return () => void this.#subscribers.delete(name);
  }

  /** Publishes the end of a recording. */
  ended(event: RecordingEnded): void {
    for (const [name, subscriber] of [...this.#subscribers]) {
      try {
        subscriber(event);
      } catch (error) {
        this.#log.error({ event: "recording.subscriber_failed", recordingId: event.id, subscriber: name, err: error });
      }
    }
  }
}
