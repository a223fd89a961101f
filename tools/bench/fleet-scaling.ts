import { existsSync } from "node:fs";
import { join } from "node:path";
import { mediaToolPath } from "../../harness/checkout.ts";
import type { TestClient } from "../../harness/client.ts";
import type { NatsServer } from "../../harness/nats-server.ts";
import { killedWithParent, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { digestFile, programFiles } from "../../src/program/index.ts";
import { fleetIdentity } from "../../src/server/index.ts";
import { beforeStop, cpuSecondsOf } from "../shared/processes.ts";
import { runCommand } from "../shared/run-command.ts";
import { type CoordinatorFigures, CoordinatorWatch, metricsOf } from "./fleet-watch.ts";

/** A load for a fleet of scripted workers. */
export interface Load {
  readonly workers: number;
  readonly recordings: number;
  /** Length of each recording. */
  readonly hours: number;
  /** Speed of each worker for whole recordings, as a multiple of real time. */
  readonly timesRealTime: number;
}

/** Figures of one load. */
export interface ScalingFigures {
  readonly load: Load;
  /** From the start of the first recording to the completion of the last one. */
  readonly seconds: number;
  /** Time of ffmpeg, over all recordings. */
  readonly decodeSeconds: number;
  /** Sum of the scripted time of all operations. */
  readonly workSeconds: number;
  /** Share of the workers' time that was scripted work; a single recording is not distributed before it is decoded. */
  readonly efficiency: number;
  readonly coordinator: CoordinatorFigures;
  readonly brokerCpuSeconds: number;
  readonly workerCpuSeconds: number;
}

const HOUR = 3600;
/** No recording of a load may wait because of a limit. */
const LIMITS = {
  TRANSCRIBE_LIMITS_RECORDINGS_PER_ACCOUNT: "1000",
  TRANSCRIBE_LIMITS_AUDIO_MINUTES_PER_DAY: "10000000",
};
const POLL_MILLISECONDS = 200;
/** Length of the recording before the first load; with it, the server tests the encoder's ONNX form. */
const WARM_UP_HOURS = 0.25;

/** A real server as coordinator, with what its workers have to know. */
export interface Coordinator extends AsyncDisposable {
  readonly server: TestServer;
  readonly broker: NatsServer;
  readonly build: string;
  /** SHA-256 of its speech model. */
  readonly model: string;
}

/** Starts a coordinator that leaves all parts to its workers, and lets it run its one-time benchmarks. */
export async function startCoordinator(broker: NatsServer, directory: string): Promise<Coordinator> {
  // A commit during the measurement would change the name of the build.
  const { build } = await fleetIdentity({ machine: "" });
  const model = await digestFile((await programFiles("")).speechModel, "sha256");
  const server = new TestServer({
    ...LIMITS,
    TRANSCRIBE_LOG_LEVEL: "error",
    TRANSCRIBE_FLEET_BROKER: broker.url,
    TRANSCRIBE_FLEET_WORK_HERE: "false",
  });
  beforeStop(() => server[Symbol.asyncDispose]());
  await server.start(false);
  const load = { workers: 1, recordings: 1, hours: WARM_UP_HOURS, timesRealTime: 1000 };
  const coordinator: Coordinator = {
    ...{ server, broker, build, model },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  await measureScaling(load, coordinator, await makeSilence(load.hours, directory));
  return coordinator;
}

/** Runs a load on a coordinator and measures the coordinator. @param file a recording of the load's length */
export async function measureScaling(load: Load, coordinator: Coordinator, file: string): Promise<ScalingFigures> {
  const { server, broker } = coordinator;
  await using workers = new ScriptedWorkers(load, coordinator);
  using _stop = beforeStop(() => workers[Symbol.asyncDispose]());
  await server.until(async () => (await metricsOf(server)).get("transcribe_fleet_worker_lanes") === load.workers);
  // The server is not ready before it has a worker.
  await server.untilReady();
  const client = server.client(`bench-${Bun.randomUUIDv7()}`);
  const decodedBefore = (await metricsOf(server)).get("transcribe_step_seconds_total decode") ?? 0;
  const brokerBefore = cpuSecondsOf(broker.pid);
  const startedAt = performance.now();
  const ids = [(await client.create(file)).id];
  const watch = new CoordinatorWatch(server, client, ids[0] as string);
  while (ids.length < load.recordings) ids.push((await client.create(file)).id);
  for (const id of ids) await untilCompleted(server, client, id);
  const seconds = (performance.now() - startedAt) / 1000;
  const watched = await watch.stop();
  const brokerCpuSeconds = cpuSecondsOf(broker.pid) - brokerBefore;
  const workerCpuSeconds = workers.cpuSeconds;
  const decodeSeconds = ((await metricsOf(server)).get("transcribe_step_seconds_total decode") ?? 0) - decodedBefore;
  const workSeconds = await workers.end();
  const distributedSeconds = load.recordings === 1 ? seconds - decodeSeconds : seconds;
  const efficiency = workSeconds / load.workers / distributedSeconds;
  return {
    ...{ load, seconds, decodeSeconds, workSeconds, efficiency, coordinator: watched },
    ...{ brokerCpuSeconds, workerCpuSeconds },
  };
}

/** Makes a recording of silence. */
export async function makeSilence(hours: number, directory: string): Promise<string> {
  const path = join(directory, `${hours}h.flac`);
  const source = ["-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono,asetnsamples=n=16000", "-t", String(hours * HOUR)];
  await runCommand([mediaToolPath, "-v", "error", ...source, "-compression_level", "0", path]);
  return path;
}

async function untilCompleted(server: TestServer, client: TestClient, id: string): Promise<void> {
  for (;;) {
    const { status } = await client.get(id);
    if (status === "completed") return;
    if (status === "failed") throw new Error(`the recording failed\n${server.tail()}`);
    await Bun.sleep(POLL_MILLISECONDS);
  }
}

/** Linux: a file system in memory. */
const MEMORY = "/dev/shm";

/** Workers of a fleet with a scripted engine, each in a process of its own. */
class ScriptedWorkers implements AsyncDisposable {
  readonly #children: Bun.Subprocess<"ignore", "pipe", "inherit">[];
  /** In memory if possible: the disks of real workers are not the coordinator's. */
  readonly #directory = temporaryDirectory(existsSync(MEMORY) ? MEMORY : undefined);

  constructor({ workers, timesRealTime }: Load, { broker, build, model }: Coordinator) {
    const script = join(import.meta.dir, "fleet-worker.ts");
    const command = (index: number) =>
      killedWithParent([
        ...[process.execPath, "--no-env-file", script],
        join(this.#directory.path, `w${index}`),
        ...[broker.url, `w${index}`, build, model, String(timesRealTime)],
      ]);
    this.#children = Array.from({ length: workers }, (_, index) =>
      Bun.spawn(command(index), { stdin: "ignore", stdout: "pipe", stderr: "inherit" }),
    );
  }

  /** Stops the workers. @returns the seconds of all their operations */
  async end(): Promise<number> {
    for (const child of this.#children) child.kill("SIGTERM");
    const texts = await Promise.all(this.#children.map((child) => child.stdout.text()));
    return texts.reduce((sum, text) => sum + Number(text), 0);
  }

  /** CPU time of all workers since their start. */
  get cpuSeconds(): number {
    return this.#children.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    await Promise.all(this.#children.map((child) => child.exited));
    this.#directory[Symbol.dispose]();
  }
}
