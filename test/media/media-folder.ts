import { readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { available, FFMPEG, MEDIA_TOOL, makeWithFfmpeg, namesIn, samplesOf, waveHeader } from "../../harness/media.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type DecodeRequest, decodeRecording } from "../../src/media/index.ts";
import { commandOf } from "../../tools/shared/processes.ts";

/** Returns whether recordings can be made and decoded, and prints which tests are skipped if not. */
export function canDecode(what: string, ...paths: readonly string[]): boolean {
  return [FFMPEG, MEDIA_TOOL, ...paths].every((path) => available(path, what));
}

/** Makes silence as a sparse WAVE file, which may be hours long. @returns its path */
export function sparseWave(path: string, seconds: number, { channels = 1, rateHz = 16_000 } = {}): string {
  const claimedBytes = seconds * rateHz * channels * 2;
  writeFileSync(path, waveHeader({ channels, rateHz, claimedBytes }));
  truncateSync(path, claimedBytes + 44);
  return path;
}

/** Returns the command lines of running ffmpeg processes that contain a path. */
export function ffmpegsNaming(path: string): string[] {
  const ids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  const lines = ids.map((id) => commandOf(id).join(" "));
  return lines.filter((line) => line.includes("ffmpeg") && line.includes(path));
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(10);
}

/** A folder in which a test makes recordings and decodes them. */
export class MediaFolder implements Disposable {
  readonly #directory = temporaryDirectory();
  readonly path = this.#directory.path;

  /** Returns the path of a file. */
  at(name: string): string {
    return join(this.path, name);
  }

  names(): Promise<string[]> {
    return namesIn(this.path);
  }

  /** Makes a file with ffmpeg. @returns its path */
  make(name: string, ...args: readonly string[]): string {
    makeWithFfmpeg(...args, this.at(name));
    return this.at(name);
  }

  /** Writes a file. @returns its path */
  async write(name: string, content: string | Uint8Array): Promise<string> {
    await Bun.write(this.at(name), content);
    return this.at(name);
  }

  /** Changes the bytes of a file. @returns its path */
  async change(path: string, change: (bytes: Buffer) => unknown): Promise<string> {
    const bytes = Buffer.from(await Bun.file(path).bytes());
    change(bytes);
    await Bun.write(path, bytes);
    return path;
  }

  /** Decodes a recording. @returns the result and the samples of the first file */
  async decode(inputPath: string, options: Partial<DecodeRequest> = {}) {
    const outputPath = this.at("decoded.pcm");
    const decoded = await decodeRecording({ ffmpegPath: FFMPEG, inputPath, outputPath, maxSeconds: 600, ...options });
    return { ...decoded, samples: await samplesOf(options.outputPath ?? outputPath) };
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}
