import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  blockCount,
  blockWindows,
  FRAME_SAMPLES,
  HOP_FRAMES,
  LOCAL_SPEAKERS,
  WINDOW_FRAMES,
} from "../../../src/blocks/index.ts";
import { BlockActivity } from "../../../src/speech/diarization/activity.ts";
import { type Voice, writeVoices } from "../../../src/speech/diarization/voices.ts";
import type { WorkArea } from "../../../src/timeline/index.ts";

/** Outputs of the models for a recording: frames of speech by local speaker, and the voices of a window. */
export interface FakeRecording {
  frames: number;
  /** Probability that a local speaker speaks in a frame of the recording. */
  activity: (frame: number, local: number) => number;
  voices?: (window: number) => Voice[];
  /** Amplitude of the samples of a frame, 0 to 1; silence where it is left out. */
  amplitude?: (frame: number) => number;
}

/** Writes the block files that the models would have led to, and removes them at the end. */
export async function withBlocks<T>(recording: FakeRecording, use: (area: WorkArea) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "blocks-"));
  const sampleCount = recording.frames * FRAME_SAMPLES;
  const area = { directory, pcm: { path: join(directory, "recording.pcm"), sampleCount } };
  try {
    for (let block = 0; block < blockCount(sampleCount); block++) {
      const { first, end } = blockWindows(sampleCount, block);
      const perWindow = WINDOW_FRAMES * LOCAL_SPEAKERS;
      const probabilities = Float32Array.from({ length: (end - first) * perWindow }, (_, index) => {
        const window = first + Math.floor(index / perWindow);
        const frame = window * HOP_FRAMES + Math.floor((index % perWindow) / LOCAL_SPEAKERS);
        return frame < recording.frames ? recording.activity(frame, index % LOCAL_SPEAKERS) : 0;
      });
      await BlockActivity.fromProbabilities(first, probabilities).write(area, block);
      const voices = Array.from({ length: end - first }, (_, i) => recording.voices?.(first + i) ?? []).flat();
      await writeVoices(area, block, first, voices);
    }
    const { amplitude } = recording;
    const pcm = new Int16Array(sampleCount);
    if (amplitude !== undefined) {
      for (const at of pcm.keys()) {
        const value = amplitude(Math.floor(at / FRAME_SAMPLES)) * 32_767;
        pcm[at] = at % 2 === 0 ? value : -value;
      }
    }
    await Bun.write(area.pcm.path, pcm);
    return await use(area);
  } finally {
    await rm(directory, { recursive: true });
  }
}
