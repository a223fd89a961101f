import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestClient } from "../../harness/client.ts";
import { speechDeviceIn } from "../../harness/device.ts";
import { TestServer } from "../../harness/server.ts";
import {
  beforeStop,
  childrenOf,
  commandOf,
  cpuSecondsOf,
  PeakWatch,
  peakBytesOf,
  programOf,
  resetPeak,
} from "../shared/processes.ts";
import type { Competitor, Figures, RunSettings } from "./competitor.ts";

/** Interval between polls; more frequent polls would take time from the server. */
const pollMilliseconds = 100;
/** Names of the steps in their order; steps that the server does not report are omitted. */
const stepNames: Readonly<Record<string, string>> = {
  decode: "decoding",
  detect: "speech detection",
  language: "language detection",
  transcribe: "transcription",
  diarize: "speaker diarization",
  finalize: "finalization",
};

/** Name of this program in the table. */
export const ourName = "transcribe, with speakers";

/**
 * Prepares our program: recordings are sent to a server over HTTP until they are completed, with speakers. The one-time
 * benchmarks of a server run before.
 */
export async function transcribe(terms: RunSettings): Promise<Competitor[]> {
  let state: Promise<string> | null = null;
  return [
    {
      name: ourName,
      run: async (files) => {
        state ??= prepareState(files.slice(0, 1), terms);
        const directory = await state;
        return sendAll(files, terms, (server) => cpSync(directory, stateOf(server), { recursive: true }));
      },
    },
  ];
}

/**
 * Returns the state of a server that has transcribed a recording, and measured how many operations a GPU runs at once, in
 * a directory that is removed with this process.
 */
async function prepareState(files: readonly string[], terms: RunSettings): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "transcribe-bench-state-"));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  beforeStop(remove);
  process.once("exit", remove);
  await sendAll(files, terms, undefined, async (server) => {
    if (terms.gpu !== null) {
      await server.stop();
      const { stdout, stderr } = await server.cli("bench", "--tune");
      console.error(stdout, stderr);
    }
    cpSync(stateOf(server), directory, { recursive: true });
  });
  return directory;
}

function stateOf({ dataDirectory }: TestServer): string {
  return join(dataDirectory, "state");
}

async function sendAll(
  files: readonly string[],
  { threads, language, gpu }: RunSettings,
  before?: (server: TestServer) => void,
  after?: (server: TestServer) => Promise<void>,
): Promise<Figures> {
  await using server = new TestServer({
    TRANSCRIBE_LOG_LEVEL: "info",
    TRANSCRIBE_ENGINE_THREADS: String(threads),
    ...gpu?.environment,
  });
  using _stop = beforeStop(() => server[Symbol.asyncDispose]());
  before?.(server);
  await server.start();
  await server.until(() => speechDeviceIn(server.log) !== undefined);
  const used = speechDeviceIn(server.log);
  if (gpu !== null && used !== gpu.speechDevice) throw new Error(`the server uses ${used}, not ${gpu.speechDevice}`);
  const figures = await measure(server, files, language === null ? {} : { language });
  await after?.(server);
  return figures;
}

async function measure(
  server: TestServer,
  files: readonly string[],
  fields: Readonly<Record<string, string>>,
): Promise<Figures> {
  const client = await server.client("bench");
  const { pid } = server;
  const worker = childrenOf(pid).find((child) => commandOf(child).includes("__worker"));
  if (worker === undefined) throw new Error("the server has no worker");
  const cpuSeconds = () => cpuSecondsOf(pid) + cpuSecondsOf(worker);
  for (const each of [pid, worker]) resetPeak(each);
  using others = new PeakWatch(() =>
    childrenOf(pid)
      .map((child) => [programOf(child), child] as const)
      // A process that the server has just forked still has the server's name and memory.
      .filter(([name, child]) => child !== worker && name !== programOf(pid)),
  );
  const cpuBefore = cpuSeconds();
  const startedAt = performance.now();
  const ids = await Promise.all(files.map(async (file) => (await client.create(file, fields)).id));
  await Promise.all(ids.map((id) => untilCompleted(server, client, id)));
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    seconds,
    cpuSeconds: cpuSeconds() - cpuBefore,
    peakBytes: { server: peakBytesOf(pid), worker: peakBytesOf(worker), ...others.peakBytes },
    steps: stepsOf(await (await fetch(`${server.origin}/metrics`)).text()),
    texts: await Promise.all(ids.map(async (id) => (await client.segments(id)).map(({ text }) => text).join(" "))),
  };
}

async function untilCompleted(server: TestServer, client: TestClient, id: string): Promise<void> {
  for (;;) {
    const { status } = await client.get(id);
    if (status === "completed") return;
    if (status === "failed") throw new Error(`the recording failed\n${server.tail()}`);
    await Bun.sleep(pollMilliseconds);
  }
}

/** Returns the seconds of each step from the server's metrics, over all devices. */
export function stepsOf(metrics: string): Figures["steps"] {
  const samples = [...metrics.matchAll(/^transcribe_step_seconds_total\{([^}]*)\} (\S+)$/gm)].map(
    ([, labels, value]) => ({
      step: /step="(\w+)"/.exec(labels ?? "")?.[1] ?? "",
      seconds: Number(value),
    }),
  );
  return Object.entries(stepNames).flatMap(([step, name]) => {
    const own = samples.filter((one) => one.step === step);
    if (own.length === 0) return [];
    return [{ name, seconds: own.reduce((sum, { seconds }) => sum + seconds, 0), count: null }];
  });
}
