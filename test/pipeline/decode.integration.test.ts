import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import pino from "pino";
import { available, corpusPath, ffmpegPath, mediaToolPath } from "../../harness/checkout.ts";
import { lavfi, makeWithFfmpeg } from "../../harness/media.ts";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { decode } from "../../src/pipeline/decode.ts";
import type { StepContext } from "../../src/pipeline/step.ts";
import { Checkpoints, Recordings } from "../../src/recordings/index.ts";
import { DataDirectory, DataPaths, DiskSpace, openDatabase, WorkReservations } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";

const noEngine = { partsAtOnce: 1, run: () => Promise.reject(new Error("nothing is asked of the engine")) };

/** Returns a recording in its own database. */
function entered() {
  const store = openDatabase(":memory:");
  const recordings = new Recordings(store, Date.now);
  const { id: accountId } = createAccount(store, "acme", { actor: "operator", now: 1 });
  const recording = recordings.create(newRecording(Bun.randomUUIDv7(), accountId));
  return { store, recording, checkpoints: new Checkpoints(store, recording.id) };
}

/** Returns a recording that an earlier server decoded, with this checkpoint and files of these sizes. */
async function resumed(directory: string, checkpoint: string, files: Readonly<Record<string, number>>) {
  const { store, recording, checkpoints } = entered();
  store.$client.run("INSERT INTO checkpoints VALUES (?, 'decode', 0, ?)", [recording.id, checkpoint]);
  const recordingFiles = new DataPaths(directory).filesOf(recording.id);
  for (const [name, size] of Object.entries(files)) {
    await Bun.write(join(recordingFiles.work, name), new Uint8Array(size));
  }
  const context: StepContext = {
    ...{ recording, files: recordingFiles, log: createLogger("silent") },
    checkpoints,
    engine: noEngine,
    signal: new AbortController().signal,
    progress: () => {},
  };
  // There is no upload and no ffmpeg, so a second decode fails.
  return decode(context, {
    ffmpegPath: join(directory, "none"),
    audio: new DataPaths(directory).audio,
    maxSeconds: 60,
    onProbed: () => {},
    reservations: new WorkReservations(new DiskSpace(directory, () => 0)),
  });
}

test.each([
  ["a recording that a version without tracks decoded", '{"sampleCount":9000}', { "audio.pcm": 18_000 }, ["audio.pcm"]],
  ["a mixed recording", '{"sampleCount":9000,"tracks":1}', { "audio.pcm": 18_000 }, ["audio.pcm"]],
  [
    "a call",
    '{"sampleCount":9000,"tracks":2}',
    { "audio.pcm": 18_000, "audio-1.pcm": 18_000 },
    ["audio.pcm", "audio-1.pcm"],
  ],
])("%s is not decoded again after a restart", async (_, checkpoint, files, names) => {
  using directory = temporaryDirectory();
  const tracks = await resumed(directory.path, checkpoint, files);
  expect(tracks.map(({ pcm, ...track }) => ({ ...track, ...pcm, path: basename(pcm.path) }))).toEqual(
    names.map((path, index) => ({ index, isParty: names.length > 1, path, sampleCount: 9000 })),
  );
});

test("unchanged decoded audio is reused, and changed audio is decoded again", async () => {
  using directory = temporaryDirectory();
  const files = { "audio.pcm": 18_000, "audio-1.pcm": 18_000 };
  const bytes = Bun.hash.wyhash(new Uint8Array(18_000), 0n).toString(16);
  const checkpoint = (...digests: string[]) => JSON.stringify({ sampleCount: 9000, tracks: 2, digests });
  expect(await resumed(directory.path, checkpoint(bytes, bytes), files)).toHaveLength(2);
  await expect(resumed(directory.path, checkpoint(bytes, "0"), files)).rejects.toMatchObject({
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
  available(
    "tests of what the log says of damaged files",
    ffmpegPath,
    mediaToolPath,
    corpusPath("formats/bad-truncated.mp3"),
  ),
)("a file that ends before it should", () => {
  test.each([
    [
      "bad-truncated.mp3",
      [{ event: "recording.damaged", decodedSeconds: expect.closeTo(4.3, 0), declaredSeconds: expect.closeTo(11, 0) }],
    ],
    ["jfk-video.webm", []],
    // It starts with silence, so ffmpeg estimates 130 s from the bit rate there.
    ["20 s of AAC without a declared length", []],
  ])("%s is decoded as far as possible, and the log reports the decoded length", async (name, expected) => {
    using directory = temporaryDirectory();
    let uploadPath = corpusPath(`formats/${name}`);
    if (name.includes("AAC")) {
      uploadPath = join(directory.path, "upload");
      const inputs = [
        ...lavfi("anullsrc=duration=3:sample_rate=16000"),
        ...lavfi("anoisesrc=duration=17:sample_rate=16000"),
      ];
      makeWithFfmpeg(
        ...inputs,
        "-filter_complex",
        "concat=v=0:a=1",
        "-c:a",
        "aac",
        "-q:a",
        "1",
        "-f",
        "adts",
        uploadPath,
      );
    }
    const { recording, checkpoints } = entered();
    const dataDirectory = new DataDirectory(directory.path);
    const files = dataDirectory.filesOf(recording.id);
    symlinkSync(uploadPath, dataDirectory.audio.pathOf(recording.id));
    files.prepareWork();
    const lines: string[] = [];
    const [track] = await decode(
      {
        ...{ recording, files, engine: noEngine },
        ...{ checkpoints, signal: new AbortController().signal },
        log: pino({ base: null, timestamp: false, level: "warn" }, { write: (line: string) => lines.push(line) }),
        progress: () => {},
      },
      {
        ffmpegPath,
        audio: dataDirectory.audio,
        maxSeconds: 60,
        onProbed: () => {},
        reservations: new WorkReservations(new DiskSpace(directory.path, () => 0)),
      },
    );
    expect(track?.pcm.sampleCount).toBeGreaterThan(16_000);
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      expected.map((line) => ({ level: 40, ...line, recordingId: recording.id })),
    );
  });
});
