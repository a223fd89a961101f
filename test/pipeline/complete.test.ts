import { beforeEach, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { Recording, Store } from "../../src/database/index.ts";
import { DiskSpace, WorkReservations } from "../../src/disk/index.ts";
import { complete, removeWork, removeWorkOfEnded } from "../../src/pipeline/complete.ts";
import { recoverWork } from "../../src/pipeline/index.ts";
import type { Recordings } from "../../src/recordings/index.ts";
import { packSegment } from "../../src/segments/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Transcript } from "../../src/transcripts/index.ts";
import { countTurnsUntilSettled } from "../support/event-loop-turns.ts";
import { storedRecording } from "./step-context.ts";

const segmentsOfHours = Array.from({ length: 2050 }, (_, index) =>
  packSegment({ index, startSeconds: index, endSeconds: index + 1, speaker: 0, text: `Number ${index}.`, words: [] }),
);

let store: Store;
let recordings: Recordings;
let id: string;
let checkpoints: ReturnType<typeof storedRecording>["checkpoints"];

beforeEach(() => {
  ({ store, recordings, id, checkpoints } = storedRecording());
  recordings.claim(id);
});

const stored = () => new Transcript(store, { id } as Recording).segments(0, 10_000);
const found = (segments: typeof segmentsOfHours) => ({ segments, translation: [], voices: [] });
const never = new AbortController().signal;

test("storing the segments of hours yields to other work, which sees the recording as processing until all are stored", async () => {
  const seen = new Set<string>();
  const turns = await countTurnsUntilSettled(complete(recordings, id, found(segmentsOfHours), never), () => {
    const recording = recordings.get(id);
    seen.add(`${recording?.status} ${recording?.status === "completed" ? stored().length : "with some"}`);
  });
  expect(turns).toBeGreaterThanOrEqual(15);
  expect([...seen].filter((state) => state !== "completed 2050")).toEqual(["processing with some"]);
  expect(recordings.get(id)?.status).toBe("completed");
  expect(stored().map(({ text }) => text)).toEqual(segmentsOfHours.map(({ text }) => text));
});

test("segments that a killed server stored are replaced, however many there are", async () => {
  const others = Array.from({ length: 3000 }, (_, index) => ({ ...segmentsOfHours[0], index, text: "Another try." }));
  recordings.rows.addSegments(id, others as typeof segmentsOfHours);
  expect(await complete(recordings, id, found(segmentsOfHours.slice(0, 150)), never)).toBe(true);
  expect(stored().map(({ text }) => text)).toEqual(segmentsOfHours.slice(0, 150).map(({ text }) => text));
});

test.each(["cancelled", "cancelled and deleted"])(
  "no segment is stored of a recording that is %s meanwhile",
  async (how) => {
    let left = 5;
    const ended = complete(recordings, id, found(segmentsOfHours), never);
    await countTurnsUntilSettled(ended, () => {
      if (--left !== 0) return;
      recordings.fail(id, { reason: "internal", cause: "cancelled" });
      if (how !== "cancelled") recordings.delete(id);
    });
    expect(await ended).toBe(false);
    await removeWork(recordings, id);
    expect(stored()).toEqual([]);
    expect(recordings.get(id)?.status).toBe(how === "cancelled" ? "failed" : undefined);
  },
);

test("a recording that is suspended meanwhile stays open and is stored whole at its next attempt", async () => {
  const controller = new AbortController();
  let left = 5;
  const parked = complete(recordings, id, found(segmentsOfHours), controller.signal);
  const parking = countTurnsUntilSettled(parked, () => --left === 0 && controller.abort(new Error("the server stops")));
  expect(parking).rejects.toThrow("the server stops");
  await parking.catch(() => {});
  expect(recordings.get(id)?.status).toBe("processing");
  await removeWorkOfEnded(recordings);
  expect(stored().length).toBeGreaterThan(0);
  expect(await complete(recordings, id, found(segmentsOfHours), never)).toBe(true);
  expect(stored()).toHaveLength(segmentsOfHours.length);
});

test("step results whose removal was interrupted are removed after the next start", async () => {
  using directory = temporaryDirectory();
  checkpoints.write("decode", 0, Type.Object({}), {});
  recordings.rows.addSegments(id, segmentsOfHours.slice(0, 250));
  recordings.fail(id, { reason: "internal", cause: "cancelled" });
  const workReservations = new WorkReservations(new DiskSpace(directory.path, () => 0));
  await recoverWork({ store, recordings, dataDirectory: new DataDirectory(directory.path), workReservations });
  await removeWorkOfEnded(recordings);
  expect(stored()).toEqual([]);
  expect(store.$client.query("SELECT * FROM checkpoints").values()).toEqual([]);
});
