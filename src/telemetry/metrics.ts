import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** What a gauge is asked for when the metrics are read. */
export interface MetricSources {
  /** Recordings in hand, by state. */
  recordingsOpen(): { readonly queued: number; readonly processing: number };
  /** Whether the inference worker is ready, and how often it had to be started again. */
  engine(): { readonly ready: boolean; readonly restarts: number };
}

/** How a recording ended, for counting. */
export interface EndedRecording {
  readonly status: "completed" | "failed";
  /** `failure_reason`, or empty. */
  readonly reason: string;
  /** The true cause behind `internal`, or empty. */
  readonly cause: string;
  readonly audioSeconds: number;
  readonly processingSeconds: number;
}

/** What the server tells Prometheus. Labels come from closed lists, never from a request. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: "transcribe_http_requests_total",
    help: "HTTP requests by method and status",
    labelNames: ["method", "status"],
    registers: [this.#registry],
  });
  readonly #requestSeconds = new Histogram({
    name: "transcribe_http_request_seconds",
    help: "Time from a request's head to its answer's head",
    labelNames: ["method"],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [this.#registry],
  });
  readonly #ended = new Counter({
    name: "transcribe_recordings_ended_total",
    help: "Recordings that reached their end, by status, failure reason and the cause behind internal",
    labelNames: ["status", "reason", "cause"],
    registers: [this.#registry],
  });
  readonly #audioSeconds = new Counter({
    name: "transcribe_audio_seconds_total",
    help: "Length of the recordings that completed",
    registers: [this.#registry],
  });
  readonly #processingSeconds = new Counter({
    name: "transcribe_processing_seconds_total",
    help: "Time that completed recordings held a slot; five at once count five times",
    registers: [this.#registry],
  });

  constructor(sources: MetricSources) {
    const registers = [this.#registry];
    new Gauge({
      name: "transcribe_recordings_open",
      help: "Recordings in hand, by status",
      labelNames: ["status"],
      registers,
      collect() {
        const { queued, processing } = sources.recordingsOpen();
        this.set({ status: "queued" }, queued);
        this.set({ status: "processing" }, processing);
      },
    });
    new Gauge({
      name: "transcribe_engine_ready",
      help: "1 while the inference worker takes work",
      registers,
      collect() {
        this.set(sources.engine().ready ? 1 : 0);
      },
    });
    new Gauge({
      name: "transcribe_engine_restarts",
      help: "Times the inference worker had to be started again since the server's start",
      registers,
      collect() {
        this.set(sources.engine().restarts);
      },
    });
    new Gauge({
      name: "process_resident_memory_bytes",
      help: "Resident memory of the server, without its worker",
      registers,
      collect() {
        this.set(process.memoryUsage.rss());
      },
    });
  }

  request(method: string, status: number, seconds: number): void {
    const known = knownMethods.has(method) ? method : "other";
    this.#requests.inc({ method: known, status: String(status) });
    this.#requestSeconds.observe({ method: known }, seconds);
  }

  recordingEnded({ status, reason, cause, audioSeconds, processingSeconds }: EndedRecording): void {
    this.#ended.inc({ status, reason, cause });
    if (status === "failed") return;
    this.#audioSeconds.inc(audioSeconds);
    this.#processingSeconds.inc(processingSeconds);
  }

  /** All of it in Prometheus's text format. */
  read(): Promise<string> {
    return this.#registry.metrics();
  }
}

/** Prometheus's text format, 0.0.4. */
export const metricsMediaType = "text/plain; version=0.0.4; charset=utf-8";

const knownMethods = new Set(["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"]);
