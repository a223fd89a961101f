export type { GpuMemory } from "./engine-metrics.ts";
export { type MetricDescription, type MetricSources, Metrics, metricsMediaType } from "./metrics.ts";
