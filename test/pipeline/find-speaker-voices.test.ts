import { expect, test } from "bun:test";
import { findSpeakerVoices } from "../../src/pipeline/diarize.ts";
import type { Turn } from "../../src/timeline/index.ts";
import { switchVoices } from "../../src/voices/index.ts";
import { stepContext, storedRecording } from "./step-context.ts";

const by = { actor: "operator", now: 1 };
const turn = (speaker: number): Turn => ({ startSeconds: speaker, endSeconds: speaker + 1, speaker });

/** Returns the voices of a call's speakers, and the requested operations. @param numbers of the speakers of its tracks */
async function found(numbers: readonly ReadonlyMap<number, number>[], { isOn = true, isTransient = false } = {}) {
  const stored = storedRecording({ isTransient });
  const { store, account, checkpoints } = stored;
  if (isOn) await switchVoices(store, account, by, true);
  const operations: string[] = [];
  const context = stepContext(stored, async (operation: string, { turns }: { turns: readonly Turn[] }) => {
    operations.push(operation);
    return { voices: turns.map(({ speaker }) => ({ speaker, seconds: 9, embedding: [speaker, 1] })) };
  });
  const tracks = numbers.map((ofTrack, index) => {
    const turns = [...ofTrack.keys(), ...(ofTrack.size === 0 ? [] : [9])].map(turn);
    return { index, isParty: true, pcm: { path: "unused", sampleCount: 1 }, speechTurns: turns, speakerTurns: turns };
  });
  const voices = await findSpeakerVoices({ store }, context, tracks, numbers);
  return { voices, operations, stored: checkpoints.countExcept([]) };
}

test("the speakers of both channels of a call have the numbers of the transcript, and those without words no voice", async () => {
  const { voices, operations, stored } = await found([
    new Map([
      [0, 1],
      [1, 2],
    ]),
    new Map([[0, 0]]),
  ]);
  expect(voices).toEqual([
    { speaker: 1, seconds: 9, embedding: Float32Array.of(0, 1) },
    { speaker: 2, seconds: 9, embedding: Float32Array.of(1, 1) },
    { speaker: 0, seconds: 9, embedding: Float32Array.of(0, 1) },
  ]);
  expect(operations).toEqual(["describeSpeakers", "describeSpeakers"]);
  // Checkpoints are part of backups, and stay after a crash.
  expect(stored).toBe(0);
});

test("a channel without words is not asked for voices", async () => {
  const { voices, operations } = await found([new Map([[0, 0]]), new Map()]);
  expect([voices.length, operations.length]).toEqual([1, 1]);
});

test("no voice is computed for an account that did not opt in, or for a recording of which nothing is kept", async () => {
  const numbers = [new Map([[0, 0]])];
  expect(await found(numbers, { isOn: false })).toMatchObject({ voices: [], operations: [] });
  expect(await found(numbers, { isTransient: true })).toMatchObject({ voices: [], operations: [] });
});
