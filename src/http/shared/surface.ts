import type { AnyElysia } from "elysia";
import type { Logger } from "../../telemetry/index.ts";
import { toApiError } from "./error-envelope.ts";
import type { ApiError } from "./errors.ts";
import { type Origins, preflightAnswer, withCors } from "./origins.ts";
import { contextOf } from "./request-context.ts";
import { createRouter } from "./router.ts";

/** A part of the server with paths, a way of access and a form of errors of its own, such as an API or the console. */
export interface Surface {
  /** Returns whether a path belongs to this surface. */
  owns(path: string): boolean;
  /** Its routes, `GET /path`. */
  readonly routes: readonly string[];
  /** Returns whether the settings enable it; otherwise it has no paths. */
  isOn(): boolean;
  /** Answers a request for one of its paths. Errors are answers, too. */
  handle(request: Request): Promise<Response>;
  /** Returns the answer to an error, in the form that its clients read. */
  toAnswer(error: ApiError): Response;
}

interface SurfaceOptions extends Pick<Surface, "owns" | "toAnswer"> {
  readonly isOn?: () => boolean;
  /** Origins of web pages that may read its answers; none by default. */
  readonly origins?: () => Origins;
  readonly routes: readonly AnyElysia[];
  /** Checks a request before it is routed, e.g. its key. It receives the exact path that the router matches. */
  readonly check?: (request: Request, path: string) => void;
  readonly log: Logger;
  /** Whether clients reach the server by https URLs. */
  readonly secure: boolean;
}

const noOrigins: Origins = new Set();

/** Creates a surface of the server from its routes. */
export function createSurface({
  isOn = () => true,
  origins = () => noOrigins,
  check = () => {},
  ...options
}: SurfaceOptions): Surface {
  const { owns, toAnswer, routes, log, secure } = options;
  const router = createRouter({
    secure,
    routes,
    check,
    onError(error, code, request) {
      const refusal = toApiError(error, code, log, request);
      contextOf(request).refusal = refusal.code;
      return toAnswer(refusal);
    },
  });
  return {
    owns,
    isOn,
    toAnswer,
    routes: router.routes,
    async handle(request) {
      const allowed = origins();
      return preflightAnswer(request, allowed) ?? withCors(request, allowed, await router.handle(request));
    },
  };
}

/** The surfaces of a server. The last one is always on and owns every path. */
export class Surfaces {
  readonly #all: readonly Surface[];

  constructor(...all: readonly [...Surface[], Surface]) {
    this.#all = all;
  }

  /** The routes of all surfaces. */
  get routes(): string[] {
    return this.#all.flatMap((surface) => surface.routes);
  }

  of(path: string): Surface {
    const found = this.#all.find((surface) => surface.isOn() && surface.owns(path));
    if (found === undefined) throw new Error("no surface owns the remaining paths");
    return found;
  }

  /** Answers a request for a path. */
  answer(request: Request, path: string): Promise<Response> {
    return this.of(path).handle(request);
  }
}
