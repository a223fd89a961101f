import { Registry } from "prom-client";
import { AuditMetrics, type AuditSource, registerAuditGauges } from "./audit-metrics.ts";
import { Declarations } from "./declare.ts";
import { EngineMetrics, type EngineSource, registerEngineGauges } from "./engine-metrics.ts";
import { type FleetSource, registerFleetMetrics } from "./fleet-metrics.ts";
import { type FolderSource, registerFolderMetrics } from "./folder-metrics.ts";
import { HttpMetrics } from "./http-metrics.ts";
import { type LeaseSource, registerLeaseMetrics } from "./lease-metrics.ts";
import { LiveMetrics, type LiveSource, registerLiveGauges } from "./live-metrics.ts";
import { registerProcessMetrics } from "./process-metrics.ts";
import { type FailureKind, type QueueSource, RecordingMetrics, registerQueueGauges } from "./recording-metrics.ts";
import { registerStandbyGauges, type StandbySource } from "./standby-metrics.ts";
import { registerStorageMetrics, type StorageSource } from "./storage-metrics.ts";
import { registerWebhookGauges, WebhookMetrics, type WebhookSource } from "./webhook-metrics.ts";
import { WyomingMetrics } from "./wyoming-metrics.ts";

/** Sources of values that are read with the metrics. */
export interface MetricSources
  extends QueueSource,
    EngineSource,
    StorageSource,
    FolderSource,
    FleetSource,
    LeaseSource,
    LiveSource,
    WebhookSource,
    AuditSource,
    StandbySource {}

/** The closed lists of label values, and facts about a server that are known before it has started. */
interface MetricLabels {
  readonly version: string;
  readonly refusalCodes: readonly string[];
  readonly wyomingErrorCodes: readonly string[];
  readonly failures: readonly FailureKind[];
  /** Reasons for the end of a live session. */
  readonly liveEnds: readonly string[];
  /** This machine's name in its fleet; null if the server works alone. */
  readonly machine: string | null;
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
  readonly live: LiveMetrics;
  readonly wyoming: WyomingMetrics;
  readonly webhooks: WebhookMetrics;
  readonly audit: AuditMetrics;
  readonly #registry = new Registry();
  readonly #declare = new Declarations(this.#registry);

  /** Creates the metrics that are counted. */
  constructor({ version, refusalCodes, wyomingErrorCodes, failures, liveEnds, machine }: MetricLabels) {
    this.http = new HttpMetrics(this.#declare, refusalCodes);
    this.recordings = new RecordingMetrics(this.#declare, failures);
    this.engine = new EngineMetrics(this.#declare, machine);
    this.live = new LiveMetrics(this.#declare, liveEnds);
    this.wyoming = new WyomingMetrics(this.#declare, wyomingErrorCodes);
    this.webhooks = new WebhookMetrics(this.#declare);
    this.audit = new AuditMetrics(this.#declare);
    registerProcessMetrics(this.#declare, version);
  }

  /** Adds the metrics whose values are read from the parts of a server. Called once. */
  observe(sources: MetricSources): void {
    registerQueueGauges(this.#declare, sources);
    registerEngineGauges(this.#declare, sources);
    registerStorageMetrics(this.#declare, sources);
    registerFolderMetrics(this.#declare, sources);
    registerFleetMetrics(this.#declare, sources);
    registerLeaseMetrics(this.#declare, sources);
    registerLiveGauges(this.#declare, sources);
    registerWebhookGauges(this.#declare, sources);
    registerAuditGauges(this.#declare, sources);
    registerStandbyGauges(this.#declare, sources);
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
