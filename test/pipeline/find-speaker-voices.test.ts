import { expect, test } from "bun:test";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { findSpeakerVoices } from "../../src/pipeline/diarize.ts";
import type { StepContext } from "../../src/pipeline/step.ts";
import { Checkpoints, Recordings } from "../../src/recordings/index.ts";
import { DataPaths, openDatabase } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import type { Turn } from "../../src/timeline/index.ts";
import { switchVoices } from "../../src/voices/index.ts";

const by = { actor: "operator", now: 1 };
const turn = (speaker: number): Turn => ({ startSeconds: speaker, endSeconds: speaker + 1, speaker });

/** Returns the voices of a call's speakers, and the requested operations. @param numbers of the speakers of its tracks */
async function found(numbers: readonly ReadonlyMap<number, number>[], { isOn = true, isTransient = false } = {}) {
  using directory = temporaryDirectory();
  const store = openDatabase(":memory:");
  const account = createAccount(store, "acme", by);
  if (isOn) await switchVoices(store, account, by, true);
  const recording = new Recordings(store, Date.now).create({
    ...newRecording(Bun.randomUUIDv7(), account.id),
    isTransient,
  });
  const operations: string[] = [];
  const context = {
    ...{ recording, files: new DataPaths(directory.path).filesOf(recording.id), log: createLogger("silent") },
    checkpoints: new Checkpoints(store, recording.id),
    engine: {
      partsAtOnce: 1,
      run: async (operation: string, { turns }: { turns: readonly Turn[] }) => {
        operations.push(operation);
        return { voices: turns.map(({ speaker }) => ({ speaker, seconds: 9, embedding: [speaker, 1] })) };
      },
    },
    ...{ signal: new AbortController().signal, progress: () => {} },
  } as unknown as StepContext;
  const tracks = numbers.map((ofTrack, index) => {
    const turns = [...ofTrack.keys(), ...(ofTrack.size === 0 ? [] : [9])].map(turn);
    return { index, isParty: true, pcm: { path: "unused", sampleCount: 1 }, speechTurns: turns, speakerTurns: turns };
  });
  const voices = await findSpeakerVoices({ store }, context, tracks, numbers);
  return { voices, operations, stored: new Checkpoints(store, recording.id).countExcept([]) };
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
