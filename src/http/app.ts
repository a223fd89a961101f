import { Elysia } from "elysia";
import type { Language } from "../speech/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type AccessOptions, access, basePath } from "./access.ts";
import { documentationRoutes } from "./docs.ts";
import { errorEnvelope } from "./error-envelope.ts";
import { exportRoutes } from "./exports.ts";
import { healthRoutes, type Readiness } from "./health.ts";
import { languageRoutes } from "./languages.ts";
import { refuseOtherMethods } from "./methods.ts";
import { type MetricsOptions, metricsRoutes } from "./metrics.ts";
import { type TranscriptionServices, transcriptionRoutes } from "./transcriptions.ts";

export interface AppOptions extends TranscriptionServices, AccessOptions, MetricsOptions {
  readonly log: Logger;
  readonly readiness: Readiness;
  /** Returns the languages of the model in use. */
  readonly languages: () => readonly Language[];
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
    .use(healthRoutes(options.readiness))
    .use(metricsRoutes(options))
    .use(documentationRoutes(options.limits))
    .group(basePath, (api) =>
      api.use(transcriptionRoutes(options)).use(exportRoutes(options)).use(languageRoutes(options.languages)),
    );
  refuseOtherMethods(app);
  return app;
}

export type App = ReturnType<typeof createApp>;
