export type { GpuMemory, StepWork } from "./engine-metrics.ts";
export { type MetricDescription, type MetricSources, Metrics, metricsMediaType } from "./metrics.ts";
export type { FailureKind, OpenRecordings } from "./recording-metrics.ts";
