export { createLogger, type Logger } from "./log.ts";
export {
  type Counted,
  type MetricDescription,
  type MetricSources,
  Metrics,
  metricsMediaType,
  residentBytes,
} from "./metrics/index.ts";
