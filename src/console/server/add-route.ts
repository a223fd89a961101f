import type { Static, TSchema } from "@sinclair/typebox";
import type { AnyElysia } from "elysia";

/**
 * Adds a route with a JSON response. No body is parsed in advance, since a recording of any size is streamed to disk;
 * see readBody for small bodies.
 * @param route method and path, e.g. `GET /recordings/:id`
 * @param response schema of the successful response, by its status
 * @param handle receives the request and the `:id` of the path
 */
export function addRoute<Schema extends TSchema>(
  routes: AnyElysia,
  route: `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`,
  response: Record<number, Schema>,
  handle: (request: Request, id: string) => Static<Schema> | Promise<Static<Schema>>,
): void {
  const [method = "GET", path = "/"] = route.split(" ");
  const [status = 200] = Object.keys(response).map(Number);
  routes.route(
    method,
    path,
    ({ request, params, set }) => {
      set.status = status;
      // A path without parameters has no `params`.
      return handle(request, params?.id ?? "");
    },
    { parse: "none", response },
  );
}
