import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ApiError } from "./errors.ts";

/** Returns the reason why the server can't accept work, as text for people; null if it can. */
export type Readiness = () => string | null | Promise<string | null>;

export const aliveSchema = Type.Object({ status: Type.Literal("alive") });
export const readySchema = Type.Object({ status: Type.Literal("ready") });

/** GET /healthz: alive. GET /readyz: ready to accept work. Neither needs a key. */
export function healthRoutes(readiness: Readiness) {
  return new Elysia({ name: "health" })
    .get("/healthz", () => ({ status: "alive" as const }), { response: { 200: aliveSchema } })
    .get(
      "/readyz",
      async () => {
        const trouble = await readiness();
        if (trouble !== null) {
          throw new ApiError("service_unavailable", `Not ready: ${trouble}`, { headers: { "Retry-After": "5" } });
        }
        return { status: "ready" as const };
      },
      { response: { 200: readySchema } },
    );
}
