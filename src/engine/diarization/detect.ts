import type { PcmFile } from "../protocol.ts";
import { BlockActivity } from "./activity.ts";
import { blockWindows, LOCAL_SPEAKERS, WINDOW_FRAMES, WINDOW_SAMPLES, windowSample } from "./grid.ts";
import { type DiarizationModels, segment } from "./models.ts";
import { PcmReader } from "./pcm.ts";
import { withQuietSpeech } from "./quiet-speech.ts";

/** Windows that go through the model at once: more gained nothing on two threads and cost memory. */
const BATCH_WINDOWS = 16;

/**
 * Finds who speaks in the windows that start in one block, and keeps it in `activityDirectory` (105 kB, written atomically).
 * Reads up to 4 s beyond the block's end. Takes about 0.7 % of the block's duration on two threads.
 */
export async function detectBlock(
  models: DiarizationModels,
  pcm: PcmFile,
  block: number,
  activityDirectory: string,
): Promise<void> {
  await using reader = await PcmReader.open(pcm);
  const { first, end } = blockWindows(pcm.sampleCount, block);
  const start = windowSample(first);
  const samples = await reader.read(start, windowSample(end - 1 - first) + WINDOW_SAMPLES);
  const windows = Array.from({ length: end - first }, (_, window) =>
    samples.subarray(windowSample(window), windowSample(window) + WINDOW_SAMPLES),
  );
  const heard = {
    samples,
    recordedSamples: pcm.sampleCount - start,
    windows,
    probabilities: await segmentAll(models, windows),
  };
  const probabilities = await withQuietSpeech(heard, (some) => segmentAll(models, some));
  await BlockActivity.fromProbabilities(first, probabilities).write(activityDirectory, block);
}

/** Probabilities [window][frame][local speaker] of any number of windows. */
async function segmentAll(models: DiarizationModels, windows: readonly Float32Array[]): Promise<Float32Array> {
  const perWindow = WINDOW_FRAMES * LOCAL_SPEAKERS;
  const probabilities = new Float32Array(windows.length * perWindow);
  for (let from = 0; from < windows.length; from += BATCH_WINDOWS) {
    const batch = windows.slice(from, from + BATCH_WINDOWS);
    const waveforms = new Float32Array(batch.length * WINDOW_SAMPLES);
    for (const [index, window] of batch.entries()) waveforms.set(window, index * WINDOW_SAMPLES);
    probabilities.set(await segment(models, waveforms), from * perWindow);
  }
  return probabilities;
}
