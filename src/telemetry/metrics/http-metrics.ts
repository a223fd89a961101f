import { Counter, Histogram, type Registry } from "prom-client";
import { type Counted, closedCounter, countsOf } from "./declare.ts";

const knownMethods = new Set(["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"]);

/** Metrics of requests, refusals and received uploads. */
export class HttpMetrics {
  readonly #requests: Counter<"method" | "status">;
  readonly #requestSeconds: Histogram<"method">;
  readonly #refusals: Counter<"code">;
  readonly #uploadBytes: Counter;

  /** @param refusalCodes all codes of error envelopes */
  constructor(registry: Registry, refusalCodes: readonly string[]) {
    const registers = [registry];
    this.#requests = new Counter({
      name: "transcribe_http_requests_total",
      help: "HTTP requests by method and status",
      labelNames: ["method", "status"],
      registers,
    });
    this.#requestSeconds = new Histogram({
      name: "transcribe_http_request_seconds",
      help: "Time from a request's head to its answer's head; an upload's body lies between the two",
      labelNames: ["method"],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers,
    });
    this.#refusals = closedCounter(
      registry,
      {
        name: "transcribe_http_refusals_total",
        help: "Requests that were answered with an error, by its code; a replay of one is not counted",
        labelNames: ["code"],
      },
      refusalCodes.map((code) => ({ code })),
    );
    this.#uploadBytes = new Counter({
      name: "transcribe_upload_bytes_total",
      help: "Bytes of uploads that came in, whatever became of them; links are not among them",
      registers,
    });
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
  async refusals(): Promise<Counted[]> {
    return countsOf(await this.#refusals.get(), "code");
  }

  received(bytes: number): void {
    this.#uploadBytes.inc(bytes);
  }
}
