import { TranscribeError } from "../errors.ts";
import type { LiveEvent } from "./messages.ts";

/** Events that may wait to be read: those of some hours. */
const MAX_EVENTS = 10_000;

interface Reader {
  readonly resolve: (result: IteratorResult<LiveEvent, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

/** The events of a session that a program has not read yet. Its end is an error or none. */
export class EventQueue {
  readonly #events: LiveEvent[] = [];
  readonly #readers: Reader[] = [];
  #end: { readonly error: unknown } | null = null;

  /** Adds an event. A partial one replaces an earlier one of the same turn. @throws {TranscribeError} when nobody reads */
  add(event: LiveEvent): void {
    if (this.#end !== null) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader.resolve({ done: false, value: event });
      return;
    }
    const last = this.#events.at(-1);
    if (event.type === "partial" && last?.type === "partial" && last.turn === event.turn) this.#events.pop();
    if (this.#events.length >= MAX_EVENTS) throw new TranscribeError("the events of the session are not read");
    this.#events.push(event);
  }

  /** Ends the queue after the events so far. @param error null for none */
  end(error: unknown): void {
    if (this.#end !== null) return;
    this.#end = { error };
    for (const reader of this.#readers.splice(0)) this.#answerEnd(reader, error);
  }

  /** Returns the next event. @throws the error with which the queue ended */
  next(): Promise<IteratorResult<LiveEvent, undefined>> {
    return new Promise((resolve, reject) => {
      const event = this.#events.shift();
      if (event !== undefined) resolve({ done: false, value: event });
      else if (this.#end !== null) this.#answerEnd({ resolve, reject }, this.#end.error);
      else this.#readers.push({ resolve, reject });
    });
  }

  #answerEnd({ resolve, reject }: Reader, error: unknown): void {
    if (error === null) resolve({ done: true, value: undefined });
    else reject(error);
  }
}
