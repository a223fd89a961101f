import type { Store } from "../database/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type EndOutcome, forgetEnd, undeliveredEnds } from "./outbox.ts";

/** A recording that has ended. It does not change by itself any more. */
export interface RecordingEnded {
  readonly id: string;
  readonly outcome: EndOutcome;
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
 * Publishes the end of recordings, and their recognized words, to other parts of the server. Ends are stored by the
 * transaction that ends a recording, and delivered at least once, after a crash by the next server. Words are not
 * stored. A subscriber that fails is logged; it harms neither the recording nor the other subscribers.
 */
export class RecordingEvents {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #subscribers = new Map<string, Subscriber>();
  readonly #listeners = new Map<string, (chunk: ChunkTranscribed) => void>();
  readonly #languageListeners = new Map<string, (chosen: LanguageChosen) => void>();

  constructor(store: Store, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /** @param name unique name of the subscriber, for the log @returns a function that ends the subscription */
  onEnded(name: string, subscriber: Subscriber): () => void {
    if (this.#subscribers.has(name)) throw new Error(`${name} has subscribed already`);
    this.#subscribers.set(name, subscriber);
    return () => void this.#subscribers.delete(name);
  }

  /** Delivers all ends that are not delivered yet to all subscribers, in their order. */
  deliver(): void {
    for (let ends = undeliveredEnds(this.#store); ends.length > 0; ends = undeliveredEnds(this.#store)) {
      for (const end of ends) {
        const event = { id: end.recordingId, outcome: end.outcome };
        for (const [name, subscriber] of [...this.#subscribers]) this.#call(event.id, name, () => subscriber(event));
        forgetEnd(this.#store, end);
      }
    }
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
