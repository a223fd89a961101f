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
export async function fileAnswer(request: Request, path: string, mediaType: string): Promise<Response> {
  const file = Bun.file(path);
  const { size, mtimeMs } = await file.stat();
  const etag = `"${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"`;
  const headers = {
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",
    "Content-Type": mediaType,
    ETag: etag,
  };
  const asked = request.headers.get("range");
  const ifRange = request.headers.get("if-range");
  // If the file has changed, a range of it does not fit the part that the client already has.
  const range = asked === null || (ifRange !== null && ifRange !== etag) ? null : rangeOf(asked, size);
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
