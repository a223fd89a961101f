import { expect, test } from "bun:test";
import { type StatsFs, statfsSync } from "node:fs";
import { loadSettings } from "../../src/config/index.ts";
import { DiskSpace } from "../../src/disk/index.ts";
import { type ExamineServices, RecordingExaminer } from "../../src/intake/examine-recording.ts";
import { IntakeError, type IntakeRefusal } from "../../src/intake/index.ts";
import { MediaError } from "../../src/media/index.ts";

type Probed = Awaited<ReturnType<ExamineServices["probe"]>>;

const limits = loadSettings({ file: undefined, environment: {}, flags: {} }).limits;
const HOUR = 3600;
const file = { path: "/incoming/x.part", sizeBytes: 1000, name: "talk.mp3" };

/** A recording with one channel, of which a second is 36,000 bytes: 32,000 of sound, and results. */
function recordingOf(durationSeconds: number, durationIsEstimate = false): Probed {
  const tracks = [{ index: 0, channels: 1, channelLayout: "mono" }] as const;
  return { ok: true, durationSeconds, containerSeconds: durationSeconds, durationIsEstimate, tracks, trackCount: 1 };
}

function examinerOf(probe: ExamineServices["probe"], { freeBytes = 1e9, diskBytes = 1e9 } = {}): RecordingExaminer {
  const look = (): StatsFs => ({ ...statfsSync("/"), bsize: 1, blocks: diskBytes, bavail: freeBytes });
  return new RecordingExaminer({ probe, diskSpace: new DiskSpace("/", () => 0, look), limits: () => limits });
}

test.each<[string, IntakeRefusal | null, Probed | Error, { freeBytes?: number; diskBytes?: number }]>([
  ["a recording of a second", null, recordingOf(1), { freeBytes: 40_000 }],
  ["a recording of the maximum length", null, recordingOf(18 * HOUR), { freeBytes: 1e10, diskBytes: 1e10 }],
  ["one whose length is a wrong estimate", null, recordingOf(30 * HOUR, true), { freeBytes: 1e10, diskBytes: 1e10 }],
  ["one that is longer", { kind: "too_long", maxSeconds: 18 * HOUR }, recordingOf(18 * HOUR + 1), {}],
  ["no recording", { kind: "no_recording", reason: "It is none." }, { ok: false, reason: "It is none." }, {}],
  ["one that no disk can hold", { kind: "never_fits" }, recordingOf(1), { diskBytes: 36_000 }],
  [
    "one for a fuller disk",
    { kind: "no_space_to_process", neededBytes: 36_000 },
    recordingOf(1),
    { freeBytes: 30_000 },
  ],
  ["a busy machine", { kind: "probe_timed_out" }, new MediaError("ffmpeg_timed_out", "it took 60 s"), {}],
])("%s is examined with the result %p", async (_, refusal, probed, disk) => {
  const probe = async () => {
    if (probed instanceof Error) throw probed;
    return probed;
  };
  const found = await examinerOf(probe, disk)
    .examine(file, "acme")
    .then(
      () => null,
      (error: unknown) => (error instanceof IntakeError ? error.refusal : error),
    );
  expect(found).toEqual(refusal);
});

test("the files of an account whose probes are slow delay no other account, and two of them are probed at once", async () => {
  const held = Promise.withResolvers<void>();
  let probes = 0;
  const examiner = examinerOf(async () => {
    if (++probes <= 2) await held.promise;
    return recordingOf(1);
  });
  const slow = Array.from({ length: 5 }, () => examiner.examine(file, "hostile"));
  // One after the other, and some at a time, as another account would send them.
  await examiner.examine(file, "honest");
  await Promise.all([1, 2, 3].map((index) => examiner.examine(file, `account-${index}`)));
  expect(probes).toBe(2 + 4);
  held.resolve();
  await Promise.all(slow);
  expect(probes).toBe(5 + 4);
});
