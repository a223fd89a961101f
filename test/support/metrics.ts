import { createMetrics, type MeasuredParts } from "../../src/appliance/index.ts";
import type { Metrics } from "../../src/telemetry/index.ts";

/** The metrics of a server that has no engine and speaks plain HTTP. */
export function metricsWithoutEngine(parts: Pick<MeasuredParts, "recordings" | "dataPaths" | "now">): Metrics {
  return createMetrics({
    ...parts,
    engine: () => ({
      status: () => ({ state: "starting", trouble: null, busy: false, restarts: 0, workers: [] }),
    }),
    modelInUse: () => "whisper-base",
    certificateEndsAt: () => null,
    stalled: () => [],
  });
}
