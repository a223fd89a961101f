import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Language } from "../engine/index.ts";

export const languagesSchema = Type.Object({
  data: Type.Array(Type.Object({ code: Type.String(), name: Type.String() })),
});

/** GET /languages: what the model in use accepts. */
export function languageRoutes(languages: readonly Language[]) {
  const data = languages.map(({ code, name }) => ({ code, name }));
  return new Elysia({ name: "languages" }).get("/languages", () => ({ data }), { response: { 200: languagesSchema } });
}
