import type { LiveFormat } from "../../../live/index.ts";

/** Bytes of a sample, by encoding. */
export const sampleBytes = { pcm16: 2, float32: 4, mulaw: 1, alaw: 1 } as const satisfies Record<
  LiveFormat["encoding"],
  number
>;

/** Joins sound to whole samples: a client may divide it anywhere. */
export class SampleAligner {
  readonly #bytes: number;
  #rest = new Uint8Array(0);

  constructor(encoding: LiveFormat["encoding"]) {
    this.#bytes = sampleBytes[encoding];
  }

  /** Returns the whole samples so far that were not returned before. The result may share memory with `sound`. */
  align(sound: Uint8Array): Uint8Array {
    const joined = this.#rest.length === 0 ? sound : Buffer.concat([this.#rest, sound]);
    const whole = joined.length - (joined.length % this.#bytes);
    this.#rest = new Uint8Array(joined.subarray(whole));
    return joined.subarray(0, whole);
  }
}
