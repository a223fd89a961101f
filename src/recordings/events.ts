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

/** A chunk whose words were recognized. They are not final: the steps that follow may move and divide them. */
interface ChunkTranscribed {
  readonly id: string;
  /** Number of tracks of the recording, which are transcribed one after the other. */
  readonly tracks: number;
  /** Zero-based position of the chunk in its track. Chunks may be transcribed in any order. */
  readonly part: number;
  readonly words: readonly { readonly text: string; readonly probability: number }[];
}

/** The language of most of the speech of a recording, before its words are recognized. */
interface LanguageChosen {
  readonly id: string;
  /** ISO 639. */
  readonly language: string;
  /** How sure the model is of it, from 0 to 1. */
  readonly confidence: number;
}

type Subscriber = (event: RecordingEnded) => void;

/**
 * Publishes the end of recordings, and their recognized words, to other parts of the server. A subscriber that fails is
 * logged; it harms neither the recording nor the other subscribers.
 */
export class RecordingEvents {
  readonly #log: Logger;
  readonly #subscribers = new Map<string, Subscriber>();
  readonly #listeners = new Map<string, (chunk: ChunkTranscribed) => void>();
  readonly #languageListeners = new Map<string, (chosen: LanguageChosen) => void>();

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
    for (const [name, subscriber] of [...this.#subscribers]) this.#call(event.id, name, () => subscriber(event));
  }

  /**
   * Passes the recognized chunks of one recording to a listener, of which each recording may have one.
   * @returns a function that ends this
   */
  onTranscribed(recordingId: string, listener: (chunk: ChunkTranscribed) => void): () => void {
    this.#listeners.set(recordingId, listener);
    return () => void this.#listeners.delete(recordingId);
  }

  /** Publishes the words of a chunk. A chunk may be published again after an interruption. */
  transcribed(chunk: ChunkTranscribed): void {
    const listener = this.#listeners.get(chunk.id);
    if (listener !== undefined) this.#call(chunk.id, "transcribed words", () => listener(chunk));
  }

  /**
   * Passes the language of one recording to a listener, of which each recording may have one.
   * @returns a function that ends this
   */
  onLanguage(recordingId: string, listener: (chosen: LanguageChosen) => void): () => void {
    this.#languageListeners.set(recordingId, listener);
    return () => void this.#languageListeners.delete(recordingId);
  }

  /** Publishes a recording's language. It may be published again after an interruption. */
  languageChosen(chosen: LanguageChosen): void {
    const listener = this.#languageListeners.get(chosen.id);
    if (listener !== undefined) this.#call(chosen.id, "language", () => listener(chosen));
  }

  #call(recordingId: string, subscriber: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#log.error({ event: "recording.subscriber_failed", recordingId, subscriber, err: error });
    }
  }
}
