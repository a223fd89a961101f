import { Elysia } from "elysia";
import { consoleAssets } from "../assets.ts";
import { ConsoleError } from "../errors.ts";

/** The names of what the page loads change with the content, so what was stored under one never changes. */
const storedForGood = "public, max-age=31536000, immutable";

const packed = new Map<string, Uint8Array<ArrayBuffer>>();

/** What is under a name never changes, so it is compressed once. */
function compressed(name: string, text: string): Uint8Array<ArrayBuffer> {
  const bytes = packed.get(name) ?? Bun.gzipSync(text, { level: 9 });
  packed.set(name, bytes);
  return bytes;
}

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
      .get("/assets/:name", async ({ params, request }) => {
        const { files } = await consoleAssets();
        const file = files.get(params.name);
        if (file === undefined) throw new ConsoleError("not_found", "There is nothing here; load the page again.");
        const headers = { "Content-Type": file.type, "Cache-Control": storedForGood, Vary: "Accept-Encoding" };
        if (!/\bgzip\b/.test(request.headers.get("accept-encoding") ?? "")) return new Response(file.text, { headers });
        return new Response(compressed(params.name, file.text), {
          headers: { ...headers, "Content-Encoding": "gzip" },
        });
      })
  );
}
