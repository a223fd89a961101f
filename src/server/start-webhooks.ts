import { programVersion } from "../program/index.ts";
import { countPaused, countPending, WebhookDispatcher } from "../webhooks/index.ts";
import type { ServerData } from "./open-data.ts";
import type { ServerStandby } from "./start-standby.ts";

/** Starts to send events to webhooks. */
export function startWebhooks({ store, running, metrics, log, now }: ServerData, changes: ServerStandby) {
  const dispatcher = new WebhookDispatcher({
    ...{ store, changes, log, now, random: Math.random, userAgent: webhookUserAgent },
    isEnabled: () => running.values.webhooks.enabled,
    allow: () => running.parsed.webhooksAllow,
    onAttempt: (outcome) => metrics.webhooks.attempted(outcome),
  });
  dispatcher.start();
  return {
    /** Returns the numbers of pending events and of paused webhooks. */
    status: () => ({ pending: countPending(store), paused: countPaused(store) }),
    stop: () => dispatcher.stop(),
    [Symbol.asyncDispose]: () => dispatcher.stop(),
  };
}

/** Name of this program towards receivers. */
export const webhookUserAgent = `transcribe/${programVersion}`;
