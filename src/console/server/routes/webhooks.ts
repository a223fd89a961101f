import { getAccount } from "../../../accounts/index.ts";
import { timestamp } from "../../../api-contract/index.ts";
import { auditorOf } from "../../../library/index.ts";
import { nameOfActor } from "../../../users/index.ts";
import {
  addWebhook,
  countPending,
  listDeliveries,
  listWebhooks,
  parseWebhookUrl,
  pauseWebhook,
  recordingEvents,
  removeWebhook,
  requirePermitted,
  requireWebhook,
  resumeWebhook,
  rotateSecret,
  type Delivery as StoredDelivery,
  type Webhook as StoredWebhook,
  sendTest,
  WebhookError,
} from "../../../webhooks/index.ts";
import type { Delivery, Webhook, WebhookList, webhookRoutes } from "../../contract/index.ts";
import type { Handlers } from "../data-routes.ts";
import { ConsoleError } from "../errors.ts";
import { requireAccount } from "../lookups.ts";
import { operatorOf } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";
import { named, optionalTimestamp } from "../show-recording.ts";

/** Number of a webhook's events in a response. */
const MAX_DELIVERIES = 20;
/** Time for which the former secret signs, too; as by the command. */
const OVERLAP_MILLISECONDS = 86_400_000;

/** Creates the handlers for the webhooks of accounts. */
export function webhookHandlers(services: ConsoleServices): Handlers<typeof webhookRoutes> {
  const { store, now, postOptions } = services;
  const authorOf = (request: Request) => auditorOf(operatorOf(request, store), now());
  /** Returns the account of a webhook. */
  const accountOf = (id: string) => {
    try {
      return requireWebhook(store, id).accountId;
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      throw new ConsoleError("not_found", "There is no such webhook; it may have been removed.");
    }
  };
  return {
    webhooks: ({ id }) => listOf(services, id),

    addWebhook({ request, id, body: { url, events } }) {
      const account = requireAccount(services, operatorOf(request, store), id);
      const by = authorOf(request);
      try {
        const address = parseWebhookUrl(url);
        requirePermitted(address, postOptions().allow);
        const { secret } = addWebhook(store, account, { url: address.href, events }, by);
        return { list: listOf(services, id), secret };
      } catch (error) {
        if (!(error instanceof WebhookError)) throw error;
        throw new ConsoleError("validation_failed", `The webhook was not added: ${error.message}.`, { field: "url" });
      }
    },

    async testWebhook({ id }) {
      const accountId = accountOf(id);
      await sendTest(store, id, postOptions());
      return listOf(services, accountId);
    },

    rotateWebhook({ request, id }) {
      const accountId = accountOf(id);
      const { secret } = rotateSecret(store, id, OVERLAP_MILLISECONDS, authorOf(request));
      return { list: listOf(services, accountId), secret };
    },

    pauseWebhook({ request, id, body: { paused } }) {
      const accountId = accountOf(id);
      (paused ? pauseWebhook : resumeWebhook)(store, id, authorOf(request));
      return listOf(services, accountId);
    },

    async removeWebhook({ request, id }) {
      const accountId = accountOf(id);
      await removeWebhook(store, id, authorOf(request));
      return listOf(services, accountId);
    },
  };
}

/** @throws {ConsoleError} 404 for an unknown account */
function listOf(services: ConsoleServices, accountId: string): WebhookList {
  const account = getAccount(services.store, accountId);
  if (account === null) throw new ConsoleError("not_found", "There is no such account; it may have been deleted.");
  return {
    account: named(account),
    events: [...recordingEvents],
    webhooks: listWebhooks(services.store, accountId).map((webhook) => showWebhook(services, webhook)),
  };
}

function showWebhook({ store }: ConsoleServices, webhook: StoredWebhook): Webhook {
  const { id, url, events, createdBy, createdAt, pausedAt, pauseReason } = webhook;
  return {
    ...{ id, url, events: [...events], pause_reason: pauseReason, paused_at: optionalTimestamp(pausedAt) },
    ...{ created_by: nameOfActor(store, createdBy), created_at: timestamp(createdAt) },
    pending: countPending(store, id),
    deliveries: listDeliveries(store, id, MAX_DELIVERIES).map(showDelivery),
  };
}

function showDelivery(delivery: StoredDelivery): Delivery {
  const { id, type, recordingId, state, createdAt, attempts, lastStatus, lastFault, lastMilliseconds } = delivery;
  return {
    ...{ id, event: type, recording: recordingId, state, created_at: timestamp(createdAt), attempts },
    ...{ status: lastStatus, fault: lastFault, milliseconds: lastMilliseconds },
  };
}
