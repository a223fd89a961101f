import type { LiveEncoding } from "../../../../sdk/typescript/src/index.ts";
import { orAborted } from "../../../text/index.ts";
import { CommandError } from "../../command-error.ts";
import { chunksOfStandardInput } from "../../recording-input.ts";
import type { Sound } from "./sound.ts";
import { isWave, readWaveHeader, type WaveSound } from "./wave-header.ts";

/** Format of raw sound, as far as the command line names it. */
export interface RawFormat {
  readonly encoding?: LiveEncoding | undefined;
  readonly sampleRate?: number | undefined;
}

/** Longest header of a WAV stream. Writers of streams have no long ones. */
const MAX_HEADER_BYTES = 64 * 1024;
/** First bytes of formats that would sound like noise. */
const COMPRESSED: readonly (readonly [name: string, bytes: readonly number[]])[] = [
  ["FLAC", [0x66, 0x4c, 0x61, 0x43]],
  ["Ogg", [0x4f, 0x67, 0x67, 0x53]],
  ["MP3", [0x49, 0x44, 0x33]],
  ["Matroska", [0x1a, 0x45, 0xdf, 0xa3]],
];

/**
 * Reads sound from standard input: WAV, or raw samples of the named format.
 * @throws {CommandError} when it is empty, or sound that a session does not take @throws the signal's reason
 */
export async function inputSound(
  named: RawFormat,
  signal: AbortSignal,
  read: (signal: AbortSignal) => AsyncIterable<Uint8Array> = chunksOfStandardInput,
): Promise<Sound> {
  const reading = new AbortController();
  const close = () => reading.abort(signal.reason);
  signal.addEventListener("abort", close, { once: true });
  const input = read(reading.signal)[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  const readMore = async () => {
    const { done, value } = await input.next();
    if (done !== true) head = Buffer.concat([head, value]);
    return done !== true;
  };
  while (isWave(head) === null && (await readMore()));
  if (head.length === 0) throw new CommandError("standard input is empty; pipe sound into the command");
  const wave = isWave(head) === true ? await waveIn() : null;
  if (wave === null) requireRaw(head);
  return {
    encoding: wave?.encoding ?? named.encoding ?? "pcm16",
    sampleRate: wave?.sampleRate ?? named.sampleRate ?? defaultRate(named.encoding),
    async *pieces(signal) {
      let left = wave?.bytes ?? Number.POSITIVE_INFINITY;
      const first = head.subarray(wave?.start ?? 0);
      for (let piece: Uint8Array = first; left > 0; ) {
        yield new Uint8Array(piece.subarray(0, Math.min(piece.length, left)));
        left -= piece.length;
        const { done, value } = await orAborted(input.next(), signal);
        if (done === true) return;
        piece = value;
      }
    },
    async [Symbol.asyncDispose]() {
      signal.removeEventListener("abort", close);
      close();
      await input.return?.();
    },
  };

  async function waveIn(): Promise<WaveSound> {
    if (named.encoding !== undefined || named.sampleRate !== undefined) {
      throw new CommandError(
        "--encoding and --sample-rate are for raw sound; standard input is WAV, which names its own",
      );
    }
    for (let found = readWaveHeader(head); ; found = readWaveHeader(head)) {
      if (found !== null) return found;
      if (head.length > MAX_HEADER_BYTES || !(await readMore())) {
        throw new CommandError("the WAV stream on standard input has no sound");
      }
    }
  }
}

function requireRaw(head: Uint8Array): void {
  const found = COMPRESSED.find(([, bytes]) => bytes.every((byte, index) => head[index] === byte));
  if (found === undefined) return;
  throw new CommandError(
    `standard input is ${found[0]}, not raw sound or WAV; convert it with: ffmpeg -i - -ac 1 -ar 16000 -f s16le -`,
  );
}

function defaultRate(encoding: LiveEncoding | undefined): number {
  return encoding === "mulaw" || encoding === "alaw" ? 8000 : 16_000;
}
