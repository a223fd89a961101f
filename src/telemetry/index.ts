export type { Counted } from "./declare.ts";
export { createLogger, type Logger } from "./log.ts";
export { type MetricDescription, type MetricSources, Metrics, metricsMediaType } from "./metrics.ts";
export type { WyomingMetrics } from "./wyoming-metrics.ts";
