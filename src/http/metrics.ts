import { Elysia } from "elysia";
import { type Metrics, metricsMediaType } from "../telemetry/index.ts";
import { isLoopback } from "./client-address.ts";
import { ApiError } from "./errors.ts";
import { contextOf } from "./request-context.ts";

export interface MetricsOptions {
  readonly metrics: Metrics;
  /** Returns whether other machines may read the metrics. */
  readonly metricsRemote: () => boolean;
}

/**
 * GET /metrics: for Prometheus, without a key. Only this machine may read it unless the operator allows others. A
 * forwarded request never counts as local, even if the proxy connects over loopback.
 */
export function metricsRoutes({ metrics, metricsRemote }: MetricsOptions) {
  return new Elysia({ name: "metrics" }).get("/metrics", async ({ request }) => {
    const { address, forwarded } = contextOf(request).client;
    if (!metricsRemote() && (forwarded || !isLoopback(address))) {
      throw new ApiError("forbidden", "The metrics are for this machine alone; the setting metrics.remote opens them.");
    }
    return new Response(await metrics.read(), { headers: { "Content-Type": metricsMediaType } });
  });
}
