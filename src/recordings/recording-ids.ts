/** An id for a recording that is created now, a UUID v7: ids sort by creation. @param now milliseconds since the epoch */
export function newRecordingId(now: number): string {
  return Bun.randomUUIDv7("hex", now);
}

const recordingId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a name is such an id. */
export function isRecordingId(name: string): boolean {
  return recordingId.test(name);
}

/** Within this a recording is entered that was given its id; an id is made moments before, unless the clock is set meanwhile. */
const entryMilliseconds = 86_400_000;

/** What the ids of recordings lie between that were created between two times; a bound that is not asked for is left out. */
export function idsCreatedBetween(
  after: number | undefined,
  before: number | undefined,
): { readonly above: string | undefined; readonly below: string | undefined } {
  return {
    above: after === undefined ? undefined : firstIdAt(after - entryMilliseconds),
    below: before === undefined ? undefined : firstIdAt(before + entryMilliseconds),
  };
}

/** Not after any id of that millisecond or a later one: the 48 bits of a UUID v7's time (RFC 9562, 5.7), and nothing more. */
function firstIdAt(milliseconds: number): string {
  const digits = Math.min(Math.max(0, milliseconds), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
