import { Elysia } from "elysia";
import { heldBody } from "../../../http/index.ts";
import { consoleAssets } from "../assets.ts";
import { ConsoleError } from "../errors.ts";

/** Cache policy of the assets. Their names contain a hash of the content, so the content of a name never changes. */
const immutable = "public, max-age=31536000, immutable";

const compressedAssets = new Map<string, Uint8Array<ArrayBuffer>>();

/** Returns the compressed content of an asset, which is compressed once because it never changes. */
function compressed(name: string, text: string): Uint8Array<ArrayBuffer> {
  const bytes = compressedAssets.get(name) ?? Bun.gzipSync(text, { level: 9 });
  compressedAssets.set(name, bytes);
  return bytes;
}

/** Creates the routes for the page and for its scripts and styles. They need no session. */
export function pageRoutes(path: string) {
  return (
    new Elysia({ name: "console-page", prefix: path })
      // The URLs in the page are relative, so that it works behind a proxy that adds a path prefix.
      .get("", () => new Response(null, { status: 308, headers: { Location: "console/" } }))
      .get("/", async ({ request }) => {
        const { page } = await consoleAssets();
        return new Response(heldBody(request, page), { headers: { "Content-Type": "text/html; charset=utf-8" } });
      })
      .get("/assets/:name", async ({ params, request }) => {
        const { files } = await consoleAssets();
        const file = files.get(params.name);
        if (file === undefined) throw new ConsoleError("not_found", "There is no such file; load the page again.");
        const headers = { "Content-Type": file.type, "Cache-Control": immutable, Vary: "Accept-Encoding" };
        if (!/\bgzip\b/.test(request.headers.get("accept-encoding") ?? "")) {
          return new Response(heldBody(request, file.text), { headers });
        }
        return new Response(heldBody(request, compressed(params.name, file.text)), {
          headers: { ...headers, "Content-Encoding": "gzip" },
        });
      })
  );
}
