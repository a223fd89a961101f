import type { End } from "./examine.ts";

/** The permitted results of a file. `seconds` is the range of the decoded length. */
export interface Expected {
  readonly refused?: true;
  readonly tooLong?: true;
  /** Accepted by the probe, but not decodable within the limits. */
  readonly undecodable?: true;
  readonly seconds?: readonly [from: number, to: number];
}

/** A file, which is built on demand, because some take a second. */
export type SpecialFile = readonly [bytes: () => Uint8Array, expected: Expected];

export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

export function isPermitted(end: End, { refused, seconds, tooLong, undecodable }: Expected): boolean {
  switch (end.kind) {
    case "refused":
      return refused === true;
    case "decoded":
      return seconds !== undefined && end.seconds >= seconds[0] && end.seconds <= seconds[1];
    case "failed":
      if (end.fault === "recording_too_long") return tooLong === true;
      return end.fault === "not_a_recording" && undecodable === true;
  }
}
