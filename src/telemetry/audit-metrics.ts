import type { Counter } from "prom-client";
import type { Declarations } from "./declare.ts";

/** The audit log that is forwarded by syslog. */
export interface AuditSource {
  /** Returns the entries that the receiver has not confirmed; null when the audit log is not forwarded. */
  auditForwarding(): {
    readonly count: number;
    /** Age of the oldest one; 0 if there is none. */
    readonly oldestSeconds: number;
  } | null;
}

/** Counts deliveries of the audit log. */
export class AuditMetrics {
  readonly #attempts: Counter<"outcome">;

  constructor(declare: Declarations) {
    this.#attempts = declare.counter(
      "transcribe_audit_deliveries_total",
      "Deliveries of audit entries to the syslog receiver, by their outcome; the entries of a failed one are sent again",
      ["outcome"],
      [{ outcome: "confirmed" }, { outcome: "failed" }],
    );
  }

  attempted(outcome: "confirmed" | "failed"): void {
    this.#attempts.inc({ outcome });
  }
}

/** Registers gauges of the audit entries that wait for their delivery; without a receiver they have no series. */
export function registerAuditGauges(declare: Declarations, source: AuditSource): void {
  declare.gauge(
    "transcribe_audit_entries_pending",
    "Audit entries that the syslog receiver has not confirmed; only with audit.syslog",
    () => source.auditForwarding()?.count ?? null,
  );
  declare.gauge(
    "transcribe_audit_oldest_pending_seconds",
    "Age of the oldest of these entries; 0 if there is none",
    () => source.auditForwarding()?.oldestSeconds ?? null,
  );
}
