import type { AnyElysia } from "elysia";
import { ApiError } from "./errors.ts";

/**
 * Answers every other method of the app's paths with 405 and `Allow`, OPTIONS too: there is no CORS here. HEAD is GET
 * without a body; the server sees to that.
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
        throw new ApiError("method_not_allowed", `This path takes ${allow}.`, { headers: { Allow: allow } });
      },
      { parse: "none" },
    );
  }
}
