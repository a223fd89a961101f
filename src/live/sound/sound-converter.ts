import { SAMPLE_RATE } from "../../timeline/index.ts";
import type { LiveFormat } from "../contract.ts";
import { SampleDecoder } from "./encodings.ts";
import { Resampler } from "./resampler.ts";

/** Bytes that are converted at once: bounds the memory of a large message. */
const PIECE_BYTES = 64 * 1024;

/** Converter of a client's sound to 16 kHz, mono, 16 bits. It holds back the last milliseconds. */
export class SoundConverter {
  readonly #decoder: SampleDecoder;
  /** Null for sound that has the rate already. */
  readonly #resampler: Resampler | null;

  constructor({ encoding, sampleRate }: LiveFormat) {
    this.#decoder = new SampleDecoder(encoding);
    this.#resampler = sampleRate === SAMPLE_RATE ? null : new Resampler(sampleRate);
  }

  /** Converts sound piece by piece. @param onSamples receives each converted piece, which is never empty */
  convert(bytes: Uint8Array, onSamples: (samples: Int16Array) => void): void {
    for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
      const samples = this.#decoder.decode(bytes.subarray(from, from + PIECE_BYTES));
      const converted = toPcm(this.#resampler?.convert(samples) ?? samples);
      if (converted.length > 0) onSamples(converted);
    }
  }

  /** Returns what was held back. The converter cannot be used afterwards. */
  end(): Int16Array {
    return toPcm(this.#resampler?.end() ?? new Float32Array(0));
  }
}

/** Returns the duration in seconds of a number of bytes in a format. */
export function durationOf({ encoding, sampleRate }: LiveFormat, bytes: number): number {
  return bytes / new SampleDecoder(encoding).bytesPerSample / sampleRate;
}

function toPcm(samples: Float32Array): Int16Array {
  const pcm = new Int16Array(samples.length);
  for (let at = 0; at < pcm.length; at++) {
    pcm[at] = Math.max(-32_768, Math.min(32_767, Math.round((samples[at] ?? 0) * 32_768)));
  }
  return pcm;
}
