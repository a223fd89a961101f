import { type AnyElysia, Elysia } from "elysia";
import { basePath } from "../api/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type AccessOptions, accessCheck } from "./access.ts";
import { type ApiServices, apiRoutes } from "./api-routes.ts";
import {
  asrRoutes,
  isAsrPath,
  isOpenAiPath,
  openAiRoutes,
  type TranscriptionServices,
  toAsrAnswer,
  toOpenAiAnswer,
} from "./compat/index.ts";
import { toApiError } from "./error-envelope.ts";
import { notFound } from "./errors.ts";
import { contextOf } from "./request-context.ts";
import { createRouter } from "./router.ts";
import { type ServiceOptions, serviceRoutes } from "./service-routes.ts";

export interface AppOptions extends ApiServices, AccessOptions, ServiceOptions, Omit<TranscriptionServices, "intake"> {
  readonly log: Logger;
  /** Whether clients reach the server by https URLs. */
  readonly secure: boolean;
}

const isApiPath = (path: string) => path === basePath || path.startsWith(`${basePath}/`);

/**
 * Creates the HTTP application: the public API under its base path, the APIs for existing clients, and the routes for health,
 * metrics and documentation. It needs no socket: tests call `app.handle(request)`.
 */
export function createApp(options: AppOptions): AnyElysia {
  const { creator, compat } = options;
  const isOpenAi = (path: string) => compat().openai && isOpenAiPath(path);
  const isAsr = (path: string) => compat().asr && isAsrPath(path);
  const checkAccess = accessCheck(options, (path) => {
    if (isAsr(path)) return "basic";
    return isApiPath(path) || isOpenAi(path) ? "bearer" : null;
  });
  return createRouter({
    secure: options.secure,
    routes: [
      serviceRoutes(options),
      new Elysia({ prefix: basePath }).use(apiRoutes(options)),
      openAiRoutes({ ...options, intake: creator.intake }),
      asrRoutes({ ...options, intake: creator.intake }),
    ],
    check(request, path) {
      if ((isOpenAiPath(path) && !isOpenAi(path)) || (isAsrPath(path) && !isAsr(path))) throw notFound();
      checkAccess(request, path);
    },
    onError: (error, code, request) => {
      const refusal = toApiError(error, code, options.log, request);
      contextOf(request).refusal = refusal.code;
      const path = URL.parse(request.url)?.pathname ?? "";
      // Also without compat.asr: Bazarr would save the body of a 404 as subtitles.
      if (isAsrPath(path)) return toAsrAnswer(refusal);
      return isOpenAi(path) ? toOpenAiAnswer(refusal) : refusal.asResponse();
    },
  });
}
