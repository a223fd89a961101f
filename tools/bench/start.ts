import { samplePath } from "../../harness/checkout.ts";
import { cpuSettings } from "../../harness/device.ts";
import { newServer, sendAtOnce, workerOf } from "../../harness/measured-server.ts";
import type { TestServer } from "../../harness/server.ts";
import { defineCommand } from "../shared/command.ts";
import { cpuOption, cpuTerms } from "../shared/cpu-variant.ts";
import { MIB, median } from "../shared/figures.ts";
import { whole } from "../shared/options.ts";
import { residentBytesOf, startedAt } from "../shared/processes.ts";
import { report, reportOptions } from "../shared/table.ts";

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
type Figures = Record<keyof typeof measured, number>;

/** Time for two readiness probes at the five-second interval of a service manager, and their effects. */
const SETTLE_MILLISECONDS = 12_000;

export const command = defineCommand({
  name: "scripts/bench start",
  about:
    "Measures how long a server takes to listen and to be ready, its memory when idle, and how long its worker takes to " +
    "wake. A run takes two minutes, most of them idle.",
  options: { runs: whole("number of runs", { fallback: 3 }), cpu: cpuOption, ...reportOptions },
  async run({ runs, cpu, ...values }) {
    const settings = await cpuSettings(cpu);
    const done: Figures[] = [];
    for (let run = 1; run <= runs; run++) {
      console.error(`run ${run} of ${runs}`);
      done.push(await measure(settings));
    }
    const lines = (Object.keys(measured) as (keyof Figures)[]).map((name) => {
      return [measured[name], median(done.map((figures) => figures[name])).toFixed(0)];
    });
    const sections = [{ head: ["what", "figure"], lines }];
    const terms = [...cpuTerms(cpu), `medians of ${runs}`];
    await report({ terms, sections, figures: { runs: done } }, values, "scripts/bench start");
  },
});

async function measure(settings: Readonly<Record<string, string>>): Promise<Figures> {
  const environment = { TRANSCRIBE_ENGINE_IDLE_MINUTES: "1", ...settings };
  await using server = newServer(environment, { reusesSelfTests: false });
  const memoryOf = (pid: number) => residentBytesOf(pid) / MIB;
  const first = await start(server);
  await server.stop();
  const again = await start(server);
  await settle(server);
  const idle = { idleServer: memoryOf(server.pid), idleWorker: memoryOf(again.worker) };
  const { client } = await sendAtOnce(server, [samplePath("sample.wav")]);
  await settle(server);
  const used = { usedServer: memoryOf(server.pid), usedWorker: memoryOf(again.worker) };
  await server.until(() => server.log.some(({ event }) => event === "engine.asleep"), 100);
  await settle(server);
  const asleepServer = memoryOf(server.pid);
  const { id } = await client.create(samplePath("sample.wav"));
  const { milliseconds: woken } = await workerStart(server);
  await client.waitUntilEnded(id);
  return {
    ...{ firstListening: first.listening, firstReady: first.ready, listening: again.listening, ready: again.ready },
    ...{ workerReady: again.workerReady, ...idle, ...used, asleepServer, woken },
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
    const pid = workerOf(server);
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
  for (let wait = 0; wait < SETTLE_MILLISECONDS; wait += SETTLE_MILLISECONDS / 2) {
    await Bun.sleep(SETTLE_MILLISECONDS / 2);
    await (await fetch(`${server.origin}/readyz`)).text();
  }
}
