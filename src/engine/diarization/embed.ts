import type { PcmFile } from "../protocol.ts";
import { SAMPLE_RATE } from "../sample-rate.ts";
import { BlockActivity } from "./activity.ts";
import { type LocalVoice, localVoices, type Stretch } from "./clean-speech.ts";
import { FRAME_SAMPLES, frameSample, HOP_FRAMES } from "./grid.ts";
import { type DiarizationModels, embed } from "./models.ts";
import { PcmReader } from "./pcm.ts";
import { type VoicePiece, writeVoices } from "./voices.ts";

/** The least that is embedded: what is shorter is repeated. */
const LEAST_SAMPLES = 0.8 * SAMPLE_RATE;
/** The most that joined scraps are embedded of. */
const MOST_SAMPLES = 3 * SAMPLE_RATE;
/** Frames by which the ends of two pieces may differ that are taken for the same one, heard by two windows (0.1 s). */
const SAME_FRAMES = 6;

/**
 * Embeds the clean speech of every local speaker of one block and keeps it in `embeddingDirectory`, atomically. Needs the
 * block's activity. Takes about 1.2 % of the block's duration on two threads.
 */
export async function embedBlock(
  models: DiarizationModels,
  pcm: PcmFile,
  block: number,
  activityDirectory: string,
  embeddingDirectory: string,
): Promise<void> {
  const activity = await BlockActivity.read(activityDirectory, block);
  await using reader = await PcmReader.open(pcm);
  let known: VoicePiece[] = [];
  const pieceOf = async ({ start, end }: Stretch): Promise<VoicePiece> => {
    const same = known.find(
      (piece) => Math.abs(piece.start - start) <= SAME_FRAMES && Math.abs(piece.end - end) <= SAME_FRAMES,
    );
    if (same) return same;
    const samples = await reader.read(frameSample(start), (end - start) * FRAME_SAMPLES);
    const piece = { start, end, embedding: await embed(models, atLeast(samples)) };
    known.push(piece);
    return piece;
  };
  const voices = [];
  for (let window = 0; window < activity.windows; window++) {
    const first = (activity.firstWindow + window) * HOP_FRAMES;
    known = known.filter((piece) => piece.end > first);
    for (const voice of localVoices(activity, window)) {
      const pieces: VoicePiece[] = [];
      for (const stretch of voice.pieces) pieces.push(await pieceOf(stretch));
      if (pieces.length === 0) {
        const embedding = await embed(models, await joined(reader, voice));
        pieces.push({ start: first, end: first, embedding });
      }
      voices.push({ window: voice.window, local: voice.local, cleanFrames: voice.cleanFrames, pieces });
    }
  }
  await writeVoices(embeddingDirectory, block, activity.firstWindow, voices);
}

/** A voice's scraps end to end, or the middle of them where they are long. */
async function joined(reader: PcmReader, { scraps }: LocalVoice): Promise<Float32Array> {
  const parts: Float32Array[] = [];
  for (const { start, end } of scraps) parts.push(await reader.read(frameSample(start), (end - start) * FRAME_SAMPLES));
  const length = parts.reduce((total, part) => total + part.length, 0);
  const speech = new Float32Array(length);
  let at = 0;
  for (const part of parts) {
    speech.set(part, at);
    at += part.length;
  }
  const skip = Math.max(0, Math.floor((length - MOST_SAMPLES) / 2));
  return atLeast(speech.subarray(skip, skip + MOST_SAMPLES));
}

/** Repeats what is too short. */
function atLeast(samples: Float32Array): Float32Array {
  if (samples.length >= LEAST_SAMPLES) return samples;
  return Float32Array.from({ length: LEAST_SAMPLES }, (_, sample) => samples[sample % samples.length] ?? 0);
}
