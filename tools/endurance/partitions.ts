import { LocalFleet } from "../../harness/local-fleet.ts";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import type { TestServer } from "../../harness/server.ts";
import { HERE, Networks, networksObstacle } from "./networks.ts";
import { Rounds } from "./rounds.ts";
import { atMost, none, notRun, type PartOptions, type Row } from "./rows.ts";

/** Direction in which packets are lost. */
type Cut = "to" | "from" | "both";

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
const PATIENCE_MILLISECONDS = 5 * 60_000;

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
  if (networksObstacle !== null) return networksObstacle;
  return (await natsServerProgram("partitions of a fleet")) === null ? "there is no nats-server" : null;
}

/**
 * partitions: processes recordings with a worker in another network namespace, which is cut off again and again. All
 * recordings must have the results of an undisturbed run.
 */
export async function partitions({ seed, reportProgress }: PartOptions, plan = MANY_PARTITIONS): Promise<Row[]> {
  const obstacle = await partitionsObstacle();
  if (obstacle !== null) return notRun("partitions", obstacle);
  await using networks = await Networks.create(WORKER);
  await using fleet = new LocalFleet({
    program: (await natsServerProgram("partitions of a fleet")) ?? "",
    workers: [WORKER],
    environment: { TRANSCRIBE_ENGINE_DEVICE: "cpu" },
    host: networks.addressOf(HERE),
    place: (command) => networks.place(WORKER, command),
  });
  await fleet.join(plan.workHere);
  const { server } = fleet;
  const recordings = { recordings: ["chunks.wav"], chunks: plan.chunks, withLanguage: true } as const;
  await using rounds = await Rounds.start(server, recordings);
  const wanted = plan.partitions(randomNumbers(seed));
  const backSeconds: number[] = [];
  const cutAndHeal = async () => {
    for (const [number, { direction, seconds, pauseSeconds }] of wanted.entries()) {
      if (number === 0) await untilWorkerCompletes(server);
      await Bun.sleep(1000 * pauseSeconds);
      reportProgress(`partition ${number + 1} of ${wanted.length}: ${direction}, ${seconds.toFixed(1)} s`);
      if (direction !== "from") networks.lose(HERE, WORKER);
      if (direction !== "to") networks.lose(WORKER, HERE);
      await Bun.sleep(1000 * seconds);
      networks.heal();
      backSeconds.push(await untilWorkerCompletes(server));
    }
  };
  const processAll = async () => {
    while (backSeconds.length < wanted.length) await rounds.run(async () => {});
  };
  await Promise.all([processAll(), cutAndHeal()]);
  const [late, redelivered, refused] = await Promise.all(
    ["late_results", "redelivered", "refused_messages"].map((name) => fleet.metric(`transcribe_fleet_${name}_total`)),
  );
  await server.untilCleanedUp();
  const failedStops = await fleet.stop();

  const cutSeconds = wanted.reduce((sum, { seconds }) => sum + seconds, 0);
  const over = `${wanted.length} partitions, ${Math.round(cutSeconds)} s; ${late} late results, ${redelivered} redeliveries`;
  const back = "from a partition's end to the worker's next completed operation";
  return [
    ...rounds.rows(over, fleet.leftovers(), fleet.directories),
    none("messages of the worker that were refused", refused ?? 0, over),
    none("machines whose stop failed", failedStops, over),
    atMost(back, Math.max(...backSeconds), BACK_SECONDS, over),
  ];
}

/** Waits until the worker has completed one more operation. @returns the seconds that it took */
async function untilWorkerCompletes(server: TestServer): Promise<number> {
  const since = performance.now();
  const completed = () =>
    server.log.filter(({ event, machine }) => event === "recording.operation_finished" && machine === WORKER).length;
  const before = completed();
  await server.until(() => completed() > before, 50, PATIENCE_MILLISECONDS);
  return (performance.now() - since) / 1000;
}
