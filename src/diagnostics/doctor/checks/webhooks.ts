import type { Store } from "../../../database/index.ts";
import { count } from "../../../text/index.ts";
import { listWebhooks, oldestPending, type Webhook } from "../../../webhooks/index.ts";
import { type Check, type Finding, ok, skipped, warning } from "../check.ts";

/** Age of an event from which its webhook is reported. A receiver may be restarted or replaced in that time. */
const LATE_MILLISECONDS = 3_600_000;

const delivery: Check = {
  id: "webhooks.delivery",
  title: "Webhooks",
  explanation:
    "Whether the receivers of the accounts' webhooks accept their events. An event is sent for three days, then its webhook is paused; its events are stored meanwhile.",
  run({ database, settings, machine }): Finding {
    if (database === null || database instanceof Error) return skipped("there is no readable database");
    const webhooks = readWebhooks(database);
    if (webhooks === null) return skipped("the database is of an earlier version");
    if (webhooks.length === 0) return skipped("there is no webhook");
    const summary = count(webhooks.length, "webhook");
    if (!settings.webhooks.enabled) {
      return warning(`${summary} without messages: webhooks.enabled is false`, {
        advice: "Events are stored meanwhile. Set webhooks.enabled to true to send them.",
      });
    }
    const faults = webhooks.flatMap((webhook) => faultOf(database, webhook, machine.now()));
    if (faults.length === 0) return ok(summary);
    const late = count(faults.length, "webhook gets no events", "webhooks get no events");
    return warning(`${late}; ${summary}`, {
      detail: faults,
      advice:
        "See the answers of the receiver: transcribe webhooks show ID. Mend it, then send what is stored: transcribe webhooks resume ID.",
    });
  },
};

/** Returns null if the database has no webhooks yet. */
function readWebhooks(database: Store): Webhook[] | null {
  try {
    return listWebhooks(database, null);
  } catch {
    return null;
  }
}

function faultOf(database: Store, { id, url, pausedAt, pauseReason }: Webhook, now: number): string[] {
  const of = `${id} (${new URL(url).host})`;
  if (pauseReason === "gone") return [`${of}: paused, because the receiver answered 410`];
  if (pauseReason === "failing") return [`${of}: paused, because events failed for three days`];
  const oldest = pausedAt === null ? oldestPending(database, id) : null;
  if (oldest === null || now - oldest.createdAt < LATE_MILLISECONDS) return [];
  const { lastStatus, lastFault, attempts } = oldest;
  const answer = lastStatus === null ? lastFault : `status ${lastStatus}`;
  const since = `an event waits since ${new Date(oldest.createdAt).toISOString()}`;
  return [`${of}: ${since}, after ${count(attempts, "attempt")}${answer === null ? "" : ` (${answer})`}`];
}

export const webhookChecks = [delivery];
