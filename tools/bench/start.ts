/**
 * Measures how long a server takes to listen and to be ready, its memory when idle, and how long its worker takes to
 * wake: `scripts/bench start [--runs N] [--json] [--write]`. A run takes two minutes, most of them idle.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { TestServer } from "../../harness/server.ts";
import { messageOf } from "../../src/text/index.ts";
import { root } from "../shared/checkout.ts";
import { circumstances, writeGeneratedTable } from "../shared/circumstances.ts";
import { beforeStop, childrenOf, commandOf, residentBytesOf, startedAt } from "../shared/processes.ts";
import { refuse } from "./options.ts";
import { asMarkdown, asText, benchmarksPagePath, type Cells } from "./show-table.ts";
import { median } from "./table.ts";

/** Measurements with their units. */
const measured = {
  firstListening: "first start until the server listens, ms",
  firstReady: "first start until the server is ready, with self-tests of the CPU variants, ms",
  listening: "start until the server listens, ms",
  ready: "start until the server is ready, ms",
  workerReady: "worker, from process start until the models are loaded, ms",
  idleServer: "idle server, MiB",
  idleWorker: "idle worker, MiB",
  usedServer: "server after a recording, MiB",
  usedWorker: "worker after a recording, MiB",
  asleepServer: "server with a sleeping worker, MiB",
  woken: "woken worker, from process start until the models are loaded, ms",
} as const;
type StartFigures = Record<keyof typeof measured, number>;

const mib = 1024 ** 2;
/** Time for two readiness probes at the five-second interval of a service manager, and their effects. */
const settleMilliseconds = 12_000;
const sample = join(root, "build/samples/sample.wav");

const { runs, json, write } = readOptions();
const measurements: StartFigures[] = [];
for (let run = 1; run <= runs; run++) {
  console.error(`run ${run} of ${runs}`);
  measurements.push(await measure());
}
const when = await circumstances(Date.now());
const heading = `${when.date}, commit ${when.commit}, ${when.machine}, medians of ${runs}:`;
const table: Cells = {
  head: ["what", "figure"],
  lines: (Object.keys(measured) as (keyof StartFigures)[]).map((name) => [
    measured[name],
    median(measurements.map((figures) => figures[name])).toFixed(0),
  ]),
};
if (json) console.log(JSON.stringify({ ...when, runs: measurements }, null, 2));
else console.log(`${heading}\n${asText(table)}`);
if (write) {
  writeGeneratedTable(benchmarksPagePath, "scripts/bench start --write", `${heading}\n\n${asMarkdown(table)}`);
}

async function measure(): Promise<StartFigures> {
  await using server = new TestServer(
    { TRANSCRIBE_LOG_LEVEL: "info", TRANSCRIBE_ENGINE_IDLE_MINUTES: "1" },
    { reusesSelfTests: false },
  );
  using _stop = beforeStop(() => server[Symbol.asyncDispose]());
  const first = await start(server);
  await server.stop();
  const again = await start(server);
  await settle(server);
  const idle = { idleServer: residentBytesOf(server.pid) / mib, idleWorker: residentBytesOf(again.worker) / mib };
  const client = await server.client("bench");
  await client.waitUntilEnded((await client.create(sample)).id);
  await settle(server);
  const used = { usedServer: residentBytesOf(server.pid) / mib, usedWorker: residentBytesOf(again.worker) / mib };
  await server.until(() => server.log.some(({ event }) => event === "engine.asleep"), 100);
  await settle(server);
  const asleepServer = residentBytesOf(server.pid) / mib;
  const { id } = await client.create(sample);
  const woken = await workerStart(server);
  await client.waitUntilEnded(id);
  return {
    ...{ firstListening: first.listening, firstReady: first.ready, listening: again.listening, ready: again.ready },
    ...{ workerReady: again.workerReady, ...idle, ...used, asleepServer, woken: woken.milliseconds },
  };
}

async function start(server: TestServer) {
  const begun = performance.now();
  await server.start(false);
  const listening = performance.now() - begun;
  await server.until(async () => (await fetch(`${server.origin}/readyz`)).ok, 5);
  const ready = performance.now() - begun;
  const { pid: worker, milliseconds: workerReady } = await workerStart(server);
  return { listening, ready, worker, workerReady };
}

/** Returns the server's last worker, and the time until its models were loaded. */
async function workerStart(server: TestServer): Promise<{ pid: number; milliseconds: number }> {
  for (;;) {
    const pid = childrenOf(server.pid).find((child) => commandOf(child).includes("__worker"));
    const begun = pid === undefined ? null : startedAt(pid);
    const ready = server.log.findLast(({ event }) => event === "engine.ready")?.time;
    const at = typeof ready === "number" ? ready : Date.parse(String(ready));
    // The last event may be from an earlier worker.
    if (pid !== undefined && begun !== null && at >= begun) return { pid, milliseconds: at - begun };
    await Bun.sleep(20);
  }
}

/** Waits, and requests /readyz twice like a service manager. */
async function settle(server: TestServer): Promise<void> {
  for (let wait = 0; wait < settleMilliseconds; wait += settleMilliseconds / 2) {
    await Bun.sleep(settleMilliseconds / 2);
    await (await fetch(`${server.origin}/readyz`)).text();
  }
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        runs: { type: "string", default: "3" },
        json: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
      },
    });
    if (!/^[1-9]\d?$/.test(values.runs)) refuse(`--runs is a whole number from 1, not ${values.runs}`);
    return { ...values, runs: Number(values.runs) };
  } catch (error) {
    return refuse(messageOf(error).split(". ")[0] ?? "");
  }
}
