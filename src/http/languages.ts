import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Language } from "../speech/index.ts";

export const languageSchema = Type.Object({
  code: Type.String({ description: "ISO 639-1, or 639-3 where 639-1 has none." }),
  name: Type.String({ description: "In English." }),
});

export const languagesSchema = Type.Object({ data: Type.Array(languageSchema) }, { description: "Sorted by code." });

/** GET /languages: the languages of the model in use. */
export function languageRoutes(languages: () => readonly Language[]) {
  const data = () => languages().map(({ code, name }) => ({ code, name }));
  return new Elysia({ name: "languages" }).get("/languages", () => ({ data: data() }), {
    response: { 200: languagesSchema },
  });
}
