// scripts/bench fleet: how a fleet scales with its workers. The workers are a simulation: their operations sleep in
// proportion to their audio. Broker, messages, audio and coordinator are real.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Broker, FleetEngine } from "../../../src/fleet/index.ts";
import { createLogger } from "../../../src/telemetry/index.ts";
import { SAMPLE_RATE, type WorkArea } from "../../../src/timeline/index.ts";
import { NatsServer, natsServerProgram } from "../../../test/support/nats-server.ts";

const WORKER_COUNTS = [1, 2, 4, 8];
/** Speed of each simulated worker, as a multiple of real time. */
const TIMES_REAL_TIME = 100;
const CHUNK_SECONDS = 30;
/** Operations for each worker in a run: about 15 s. */
const CHUNKS_PER_WORKER = 50;

const build = "bench";
const model = "b".repeat(64);
const never = new AbortController().signal;
const log = createLogger("error");

const program = await natsServerProgram("scripts/bench fleet");
if (program === null) process.exit(1);
const directory = mkdtempSync(join(tmpdir(), "transcribe-bench-fleet-"));
await using server = await new NatsServer(program).start();
try {
  const area = makeArea();
  console.log(
    "workers (simulated, 100 × real time each)  efficiency  × real time  coordinator CPU  loop delay p99  memory",
  );
  for (const count of WORKER_COUNTS) console.log(await measure(area, count));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Ten minutes of samples; the chunks of a longer recording would be read in the same way. */
function makeArea(): WorkArea {
  const sampleCount = 600 * SAMPLE_RATE;
  const path = join(directory, "pcm");
  writeFileSync(path, Buffer.alloc(2 * sampleCount, 7));
  mkdirSync(join(directory, "area"));
  return { directory: join(directory, "area"), pcm: { path, sampleCount } };
}

async function measure(area: WorkArea, count: number): Promise<string> {
  const broker = await Broker.connect({ url: server.url, ca: "", certificate: "", key: "", machine: "bench", log });
  const engine = new FleetEngine({
    ...{
      broker,
      build,
      version: "simulation",
      coordinator: `c${Bun.randomUUIDv7()}`,
      machine: "bench",
      workHere: false,
      log,
    },
    local: { run: () => Promise.reject(new Error("the coordinator does not work here")), partsAtOnce: 1, lanes: 0 },
    sha256Of: () => model,
    models: () => [model],
    onCompletion: () => {},
    now: Date.now,
  });
  await engine.start();
  const script = join(import.meta.dir, "fleet-worker.ts");
  const workers = Array.from({ length: count }, (_, index) =>
    Bun.spawn(
      [process.execPath, "--no-env-file", script, server.url, `w${index}`, build, model, `${TIMES_REAL_TIME}`],
      {
        stdio: ["ignore", "inherit", "inherit"],
      },
    ),
  );
  try {
    while (engine.machines().length < count) await Bun.sleep(20);
    const run = (index: number) => {
      const startSeconds = (index * CHUNK_SECONDS) % 570;
      const span = { startSeconds, endSeconds: startSeconds + CHUNK_SECONDS };
      return engine.run("transcribe", { area, model: "/m", language: "en", chunk: { ...span, speech: [span] } }, never);
    };
    // Connections and consumers exist after the first ones.
    await Promise.all(Array.from({ length: 2 * count }, (_, index) => run(index)));
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const before = process.cpuUsage();
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: CHUNKS_PER_WORKER * count }, (_, index) => run(index)));
    const seconds = (performance.now() - startedAt) / 1000;
    const { user, system } = process.cpuUsage(before);
    const audioSeconds = CHUNKS_PER_WORKER * count * CHUNK_SECONDS;
    const efficiency = audioSeconds / TIMES_REAL_TIME / count / seconds;
    return [
      String(count).padEnd(42),
      efficiency.toFixed(3).padEnd(11),
      (audioSeconds / seconds).toFixed(0).padEnd(12),
      `${((100 * (user + system)) / 1e6 / seconds).toFixed(0)} %`.padEnd(16),
      `${(delay.percentile(99) / 1e6).toFixed(1)} ms`.padEnd(15),
      `${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB`,
    ].join(" ");
  } finally {
    for (const worker of workers) worker.kill("SIGTERM");
    await Promise.all(workers.map((worker) => worker.exited));
    engine.close();
    await broker.close();
  }
}
