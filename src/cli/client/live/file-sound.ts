import { open, realpath } from "node:fs/promises";
import type { Settings } from "../../../config/index.ts";
import { systemPath } from "../../byte-names.ts";
import { ProgressBoard } from "../../progress-board.ts";
import { type RecordingInput, requireRecording } from "../../recording-input.ts";
import { progressText } from "../../recording-texts.ts";
import type { Sound } from "./sound.ts";

/** Bytes that are read at once: a second of sound. */
const READ_BYTES = 32_000;

/**
 * Decodes a recording on this machine.
 * @throws {CommandError} {StartError} when it can't be read or decoded @throws the signal's reason
 */
export async function fileSound(
  { input, shown, name }: RecordingInput,
  settings: Settings,
  signal: AbortSignal,
): Promise<Sound> {
  await requireRecording(input);
  // Only recordings need these modules, which take longer to load than a session takes to open.
  const { decodeFile } = await import("../../../server/index.ts");
  using board = new ProgressBoard();
  const row = board.row(name);
  const onProgress = (fraction: number) => row.show(progressText("decode"), 100 * fraction);
  // As bytes, because the name of the current directory need not be UTF-8 either.
  const path = await realpath(systemPath(input), "buffer");
  const decoded = await decodeFile(settings, { path, shown, signal, onProgress });
  return {
    encoding: "pcm16",
    sampleRate: 16_000,
    async *pieces() {
      await using file = await open(decoded.path);
      for (let position = 0; ; ) {
        const { bytesRead, buffer } = await file.read(new Uint8Array(READ_BYTES), 0, READ_BYTES, position);
        if (bytesRead === 0) return;
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
    async [Symbol.asyncDispose]() {
      decoded[Symbol.dispose]();
    },
  };
}
