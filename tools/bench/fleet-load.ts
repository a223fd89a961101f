import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestClient } from "../../harness/client.ts";
import { metricsOf, newServer, patientClient, sendAtOnce } from "../../harness/measured-server.ts";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { killedWithParent, type TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { digestFile, programFiles } from "../../src/program/index.ts";
import { fleetIdentity } from "../../src/server/index.ts";
import { makeSilence } from "../corpus/index.ts";
import { total } from "../shared/figures.ts";
import { cpuSecondsOf } from "../shared/processes.ts";
import { CommandError } from "../shared/run-command.ts";
import { watchCoordinator } from "./coordinator-watch.ts";

/** A load for a fleet of scripted workers. */
export interface Load {
  readonly workers: number;
  readonly recordings: number;
  /** Length of each recording. */
  readonly hours: number;
}

/** Speed of each worker for whole recordings, as a multiple of real time: several times that of two cores. */
const TIMES_REAL_TIME = 100;
const HOUR = 3600;
/** The recording before the first load; with it, the server tests the encoder's ONNX form. */
const WARM_UP: Load = { workers: 1, recordings: 1, hours: 0.25 };

/** A real server as coordinator, with its broker and what its workers have to know. */
export interface Coordinator {
  readonly server: TestServer;
  readonly client: TestClient;
  readonly broker: NatsServer;
  readonly build: string;
  /** SHA-256 of its speech model. */
  readonly model: string;
  readonly folder: string;
}

/**
 * Starts a broker.
 * @param stack removes it at its end
 * @param config the text of nats.conf, without the port
 * @throws {CommandError} when it cannot be had
 */
export async function startBroker(stack: AsyncDisposableStack, config?: string): Promise<NatsServer> {
  const program = await natsServerProgram("loads of a fleet");
  if (program === null) throw new CommandError("a fleet needs nats-server");
  return await stack.use(new NatsServer(program, config)).start();
}

/** Starts a coordinator that leaves all parts to its workers, and lets it run its one-time benchmarks. */
export async function startCoordinator(broker: NatsServer, stack: AsyncDisposableStack): Promise<Coordinator> {
  const folder = stack.use(temporaryDirectory()).path;
  // A commit during the measurement would change the name of the build.
  const { build } = await fleetIdentity({ machine: "", pool: "" });
  const model = await digestFile((await programFiles("")).speechModel, "sha256");
  const server = stack.use(newServer(coordinatorSettings(broker)));
  await server.start(false);
  const coordinator = { server, client: patientClient(server), broker, build, model, folder };
  await measureLoad(WARM_UP, coordinator, 10 * TIMES_REAL_TIME);
  return coordinator;
}

/** Returns the settings of a server that leaves all parts to the workers of a broker. */
export function coordinatorSettings({ url }: NatsServer): Readonly<Record<string, string>> {
  return { TRANSCRIBE_LOG_LEVEL: "error", TRANSCRIBE_FLEET_BROKER: url, TRANSCRIBE_FLEET_WORK_HERE: "false" };
}

/** Runs a load of silence on a coordinator and measures the coordinator. */
export async function measureLoad(load: Load, coordinator: Coordinator, timesRealTime = TIMES_REAL_TIME) {
  const { server, client, broker, folder } = coordinator;
  const file = join(folder, `${load.hours}h.flac`);
  if (!existsSync(file)) await makeSilence(load.hours * HOUR, file);
  await using workers = new ScriptedWorkers(load.workers, timesRealTime, coordinator);
  await server.until(async () => (await metricsOf(server)).get("transcribe_fleet_worker_lanes") === load.workers);
  // The server is not ready before it has a worker.
  await server.untilReady();
  const decoded = async () => (await metricsOf(server)).get("transcribe_step_seconds_total decode") ?? 0;
  const decodedBefore = await decoded();
  const brokerBefore = cpuSecondsOf(broker.pid);
  const others = Array.from({ length: load.recordings - 1 }, () => file);
  const startedAt = performance.now();
  const { id } = await client.create(file);
  const watch = watchCoordinator(server, client, id);
  await sendAtOnce(server, others, { client });
  const { status } = await client.waitUntilEnded(id);
  if (status !== "completed") throw new Error(`the recording failed\n${server.tail()}`);
  const seconds = (performance.now() - startedAt) / 1000;
  const watched = await watch.stop();
  const brokerCpuSeconds = cpuSecondsOf(broker.pid) - brokerBefore;
  const { cpuSeconds: workerCpuSeconds } = workers;
  const decodeSeconds = (await decoded()) - decodedBefore;
  const workSeconds = await workers.end();
  const distributedSeconds = load.recordings === 1 ? seconds - decodeSeconds : seconds;
  return {
    ...{ load, coordinator: watched, brokerCpuSeconds, workerCpuSeconds },
    /** From the start of the first recording to the completion of the last one. */
    seconds,
    /** Time of ffmpeg, over all recordings. */
    decodeSeconds,
    /** Sum of the scripted time of all operations. */
    workSeconds,
    /** Share of the workers' time that was scripted work; a single recording is not distributed before it is decoded. */
    efficiency: workSeconds / load.workers / distributedSeconds,
  };
}

export type LoadFigures = Awaited<ReturnType<typeof measureLoad>>;

/** Linux: a file system in memory. */
const MEMORY = "/dev/shm";

/** Workers of a fleet with a scripted engine, each in a process of its own. */
export class ScriptedWorkers implements AsyncDisposable {
  readonly #children: Bun.Subprocess<"ignore", "pipe", "inherit">[];
  /** In memory if possible: the disks of real workers are not the coordinator's. */
  readonly #directory = temporaryDirectory(existsSync(MEMORY) ? MEMORY : undefined);

  constructor(count: number, timesRealTime: number, { broker, build, model }: Coordinator) {
    const script = join(import.meta.dir, "scripted-worker.ts");
    this.#children = Array.from({ length: count }, (_, index) => {
      const parameters = [broker.url, `w${index}`, build, model, String(timesRealTime)];
      const command = [script, join(this.#directory.path, `w${index}`), ...parameters];
      return Bun.spawn(killedWithParent([process.execPath, "--no-env-file", ...command]), {
        ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit" },
      });
    });
  }

  /** Stops the workers. @returns the seconds of all their operations */
  async end(): Promise<number> {
    for (const child of this.#children) child.kill("SIGTERM");
    const texts = await Promise.all(this.#children.map((child) => child.stdout.text()));
    return total(texts, Number);
  }

  /** CPU time of all workers since their start. */
  get cpuSeconds(): number {
    return total(this.#children, ({ pid }) => cpuSecondsOf(pid));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    await Promise.all(this.#children.map((child) => child.exited));
    this.#directory[Symbol.dispose]();
  }
}
