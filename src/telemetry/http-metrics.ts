import { type Counter, Histogram } from "prom-client";
import { type Counted, countsOf, type Declarations } from "./declare.ts";

const knownMethods = new Set(["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"]);

/** Metrics of requests, refusals and received uploads. */
export class HttpMetrics {
  readonly #requests: Counter<"method" | "status">;
  readonly #requestSeconds: Histogram<"method">;
  readonly #refusals: Counter<"code">;
  readonly #uploadBytes: Counter;

  /** @param refusalCodes all codes of error envelopes */
  constructor(declare: Declarations, refusalCodes: readonly string[]) {
    this.#requests = declare.counter("transcribe_http_requests_total", "HTTP requests by method and status", [
      "method",
      "status",
    ]);
    this.#requestSeconds = new Histogram({
      name: "transcribe_http_request_seconds",
      help: "Time from the head of a request to the head of its response, the upload of the body included",
      labelNames: ["method"],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers: [declare.registry],
    });
    this.#refusals = declare.counter(
      "transcribe_http_refusals_total",
      "Requests that were answered with an error, by its code; replayed errors are not counted",
      ["code"],
      refusalCodes.map((code) => ({ code })),
    );
    this.#uploadBytes = declare.counter(
      "transcribe_upload_bytes_total",
      "Bytes of received uploads, accepted or not; downloads of links are not counted",
    );
  }

  request(method: string, status: number, seconds: number): void {
    const known = knownMethods.has(method) ? method : "other";
    this.#requests.inc({ method: known, status: String(status) });
    this.#requestSeconds.observe({ method: known }, seconds);
  }

  refused(code: string): void {
    this.#refusals.inc({ code });
  }

  /** Returns the number of requests answered with an error since the server was started, by error code. */
  refusals(): Promise<Counted[]> {
    return countsOf(this.#refusals, "code");
  }

  received(bytes: number): void {
    this.#uploadBytes.inc(bytes);
  }
}
