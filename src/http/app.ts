import { type AnyElysia, Elysia } from "elysia";
import type { Logger } from "../telemetry/index.ts";
import { type AccessOptions, accessCheck } from "./access.ts";
import { type ApiServices, apiRoutes } from "./api-routes.ts";
import { isOpenAiPath, openAiRoutes, type TranscriptionServices, toOpenAiAnswer } from "./compat/index.ts";
import { toApiError } from "./error-envelope.ts";
import { notFound } from "./errors.ts";
import { contextOf } from "./request-context.ts";
import { basePath } from "./resources.ts";
import { createRouter } from "./router.ts";
import { type ServiceOptions, serviceRoutes } from "./service-routes.ts";

export interface AppOptions extends ApiServices, AccessOptions, ServiceOptions, Omit<TranscriptionServices, "intake"> {
  readonly log: Logger;
  /** Whether clients reach the server by https URLs. */
  readonly secure: boolean;
}

const isApiPath = (path: string) => path === basePath || path.startsWith(`${basePath}/`);

/**
 * Creates the HTTP application: the public API under its base path, OpenAI's audio API, and the routes for health,
 * metrics and documentation. It needs no socket: tests call `app.handle(request)`.
 */
export function createApp(options: AppOptions): AnyElysia {
  const { creator, compat } = options;
  const isOpenAi = (path: string) => compat().openai && isOpenAiPath(path);
  const checkAccess = accessCheck(options, (path) => isApiPath(path) || isOpenAi(path));
  return createRouter({
    secure: options.secure,
    routes: [
      serviceRoutes(options),
      new Elysia({ prefix: basePath }).use(apiRoutes(options)),
      openAiRoutes({ ...options, intake: creator.intake }),
    ],
    check(request, path) {
      if (isOpenAiPath(path) && !isOpenAi(path)) throw notFound();
      checkAccess(request, path);
    },
    onError: (error, code, request) => {
      const refusal = toApiError(error, code, options.log, request);
      contextOf(request).refusal = refusal.code;
      return isOpenAi(URL.parse(request.url)?.pathname ?? "") ? toOpenAiAnswer(refusal) : refusal.asResponse();
    },
  });
}
