import { Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { pageSize, readQuery } from "../../../http/index.ts";
import { readWaveform } from "../../../media/index.ts";
import { playbackCopySchema, waveformSchema } from "../../contract/index.ts";
import { addRoute } from "../add-route.ts";
import { ConsoleError } from "../errors.ts";
import { playbackMessage, showPlayback } from "../recording-facts.ts";
import { viewerOf } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";

const seconds = Type.Optional(
  Type.String({ pattern: "^\\d{1,7}(\\.\\d{1,6})?$", description: "a time in seconds from the beginning" }),
);
const waveformQuery = Type.Object({ most: pageSize({ maximum: 20_000, default: 4000 }), from: seconds, to: seconds });

/** Creates the routes for the playback copy of a recording and its waveform. */
export function playbackRoutes({ store, library, playback }: ConsoleServices): AnyElysia {
  const requireId = (request: Request, id: string) => library.require(viewerOf(request, store), id).id;
  const filesOf = async (request: Request, id: string) => {
    const copy = await playback.stateOf(requireId(request, id));
    if (copy.state === "ready") return copy.files;
    const message = playbackMessage(copy, viewerOf(request, store));
    throw new ConsoleError("not_ready", message ?? "The playback copy of the recording is being made.");
  };
  const routes = new Elysia({ name: "console-playback", prefix: "/recordings/:id" });

  addRoute(routes, "GET /playback", { 200: playbackCopySchema }, async (request, id) =>
    showPlayback(await playback.request(requireId(request, id)), viewerOf(request, store)),
  );

  addRoute(routes, "GET /waveform", { 200: waveformSchema }, async (request, id) => {
    const { most, from, to } = readQuery(request, waveformQuery);
    const { peaksPerSecond, startSeconds, peaks } = await readWaveform((await filesOf(request, id)).waveform, {
      most,
      ...(from === undefined ? {} : { fromSeconds: Number(from) }),
      ...(to === undefined ? {} : { toSeconds: Number(to) }),
    });
    return {
      peaks_per_second: peaksPerSecond,
      start_seconds: startSeconds,
      peaks: Buffer.from(peaks).toString("base64"),
    };
  });

  return routes.get("/audio", async ({ request, params }) => {
    const { audio } = await filesOf(request, params.id);
    return await fileAnswer(request, audio, "audio/webm");
  });
}

/** A range of bytes in a file, both ends included. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** `bytes=0-99`, `bytes=100-` and `bytes=-100` (RFC 9110, 14.1.2). A header with several ranges does not match. */
const rangeShape = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/;

/**
 * Returns a response with a file that never changes, or with the requested range of it (RFC 9110, 14.2). Media players
 * request only the range that they play.
 */
async function fileAnswer(request: Request, path: string, mediaType: string): Promise<Response> {
  const file = Bun.file(path);
  const { size, mtimeMs } = await file.stat();
  const etag = `"${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"`;
  const headers = {
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",
    "Content-Type": mediaType,
    ETag: etag,
  };
  const requestedRange = request.headers.get("range");
  const ifRange = request.headers.get("if-range");
  // If the file has changed, a range of it does not fit the part that the client already has.
  const range =
    requestedRange === null || (ifRange !== null && ifRange !== etag) ? null : rangeOf(requestedRange, size);
  if (range === "outside") {
    return new Response(null, { status: 416, headers: { ...headers, "Content-Range": `bytes */${size}` } });
  }
  if (range === null) return new Response(file, { headers });
  const { first, last } = range;
  return new Response(file.slice(first, last + 1, mediaType), {
    status: 206,
    headers: { ...headers, "Content-Range": `bytes ${first}-${last}/${size}` },
  });
}

/**
 * Parses a `Range` header. Returns null if it is not a single valid range; the response then contains the whole file.
 */
function rangeOf(header: string, size: number): ByteRange | "outside" | null {
  const [all, from, to, tail] = rangeShape.exec(header.trim()) ?? [];
  if (all === undefined) return null;
  const first = from === undefined ? Math.max(0, size - Number(tail)) : Number(from);
  const last = Math.min(to === undefined ? size - 1 : Number(to), size - 1);
  if (to !== undefined && Number(to) < first) return null;
  return first <= last ? { first, last } : "outside";
}
