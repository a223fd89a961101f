import { expect, test } from "bun:test";
import { WorkerDemand } from "../../src/fleet/index.ts";

const goal = { target_minutes: 10, max_workers: 8 };
const worker = (lanes: number, problem: string | null = null) => ({ lanes, problem });

/** A demand after an hour of audio, of which a lane processed two seconds in each second. */
function measured(): WorkerDemand {
  const demand = new WorkerDemand();
  demand.note({ step: "detect", seconds: 450, audioSeconds: 3600 });
  demand.note({ step: "transcribe", seconds: 450, audioSeconds: 1800 });
  demand.note({ step: "transcribe", seconds: 450, audioSeconds: 1800 });
  demand.note({ step: "diarize", seconds: 450, audioSeconds: 3600 });
  return demand;
}

test.each([
  ["no audio waits", 0, 0],
  ["one second waits", 1, 1],
  // A worker with two lanes processes 2 × 2 × 600 s = 2400 s in ten minutes.
  ["as much waits as one worker processes", 2400, 1],
  ["a little more waits", 2401, 2],
  ["five times as much waits", 12_000, 5],
  ["a whole archive waits", 1e9, 8],
])("if %s (%d s), %d workers are wanted", (_, seconds, wanted) => {
  const found = measured().wanted(seconds, [worker(1), worker(3), worker(9, "its disk is full"), worker(0)], goal);
  expect(found).toEqual({ wanted, present: 2, waitingAudioSeconds: seconds, laneSpeed: 2, lanesOfWorker: 2 });
});

test("the lanes of a worker are remembered while none is present, so that a fleet can grow from nothing", () => {
  const demand = measured();
  demand.wanted(0, [worker(4)], goal);
  expect(demand.wanted(24_000, [], goal)).toMatchObject({ wanted: 5, present: 0, lanesOfWorker: 4 });
});

test("before anything is measured, a lane counts as one core, and live sessions measure nothing", () => {
  const demand = new WorkerDemand();
  demand.note({ step: "live_transcribe", seconds: 1e6, audioSeconds: 1 });
  demand.note({ step: "detect", seconds: 1, audioSeconds: 239 });
  expect(demand.wanted(2400, [], goal)).toMatchObject({ laneSpeed: 4, wanted: 1 });
});

test("the speed follows a slower model within hours, also while a long recording is detected first", () => {
  const demand = measured();
  for (let hour = 0; hour < 40; hour++) demand.note({ step: "detect", seconds: 600, audioSeconds: 3600 });
  for (let hour = 0; hour < 40; hour++) demand.note({ step: "transcribe", seconds: 2550, audioSeconds: 3600 });
  // An hour needs 600 s of detection, 2550 s of transcription and, as before, 450 s of speaker diarization.
  expect(demand.wanted(0, [], goal).laneSpeed).toBeCloseTo(1, 2);
});
