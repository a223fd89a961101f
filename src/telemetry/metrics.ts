import { Registry } from "prom-client";
import { EngineMetrics, type EngineSource } from "./engine-metrics.ts";
import { type FleetSource, registerFleetMetrics } from "./fleet-metrics.ts";
import { type FolderSource, registerFolderMetrics } from "./folder-metrics.ts";
import { HttpMetrics } from "./http-metrics.ts";
import { registerProcessMetrics } from "./process-metrics.ts";
import { type FailureKind, type QueueSource, RecordingMetrics } from "./recording-metrics.ts";
import { registerStorageMetrics, type StorageSource } from "./storage-metrics.ts";

/** Sources of values that are read with the metrics, and the closed lists of label values. */
export interface MetricSources extends QueueSource, EngineSource, StorageSource, FolderSource, FleetSource {
  readonly version: string;
  readonly refusalCodes: readonly string[];
  readonly failures: readonly FailureKind[];
}

/** Description of a metric, independent of its value. */
export interface MetricDescription {
  readonly name: string;
  /** counter, gauge or histogram. */
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/**
 * The server's Prometheus metrics. Label values are from closed lists or the operator's names, never from a request.
 */
export class Metrics {
  readonly http: HttpMetrics;
  readonly recordings: RecordingMetrics;
  readonly engine: EngineMetrics;
  readonly #registry = new Registry();

  constructor(sources: MetricSources) {
    this.http = new HttpMetrics(this.#registry, sources.refusalCodes);
    this.recordings = new RecordingMetrics(this.#registry, sources, sources.failures);
    this.engine = new EngineMetrics(this.#registry, sources);
    registerStorageMetrics(this.#registry, sources);
    registerFolderMetrics(this.#registry, sources);
    registerFleetMetrics(this.#registry, sources);
    registerProcessMetrics(this.#registry, sources.version);
  }

  /** Returns all metrics in Prometheus's text format. */
  read(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Returns descriptions of all metrics, in the order of the output. */
  describe(): MetricDescription[] {
    return this.#registry.getMetricsAsArray().map((metric) => {
      const labels: unknown = "labelNames" in metric ? metric.labelNames : [];
      const names = Array.isArray(labels) ? labels.filter((label) => typeof label === "string") : [];
      return { name: metric.name, type: String(metric.type), help: metric.help, labels: names };
    });
  }
}

/** Media type of Prometheus's text format, version 0.0.4. */
export const metricsMediaType = "text/plain; version=0.0.4; charset=utf-8";
