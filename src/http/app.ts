import { type AnyElysia, Elysia } from "elysia";
import type { Logger } from "../telemetry/index.ts";
import { type AccessOptions, accessCheck } from "./access.ts";
import { type ApiServices, apiRoutes } from "./api-routes.ts";
import { toApiError } from "./error-envelope.ts";
import { contextOf } from "./request-context.ts";
import { basePath } from "./resources.ts";
import { createRouter } from "./router.ts";
import { type ServiceOptions, serviceRoutes } from "./service-routes.ts";

export interface AppOptions extends ApiServices, AccessOptions, ServiceOptions {
  readonly log: Logger;
  /** Whether clients reach the server by https URLs. */
  readonly secure: boolean;
}

/**
 * Creates the HTTP application: the public API under its base path, and the routes for health, metrics and
 * documentation. It needs no socket: tests call `app.handle(request)`.
 */
export function createApp(options: AppOptions): AnyElysia {
  return createRouter({
    secure: options.secure,
    routes: [serviceRoutes(options), new Elysia({ prefix: basePath }).use(apiRoutes(options))],
    check: accessCheck(options),
    onError: (error, code, request) => {
      const refusal = toApiError(error, code, options.log, request);
      contextOf(request).refusal = refusal.code;
      return refusal.asResponse();
    },
  });
}
