import { existsSync } from "node:fs";
import { join } from "node:path";
import { mediaToolPath } from "../../harness/checkout.ts";
import { TestServer } from "../../harness/server.ts";
import { beforeStop, childrenOf, commandOf, cpuSecondsOf } from "../shared/processes.ts";
import { runCommand } from "../shared/run-command.ts";
import { makeRecording } from "./recordings.ts";
import type { ScaleFigures, ScaleGroup } from "./scale-figures.ts";
import { median } from "./table.ts";

/** A load for a server with real models. */
export interface RealLoad {
  readonly group: ScaleGroup;
  readonly load: string;
  readonly recordings: number;
  /** Length of each recording. */
  readonly minutes: number;
  readonly threads: number;
}

const POLL_MILLISECONDS = 200;
/** Length of the recording before the first load: long enough that the server tests the encoder's ONNX form. */
const WARM_UP_MINUTES = 6;

/** Each load is measured this often, in turns with the others. Medians count: other machines of the host disturb. */
const RUNS = 3;

/** Runs loads on servers with real models, one server for each number of threads. @param audio the corpus */
export async function measureReal(
  loads: readonly RealLoad[],
  audio: string,
  directory: string,
): Promise<ScaleFigures[]> {
  const { file: meetings } = await makeRecording("meetings", audio, directory);
  // All lengths have the same contents, so that only the length differs.
  const minute = await repeated(meetings, 1, directory);
  const measured = new Map<RealLoad, ScaleFigures>();
  for (const [threads, own] of Map.groupBy(loads, (load) => load.threads)) {
    await using server = new TestServer({
      TRANSCRIBE_LOG_LEVEL: "info",
      TRANSCRIBE_ENGINE_THREADS: String(threads),
      TRANSCRIBE_LIMITS_RECORDINGS_PER_ACCOUNT: "1000",
      TRANSCRIBE_LIMITS_CREATES_PER_HOUR: "1000",
    });
    using _stop = beforeStop(() => server[Symbol.asyncDispose]());
    await server.start();
    await run(server, await repeated(minute, WARM_UP_MINUTES, directory), 1);
    const runs = new Map<RealLoad, Run[]>(own.map((load) => [load, []]));
    for (let count = 1; count <= RUNS; count++) {
      for (const [load, done] of runs) {
        console.error(`bench: ${load.group}: ${load.load}, ${threads} threads, real models, run ${count} of ${RUNS}`);
        const one = await run(server, await repeated(minute, load.minutes, directory), load.recordings);
        console.error(`bench: ${one.seconds.toFixed(1)} s`);
        done.push(one);
      }
    }
    for (const [load, done] of runs) measured.set(load, figuresOf(load, done));
  }
  return loads.flatMap((load) => measured.get(load) ?? []);
}

function figuresOf({ group, load, recordings, minutes, threads }: RealLoad, runs: readonly Run[]): ScaleFigures {
  const seconds = median(runs.map((run) => run.seconds));
  const cpuSeconds = median(runs.map((run) => run.cpuSeconds));
  return {
    group,
    by: "real models",
    load,
    audioHours: (recordings * minutes) / 60,
    devices: threads,
    seconds,
    cpuSeconds,
  };
}

interface Run {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Sends copies of a recording at once and waits for all. */
async function run(server: TestServer, file: string, copies: number): Promise<Run> {
  const client = server.client(`bench-${Bun.randomUUIDv7()}`);
  const worker = childrenOf(server.pid).find((child) => commandOf(child).includes("__worker"));
  const processes = [server.pid, ...(worker === undefined ? [] : [worker])];
  const cpuSeconds = () => processes.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);
  const cpuBefore = cpuSeconds();
  const startedAt = performance.now();
  const ids = await Promise.all(Array.from({ length: copies }, async () => (await client.create(file)).id));
  for (const id of ids) {
    for (let status = ""; status !== "completed"; ) {
      ({ status } = await client.get(id));
      if (status === "failed") throw new Error(`the recording failed\n${server.tail()}`);
      if (status !== "completed") await Bun.sleep(POLL_MILLISECONDS);
    }
  }
  return { seconds: (performance.now() - startedAt) / 1000, cpuSeconds: cpuSeconds() - cpuBefore };
}

/** Makes a recording of a length by repeating another one. */
async function repeated(source: string, minutes: number, directory: string): Promise<string> {
  const path = join(directory, `${minutes}min.flac`);
  if (existsSync(path)) return path;
  const length = ["-t", String(60 * minutes)];
  await runCommand([mediaToolPath, "-v", "error", "-stream_loop", "-1", "-i", source, ...length, path]);
  return path;
}
