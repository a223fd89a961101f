import { LocalFleet } from "../../harness/local-fleet.ts";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { beforeStop } from "../shared/processes.ts";
import { RestartedFleet } from "./restarted-fleet.ts";
import { Rounds } from "./rounds.ts";
import { none, type PartOptions, type Row, row } from "./rows.ts";
import { FETCH_SETTINGS, smallRecordings } from "./small-recordings.ts";

/**
 * The plan of scripts/endurance. Its kills are far enough apart for recordings to complete in between. The broker
 * delivers an operation again after 10 s, and a connection counts as lost after 15 s: stops are shorter and longer.
 */
const MANY_KILLS = {
  wanted: 50,
  /** Maximum number of kills while the same recordings are processed, so that they complete on a busy machine too. */
  perRound: 10,
  /** Maximum time between two kills. */
  pauseMilliseconds: 16_000,
  /** Maximum time for which a worker or the broker is stopped (SIGSTOP); 0 for none. */
  stopMilliseconds: 20_000,
  /** One with a certificate of its own, and two of a pool. */
  workers: ["worker-1", "gpu.worker-2", "gpu.worker-3"],
  recordings: smallRecordings,
  /** Sends the recordings with their language, and limits the longest to two chunks. */
  isBrief: false,
};

/** Maximum time until a killed broker starts again. */
const BROKER_PAUSE_MILLISECONDS = 3000;

/**
 * fleet: processes recordings at the same time, repeatedly, while coordinator, broker and workers are killed at random
 * moments, and workers and broker are stopped for a while. All recordings must have the results of a single machine.
 */
export async function fleet(
  { seed, reportProgress }: Pick<PartOptions, "seed" | "reportProgress">,
  plan = MANY_KILLS,
): Promise<Row[]> {
  const { wanted, perRound, pauseMilliseconds, stopMilliseconds, workers, recordings, isBrief } = plan;
  const program = await natsServerProgram("scripts/endurance fleet");
  if (program === null) throw new Error("nats-server cannot be fetched");
  await using local = new LocalFleet({ program, workers, environment: FETCH_SETTINGS });
  const { server } = local;
  await server.start();
  await using rounds = await Rounds.start(server, { recordings, chunks: isBrief ? 2 : 3, withLanguage: isBrief });
  await local.join(false);
  await using tested = new RestartedFleet(local);
  using _ = beforeStop(() => tested.killAll());

  const [random, randomStops] = [randomNumbers(seed), randomNumbers(seed + 1)];
  const pick = (machines: readonly string[], number: number) => machines[Math.floor(number * machines.length)] ?? "";
  const done = new Map(tested.machines.map((machine) => [machine, 0]));
  const killed = () => [...done.values()].reduce((sum, count) => sum + count, 0);
  let stops = 0;
  const kill = async (hasEnded: () => boolean) => {
    const last = Math.min(wanted, killed() + perRound);
    while (killed() < last && !hasEnded()) {
      await Bun.sleep(random() * pauseMilliseconds);
      const machine = pick(tested.machines, random());
      const worksHere = random() < 0.5;
      // In a short run the coordinator's own engine could process everything.
      local.setWorkHere(worksHere && !isBrief);
      if (!(await tested.kill(machine, random() * BROKER_PAUSE_MILLISECONDS))) continue;
      reportProgress(`${killed() + 1} of ${wanted} kills: ${machine}`);
      done.set(machine, (done.get(machine) ?? 0) + 1);
      rounds.checkDatabase();
    }
  };
  const stop = async (hasEnded: () => boolean) => {
    const most = stops + perRound;
    while (stopMilliseconds > 0 && stops < most && !hasEnded()) {
      await Bun.sleep(randomStops() * pauseMilliseconds);
      await tested.suspend(pick(tested.helpers, randomStops()), randomStops() * stopMilliseconds);
      stops += 1;
    }
  };
  while (killed() < wanted) await rounds.run((hasEnded) => Promise.all([kill(hasEnded), stop(hasEnded)]));
  await tested.recovered();
  const byWorkers = server.log.filter(
    ({ event, machine }) => event === "recording.operation_finished" && workers.includes(String(machine)),
  ).length;
  const logs = [...local.workers.values()].flatMap(({ log }) => log);
  const late = logs.filter(({ event }) => event === "fleet.result_not_taken").length;
  const left = await local.leftInBroker();
  const stray = [...local.leftovers(), ...left.files];
  const failedStops = await tested.stop();

  const over = `${[...done].map(([machine, count]) => `${count} kills of ${machine}`).join(", ")}, ${stops} stops, seed ${seed}`;
  return [
    ...rounds.rows(over, stray, local.directories),
    row("operations that workers completed", byWorkers, `${late} results were late`, "1 or more", byWorkers > 0),
    none("messages left in the broker", left.messages, over),
    none("machines whose last stop failed", failedStops, over),
  ];
}
