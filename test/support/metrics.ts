import { Metrics } from "../../src/telemetry/index.ts";

/** Metrics of a server that has no engine. */
export function metricsWithoutEngine(): Metrics {
  return new Metrics({
    recordingsOpen: () => ({ queued: 0, processing: 0 }),
    engine: () => ({ ready: false, restarts: 0 }),
  });
}
