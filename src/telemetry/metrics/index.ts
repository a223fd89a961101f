export { type MetricDescription, type MetricSources, Metrics, metricsMediaType } from "./metrics.ts";
