export { createLogger, type Logger } from "./log.ts";
export {
  type FailureKind,
  type GpuMemory,
  type MetricDescription,
  type MetricSources,
  Metrics,
  metricsMediaType,
  type OpenRecordings,
  type StepWork,
} from "./metrics/index.ts";
