import { symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "../config/index.ts";
import { decodeRecording, MediaError } from "../media/index.ts";
import { programFiles } from "../program/index.ts";
import { StartError } from "./start-error.ts";
import { temporaryDataDirectory } from "./temporary-data-directory.ts";
import { userCache } from "./user-cache.ts";

/** A recording to decode. */
export interface LocalDecode {
  /** Absolute path of a file; bytes if it is not UTF-8. */
  readonly path: string | Buffer;
  /** The recording's name in messages. */
  readonly shown: string;
  readonly signal: AbortSignal;
  /** Receives the completed fraction, 0 to 1. */
  readonly onProgress: (fraction: number) => void;
}

/** A decoded recording; disposing removes it. */
export interface DecodedFile extends Disposable {
  /** Path of a PCM file: raw, mono, 16 kHz, s16le. */
  readonly path: string;
}

/**
 * Decodes a recording in the system's directory for temporary files, without a server.
 * @throws {StartError} for a file that can't be decoded @throws the signal's reason
 */
export async function decodeFile(settings: Settings, decode: LocalDecode): Promise<DecodedFile> {
  const { shown, signal, onProgress } = decode;
  using stack = new DisposableStack();
  const { directory } = stack.use(temporaryDataDirectory(tmpdir(), Date.now()));
  const cache = userCache(process.env) ?? directory.root;
  const files = await programFiles(settings.storage.runtime_dir || join(cache, "runtime"));
  const inputPath = join(directory.incoming, "recording");
  const outputPath = join(directory.incoming, "pcm");
  // A symbolic link, whose name is text that ffmpeg can be given.
  symlinkSync(decode.path, inputPath);
  const { recording_seconds: maxSeconds } = settings.limits;
  const request = { ffmpegPath: files.ffmpeg, inputPath, outputPath, maxSeconds, signal, onProgress };
  const { sampleCount } = await decodeRecording(request).catch((error: unknown) => {
    throw error instanceof MediaError ? new StartError(`${shown}: ${error.message}`) : error;
  });
  if (sampleCount === 0) throw new StartError(`${shown} has no sound`);
  const opened = stack.move();
  return { path: outputPath, [Symbol.dispose]: () => opened.dispose() };
}
