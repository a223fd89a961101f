import { open } from "node:fs/promises";
import { compareChannels } from "./compare-channels.ts";
import { type BlockSpan, echoSpans } from "./echo-spans.ts";
import { BLOCK_SAMPLES, measureChannels } from "./levels.ts";

/** The PCM files of a two-channel recording, 16 kHz mono s16le: the mix and each channel. */
interface ChannelFiles {
  readonly mixed: string;
  readonly left: string;
  readonly right: string;
}

/**
 * Selects the files to transcribe: the mix, the one channel that contains everything, or both channels of a call. In
 * both channels of a call, spans that carry only the other channel's echo are silenced, so that no word is transcribed
 * twice.
 */
export async function chooseChannels(files: ChannelFiles, signal?: AbortSignal): Promise<[string, string?]> {
  const measured = await measureChannels(files.left, files.right, signal);
  const choice = compareChannels(measured);
  if (choice !== "apart") return [files[choice]];
  const { left, right } = measured;
  await silence(files.left, echoSpans(right, left));
  signal?.throwIfAborted();
  await silence(files.right, echoSpans(left, right));
  return [files.left, files.right];
}

const BLOCK_BYTES = BLOCK_SAMPLES * 2;
const zeros = new Uint8Array(64 * BLOCK_BYTES);

async function silence(path: string, spans: readonly BlockSpan[]): Promise<void> {
  if (spans.length === 0) return;
  await using file = await open(path, "r+");
  for (const { start, end } of spans) {
    for (let at = start * BLOCK_BYTES; at < end * BLOCK_BYTES; at += zeros.length) {
      await file.write(zeros, 0, Math.min(zeros.length, end * BLOCK_BYTES - at), at);
    }
  }
}
