import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { forEachMissingPart, type StepContext } from "../../src/pipeline/step.ts";
import { eachTrack, type Track, type TrackContext } from "../../src/pipeline/tracks.ts";
import { stepContext, storedRecording } from "./step-context.ts";

const partSchema = Type.Object({ track: Type.Integer() });

/** Returns the context of a recording's step, and the progress that it reports. */
function made(directory: string) {
  const progress: (number | null)[] = [];
  const more = { directory, progress: (fraction: number | null) => void progress.push(fraction) };
  return { context: stepContext(storedRecording(), undefined, more), progress };
}

const tracks: Track[] = [0, 1].map((index) => ({
  index,
  isParty: true,
  pcm: { path: `track ${index}`, sampleCount: 16_000 },
}));

/** Runs a step of two parts on each track and returns the parts that it ran. */
async function doStep(context: StepContext): Promise<string[]> {
  const done: string[] = [];
  const listen = async ({ checkpoints, ...track }: TrackContext) => {
    await forEachMissingPart({ ...track, checkpoints }, "listen", 2, async (part) => {
      checkpoints.write("listen", part, partSchema, { track: Number(track.area.pcm.path.at(-1)) });
      done.push(`${track.area.pcm.path} part ${part}`);
    });
    return {};
  };
  await eachTrack(context, tracks, listen, ({ index }) => [3, 1][index] ?? 0);
  return done;
}

describe("a step on two tracks", () => {
  test("processes each separately, with its own checkpoints and directory", async () => {
    using directory = temporaryDirectory();
    const { context } = made(directory.path);
    expect(await doStep(context)).toEqual(["track 0 part 0", "track 0 part 1", "track 1 part 0", "track 1 part 1"]);
    const directories = await eachTrack(context, tracks, async ({ area }) => ({ directory: area.directory }));
    const { work } = context.files;
    expect(directories.map(({ directory }) => directory)).toEqual([work, `${work}/track-1`]);
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
