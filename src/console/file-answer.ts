/** Bytes of a file, both ends included. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** `bytes=0-99`, `bytes=100-` and `bytes=-100` (RFC 9110, 14.1.2); several at once are not taken apart. */
const rangeShape = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/;

/**
 * An answer with a file that never changes, or the part of it that is asked for (RFC 9110, 14.2). A player asks for the part
 * that it plays.
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
  // A part of another file than the one whose beginning is there already would make no whole.
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

/** Null for what is no single range, which is then answered with the whole. */
function rangeOf(header: string, size: number): ByteRange | "outside" | null {
  const [all, from, to, tail] = rangeShape.exec(header.trim()) ?? [];
  if (all === undefined) return null;
  const first = from === undefined ? Math.max(0, size - Number(tail)) : Number(from);
  const last = Math.min(to === undefined ? size - 1 : Number(to), size - 1);
  if (to !== undefined && Number(to) < first) return null;
  return first <= last ? { first, last } : "outside";
}
