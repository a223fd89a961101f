import { truncateSync, writeFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { blockCount, blockWindows, LOCAL_SPEAKERS, WINDOW_FRAMES } from "../src/blocks/index.ts";
import { openDatabase } from "../src/database/index.ts";
import { assignSpeakers } from "../src/pipeline/assign-speakers.ts";
import { fitWords } from "../src/pipeline/fit-to-turns.ts";
import { fragmentsOf, fragmentsToCompare } from "../src/pipeline/second-pass.ts";
import { Checkpoints } from "../src/recordings/index.ts";
import { BlockActivity } from "../src/speech/diarization/activity.ts";
import { writeSentenceVoices } from "../src/speech/diarization/index.ts";
import { DataPaths } from "../src/storage/index.ts";
import { type Chunk, type EngineWord, SAMPLE_RATE, type Turn } from "../src/timeline/index.ts";

const speakers = 12;
/** Shortest and longest utterance of a conversation, which has about 20,000 in 18 hours. */
const utteranceSeconds = [0.8, 5] as const;
const chunkSeconds = 28;
const blockFragments = 16;

/**
 * Writes the checkpoints and work files of a made-up conversation, as all steps before the last leave them. The server
 * must not run. After its start it only has to finalize the recording.
 * @returns the whole text
 */
export async function prepareLastStep(
  dataDirectory: string,
  id: string,
  seconds: number,
  random: () => number,
): Promise<string> {
  const paths = new DataPaths(dataDirectory);
  const files = paths.filesOf(id);
  files.prepareWork();
  const sampleCount = seconds * SAMPLE_RATE;
  writeFileSync(files.pcm(0), "");
  truncateSync(files.pcm(0), sampleCount * 2);
  const area = { directory: files.work, pcm: { path: files.pcm(0), sampleCount } };

  const { turns, words } = conversation(seconds, random);
  const database = openDatabase(paths.databasePath);
  const checkpoints = new Checkpoints(database, id);
  const write = (step: string, part: number, payload: unknown) =>
    checkpoints.write(step, part, Type.Unknown(), payload);
  for (const step of ["activity", "plan", "transcribe"]) checkpoints.clear(step);
  const fragments = fragmentsToCompare(fragmentsOf(assignSpeakers(fitWords(words, turns), turns)));
  for (let block = 0; block * blockFragments < fragments.length; block++) {
    const inBlock = fragments.slice(block * blockFragments, (block + 1) * blockFragments);
    await writeSentenceVoices(
      area,
      block,
      inBlock.map(({ speaker }) => voiceOf(speaker)),
    );
    write("sentences", block, { spans: inBlock.map(({ startSeconds, endSeconds }) => ({ startSeconds, endSeconds })) });
  }
  for (let block = 0; block < blockCount(sampleCount); block++) {
    const { first, end } = blockWindows(sampleCount, block);
    const silence = new Float32Array((end - first) * WINDOW_FRAMES * LOCAL_SPEAKERS);
    await BlockActivity.fromProbabilities(first, silence).write(area, block);
  }
  database.transaction(() => {
    write("decode", 0, { sampleCount, tracks: 1 });
    for (let block = 0; block < blockCount(sampleCount); block++) {
      write("activity", block, {});
    }
    const chunks = chunksOf(turns);
    write("plan", 0, { chunks });
    let next = 0;
    for (const [part, chunk] of chunks.entries()) {
      const from = next;
      while ((words[next]?.startSeconds ?? Number.POSITIVE_INFINITY) < chunk.endSeconds) next++;
      write("transcribe", part, { words: words.slice(from, next), languages: { en: 1 } });
    }
    write("turns", 0, { turns });
  });
  database.$client.close();
  return words.map(({ text }) => text).join("");
}

/** Returns turns of speakers in random order, and their words. */
function conversation(seconds: number, random: () => number): { turns: Turn[]; words: EngineWord[] } {
  const turns: Turn[] = [];
  const words: EngineWord[] = [];
  const letters = "etaoinshrdlu";
  const word = () =>
    Array.from({ length: 1 + Math.floor(random() * 8) }, () => letters[Math.floor(random() * 12)]).join("");
  let at = 0;
  for (let speaker = 0; ; speaker = (speaker + 1 + Math.floor(random() * (speakers - 1))) % speakers) {
    const length = utteranceSeconds[0] + random() * (utteranceSeconds[1] - utteranceSeconds[0]);
    if (at + length > seconds) return { turns, words };
    const count = Math.max(1, Math.round(length * 2.7));
    const each = length / count;
    for (let index = 0; index < count; index++) {
      const startSeconds = at + index * each;
      const text = ` ${word()}${index === count - 1 ? "." : ""}`;
      words.push({ text, startSeconds, endSeconds: startSeconds + each * 0.9, probability: 0.9 });
    }
    turns.push({ startSeconds: at, endSeconds: at + length, speaker });
    at += length + (random() < 0.01 ? 4 : random() * 0.6);
  }
}

function chunksOf(turns: readonly Turn[]): Chunk[] {
  const chunks: { startSeconds: number; endSeconds: number; speech: Turn[] }[] = [];
  for (const turn of turns) {
    const last = chunks.at(-1);
    if (last !== undefined && turn.endSeconds - last.startSeconds <= chunkSeconds) {
      last.speech.push(turn);
      last.endSeconds = turn.endSeconds;
    } else {
      chunks.push({ startSeconds: turn.startSeconds, endSeconds: turn.endSeconds, speech: [turn] });
    }
  }
  return chunks;
}

/** Returns the same vector for the same speaker, and orthogonal vectors for different speakers. */
function voiceOf(speaker: number): Float32Array {
  return Float32Array.from({ length: 192 }, (_, index) => (index === speaker ? 1 : 0));
}
