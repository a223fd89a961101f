import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestClient } from "../../harness/client.ts";
import type { NatsServer } from "../../harness/nats-server.ts";
import { programCommand, programSettings } from "../../harness/program.ts";
import { killedWithParent, TestServer } from "../../harness/server.ts";
import { beforeStop, childrenOf, cpuSecondsOf } from "../shared/processes.ts";
import { metricsOf } from "./fleet-watch.ts";
import { median } from "./table.ts";

/** Time of one recording on a side. */
interface Run {
  readonly seconds: number;
  /** CPU time of all processes of the side. */
  readonly cpuSeconds: number;
}

export interface OverheadFigures {
  /** The server alone with its embedded engine, and the same recordings with a fleet of one worker. */
  readonly alone: readonly Run[];
  readonly fleet: readonly Run[];
  /** Medians over the pairs of consecutive runs: by how much the fleet takes more. */
  readonly moreTime: number;
  readonly moreCpu: number;
}

interface Side {
  readonly server: TestServer;
  readonly client: TestClient;
  /** All processes that were started for the side; their children belong to it, too. */
  readonly pids: () => readonly number[];
}

/**
 * Compares a server's embedded engine with a fleet of one worker on the same machine, with real models. The sides take
 * turns, and the first one changes from pair to pair, so that other load affects both.
 */
export async function measureOverhead(file: string, pairs: number, broker: NatsServer): Promise<OverheadFigures> {
  await using stack = new AsyncDisposableStack();
  using _stop = beforeStop(() => stack.disposeAsync());
  const sides = { alone: await startAlone(stack), fleet: await startFleet(stack, broker) };
  // The first recording of a side runs its one-time benchmarks.
  for (const side of Object.values(sides)) await runOnce(side, file);
  const alone: Run[] = [];
  const fleet: Run[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    if (pair % 2 === 0) alone.push(await runOnce(sides.alone, file));
    fleet.push(await runOnce(sides.fleet, file));
    if (pair % 2 === 1) alone.push(await runOnce(sides.alone, file));
    console.error(`bench: pair ${pair + 1}: alone ${describe(alone.at(-1))}, fleet ${describe(fleet.at(-1))}`);
  }
  const more = (figureOf: (run: Run) => number) =>
    median(fleet.map((run, pair) => figureOf(run) / figureOf(alone[pair] as Run))) - 1;
  return { alone, fleet, moreTime: more(({ seconds }) => seconds), moreCpu: more(({ cpuSeconds }) => cpuSeconds) };
}

async function startAlone(stack: AsyncDisposableStack): Promise<Side> {
  const server = stack.use(new TestServer({ TRANSCRIBE_LOG_LEVEL: "error" }));
  await server.start(false);
  await server.untilReady();
  return { server, client: server.client("bench"), pids: () => [server.pid] };
}

async function startFleet(stack: AsyncDisposableStack, broker: NatsServer): Promise<Side> {
  const directory = mkdtempSync(join(tmpdir(), "transcribe-bench-worker-"));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  const server = stack.use(
    new TestServer({
      TRANSCRIBE_LOG_LEVEL: "error",
      TRANSCRIBE_FLEET_BROKER: broker.url,
      TRANSCRIBE_FLEET_WORK_HERE: "false",
    }),
  );
  await server.start(false);
  const command = programCommand("worker", "--fleet", broker.url, "--data-dir", directory, "--log-level", "error");
  const worker = Bun.spawn(killedWithParent(command), {
    env: { ...process.env, ...programSettings, TRANSCRIBE_CONFIG: "", TRANSCRIBE_FLEET_MACHINE: "worker" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  stack.defer(async () => {
    worker.kill("SIGTERM");
    await worker.exited;
  });
  await server.until(async () => ((await metricsOf(server)).get("transcribe_fleet_worker_lanes") ?? 0) > 0);
  await server.untilReady();
  return { server, client: server.client("bench"), pids: () => [server.pid, worker.pid, broker.pid] };
}

async function runOnce({ client, pids }: Side, file: string): Promise<Run> {
  const cpuSeconds = () => pids().reduce((sum, pid) => sum + familyCpuSeconds(pid), 0);
  const before = cpuSeconds();
  const startedAt = performance.now();
  const { status } = await client.waitUntilEnded((await client.create(file)).id, 50);
  if (status !== "completed") throw new Error("the recording failed");
  return { seconds: (performance.now() - startedAt) / 1000, cpuSeconds: cpuSeconds() - before };
}

function describe(run: Run | undefined): string {
  return `${run?.seconds.toFixed(1)} s and ${run?.cpuSeconds.toFixed(1)} CPU s`;
}

/** Returns the CPU time of a process and of all its descendants, also of those that have exited. */
function familyCpuSeconds(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + familyCpuSeconds(child), cpuSecondsOf(pid));
}
