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
  /** What the model in use accepts. */
  readonly languages: () => readonly Language[];
  /** Whether it is reached by https URLs. */
  readonly secure: boolean;
}

/**
 * The HTTP application: the public API under its base path, and health beside it. It needs no socket: `app.handle(request)`
 * answers, which is how tests call it.
 */
export function createApp(options: AppOptions) {
  // Elysia looks for the path behind the URL's eleventh character, or behind the seventh. Over HTTP the latter alone is right
  // for every host; over HTTPS the former is, and the server sees to shorter hosts.
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
