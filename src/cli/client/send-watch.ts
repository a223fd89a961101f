import { ClientError } from "./client-error.ts";
import type { PreparedBody } from "./upload-form.ts";

/** A body of which nothing goes out for so long has lost its connection; TCP alone would notice after a quarter of an hour. */
const stallMilliseconds = 120_000;

/** Sends a body and looks after it: says how far it is, and ends a request that stands still, while sending or after it. */
export class SendWatch implements Disposable {
  readonly #body: PreparedBody;
  readonly #onSent: (fraction: number) => void;
  readonly #stalled = new AbortController();
  #timer: Timer | undefined;
  /** Aborted with the caller's, or when nothing goes on. */
  readonly signal: AbortSignal;

  constructor(body: PreparedBody, onSent: (fraction: number) => void, signal: AbortSignal) {
    this.#body = body;
    this.#onSent = onSent;
    this.signal = AbortSignal.any([signal, this.#stalled.signal]);
    this.#alive();
  }

  /** The body for fetch, which asks for a piece when the network took the one before. */
  stream(): ReadableStream<Uint8Array> {
    const pieces = this.#body.stream();
    let sent = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await pieces.next();
          this.#alive();
          if (done) {
            controller.close();
            return;
          }
          sent += value.length;
          this.#onSent(sent / this.#body.sizeBytes);
          controller.enqueue(value);
        },
        cancel: () => void pieces.return(undefined),
      },
      { highWaterMark: 0 },
    );
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #alive(): void {
    clearTimeout(this.#timer);
    const error = new ClientError(`no answer: the upload stood still for ${stallMilliseconds / 1000} seconds`, {
      code: "no_answer",
    });
    this.#timer = setTimeout(() => this.#stalled.abort(error), stallMilliseconds);
  }
}
