export { createLogger, type Logger } from "./log.ts";
export { type EndedRecording, type MetricSources, Metrics, metricsMediaType } from "./metrics.ts";
