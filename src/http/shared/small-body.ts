/** Limits for a body that is read into memory. */
interface BodyLimits {
  readonly maxBytes: number;
  /** Maximum time to receive a whole body; clients send it at once. */
  readonly maxMilliseconds: number;
}

/**
 * Reads a small body as text. It stops reading a body that is too long or too slow.
 * @param refuse returns the error for such a body
 */
export async function readSmallBody(
  { body }: Request,
  { maxBytes, maxMilliseconds }: BodyLimits,
  refuse: (flaw: "too_slow" | "too_long") => Error,
): Promise<string> {
  const reader = body?.getReader();
  if (reader === undefined) return "";
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => deadline.reject(refuse("too_slow")), maxMilliseconds);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), deadline.promise]);
      if (done) return Buffer.concat(pieces).toString();
      bytes += value.byteLength;
      if (bytes > maxBytes) throw refuse("too_long");
      pieces.push(value);
    }
  } finally {
    clearTimeout(timer);
    // The rest of the body is not needed.
    reader.cancel().catch(() => {});
  }
}
