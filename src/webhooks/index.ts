export { countPending, type Delivery, listDeliveries, oldestPending, trimDeliveries } from "./deliveries.ts";
export { WebhookDispatcher } from "./dispatcher.ts";
export type { PostOptions } from "./post.ts";
export { sendTest } from "./send-test.ts";
export {
  addWebhook,
  countPaused,
  listWebhooks,
  parseWebhookUrl,
  pauseWebhook,
  recordingEvents,
  removeWebhook,
  requirePermitted,
  requireWebhook,
  resumeWebhook,
  rotateSecret,
  type Webhook,
  WebhookError,
} from "./webhooks.ts";
