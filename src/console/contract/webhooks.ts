import { type Static, Type } from "@sinclair/typebox";
import { values } from "../../database/index.ts";
import type { Routes } from "./route.ts";
import { countSchema, namedSchema, nullable, timeSchema } from "./shared.ts";

const literals = <T extends string>(names: readonly T[]) => Type.Union(names.map((name) => Type.Literal(name)));
const eventSchema = literals(values.recordingEvents);

const deliverySchema = Type.Object({
  id: Type.String(),
  event: literals(values.webhookEvents),
  /** Null for a test. The recording may be deleted. */
  recording: nullable(Type.String()),
  state: literals(values.deliveryStates),
  created_at: timeSchema,
  attempts: countSchema,
  /** HTTP status of the last answer, or why there was none, and its time in milliseconds; null before the first attempt. */
  status: nullable(countSchema),
  fault: nullable(literals(values.deliveryFaults)),
  milliseconds: nullable(countSchema),
});
export type Delivery = Static<typeof deliverySchema>;

const webhookSchema = Type.Object({
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(eventSchema),
  created_by: Type.String(),
  created_at: timeSchema,
  paused_at: nullable(timeSchema),
  pause_reason: nullable(literals(values.pauseReasons)),
  /** Number of events that are not delivered yet. */
  pending: countSchema,
  /** The latest events, newest first; at most 20. */
  deliveries: Type.Array(deliverySchema),
});
export type Webhook = Static<typeof webhookSchema>;

/** The webhooks of an account, oldest first. */
export const webhookListSchema = Type.Object({
  account: namedSchema,
  /** All events that a webhook may receive. */
  events: Type.Array(eventSchema),
  webhooks: Type.Array(webhookSchema),
});
export type WebhookList = Static<typeof webhookListSchema>;

export const addedWebhookSchema = Type.Object({ list: webhookListSchema, secret: Type.String() });

/** Addresses to which the events of accounts are sent. */
export const webhookRoutes = {
  webhooks: { at: "GET /accounts/:id/webhooks", access: "operator", answer: webhookListSchema },
  /** Only this response contains the secret. */
  addWebhook: {
    at: "POST /accounts/:id/webhooks",
    access: "operator",
    body: Type.Object(
      {
        url: Type.String({ minLength: 1, maxLength: 2048 }),
        events: Type.Array(eventSchema, { minItems: 1, uniqueItems: true }),
      },
      { additionalProperties: false },
    ),
    answer: addedWebhookSchema,
    status: 201,
  },
  /** Sends a test, whose result is the first of the deliveries. */
  testWebhook: { at: "POST /webhooks/:id/tests", access: "operator", answer: webhookListSchema },
  /** Replaces the secret. Messages have signatures of both secrets for a day. Only this response contains the new one. */
  rotateWebhook: { at: "POST /webhooks/:id/secrets", access: "operator", answer: addedWebhookSchema },
  pauseWebhook: {
    at: "PUT /webhooks/:id",
    access: "operator",
    body: Type.Object({ paused: Type.Boolean() }, { additionalProperties: false }),
    answer: webhookListSchema,
  },
  removeWebhook: { at: "DELETE /webhooks/:id", access: "operator", answer: webhookListSchema },
} as const satisfies Routes;
