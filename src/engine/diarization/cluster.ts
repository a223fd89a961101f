import { BlockActivity } from "./activity.ts";
import { assignWindow } from "./assign.ts";
import { FrameAverage } from "./frame-average.ts";
import { blockCount, LOCAL_SPEAKERS, SAMPLE_RATE } from "./grid.ts";
import type { PcmFile } from "./pcm.ts";
import { VoiceGathering } from "./speakers.ts";
import { type Turn, TurnFinder } from "./turns.ts";
import { readVoices, type Voice } from "./voices.ts";

/** What is known about a recording's speakers. */
export interface ClusterOptions {
  /** Their number; found out where it is left out. */
  speakers?: number;
}

/**
 * Who speaks when over a whole recording, from the activity and the voices of all of its blocks. Turns are in order of
 * their starts and overlap where several speak at once. Holds one block and at most 1,200 points, whatever the length.
 */
export async function cluster(
  pcm: PcmFile,
  activityDirectory: string,
  embeddingDirectory: string,
  options: ClusterOptions = {},
): Promise<Turn[]> {
  const blocks = blockCount(pcm.sampleCount);
  const centroids = await findSpeakers(embeddingDirectory, blocks, options.speakers);
  const turns = new TurnFinder(centroids.length, pcm.sampleCount / SAMPLE_RATE);
  const average = new FrameAverage(centroids.length, (frame, values) => turns.add(frame, values));
  for (let block = 0; block < blocks; block++) {
    const activity = await BlockActivity.read(activityDirectory, block);
    const voices = byWindow(await readVoices(embeddingDirectory, block), activity.firstWindow);
    for (let window = 0; window < activity.windows; window++) {
      const present = voices.get(window) ?? [];
      const locals = speakersOf(present, assignWindow(present, centroids), centroids.length);
      average.add((frame, speaker) => {
        const local = locals[speaker] ?? -1;
        return local < 0 ? 0 : activity.probability(window, frame, local);
      });
    }
  }
  average.end();
  return turns.end();
}

async function findSpeakers(directory: string, blocks: number, count?: number): Promise<Float32Array[]> {
  const clear = new VoiceGathering();
  const unclear = new VoiceGathering();
  let anyClear = false;
  for (let block = 0; block < blocks; block++) {
    for (const voice of await readVoices(directory, block)) {
      (voice.cleanFrames > 0 ? clear : unclear).add(voice.embedding);
      anyClear ||= voice.cleanFrames > 0;
    }
  }
  return (anyClear ? clear : unclear).speakers(count);
}

function byWindow(voices: readonly Voice[], firstWindow: number): Map<number, Voice[]> {
  return Map.groupBy(voices, (voice) => voice.window - firstWindow);
}

/** The local speaker that stands for each speaker in a window, -1 where none does. */
function speakersOf(voices: readonly Voice[], assigned: readonly number[], speakers: number): number[] {
  const locals = Array.from({ length: speakers }, () => -1);
  voices.slice(0, LOCAL_SPEAKERS).forEach((voice, index) => {
    const speaker = assigned[index] ?? -1;
    if (speaker >= 0) locals[speaker] = voice.local;
  });
  return locals;
}
