/** The permitted results of a file. `seconds` is the range of the decoded length. */
export interface Expected {
  readonly refused?: true;
  readonly tooLong?: true;
  /** Accepted by the probe, but not decodable within the limits. */
  readonly undecodable?: true;
  readonly seconds?: readonly [from: number, to: number];
}

export interface SpecialFile {
  /** Built on demand, because some take a second. */
  readonly bytes: () => Uint8Array;
  readonly expected: Expected;
}

/** Returns a function that computes its result once, at the first call. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
