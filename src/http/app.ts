import { Elysia } from "elysia";
import { basePath } from "../api-contract/index.ts";
import type { LiveSessions } from "../live/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { openLiveSession } from "./api/operations.ts";
import { type ApiServices, apiRoutes } from "./api/routes.ts";
import {
  asrRoutes,
  isAsrPath,
  isAzurePath,
  isOpenAiPath,
  isRealtimePath,
  openAiRoutes,
  realtimeRoutes,
  type TranscriptionServices,
  toAsrAnswer,
  toOpenAiAnswer,
} from "./compat/index.ts";
import { type ServiceOptions, serviceRoutes } from "./service/routes.ts";
import { type AccessOptions, accessCheck } from "./shared/access.ts";
import { ClientSecrets } from "./shared/client-secrets.ts";
import { notFound } from "./shared/errors.ts";
import type { Origins } from "./shared/origins.ts";
import { createSurface, type Surface, Surfaces } from "./shared/surface.ts";

export interface AppOptions
  extends Omit<ApiServices, "live">,
    Omit<AccessOptions, "clientSecrets">,
    ServiceOptions,
    Omit<TranscriptionServices, "requests"> {
  readonly live: LiveSessions;
  readonly log: Logger;
  /** Whether clients reach the server by https URLs. */
  readonly secure: boolean;
  /** Origins of web pages that may call OpenAI's API. */
  readonly origins: () => Origins;
  /** Further surfaces of the server, such as the console. */
  readonly surfaces?: readonly Surface[];
}

/**
 * Creates the server's surfaces: the public API under its base path, the APIs for existing clients, and the routes for
 * health, metrics and documentation. They need no socket.
 */
export function createSurfaces(options: AppOptions): Surfaces {
  const { creator, compat, log, now, secure, origins, surfaces = [] } = options;
  const { requests } = creator;
  const clientSecrets = new ClientSecrets(now);
  const live = { sessions: options.live, clientSecrets, log, now };
  const checkAccess = accessCheck({ ...options, clientSecrets });
  const create = (own: Omit<Parameters<typeof createSurface>[0], "log" | "secure">) =>
    createSurface({ ...own, log, secure });
  const api = create({
    owns: (path) => path === basePath || path.startsWith(`${basePath}/`),
    routes: [new Elysia({ prefix: basePath }).use(apiRoutes({ ...options, live }))],
    check: (request, path) => checkAccess(request, "bearer", { isLive: path === basePath + openLiveSession.path }),
    toAnswer: (error) => error.asResponse(),
  });
  const openAi = create({
    owns: isOpenAiPath,
    isOn: () => compat().openai,
    origins,
    routes: [openAiRoutes({ ...options, requests }), realtimeRoutes({ ...options, live, requests })],
    check(request, path) {
      const keyHeader = isAzurePath(path) ? "api-key" : null;
      checkAccess(request, "bearer", { isLive: isRealtimePath(path), keyHeader });
    },
    toAnswer: toOpenAiAnswer,
  });
  const asr = create({
    owns: isAsrPath,
    routes: [asrRoutes({ ...options, requests })],
    check(request) {
      // In the form of this surface, also if it is off: Bazarr would save the body of a 404 as subtitles.
      if (!compat().asr) throw notFound();
      checkAccess(request, "basic");
    },
    toAnswer: toAsrAnswer,
  });
  const service = create({
    owns: () => true,
    routes: [serviceRoutes(options)],
    toAnswer: (error) => error.asResponse(),
  });
  return new Surfaces(api, openAi, asr, ...surfaces, service);
}
