import { expect, test } from "bun:test";
import { type MetricSources, Metrics } from "../../src/telemetry/index.ts";
import { promtoolProgram } from "../support/promtool.ts";

const worker = {
  pid: process.pid,
  gpu: { label: "CUDA0", name: "H200" },
  gpuMemory: { freeBytes: 3, totalBytes: 8 },
  role: "speech",
  lanes: 16,
  decoderSlots: 8,
  decoder: { steps: 20, rows: 500 },
};
const waiting = { speech: 3, speakers: 1 };

function metricsOf(changes: Partial<MetricSources> = {}, machine: string | null = null): Metrics {
  const metrics = new Metrics({
    version: "1.2.3",
    refusalCodes: ["not_found", "rate_limited"],
    wyomingErrorCodes: ["timeout"],
    failures: [{ reason: "internal", cause: "disk_full" }],
    liveEnds: ["client", "idle"],
    machine,
  });
  metrics.observe({
    openRecordings: () => [{ status: "queued", priority: 5, count: 2 }],
    stalledRecordings: () => [{ trouble: "disk_full", count: 1 }],
    oldestWaitingSeconds: () => 61,
    engine: () => ({ ready: true, asleep: false, workers: [worker], waiting }),
    modelInUse: () => "whisper-base",
    disk: async () => ({ freeBytes: 1, sizeBytes: 2, databaseBytes: 3, folders: { uploads: 4 } }),
    certificateEndsAt: () => 1_800_000_000,
    folders: () => ({ waiting: 7, done: 5, failed: 2, hindered: [{ kind: "full", count: 1 }] }),
    live: () => ({ open: 3, places: 8 }),
    webhooks: () => ({ pending: 4, paused: 1 }),
    auditForwarding: () => ({ count: 6, oldestSeconds: 90 }),
    lease: () => ({ epoch: 2, remainingSeconds: 9.5 }),
    standby: () => ({ unfollowedSeconds: 0, behindBytes: 4120, delaySeconds: 0.25 }),
    audioStore: () => ({ waiting: 6, outageSeconds: 30 }),
    fleet: () => null,
    ...changes,
  });
  return metrics;
}

/** Returns only the samples. */
async function read(metrics: Metrics): Promise<string[]> {
  return (await metrics.read()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

test("gauges are read with their labels when the metrics are read", async () => {
  const samples = await read(metricsOf());
  for (const expected of [
    'transcribe_recordings_open{status="queued",priority="5"} 2',
    'transcribe_recordings_open{status="queued",priority="0"} 0',
    'transcribe_recordings_open{status="processing",priority="0"} 0',
    "transcribe_queue_oldest_waiting_seconds 61",
    "transcribe_standby_unfollowed_seconds 0",
    "transcribe_standby_behind_bytes 4120",
    "transcribe_standby_delay_seconds 0.25",
    "transcribe_engine_ready 1",
    "transcribe_engine_asleep 0",
    'transcribe_gpu_memory_free_bytes{gpu="CUDA0",name="H200"} 3',
    'transcribe_gpu_memory_total_bytes{gpu="CUDA0",name="H200"} 8',
    'transcribe_model_info{model="whisper-base"} 1',
    'transcribe_engine_lanes{gpu="CUDA0"} 16',
    'transcribe_engine_decoder_slots{gpu="CUDA0"} 8',
    'transcribe_engine_decoder_steps_total{gpu="CUDA0"} 20',
    'transcribe_engine_decoder_rows_total{gpu="CUDA0"} 500',
    'transcribe_engine_waiting_operations{role="speech"} 3',
    'transcribe_engine_waiting_operations{role="speakers"} 1',
    "transcribe_disk_free_bytes 1",
    "transcribe_audit_entries_pending 6",
    "transcribe_audit_oldest_pending_seconds 90",
    "transcribe_disk_size_bytes 2",
    "transcribe_database_bytes 3",
    'transcribe_stored_bytes{folder="uploads"} 4',
    "transcribe_tls_certificate_end_timestamp_seconds 1800000000",
    'transcribe_build_info{version="1.2.3"} 1',
  ]) {
    expect(samples).toContain(expected);
  }
});

test("metrics that are read several times at once have the same values each time", async () => {
  const measured = Bun.sleep(1).then(() => ({ freeBytes: 1, sizeBytes: 2, databaseBytes: 3, folders: { uploads: 4 } }));
  const metrics = metricsOf({ disk: () => measured });
  for (const samples of await Promise.all([1, 2, 3].map(() => read(metrics)))) {
    for (const expected of [
      "transcribe_queue_oldest_waiting_seconds 61",
      "transcribe_disk_free_bytes 1",
      'transcribe_engine_decoder_steps_total{gpu="CUDA0"} 20',
      'transcribe_folder_files_total{outcome="done"} 5',
    ]) {
      expect(samples).toContain(expected);
    }
  }
});

test("steps name their machine in a fleet only, and a fleet shows the round trip to its broker", async () => {
  const work = { step: "transcribe", device: "cpu", seconds: 2, audioSeconds: 10 };
  const alone = metricsOf();
  alone.engine.stepDone(work);
  const single = await read(alone);
  expect(single).toContain('transcribe_step_seconds_total{step="transcribe",device="cpu",gpu=""} 2');
  expect(single.join("\n")).not.toMatch(/machine|fleet/);

  const counts = { redelivered: 0, lateResults: 0, refusedResults: 0, unreported: 0, sentBytes: 0, receivedBytes: 0 };
  const machines = [
    { machine: "w1", pool: "", lanes: 2, problem: null },
    { machine: "gpu.pod-1", pool: "gpu", lanes: 3, problem: null },
    { machine: "gpu.pod-2", pool: "gpu", lanes: 3, problem: null },
    { machine: "gpu.pod-3", pool: "gpu", lanes: 3, problem: "its disk is full" },
  ];
  const demand = { wanted: 4, waitingAudioSeconds: 5000, laneSpeed: 6.5 };
  const fleet = { brokerConnected: true, roundTripSeconds: 0.004, machines, demand, published: 0, counts };
  const metrics = metricsOf({ fleet: () => fleet }, "own");
  metrics.engine.stepDone(work);
  metrics.engine.stepDone({ ...work, machine: "gpu1" });
  const samples = await read(metrics);
  for (const expected of [
    'transcribe_step_seconds_total{step="transcribe",device="cpu",gpu="",machine="own"} 2',
    'transcribe_step_audio_seconds_total{step="transcribe",device="cpu",gpu="",machine="gpu1"} 10',
    "transcribe_fleet_broker_round_trip_seconds 0.004",
    'transcribe_fleet_worker_lanes{machine="w1"} 2',
    'transcribe_fleet_worker_lanes{machine="gpu"} 6',
    'transcribe_fleet_pool_workers{pool="gpu"} 2',
    "transcribe_fleet_wanted_workers 4",
    "transcribe_fleet_waiting_audio_seconds 5000",
    "transcribe_fleet_lane_speed 6.5",
  ]) {
    expect(samples).toContain(expected);
  }
  expect(samples.join("\n")).not.toContain("pod-");
  expect(await metrics.engine.work()).toEqual([{ ...work, gpu: "", seconds: 4, audioSeconds: 20 }]);
});

test("a series whose source is gone is dropped", async () => {
  let there = true;
  const metrics = metricsOf({
    openRecordings: () => (there ? [{ status: "queued", priority: 5, count: 2 }] : []),
    engine: () => {
      const gone = { ...worker, pid: null, gpuMemory: null };
      return { ready: there, asleep: !there, workers: there ? [worker] : [gone], waiting };
    },
    modelInUse: () => (there ? "whisper-base" : "whisper-large"),
    certificateEndsAt: () => (there ? 1 : null),
  });
  expect((await read(metrics)).join("\n")).toMatch(/worker_resident_memory_bytes\{gpu="CUDA0"\} \d{6,}/);
  there = false;
  const after = (await read(metrics)).join("\n");
  expect(after).not.toMatch(/priority="5"|gpu_memory|whisper-base|worker_resident|tls_certificate/);
  expect(after).toContain('transcribe_model_info{model="whisper-large"} 1');
  expect(after).toContain("transcribe_engine_ready 0");
  expect(after).toContain("transcribe_engine_asleep 1");
});

test("workers on the CPU next to a GPU count as one in memory, and not as lanes", async () => {
  const own = { pid: process.pid, gpu: null, gpuMemory: null, role: "speakers" };
  const speakers = { ...own, lanes: 1, decoderSlots: 1, decoder: { steps: 0, rows: 0 } };
  const workers = [worker, speakers, speakers];
  const samples = await read(metricsOf({ engine: () => ({ ready: true, asleep: false, workers, waiting }) }));
  const memory = samples.filter((line) => line.startsWith("transcribe_engine_worker_resident_memory_bytes"));
  expect(memory.map((line) => line.split(" ")[0])).toEqual([
    'transcribe_engine_worker_resident_memory_bytes{gpu="CUDA0"}',
    'transcribe_engine_worker_resident_memory_bytes{gpu=""}',
  ]);
  const [one = 0, two = 0] = memory.map((line) => Number(line.split(" ")[1]));
  expect(two).toBeGreaterThan(1.5 * one);
  expect(samples.filter((line) => line.startsWith("transcribe_engine_lanes"))).toHaveLength(1);
});

test("a disk that cannot be read leaves out only its own metrics", async () => {
  const samples = (await read(metricsOf({ disk: () => Promise.reject(new Error("EIO")) }))).join("\n");
  expect(samples).not.toMatch(/transcribe_(disk|database|stored)/);
  expect(samples).toContain("transcribe_engine_ready 1");
});

test("counters with closed label values start at 0, so that the first event is an increase", async () => {
  const samples = await read(metricsOf());
  for (const expected of [
    'transcribe_http_refusals_total{code="rate_limited"} 0',
    'transcribe_recordings_ended_total{status="completed",reason="",cause=""} 0',
    'transcribe_recordings_ended_total{status="failed",reason="internal",cause="disk_full"} 0',
    'transcribe_engine_worker_deaths_total{signal="SIGILL"} 0',
  ]) {
    expect(samples).toContain(expected);
  }
});

test("the time and audio of a step are counted by device, so that their quotient is the RTF", async () => {
  const metrics = metricsOf();
  metrics.engine.stepDone({ step: "transcribe", device: "cuda", gpu: "CUDA1", seconds: 0.5, audioSeconds: 20 });
  metrics.engine.stepDone({ step: "transcribe", device: "cuda", gpu: "CUDA1", seconds: 0.25, audioSeconds: 10 });
  metrics.engine.stepDone({ step: "detect", device: "cpu", seconds: 2, audioSeconds: 0 });
  const samples = await read(metrics);
  expect(samples).toContain('transcribe_step_seconds_total{step="transcribe",device="cuda",gpu="CUDA1"} 0.75');
  expect(samples).toContain('transcribe_step_audio_seconds_total{step="transcribe",device="cuda",gpu="CUDA1"} 30');
  expect(samples).toContain('transcribe_step_seconds_total{step="detect",device="cpu",gpu=""} 2');
});

test("completed recordings are counted by language and duration, failed ones only by cause", async () => {
  const metrics = metricsOf();
  const ended = { language: "de", durationSeconds: 60, processingSeconds: 12 };
  metrics.recordings.decoded(60);
  metrics.recordings.ended({ ...ended, outcome: "completed", failure: null });
  metrics.recordings.ended({ ...ended, outcome: "failed", failure: { reason: "internal", cause: "disk_full" } });
  metrics.recordings.ended({ ...ended, outcome: "cancelled", failure: null });
  const samples = await read(metrics);
  for (const expected of [
    'transcribe_recordings_ended_total{status="completed",reason="",cause=""} 1',
    'transcribe_recordings_ended_total{status="failed",reason="internal",cause="disk_full"} 1',
    'transcribe_recordings_completed_total{language="de"} 1',
    "transcribe_audio_received_seconds_total 60",
    "transcribe_audio_completed_seconds_total 60",
    "transcribe_processing_seconds_total 12",
  ]) {
    expect(samples).toContain(expected);
  }
});

test("an unexpected worker exit is counted by its signal, an unknown signal as other", async () => {
  const metrics = metricsOf();
  for (const signal of ["SIGILL", "SIGILL", null, "SIGRTMIN+7"]) metrics.engine.unexpectedExit(signal);
  const samples = await read(metrics);
  expect(samples).toContain('transcribe_engine_worker_deaths_total{signal="SIGILL"} 2');
  expect(samples).toContain('transcribe_engine_worker_deaths_total{signal="none"} 1');
  expect(samples).toContain('transcribe_engine_worker_deaths_total{signal="other"} 1');
});

test("the metrics pass Prometheus's own checker", async () => {
  const promtool = await promtoolProgram("promtool check metrics");
  if (promtool === null) return;
  const metrics = metricsOf();
  metrics.http.request("GET", 200, 0.1);
  metrics.http.refused("not_found");
  metrics.engine.stepDone({ step: "detect", device: "cpu", seconds: 1, audioSeconds: 1 });
  const child = Bun.spawnSync([promtool, "check", "metrics"], { stdin: Buffer.from(await metrics.read()) });
  expect([child.exitCode, child.stdout.toString() + child.stderr.toString()]).toEqual([0, ""]);
});
