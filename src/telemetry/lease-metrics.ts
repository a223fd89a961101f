import type { Declarations } from "./declare.ts";

/** The lease of a server that is fenced from its standby. */
export interface LeaseSource {
  /** Returns null if no fence is set. */
  lease(): {
    readonly epoch: number;
    /** Time for which the lease is valid without a renewal; 0 if it is not held. */
    readonly remainingSeconds: number;
  } | null;
}

/** Registers the metrics of the lease. A server without a fence has no series of them. */
export function registerLeaseMetrics(declare: Declarations, source: LeaseSource): void {
  declare.gauge(
    "transcribe_serving_epoch",
    "Epoch of the server, which each promotion of a standby increases; only with standby.fence",
    () => source.lease()?.epoch ?? null,
  );
  declare.gauge(
    "transcribe_lease_remaining_seconds",
    "Time for which the server may serve without a renewal of its lease; 0 while it refuses requests; only with standby.fence",
    () => source.lease()?.remainingSeconds ?? null,
  );
}
