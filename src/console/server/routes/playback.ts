import type { Viewer } from "../../../library/index.ts";
import { readWaveform } from "../../../media/index.ts";
import type { playbackRoutes } from "../../contract/index.ts";
import type { Handlers } from "../data-routes.ts";
import { ConsoleError } from "../errors.ts";
import { playbackMessage, showPlayback } from "../recording-facts.ts";
import type { ConsoleServices } from "../services.ts";

/** Creates the handlers for the playback copy of a recording and its waveform. */
export function playbackHandlers({ library, playback }: ConsoleServices): Handlers<typeof playbackRoutes> {
  const filesOf = async (viewer: () => Viewer, id: string) => {
    const copy = await playback.stateOf(library.require(viewer(), id).id);
    if (copy.state === "ready") return copy.files;
    const message = playbackMessage(copy, viewer());
    throw new ConsoleError("not_ready", message ?? "The playback copy of the recording is being made.");
  };
  return {
    playbackCopy: async ({ id, viewer }) =>
      showPlayback(await playback.request(library.require(viewer(), id).id), viewer()),

    async audio({ request, id, viewer }) {
      const { audio } = await filesOf(viewer, id);
      return await fileAnswer(request, audio, "audio/webm");
    },

    async waveform({ id, query: { most, from, to }, viewer }) {
      const { peaksPerSecond, startSeconds, peaks } = await readWaveform((await filesOf(viewer, id)).waveform, {
        most,
        ...(from === undefined ? {} : { fromSeconds: Number(from) }),
        ...(to === undefined ? {} : { toSeconds: Number(to) }),
      });
      return {
        peaks_per_second: peaksPerSecond,
        start_seconds: startSeconds,
        peaks: Buffer.from(peaks).toString("base64"),
      };
    },
  };
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
