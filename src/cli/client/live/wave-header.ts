import type { LiveEncoding } from "../../../../sdk/typescript/src/index.ts";
import { CommandError } from "../../command-error.ts";

/** The sound in a WAV stream. */
export interface WaveSound {
  readonly encoding: LiveEncoding;
  readonly sampleRate: number;
  /** Position of the first sample. */
  readonly start: number;
  /** Bytes of sound; infinite for a stream whose length its writer did not know. */
  readonly bytes: number;
}

const RIFF_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
const FORMAT_BYTES = 16;
const EXTENSIBLE_BYTES = 40;
const EXTENSIBLE = 0xfffe;
/** Sizes of a stream whose writer can't return to its beginning. */
const UNKNOWN_SIZES = [0, 0xffff_ffff, 0x7fff_f000];
/** Formats of WAV: their tags, bits per sample and encodings. */
const FORMATS: readonly { readonly tag: number; readonly bits: number; readonly encoding: LiveEncoding }[] = [
  { tag: 1, bits: 16, encoding: "pcm16" },
  { tag: 3, bits: 32, encoding: "float32" },
  { tag: 6, bits: 8, encoding: "alaw" },
  { tag: 7, bits: 8, encoding: "mulaw" },
];

/** Returns whether bytes begin like a WAV stream; null if they are too few to decide. */
export function isWave(bytes: Uint8Array): boolean | null {
  if (bytes.length >= RIFF_HEADER_BYTES) return text(bytes, 0) === "RIFF" && text(bytes, 8) === "WAVE";
  return "RIFF".startsWith(text(bytes, 0)) ? null : false;
}

/**
 * Reads the header of a WAV stream.
 * @returns null if it is longer than the bytes
 * @throws {CommandError} for sound that a session does not take
 */
export function readWaveHeader(bytes: Uint8Array): WaveSound | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let format: Omit<WaveSound, "start" | "bytes"> | null = null;
  for (let at = RIFF_HEADER_BYTES; at + CHUNK_HEADER_BYTES <= bytes.length; ) {
    const [id, size] = [text(bytes, at), view.getUint32(at + 4, true)];
    const start = at + CHUNK_HEADER_BYTES;
    if (id === "data") {
      if (format === null) throw new CommandError("the WAV stream on standard input has no format");
      return { ...format, start, bytes: UNKNOWN_SIZES.includes(size) ? Number.POSITIVE_INFINITY : size };
    }
    if (id === "fmt ") {
      if (bytes.length < start + size) return null;
      format = readFormat(view, start, size);
    }
    // Chunks have an even length.
    at = start + size + (size % 2);
  }
  return null;
}

function readFormat(view: DataView, at: number, size: number): Omit<WaveSound, "start" | "bytes"> {
  if (size < FORMAT_BYTES) throw new CommandError("the WAV stream on standard input has no format");
  const named = view.getUint16(at, true);
  // The tag is followed by the rest of a GUID.
  const tag = named === EXTENSIBLE && size >= EXTENSIBLE_BYTES ? view.getUint16(at + 24, true) : named;
  const [channels, sampleRate] = [view.getUint16(at + 2, true), view.getUint32(at + 4, true)];
  const bits = view.getUint16(at + 14, true);
  const format = FORMATS.find((each) => each.tag === tag && each.bits === bits);
  if (format === undefined) throw refused(`has the format ${tag} with ${bits} bits`);
  if (channels !== 1) throw refused(`has ${channels} channels`);
  if (sampleRate < 8000 || sampleRate > 48_000) throw refused(`has ${sampleRate} samples per second`);
  return { encoding: format.encoding, sampleRate };
}

function refused(what: string): CommandError {
  return new CommandError(
    `the WAV stream on standard input ${what}; convert it with: ffmpeg -i - -ac 1 -ar 16000 -f s16le -`,
  );
}

function text(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
