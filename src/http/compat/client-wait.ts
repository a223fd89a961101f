import { ApiError } from "../shared/errors.ts";
import { OpenAiError } from "./openai-error.ts";

/** Why a request waits no longer, although its transcript is not ready. */
type WaitEnd = "disconnected" | "timed_out" | "stopping";

interface WaitLimits {
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  readonly maxSeconds: number;
}

/** Pause before a retry, in seconds, after the server was stopped: it starts again in a moment. */
const RESTART_SECONDS = 10;

/**
 * The time that a request waits for its transcript. It ends early when the client disconnects, after the maximum time,
 * or when the server stops. Dispose of it when the request is answered.
 */
export class ClientWait implements Disposable {
  readonly #controller = new AbortController();
  readonly #release = new DisposableStack();
  #end: WaitEnd | null = null;

  constructor(request: Request, { stopping, maxSeconds }: WaitLimits) {
    const timer = setTimeout(() => this.#stop("timed_out"), maxSeconds * 1000);
    this.#release.defer(() => clearTimeout(timer));
    for (const [signal, end] of [
      [request.signal, "disconnected"],
      [stopping, "stopping"],
    ] as const) {
      const stop = () => this.#stop(end);
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      this.#release.defer(() => signal.removeEventListener("abort", stop));
    }
  }

  /** Aborted when the wait ends early. Its reason is the ApiError to answer with. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the wait ended early; null if it did not. */
  get end(): WaitEnd | null {
    return this.#end;
  }

  /** Ends the wait because the client has disconnected. */
  disconnected(): void {
    this.#stop("disconnected");
  }

  [Symbol.dispose](): void {
    this.#release.dispose();
  }

  #stop(end: WaitEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#controller.abort(errorOf(end));
  }
}

function errorOf(end: WaitEnd): ApiError {
  switch (end) {
    case "disconnected":
      return new ApiError("bad_request", "The connection was closed.");
    case "stopping":
      return new OpenAiError("service_unavailable", "The server is stopping; send the request again in a moment.", {
        retryAfterSeconds: RESTART_SECONDS,
      });
    case "timed_out":
      // A client that sent the recording again by itself would wait in vain for as long.
      return new OpenAiError(
        "service_unavailable",
        "The transcript was not ready in time. Send long recordings with stream=true, or use the API of this server.",
        { retry: false, retryAfterSeconds: 60 },
      );
  }
}
