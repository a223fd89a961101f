import { type AnyElysia, Elysia } from "elysia";
import type { Logger } from "../telemetry/index.ts";
import { type AccessOptions, access, basePath } from "./access.ts";
import { type ApiServices, apiRoutes } from "./api-routes.ts";
import { errorEnvelope } from "./error-envelope.ts";
import { ApiError } from "./errors.ts";
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
export function createApp(options: AppOptions) {
  // Elysia searches for the path after the URL's eleventh character, or after the seventh. Over HTTP only the latter is
  // right for every host. Over HTTPS the former is right, and server.ts handles shorter hosts.
  const app = new Elysia({ strictPath: true, normalize: false, handler: { standardHostname: options.secure } })
    .use(errorEnvelope(options.log))
    .use(access(options))
    .use(serviceRoutes(options))
    .group(basePath, (api) => api.use(apiRoutes(options)));
  refuseOtherMethods(app);
  return app;
}

/**
 * Answers all other methods of the app's paths with 405 and `Allow`. This includes OPTIONS, because there is no CORS.
 * The server handles HEAD as GET without a body.
 */
export function refuseOtherMethods(app: AnyElysia): void {
  const allowed = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    const methods = allowed.get(path) ?? new Set<string>();
    allowed.set(path, methods.add(method));
    if (method === "GET") methods.add("HEAD");
  }
  for (const [path, methods] of allowed) {
    const allow = [...methods].sort().join(", ");
    app.all(
      path,
      () => {
        throw new ApiError("method_not_allowed", `This path accepts ${allow}.`, { headers: { Allow: allow } });
      },
      { parse: "none" },
    );
  }
}
