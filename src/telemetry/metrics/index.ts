export type { Counted } from "./declare.ts";
export { type MetricDescription, type MetricSources, Metrics, metricsMediaType } from "./metrics.ts";
export { residentBytes } from "./resident-bytes.ts";
