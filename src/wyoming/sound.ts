import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { WyomingEvent } from "./event-parser.ts";
import { WyomingError } from "./wyoming-error.ts";

/** Rates that a live session accepts. */
const MIN_RATE = 8000;
const MAX_RATE = 48_000;
const MAX_CHANNELS = 8;

const formatSchema = Type.Object({
  /** Samples per second. */
  rate: Type.Integer(),
  /** Bytes per sample; a sample of one byte is unsigned, as in WAV files. */
  width: Type.Integer(),
  channels: Type.Integer(),
});

/** Format of raw PCM, little-endian. */
export type SoundFormat = Static<typeof formatSchema>;

/**
 * Returns the format of `audio-start` or `audio-chunk`.
 * @throws {WyomingError} `bad_request` for a format that can't be converted
 */
export function readFormat({ type, data }: WyomingEvent): SoundFormat {
  if (!Value.Check(formatSchema, data)) {
    throw new WyomingError("bad_request", `${type} needs the whole numbers rate, width and channels.`);
  }
  const { rate, width, channels } = data;
  if (rate < MIN_RATE || rate > MAX_RATE) {
    throw new WyomingError("bad_request", `The rate must be from ${MIN_RATE} to ${MAX_RATE} samples a second.`);
  }
  if (width < 1 || width > 4) throw new WyomingError("bad_request", "The width must be from 1 to 4 bytes.");
  if (channels < 1 || channels > MAX_CHANNELS) {
    throw new WyomingError("bad_request", `There must be from 1 to ${MAX_CHANNELS} channels.`);
  }
  return { rate, width, channels };
}

export function isSameFormat(one: SoundFormat, other: SoundFormat): boolean {
  return one.rate === other.rate && one.width === other.width && one.channels === other.channels;
}

/** Reads a sample as a number in the range of 16 bits. */
function sampleAt(sound: Buffer, at: number, width: number): number {
  switch (width) {
    case 1:
      return (sound.readUInt8(at) - 128) * 2 ** 8;
    case 2:
      return sound.readInt16LE(at);
    case 3:
      return sound.readIntLE(at, 3) / 2 ** 8;
    default:
      return sound.readInt32LE(at) / 2 ** 16;
  }
}

/** Converts sound to 16 bits and one channel, the mean of all channels. A frame may be split between two fragments. */
export class SoundConverter {
  readonly #width: number;
  readonly #channels: number;
  /** The beginning of a frame. */
  #rest = Buffer.alloc(0);

  constructor({ width, channels }: SoundFormat) {
    this.#width = width;
    this.#channels = channels;
  }

  /** Returns the complete frames so far that were not returned before, as signed 16-bit samples. */
  convert(bytes: Uint8Array): Uint8Array {
    const all = Buffer.concat([this.#rest, bytes]);
    const frameBytes = this.#width * this.#channels;
    const frames = Math.floor(all.length / frameBytes);
    this.#rest = Buffer.from(all.subarray(frames * frameBytes));
    const whole = all.subarray(0, frames * frameBytes);
    return this.#width === 2 && this.#channels === 1 ? whole : this.#mix(whole, frames);
  }

  #mix(sound: Buffer, frames: number): Uint8Array {
    const mixed = Buffer.alloc(frames * 2);
    let at = 0;
    for (let frame = 0; frame < frames; frame += 1) {
      let sum = 0;
      for (let channel = 0; channel < this.#channels; channel += 1, at += this.#width) {
        sum += sampleAt(sound, at, this.#width);
      }
      mixed.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(sum / this.#channels))), frame * 2);
    }
    return mixed;
  }
}
