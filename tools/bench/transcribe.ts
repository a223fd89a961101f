import { cpSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { speechDeviceIn } from "../../harness/device.ts";
import { metricsOf, newServer, sendAtOnce, workerOf } from "../../harness/measured-server.ts";
import type { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { childrenOf, PeakWatch, peakBytesOf, programOf, resetPeak } from "../shared/processes.ts";
import type { Competitor, Figures, RunSettings } from "./competitor.ts";

/** Names of the steps in their order; steps that the server does not report are omitted. */
const stepNames: Readonly<Record<string, string>> = {
  decode: "decoding",
  detect: "speech detection",
  language: "language detection",
  transcribe: "transcription",
  diarize: "speaker diarization",
  finalize: "finalization",
};

export const ourName = "transcribe, with speakers";

/**
 * Prepares our program: recordings are sent to a server over HTTP until they are completed, with speakers. The one-time
 * benchmarks of a server run before.
 */
export function transcribe(settings: RunSettings): Competitor {
  let prepared: ReturnType<typeof prepareState> | null = null;
  return {
    name: ourName,
    run: async (files) => {
      prepared ??= prepareState(files.slice(0, 1), settings);
      const { directory, kernels } = await prepared;
      const useState = (server: TestServer) => cpSync(directory, stateOf(server), { recursive: true });
      return { ...(await sendAll(files, settings, useState)), ...(kernels === null ? {} : { kernels }) };
    },
  };
}

/**
 * Returns the state of a server that has transcribed a recording, and measured how many operations a GPU runs at once.
 * @returns a copy of the directory `state`, which is removed with this process, and how the CPU computes, if it is known
 */
async function prepareState(files: readonly string[], settings: RunSettings) {
  let kernels = null as string | null;
  const directory = temporaryDirectory();
  process.once("exit", () => directory[Symbol.dispose]());
  await sendAll(files, settings, undefined, async (server) => {
    if (settings.gpu !== null) {
      await server.stop();
      const { stdout, stderr } = await server.cli("bench", "--tune");
      console.error(stdout, stderr);
    }
    kernels = await kernelsInUse(server);
    cpSync(stateOf(server), directory.path, { recursive: true });
  });
  return { directory: directory.path, kernels };
}

const reportSchema = Type.Object({
  checks: Type.Array(Type.Object({ id: Type.String(), status: Type.String(), summary: Type.String() })),
});

/** Returns how the server's CPU computes, as `transcribe doctor` describes it; null if it does not work. */
async function kernelsInUse(server: TestServer): Promise<string | null> {
  const { stdout } = await server.cli("doctor", "--json");
  const { checks } = Value.Parse(reportSchema, JSON.parse(stdout));
  return checks.find(({ id, status }) => id === "cpu.kernels" && status === "ok")?.summary ?? null;
}

function stateOf({ dataDirectory }: TestServer): string {
  return join(dataDirectory, "state");
}

async function sendAll(
  files: readonly string[],
  { threads, language, cpuSettings, gpu }: RunSettings,
  before?: (server: TestServer) => void,
  after?: (server: TestServer) => Promise<void>,
): Promise<Figures> {
  await using server = newServer({
    ...{ TRANSCRIBE_ENGINE_THREADS: String(threads), ...cpuSettings, ...gpu?.environment },
  });
  before?.(server);
  await server.start();
  await server.until(() => speechDeviceIn(server.log) !== undefined);
  const used = speechDeviceIn(server.log);
  if (gpu !== null && used !== gpu.speechDevice) throw new Error(`the server uses ${used}, not ${gpu.speechDevice}`);
  const { pid } = server;
  const worker = workerOf(server);
  if (worker === undefined) throw new Error("the server has no worker");
  for (const each of [pid, worker]) resetPeak(each);
  using others = new PeakWatch(() =>
    childrenOf(pid)
      .map((child) => [programOf(child), child] as const)
      // A process that the server has just forked still has the server's name and memory.
      .filter(([name, child]) => child !== worker && name !== programOf(pid)),
  );
  const sent = await sendAtOnce(server, files, { fields: language === null ? {} : { language } });
  const { seconds, cpuSeconds, ids, client } = sent;
  const figures = {
    ...{ seconds, cpuSeconds },
    peakBytes: { server: peakBytesOf(pid), worker: peakBytesOf(worker), ...others.peakBytes },
    steps: stepsOf(await metricsOf(server)),
    texts: await Promise.all(ids.map(async (id) => (await client.segments(id)).map(({ text }) => text).join(" "))),
  };
  await after?.(server);
  return figures;
}

/** Returns the seconds of each step from the server's metrics, over all devices. */
export function stepsOf(metrics: ReadonlyMap<string, number>): Figures["steps"] {
  return Object.entries(stepNames).flatMap(([step, name]) => {
    const seconds = metrics.get(`transcribe_step_seconds_total ${step}`);
    return seconds === undefined ? [] : [{ name, seconds, count: null }];
  });
}
