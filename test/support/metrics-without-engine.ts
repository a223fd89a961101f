import { createMetrics, type MeasuredParts, metricSources } from "../../src/server/index.ts";
import { type DataPaths, DiskUsage } from "../../src/storage/index.ts";
import type { Metrics } from "../../src/telemetry/index.ts";

const waiting = { speech: 0, speakers: 0 };

/** Returns the metrics of a server without an engine and without TLS. */
export function metricsWithoutEngine({
  dataPaths,
  ...parts
}: Pick<MeasuredParts, "recordings" | "now"> & { readonly dataPaths: DataPaths }): Metrics {
  const metrics = createMetrics(null);
  const sources = metricSources({
    ...parts,
    disk: new DiskUsage(dataPaths, () => performance.now()),
    engine: {
      status: () => ({ state: "starting", trouble: null, busy: false, waiting, restarts: 0, workers: [] }),
    },
    modelInUse: () => "whisper-base",
    certificateEndsAt: () => null,
    stalled: () => [],
  });
  metrics.observe(sources);
  return metrics;
}
