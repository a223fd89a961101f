import { BlockActivity } from "./activity.ts";
import { assignWindow } from "./assign.ts";
import { characteristic } from "./characteristic.ts";
import { FrameAverage } from "./frame-average.ts";
import { blockCount, LOCAL_SPEAKERS, SAMPLE_RATE } from "./grid.ts";
import type { PcmFile } from "./pcm.ts";
import { VoiceGathering } from "./speakers.ts";
import { type Turn, TurnFinder } from "./turns.ts";
import { unit } from "./vectors.ts";
import { readVoices, type Voice } from "./voices.ts";

interface Recording {
  blocks: number;
  activityDirectory: string;
  embeddingDirectory: string;
}

/** What is known about a recording's speakers. */
export interface ClusterOptions {
  /** Their number at most, where it is known; else it is found out. */
  speakers?: number;
}

/**
 * Who speaks when over a whole recording, from the activity and the voices of all of its blocks. Turns are in order of
 * their starts and overlap where several speak at once. Holds one block and at most 1,200 voices, whatever the length.
 */
export async function cluster(
  pcm: PcmFile,
  activityDirectory: string,
  embeddingDirectory: string,
  options: ClusterOptions = {},
): Promise<Turn[]> {
  const recording = { blocks: blockCount(pcm.sampleCount), activityDirectory, embeddingDirectory };
  const centroids = await findSpeakers(recording, options.speakers);
  const turns = new TurnFinder(centroids.length, pcm.sampleCount / SAMPLE_RATE);
  const average = new FrameAverage(centroids.length, (frame, values) => turns.add(frame, values));
  for await (const { activity, window, voices } of windows(recording)) {
    const locals = speakersOf(voices, assignWindow(voices, centroids), centroids.length);
    average.add((frame, speaker) => {
      const local = locals[speaker] ?? -1;
      return local < 0 ? 0 : activity.probability(window, frame, local);
    });
  }
  average.end();
  return turns.end();
}

/** Finds the speakers' centroids, then takes them anew over the windows as they are assigned. */
async function findSpeakers(recording: Recording, count?: number): Promise<Float32Array[]> {
  const clear = new VoiceGathering();
  const unclear = new VoiceGathering();
  for await (const { activity, window, voices } of windows(recording)) {
    clear.add(activity, window, voices.filter(isClear));
    unclear.add(
      activity,
      window,
      voices.filter((voice) => !isClear(voice)),
    );
  }
  const found = clear.speakers(count);
  if (found.length === 0) return unclear.speakers(count);
  const sums = found.map((centroid) => new Float32Array(centroid.length));
  for await (const { voices } of windows(recording)) {
    for (const [index, speaker] of assignWindow(voices, found).entries()) {
      const voice = voices[index];
      const sum = sums[speaker];
      if (voice === undefined || sum === undefined || !isClear(voice)) continue;
      characteristic(voice.embedding).forEach((value, i) => {
        sum[i] = (sum[i] ?? 0) + voice.cleanFrames * value;
      });
    }
  }
  return sums.map(unit);
}

/** Only voices with enough clean speech found a speaker; where there are none, the others must do. */
function isClear(voice: Voice): boolean {
  return voice.cleanFrames > 0;
}

/** All windows of a recording in order, each with its voices; one block is held at a time. */
async function* windows({ blocks, activityDirectory, embeddingDirectory }: Recording) {
  for (let block = 0; block < blocks; block++) {
    const activity = await BlockActivity.read(activityDirectory, block);
    const voices = Map.groupBy(await readVoices(embeddingDirectory, block), (voice) => voice.window);
    for (let window = 0; window < activity.windows; window++) {
      yield { activity, window, voices: voices.get(activity.firstWindow + window) ?? [] };
    }
  }
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
