import type { Counter } from "prom-client";
import type { Declarations } from "./declare.ts";

/** The webhooks. */
export interface WebhookSource {
  webhooks(): {
    /** Number of events that are not delivered yet. */
    readonly pending: number;
    /** Number of webhooks that are paused. */
    readonly paused: number;
  };
}

/** Counts attempts to send events to webhooks. */
export class WebhookMetrics {
  readonly #attempts: Counter<"outcome">;

  constructor(declare: Declarations) {
    this.#attempts = declare.counter(
      "transcribe_webhook_attempts_total",
      "Attempts to send an event to a webhook, by their outcome; a failed event is sent again",
      ["outcome"],
      [{ outcome: "delivered" }, { outcome: "failed" }],
    );
  }

  attempted(outcome: "delivered" | "failed"): void {
    this.#attempts.inc({ outcome });
  }
}

/** Registers gauges of the webhooks. */
export function registerWebhookGauges(declare: Declarations, source: WebhookSource): void {
  declare.gauge(
    "transcribe_webhook_events_pending",
    "Events that are not delivered to a webhook yet",
    () => source.webhooks().pending,
  );
  declare.gauge(
    "transcribe_webhooks_paused",
    "Webhooks that are paused, by a command or after three days of failures",
    () => source.webhooks().paused,
  );
}
