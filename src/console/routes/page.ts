import { Elysia } from "elysia";
import { consoleAssets } from "../assets.ts";
import { ConsoleError } from "../errors.ts";

/** The names of what the page loads change with the content, so what was stored under one never changes. */
const storedForGood = "public, max-age=31536000, immutable";

/** The page itself, and the scripts and styles that it loads; all from inside the program, for everybody. */
export function pageRoutes(path: string) {
  return (
    new Elysia({ name: "console-page", prefix: path })
      // The page's addresses are relative, so that it works behind a proxy's prefix.
      .get("", () => new Response(null, { status: 308, headers: { Location: "console/" } }))
      .get("/", async () => {
        const { page } = await consoleAssets();
        return new Response(page, { headers: { "Content-Type": "text/html; charset=utf-8" } });
      })
      .get("/assets/:name", async ({ params }) => {
        const { files } = await consoleAssets();
        const file = files.get(params.name);
        if (file === undefined) throw new ConsoleError("not_found", "There is nothing here; load the page again.");
        return new Response(file.text, { headers: { "Content-Type": file.type, "Cache-Control": storedForGood } });
      })
  );
}
