import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ApiError } from "./errors.ts";

/** What keeps the server from taking work, in plain words; null when nothing does. */
export type Readiness = () => string | null | Promise<string | null>;

export const aliveSchema = Type.Object({ status: Type.Literal("alive") });
export const readySchema = Type.Object({ status: Type.Literal("ready") });

/** GET /healthz: alive. GET /readyz: ready to take work. Both without a key. */
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
