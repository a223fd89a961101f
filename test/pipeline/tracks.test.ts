import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { forEachMissingPart, type StepContext } from "../../src/pipeline/step.ts";
import { eachTrack, type Track } from "../../src/pipeline/tracks.ts";
import { Checkpoints, Recordings } from "../../src/recordings/index.ts";
import { DataPaths, openDatabase } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";

const partSchema = Type.Object({ track: Type.Integer() });

/** Returns the context of a recording's step, and the progress that it reports. */
function made(directory: string) {
  const store = openDatabase(":memory:");
  const { id: accountId } = createAccount(store, "acme", { actor: "operator", now: 1 });
  const id = Bun.randomUUIDv7();
  const recordings = new Recordings(store, Date.now);
  recordings.create(newRecording(id, accountId));
  const progress: (number | null)[] = [];
  const recording = recordings.get(id);
  if (recording === null) throw new Error("it is gone");
  const context: StepContext = {
    ...{ recording, files: new DataPaths(directory).filesOf(id), log: createLogger("silent") },
    checkpoints: new Checkpoints(store, id),
    engine: {
      partsAtOnce: 1,
      run: () => {
        throw new Error("the engine must not be used");
      },
    },
    signal: new AbortController().signal,
    progress: (fraction) => progress.push(fraction),
  };
  return { context, progress };
}

const tracks: Track[] = [0, 1].map((index) => ({
  index,
  isParty: true,
  pcm: { path: `track ${index}`, sampleCount: 16_000 },
}));

/** Runs a step of two parts on each track and returns the parts that it ran. */
async function doStep(context: StepContext): Promise<string[]> {
  const done: string[] = [];
  await eachTrack(
    context,
    tracks,
    ({ index }) => [3, 1][index] ?? 0,
    async ({ checkpoints, ...track }) => {
      await forEachMissingPart({ ...track, checkpoints }, "listen", 2, async (part) => {
        checkpoints.write("listen", part, partSchema, { track: Number(track.area.pcm.path.at(-1)) });
        done.push(`${track.area.pcm.path} part ${part}`);
      });
      return {};
    },
  );
  return done;
}

describe("a step on two tracks", () => {
  test("processes each separately, with its own checkpoints and directory", async () => {
    using directory = temporaryDirectory();
    const { context } = made(directory.path);
    expect(await doStep(context)).toEqual(["track 0 part 0", "track 0 part 1", "track 1 part 0", "track 1 part 1"]);
    const directories = await eachTrack(
      context,
      tracks,
      () => 1,
      async ({ area }) => ({ area }),
    );
    expect(directories.map((track) => track.area.directory)).toEqual([
      context.files.work,
      `${context.files.work}/track-1`,
    ]);
    // The first track's checkpoints have the names of a recording with one track.
    expect(context.checkpoints.read("listen", 0, partSchema)).toEqual({ track: 0 });
    expect(context.checkpoints.ofTrack(1).read("listen", 0, partSchema)).toEqual({ track: 1 });
  });

  test("resumes at its checkpoint, track by track", async () => {
    using directory = temporaryDirectory();
    const { context } = made(directory.path);
    for (const part of [0, 1]) context.checkpoints.write("listen", part, partSchema, { track: 0 });
    context.checkpoints.ofTrack(1).write("listen", 0, partSchema, { track: 1 });
    expect(await doStep(context)).toEqual(["track 1 part 1"]);
    expect(await doStep(context)).toEqual([]);
  });

  test("is cleared on both tracks without affecting other steps", async () => {
    using directory = temporaryDirectory();
    const { context } = made(directory.path);
    await doStep(context);
    context.checkpoints.ofTrack(1).write("listening", 0, partSchema, { track: 1 });
    context.checkpoints.clear("listen");
    expect(context.checkpoints.finished("listen").size).toBe(0);
    expect(context.checkpoints.ofTrack(1).finished("listen").size).toBe(0);
    expect(context.checkpoints.ofTrack(1).finished("listening").size).toBe(1);
  });

  test("reports progress by the tracks' shares, which never decreases", async () => {
    using directory = temporaryDirectory();
    const { context, progress } = made(directory.path);
    await doStep(context);
    expect(progress).toEqual([0, 0.375, 0.75, 0.75, 0.875, 1]);
  });
});
