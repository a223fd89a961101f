import { ClientError } from "./client-error.ts";
import type { PreparedBody } from "./upload-form.ts";

/** Time without progress after which a connection counts as lost. TCP alone would detect it after about 15 minutes. */
const stallMilliseconds = 120_000;

/** Reports the progress of an upload and aborts a request that stalls, while the body is sent or after it. */
export class SendWatch implements Disposable {
  readonly #body: PreparedBody;
  readonly #onSent: (fraction: number) => void;
  readonly #stalled = new AbortController();
  #timer: Timer | undefined;
  /** Aborted with the caller's signal, or when the upload stalls. */
  readonly signal: AbortSignal;

  constructor(body: PreparedBody, onSent: (fraction: number) => void, signal: AbortSignal) {
    this.#body = body;
    this.#onSent = onSent;
    this.signal = AbortSignal.any([signal, this.#stalled.signal]);
    this.#alive();
  }

  /** Returns the body for fetch, which requests a chunk when the network has accepted the previous one. */
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
