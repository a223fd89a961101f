import { TestClient } from "../../harness/client.ts";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { beforeStop } from "../shared/processes.ts";
import { noneRow, RoundComparison } from "./compare-rounds.ts";
import { passesIntegrityCheck, processesWith, strayFiles } from "./leftovers.ts";
import { linkHost, Round } from "./rounds.ts";
import type { PartOptions, Row } from "./row.ts";
import { makeSmallRecordings, type SmallRecording, smallRecordings } from "./small-recordings.ts";
import { TestFleet } from "./test-fleet.ts";

export interface FleetPlan {
  /** Kills of coordinator, broker and workers. */
  readonly wanted: number;
  /** Maximum number of kills while the same recordings are processed, so that they complete on a busy machine too. */
  readonly perRound: number;
  /** Maximum time between two kills. */
  readonly pauseMilliseconds: number;
  /** Maximum time for which a worker or the broker is stopped (SIGSTOP); 0 for none. */
  readonly stopMilliseconds: number;
  readonly workers: readonly string[];
  readonly recordings: readonly SmallRecording[];
  /** Sends the recordings with their language, and limits the longest to two chunks. */
  readonly isBrief: boolean;
}

/**
 * The plan of scripts/endurance. Its kills are far enough apart for recordings to complete in between. The broker
 * delivers an operation again after 10 s, and a connection counts as lost after 15 s: stops are shorter and longer.
 */
const MANY_KILLS: FleetPlan = {
  wanted: 50,
  perRound: 10,
  pauseMilliseconds: 16_000,
  stopMilliseconds: 20_000,
  workers: ["worker-1", "worker-2"],
  recordings: smallRecordings,
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
  { wanted, perRound, pauseMilliseconds, stopMilliseconds, workers, recordings, isBrief } = MANY_KILLS,
): Promise<Row[]> {
  const program = await natsServerProgram("scripts/endurance fleet");
  if (program === null) throw new Error("nats-server cannot be fetched");
  using directory = temporaryDirectory();
  await makeSmallRecordings(directory.path, isBrief ? 2 : 3);
  await using host = linkHost(directory.path);
  await using tested = new TestFleet(program, workers, { TRANSCRIBE_FETCH_ALLOW: "127.0.0.1/32" });
  using _ = beforeStop(() => tested.killAll());
  const { server } = tested;
  await server.start();
  const { key } = server.client("fleet");
  const round = new Round({
    client: () => new TestClient(server.baseUrl, key),
    ...{ recordings, directory: directory.path, links: host.origin, withLanguage: isBrief },
  });
  const comparison = await RoundComparison.with(server, await round.run());
  await tested.join(false);

  const [random, randomStops] = [randomNumbers(seed), randomNumbers(seed + 1)];
  const done = new Map(tested.machines.map((machine) => [machine, 0]));
  const killed = () => [...done.values()].reduce((sum, count) => sum + count, 0);
  let stops = 0;
  let damaged = 0;
  const kill = async (hasEnded: () => boolean) => {
    const last = Math.min(wanted, killed() + perRound);
    while (killed() < last && !hasEnded()) {
      await Bun.sleep(random() * pauseMilliseconds);
      const machine = tested.machines[Math.floor(random() * tested.machines.length)] ?? "";
      const worksHere = random() < 0.5;
      // In a short run the coordinator's own engine could process everything.
      tested.setWorkHere(worksHere && !isBrief);
      if (!(await tested.kill(machine, random() * BROKER_PAUSE_MILLISECONDS))) continue;
      reportProgress(`${killed() + 1} of ${wanted} kills: ${machine}`);
      done.set(machine, (done.get(machine) ?? 0) + 1);
      if (!passesIntegrityCheck(server.dataDirectory)) damaged += 1;
    }
  };
  const stop = async (hasEnded: () => boolean) => {
    const machines = ["broker", ...workers];
    const most = stops + perRound;
    while (stopMilliseconds > 0 && stops < most && !hasEnded()) {
      await Bun.sleep(randomStops() * pauseMilliseconds);
      const machine = machines[Math.floor(randomStops() * machines.length)] ?? "";
      await tested.suspend(machine, randomStops() * stopMilliseconds);
      stops += 1;
    }
  };

  while (killed() < wanted) {
    comparison.add(await round.run(async (hasEnded) => void (await Promise.all([kill(hasEnded), stop(hasEnded)]))));
  }
  await tested.recovered();
  await server.untilCleanedUp();
  const byWorkers = server.log.filter(
    ({ event, machine }) => event === "recording.operation_finished" && workers.includes(String(machine)),
  ).length;
  const late = tested.countInWorkers("fleet.result_not_taken");
  const left = await tested.leftInBroker();
  const stray = [...tested.strayFiles(), ...left.files];
  const failedStops = await tested.stop();
  if (!passesIntegrityCheck(server.dataDirectory)) damaged += 1;
  stray.push(...strayFiles(server.dataDirectory, round.entered));
  const strayProcesses = processesWith(...tested.paths);

  const over = `${[...done].map(([machine, count]) => `${count} kills of ${machine}`).join(", ")}, ${stops} stops, seed ${seed}`;
  const none = noneRow(over);
  return [
    ...comparison.rows(over),
    {
      ...{ measured: "operations that workers completed", value: String(byWorkers), over: `${late} results were late` },
      ...{ target: "1 or more", ok: byWorkers > 0 },
    },
    none("databases that fail the integrity check", damaged),
    none("messages left in the broker", left.messages),
    none("stray files", stray.length, stray),
    none("stray processes", strayProcesses.length, strayProcesses),
    none("machines whose last stop failed", failedStops.length, failedStops),
  ];
}
