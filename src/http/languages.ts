import { Elysia, t } from "elysia";
import type { Language } from "../engine/index.ts";

/** GET /languages: what the model in use accepts. */
export function languageRoutes(languages: readonly Language[]) {
  const data = languages.map(({ code, name }) => ({ code, name }));
  return new Elysia({ name: "languages" }).get("/languages", () => ({ data }), {
    response: { 200: t.Object({ data: t.Array(t.Object({ code: t.String(), name: t.String() })) }) },
  });
}
