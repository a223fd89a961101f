import { Type } from "@sinclair/typebox";
import { bodyOf } from "../../harness/client.ts";
import { LocalFleet } from "../../harness/local-fleet.ts";
import { natsServerProgram } from "../../harness/nats-server.ts";
import type { TestWorker } from "../../harness/test-worker.ts";
import { beforeStop } from "../shared/processes.ts";
import { Rounds } from "./rounds.ts";
import { all, none, type PartOptions, type Row, row } from "./rows.ts";
import { FETCH_SETTINGS, smallRecordings } from "./small-recordings.ts";

/** The plan of scripts/endurance. */
const GROWTH = {
  /** Workers of the pool at the most; one of them stays. */
  workers: 8,
  /** Number of rounds, in each of which the pool grows and shrinks. */
  rounds: 2,
  recordings: smallRecordings,
  isBrief: false,
};

/** Time in which a worker may finish its parts: a part takes long on a machine with many workers and few cores. */
const DRAIN_SETTINGS = { TRANSCRIBE_FLEET_DRAIN_SECONDS: "300" };

/** The worker that stays. */
const FIRST = "gpu.worker-0";

/**
 * pool: processes recordings with a pool that grows from one worker to many and shrinks to one again, by SIGTERM. No part
 * may be lost or computed twice, and all recordings must have the results of a single machine.
 */
export async function pool({ reportProgress }: Pick<PartOptions, "reportProgress">, plan = GROWTH): Promise<Row[]> {
  const { workers, recordings, isBrief } = plan;
  const program = await natsServerProgram("scripts/endurance pool");
  if (program === null) throw new Error("nats-server cannot be fetched");
  await using local = new LocalFleet({ program, workers: [FIRST], environment: FETCH_SETTINGS });
  const { server } = local;
  await server.start();
  await using rounds = await Rounds.start(server, { recordings, chunks: isBrief ? 2 : 3, withLanguage: isBrief });
  await local.join(false);
  using _ = beforeStop(() => Promise.all([...local.workers.values()].map((worker) => worker.end("SIGKILL"))));

  const failedStops: string[] = [];
  const logs: TestWorker["log"][] = [];
  let [most, ready, ended] = [0, 0, 0];
  const present = () => local.metric('transcribe_fleet_pool_workers{pool="gpu"}');
  const wanted = async () => {
    const answer = await fetch(`${server.origin}/fleet/workers`);
    return (await bodyOf(answer, 200, Type.Object({ wanted: Type.Integer() }))).wanted;
  };
  const growAndShrink = async (round: number) => {
    const names = Array.from({ length: workers - 1 }, (_, at) => `gpu.round-${round}-${at + 1}`);
    await server.until(async () => (await wanted()) > 0);
    const health = `127.0.0.1:${freePort()}`;
    const started = names.map((name, at) =>
      local.start(name, {
        environment: { ...DRAIN_SETTINGS, ...(at === 0 ? { TRANSCRIBE_FLEET_HEALTH: health } : {}) },
      }),
    );
    await server.until(async () => (await present()) === workers);
    most = Math.max(most, await present());
    if (await isReady(health)) ready += 1;
    reportProgress(`${workers} workers are present`);
    const codes = await Promise.all(started.map((worker) => worker.end("SIGTERM")));
    failedStops.push(...codes.flatMap((code, at) => (code === 0 ? [] : [`${names[at]}: ${code}`])));
    logs.push(...started.map(({ log }) => log));
    await server.until(async () => (await present()) === 1);
    if (!(await isReady(health))) ended += 1;
    reportProgress("one worker is left");
  };
  const since = performance.now();
  for (let round = 1; round <= plan.rounds; round++) await rounds.run(() => growAndShrink(round));
  const seconds = Math.round((performance.now() - since) / 1000);

  await server.until(async () => (await wanted()) === 0);
  const counted = async (name: string) => await local.metric(`transcribe_fleet_${name}_total`);
  const names = ["redelivered", "late_results", "refused_messages", "unreported"];
  const counts = await Promise.all(names.map(async (name) => ({ name, count: await counted(name) })));
  const handedOver = logs.flat().filter(({ event, returned }) => event === "fleet.drained" && returned !== 0).length;
  // The broker may not have counted the last confirmations yet.
  let left = await local.leftInBroker();
  for (let looks = 0; left.messages > 0 && looks < 20; looks++) {
    await Bun.sleep(500);
    left = await local.leftInBroker();
  }
  const stray = [...local.leftovers(), ...left.files];
  failedStops.push(...(await local.stop()).filter((line) => line.startsWith(FIRST) || line.startsWith("coordinator")));

  const over = `${plan.rounds} times 1, ${workers}, 1 workers in ${seconds} s`;
  return [
    ...rounds.rows(over, stray, local.directories),
    row("workers of the pool at the same time", most, over, `${workers}`, most === workers),
    all("workers that answered /readyz while they were present", ready, plan.rounds, over),
    all("of them, those that answered nothing after their end", ended, plan.rounds, over),
    ...counts.map(({ name, count }) => none(`parts or messages counted as ${name}`, count, over)),
    none("workers that handed over a part that ran", handedOver, over),
    none("messages left in the broker", left.messages, over),
    none("machines whose stop failed", failedStops, over),
  ];
}

/** Returns whether a worker can work, as it answers at its address for probes. */
async function isReady(address: string): Promise<boolean> {
  return await fetch(`http://${address}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port = 0 } = server;
  void server.stop(true);
  return port;
}
