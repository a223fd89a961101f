import { Elysia } from "elysia";
import type { Settings } from "../config/index.ts";
import { openApiDocument, page, pagePolicy, pageScript, swaggerUiFiles } from "./openapi/index.ts";

// The page refers to its files by version, so the content under a name never changes.
const storedForGood = "public, max-age=31536000, immutable";

/** GET /openapi.json, and GET /docs, which displays it with files that are part of the program. Neither needs a key. */
export function documentationRoutes(limits: () => Settings["limits"]) {
  let described = limits();
  let document = JSON.stringify(openApiDocument(described));
  const current = () => {
    if (described !== limits()) {
      described = limits();
      document = JSON.stringify(openApiDocument(described));
    }
    return document;
  };
  const routes = new Elysia({ name: "documentation" })
    .get("/openapi.json", () => answer(current(), "application/json;charset=utf-8"))
    .get("/docs", () =>
      answer(page, "text/html; charset=utf-8", {
        "Content-Security-Policy": pagePolicy,
        "Referrer-Policy": "no-referrer",
      }),
    )
    .get("/docs/page.js", () =>
      answer(pageScript, "text/javascript; charset=utf-8", { "Cache-Control": storedForGood }),
    );
  for (const { name, path, mediaType } of swaggerUiFiles) {
    routes.get(`/docs/${name}`, () => answer(Bun.file(path), mediaType, { "Cache-Control": storedForGood }));
  }
  return routes;
}

function answer(body: string | Blob, mediaType: string, headers: Record<string, string> = {}): Response {
  return new Response(body, { headers: { ...headers, "Content-Type": mediaType } });
}
