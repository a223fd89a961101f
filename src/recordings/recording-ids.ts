/**
 * Creates an id for a recording that is created now, a UUID v7: ids sort by creation.
 * @param now milliseconds since the epoch
 */
export function newRecordingId(now: number): string {
  return Bun.randomUUIDv7("hex", now);
}

/**
 * Maximum time between the creation of an id and of its record. Normally it is moments; the tolerance covers a change
 * of the clock in between.
 */
const TOLERANCE_MILLISECONDS = 86_400_000;

/**
 * Returns bounds that include the ids of all recordings created between two times. A bound is omitted if its time is,
 * and is widened by the tolerance above.
 */
export function idsCreatedBetween(
  after: number | undefined,
  before: number | undefined,
): { readonly above: string | undefined; readonly below: string | undefined } {
  return {
    above: after === undefined ? undefined : firstIdAt(after - TOLERANCE_MILLISECONDS),
    below: before === undefined ? undefined : firstIdAt(before + TOLERANCE_MILLISECONDS),
  };
}

/**
 * Returns a prefix that sorts before every id of a millisecond or a later one. It contains only the 48 time bits of a
 * UUID v7 (RFC 9562, 5.7).
 */
function firstIdAt(milliseconds: number): string {
  const digits = Math.min(Math.max(0, milliseconds), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
