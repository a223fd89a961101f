import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import pino from "pino";
import { available, corpusPath, ffmpegPath, mediaToolPath } from "../../harness/checkout.ts";
import { lavfi, makeWithFfmpeg } from "../../harness/media.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { DiskSpace, WorkReservations } from "../../src/disk/index.ts";
import { decode } from "../../src/pipeline/decode.ts";
import { DataDirectory, DataPaths } from "../../src/storage/index.ts";
import { stepContext, storedRecording } from "./step-context.ts";

/** Returns a recording that an earlier server decoded, with this checkpoint and files of these sizes. */
async function resumed(directory: string, checkpoint: string, files: Readonly<Record<string, number>>) {
  const stored = storedRecording();
  stored.store.$client.run("INSERT INTO checkpoints VALUES (?, 'decode', 0, ?)", [stored.id, checkpoint]);
  const context = stepContext(stored, undefined, { directory });
  for (const [name, size] of Object.entries(files)) {
    await Bun.write(join(context.files.work, name), new Uint8Array(size));
  }
  // There is no upload and no ffmpeg, so a second decode fails.
  return decode(context, optionsIn(new DataPaths(directory), join(directory, "none")));
}

const optionsIn = ({ root, localAudio: audio }: DataPaths, ffmpegPath: string) => ({
  ...{ ffmpegPath, audio, maxSeconds: 60, onProbed: () => {} },
  reservations: new WorkReservations(new DiskSpace(root, () => 0)),
});

const bothTracks = { "audio.pcm": 18_000, "audio-1.pcm": 18_000 };

test.each([
  ["a recording that a version without tracks decoded", '{"sampleCount":9000}', { "audio.pcm": 18_000 }, ["audio.pcm"]],
  ["a mixed recording", '{"sampleCount":9000,"tracks":1}', { "audio.pcm": 18_000 }, ["audio.pcm"]],
  ["a call", '{"sampleCount":9000,"tracks":2}', bothTracks, ["audio.pcm", "audio-1.pcm"]],
])("%s is not decoded again after a restart", async (_, checkpoint, files, names) => {
  using directory = temporaryDirectory();
  const tracks = await resumed(directory.path, checkpoint, files);
  expect(tracks.map(({ pcm, ...track }) => ({ ...track, ...pcm, path: basename(pcm.path) }))).toEqual(
    names.map((path, index) => ({ index, isParty: names.length > 1, path, sampleCount: 9000 })),
  );
});

test("unchanged decoded audio is reused, and changed audio is decoded again", async () => {
  using directory = temporaryDirectory();
  const bytes = Bun.hash.wyhash(new Uint8Array(18_000), 0n).toString(16);
  const checkpoint = (...digests: string[]) => JSON.stringify({ sampleCount: 9000, tracks: 2, digests });
  expect(await resumed(directory.path, checkpoint(bytes, bytes), bothTracks)).toHaveLength(2);
  await expect(resumed(directory.path, checkpoint(bytes, "0"), bothTracks)).rejects.toMatchObject({
    failure: { reason: "internal", cause: "input_unreadable" },
  });
});

test.each([
  ["a part of a track is missing", { "audio.pcm": 18_000, "audio-1.pcm": 17_000 }],
  ["a track is missing", { "audio.pcm": 18_000 }],
])("a call of which %s is decoded again", async (_, files) => {
  using directory = temporaryDirectory();
  await expect(resumed(directory.path, '{"sampleCount":9000,"tracks":2}', files)).rejects.toMatchObject({
    failure: { reason: "internal", cause: "input_unreadable" },
  });
});

describe.if(
  available("what the log says of damaged files", ffmpegPath, mediaToolPath, corpusPath("formats/bad-truncated.mp3")),
)("a file that ends before it should", () => {
  test.each([
    [
      "bad-truncated.mp3",
      [{ event: "recording.damaged", decodedSeconds: 4.2869375, declaredSeconds: expect.closeTo(11, 0) }],
    ],
    ["jfk-video.webm", []],
    // It starts with silence, so ffmpeg estimates 130 s from the bit rate there.
    ["20 s of AAC without a declared length", []],
  ])("%s is decoded as far as possible, and the log reports the decoded length", async (name, expected) => {
    using directory = temporaryDirectory();
    let uploadPath = corpusPath(`formats/${name}`);
    if (name.includes("AAC")) {
      uploadPath = join(directory.path, "upload");
      const [silence, noise] = ["anullsrc=duration=3", "anoisesrc=duration=17"].map((source) =>
        lavfi(`${source}:sample_rate=16000`),
      );
      const aac = ["-filter_complex", "concat=v=0:a=1", "-c:a", "aac", "-q:a", "1", "-f", "adts"];
      makeWithFfmpeg(...(silence ?? []), ...(noise ?? []), ...aac, uploadPath);
    }
    const stored = storedRecording();
    const dataDirectory = new DataDirectory(directory.path);
    symlinkSync(uploadPath, dataDirectory.localAudio.pathOf(stored.id));
    const lines: string[] = [];
    const log = pino({ base: null, timestamp: false, level: "warn" }, { write: (line: string) => lines.push(line) });
    const context = stepContext(stored, undefined, { directory: directory.path, log });
    context.files.prepareWork();
    const [track] = await decode(context, optionsIn(dataDirectory, ffmpegPath));
    expect(track?.pcm.sampleCount).toBeGreaterThan(16_000);
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      expected.map((line) => ({ level: 40, ...line, recordingId: stored.id })),
    );
  });
});
