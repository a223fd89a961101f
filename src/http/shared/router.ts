import { type AnyElysia, Elysia } from "elysia";
import { ApiError } from "./errors.ts";
import { heldBody } from "./request-context.ts";

interface RouterOptions {
  /** Whether clients reach the server by https URLs. */
  readonly secure: boolean;
  readonly routes: readonly AnyElysia[];
  /** Checks a request before it is routed. It receives the exact path that the router matches. */
  readonly check: (request: Request, path: string) => void;
  /** Returns the answer for every error thrown by the check, the router, a parser, a validation or a handler. */
  readonly onError: (error: unknown, code: string | number, request: Request) => Response;
}

interface Router {
  /** Its routes, `GET /path`. */
  readonly routes: readonly string[];
  handle(request: Request): Promise<Response>;
}

/** Creates the router of the API or of the console. */
export function createRouter({ secure, routes, check, onError }: RouterOptions): Router {
  // Elysia searches for the path after the URL's eleventh character, or after the seventh. Over HTTP only the latter is
  // right for every host. Over HTTPS the former is right, and server.ts handles shorter hosts.
  const router: AnyElysia = new Elysia({ strictPath: true, normalize: false, handler: { standardHostname: secure } })
    .onError({ as: "global" }, ({ error, code, request }) => onError(error, code, request))
    .onRequest((incoming) => {
      // Uses the same text as the router, although Elysia's type does not declare it. If a check parsed the path
      // differently, a path might pass it and still reach a route.
      if (!("path" in incoming) || typeof incoming.path !== "string") throw new Error("the router gives no path");
      check(incoming.request, incoming.path);
    })
    .mapResponse({ as: "global" }, ({ request, responseValue: value }) => {
      if (typeof value !== "object" || value === null || value instanceof Response) return;
      const headers = { "Content-Type": "application/json" };
      return new Response(heldBody(request, JSON.stringify(value)), { headers });
    });
  for (const route of routes) router.use(route);
  const added = router.routes.map(({ method, path }) => `${method} ${path}`);
  refuseOtherMethods(router);
  return { routes: added, handle: async (request) => await router.handle(request) };
}

/**
 * Answers all other methods of the router's paths with 405 and `Allow`. This includes OPTIONS, because there is no CORS.
 * The server handles HEAD as GET without a body.
 */
function refuseOtherMethods(router: AnyElysia): void {
  const allowed = new Map<string, Set<string>>();
  for (const { path, method } of router.routes) {
    const methods = allowed.get(path) ?? new Set<string>();
    allowed.set(path, methods.add(method));
    if (method === "GET") methods.add("HEAD");
  }
  for (const [path, methods] of allowed) {
    const allow = [...methods].sort().join(", ");
    const refuse = () => {
      throw new ApiError("method_not_allowed", `This path accepts ${allow}.`, { headers: { Allow: allow } });
    };
    router.all(path, refuse, { parse: "none" });
  }
}
