import { join } from "node:path";
import type { TestClient } from "../../harness/client.ts";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { makeRecordingOfChunks } from "../../harness/sample-recordings.ts";
import { type Cut, SecondNetwork, secondNetworkObstacle } from "../../harness/second-network.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { TestWorker } from "../../harness/test-worker.ts";
import { FleetDirectory } from "../../src/fleet/index.ts";
import type { PartOptions, Row } from "./row.ts";

interface Partition {
  /** Direction in which packets are lost, seen from the coordinator. */
  readonly direction: Cut;
  readonly seconds: number;
  /** Time between the worker's last completed operation and the partition. */
  readonly pauseSeconds: number;
}

export interface PartitionPlan {
  readonly partitions: (random: () => number) => readonly Partition[];
  /** Whether the coordinator's own engine also processes parts; if not, recordings wait for the worker. */
  readonly workHere: boolean;
  readonly chunks: number;
}

const DIRECTIONS: readonly Cut[] = ["both", "to", "from"];
const WORKER = "far";
/** Maximum time after a partition until the worker completes an operation: it has to connect and to process a part. */
const BACK_SECONDS = 60;

/** The plan of scripts/endurance: about half an hour. */
const MANY_PARTITIONS: PartitionPlan = {
  partitions: (random) =>
    Array.from({ length: 30 }, () => ({
      direction: DIRECTIONS[Math.floor(random() * DIRECTIONS.length)] ?? "both",
      seconds: 1 + random() * 59,
      pauseSeconds: random() * 5,
    })),
  workHere: true,
  chunks: 6,
};

/** Returns why the test cannot run here; null if it can. */
export async function partitionsObstacle(): Promise<string | null> {
  if (secondNetworkObstacle !== null) return secondNetworkObstacle;
  return (await natsServerProgram("partitions of a fleet")) === null ? "there is no nats-server" : null;
}

/**
 * partitions: processes recordings with a worker in another network namespace, which is cut off again and again. All
 * recordings must have the results of an undisturbed run.
 */
export async function partitions({ seed, reportProgress }: PartOptions, plan = MANY_PARTITIONS): Promise<Row[]> {
  const obstacle = await partitionsObstacle();
  if (obstacle !== null) return [{ measured: "partitions", value: "not run", over: obstacle, target: "", ok: false }];
  using directory = temporaryDirectory();
  const path = await makeRecordingOfChunks(directory.path, plan.chunks);
  await using network = await SecondNetwork.create();
  await using fleet = await Fleet.start(directory.path, network, plan.workHere);
  const client = fleet.server.client("partitions");

  const undisturbed = await fleet.process(client, path);
  const wanted = plan.partitions(randomNumbers(seed));
  const disturbed: Processed[] = [];
  let isCutting = true;
  const process = async () => {
    while (isCutting) disturbed.push(await fleet.process(client, path));
  };
  const backSeconds: number[] = [];
  const cut = async () => {
    for (const [number, { direction, seconds, pauseSeconds }] of wanted.entries()) {
      if (number === 0) await fleet.untilWorkerCompletes();
      await Bun.sleep(1000 * pauseSeconds);
      reportProgress(`partition ${number + 1} of ${wanted.length}: ${direction}, ${seconds.toFixed(1)} s`);
      network.cut(direction);
      await Bun.sleep(1000 * seconds);
      network.heal();
      backSeconds.push(await fleet.untilWorkerCompletes());
    }
    isCutting = false;
  };
  await Promise.all([process(), cut()]);
  const late = await fleet.metric("transcribe_fleet_late_results_total");
  const redelivered = await fleet.metric("transcribe_fleet_redelivered_total");
  const refused = await fleet.metric("transcribe_fleet_refused_messages_total");
  const leftovers = await fleet.stop();

  const cutSeconds = wanted.reduce((sum, { seconds }) => sum + seconds, 0);
  const over = `${wanted.length} partitions, ${Math.round(cutSeconds)} s; ${late} late results, ${redelivered} redeliveries`;
  const none = (measured: string, value: number): Row => {
    return { measured, value: String(value), over, target: "0", ok: value === 0 };
  };
  const count = (isFault: (each: Processed) => boolean) => disturbed.filter(isFault).length;
  const longest = Math.max(...backSeconds);
  return [
    {
      measured: "disturbed recordings",
      value: `${disturbed.length}`,
      over,
      target: "1 or more",
      ok: disturbed.length > 0,
    },
    none(
      "not completed",
      count(({ status }) => status !== "completed"),
    ),
    none(
      "completed with other segments than without partitions",
      count(({ segments }) => segments !== undisturbed.segments),
    ),
    none(
      "stored parts that were computed again",
      count(({ parts }) => parts !== undisturbed.parts),
    ),
    none("messages of the worker that were refused", refused),
    none("data of operations that the worker has not removed", leftovers),
    {
      measured: "from a partition's end to the worker's next completed operation, s",
      value: longest.toFixed(1),
      over,
      target: `at most ${BACK_SECONDS}`,
      ok: backSeconds.length === wanted.length && longest <= BACK_SECONDS,
    },
  ];
}

interface Processed {
  readonly status: string;
  /** The segments as JSON. */
  readonly segments: string;
  /** The parts that were computed and stored, in the order of their names. */
  readonly parts: string;
}

/** A broker and a coordinator on this side of a network, and a worker on the other one. */
class Fleet implements AsyncDisposable {
  readonly server: TestServer;
  readonly #worker: TestWorker;
  readonly #stack: AsyncDisposableStack;

  private constructor(server: TestServer, worker: TestWorker, stack: AsyncDisposableStack) {
    this.server = server;
    this.#worker = worker;
    this.#stack = stack;
  }

  static async start(directory: string, network: SecondNetwork, workHere: boolean): Promise<Fleet> {
    await using stack = new AsyncDisposableStack();
    const path = join(directory, "fleet");
    const hosts = { broker: [network.here], port: 4222, workers: [WORKER] };
    await FleetDirectory.create(path, hosts, Date.now());
    const program = (await natsServerProgram("partitions of a fleet")) ?? "";
    const broker = stack.use(await NatsServer.withFolder(program, join(path, "broker"), network.here).start());
    const environment = (machine: string) => ({
      TRANSCRIBE_ENGINE_THREADS: "1",
      TRANSCRIBE_ENGINE_DEVICE: "cpu",
      TRANSCRIBE_FLEET_BROKER: broker.url,
      TRANSCRIBE_FLEET_CA: join(path, machine, "ca.pem"),
      TRANSCRIBE_FLEET_CERTIFICATE: join(path, machine, "certificate.pem"),
      TRANSCRIBE_FLEET_KEY: join(path, machine, "key.pem"),
      TRANSCRIBE_FLEET_MACHINE: machine,
    });
    const server = stack.use(
      new TestServer({ ...environment("coordinator"), TRANSCRIBE_FLEET_WORK_HERE: String(workHere) }),
    );
    await server.start();
    const worker = stack.use(
      new TestWorker({
        args: [],
        environment: environment(WORKER),
        verdictsOf: server.dataDirectory,
        place: (command) => network.place(command),
      }),
    );
    const fleet = new Fleet(server, worker, stack.move());
    const lanes = async () => (await fleet.metric(`transcribe_fleet_worker_lanes{machine="${WORKER}"}`)) > 0;
    await server.until(lanes);
    return fleet;
  }

  /** Processes a recording to its end. */
  async process(client: TestClient, path: string): Promise<Processed> {
    const { ended, segments } = await client.transcribe(path, { language: "en" });
    const ofRecording = () => this.server.log.filter(({ recordingId }) => recordingId === ended.id);
    await this.server.until(() => ofRecording().some(({ event }) => /^recording\.(completed|failed)$/.test(event)));
    const parts = ofRecording().filter(({ event }) => event === "recording.part_finished");
    const names = parts.map(({ step, part }) => `${step} ${part}`).toSorted();
    return { status: ended.status, segments: JSON.stringify(segments), parts: names.join() };
  }

  /** Waits until the worker has completed one more operation. @returns the seconds that it took */
  async untilWorkerCompletes(): Promise<number> {
    const since = performance.now();
    const completed = () =>
      this.server.log.filter(({ event, machine }) => event === "recording.operation_finished" && machine === WORKER);
    const before = completed().length;
    await this.server.until(() => completed().length > before, 50, 5 * 60_000);
    return (performance.now() - since) / 1000;
  }

  /** Returns the value of a metric of the server; 0 if there is none. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.server.origin}/metrics`)).text();
    const line = text.split("\n").find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length) ?? 0);
  }

  /** Stops the worker and the server. @returns the number of operations whose data the worker has not removed */
  async stop(): Promise<number> {
    const exitCode = await this.#worker.end("SIGTERM");
    if (exitCode !== 0) throw new Error(`the worker exited with ${exitCode}`);
    const leftovers = this.#worker.leftovers().length;
    await this.server.stop();
    return leftovers;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
