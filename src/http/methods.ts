import type { AnyElysia } from "elysia";
import { ApiError } from "./errors.ts";

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
        throw new ApiError("method_not_allowed", `This path takes ${allow}.`, { headers: { Allow: allow } });
      },
      { parse: "none" },
    );
  }
}
