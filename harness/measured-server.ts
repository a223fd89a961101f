import { beforeStop, childrenOf, commandOf, cpuSecondsOf, familyOf } from "../tools/shared/processes.ts";
import type { TestClient } from "./client.ts";
import { TestServer } from "./server.ts";

/** Interval between polls of a recording; more frequent polls would take time from the server. */
const POLL_MILLISECONDS = 100;
/** Time limit for recordings to complete: hours of audio, or a GPU in software. */
export const PATIENCE_MILLISECONDS = 3_600_000;

/** Returns a server that is not started. A signal to this process kills it. @param environment settings */
export function newServer(
  environment: Readonly<Record<string, string>> = {},
  options?: ConstructorParameters<typeof TestServer>[1],
): TestServer {
  beforeStop(killServers);
  const generous = {
    TRANSCRIBE_LOG_LEVEL: "info",
    TRANSCRIBE_LIMITS_RECORDINGS_PER_ACCOUNT: "100000",
    TRANSCRIBE_LIMITS_AUDIO_MINUTES_PER_DAY: "10000000",
  };
  return new TestServer({ ...generous, ...environment }, options);
}

async function killServers(): Promise<void> {
  await Promise.all([...TestServer.running].map((server) => server.killHard()));
}

/** Returns a client with a new account that waits an hour for a recording. */
export function patientClient(server: TestServer): TestClient {
  return server.client(`measure-${Bun.randomUUIDv7()}`, PATIENCE_MILLISECONDS);
}

/** Returns the process id of a server's worker; undefined while it has none. */
export function workerOf({ pid }: TestServer): number | undefined {
  return childrenOf(pid).find((child) => commandOf(child).includes("__worker"));
}

export interface Took {
  readonly seconds: number;
  /** CPU time of all processes. */
  readonly cpuSeconds: number;
}

/**
 * Sends recordings at the same time and waits until all are completed.
 * @param pids processes whose CPU time counts, with their descendants; the server by default
 * @throws {Error} with the end of the log when a recording fails
 */
export async function sendAtOnce(
  server: TestServer,
  files: readonly string[],
  {
    client = patientClient(server),
    fields = {},
    pids = [server.pid],
  }: { client?: TestClient; fields?: Readonly<Record<string, string>>; pids?: readonly number[] } = {},
): Promise<Took & { readonly ids: readonly string[]; readonly client: TestClient }> {
  const cpuSeconds = () => pids.reduce((sum, pid) => sum + familyCpuSeconds(pid), 0);
  const before = cpuSeconds();
  const startedAt = performance.now();
  const ids = await Promise.all(files.map(async (file) => (await client.create(file, fields)).id));
  for (const id of ids) {
    const { status } = await client.waitUntilEnded(id, POLL_MILLISECONDS);
    if (status !== "completed") throw new Error(`the recording failed\n${server.tail()}`);
  }
  return { seconds: (performance.now() - startedAt) / 1000, cpuSeconds: cpuSeconds() - before, ids, client };
}

/** Returns the CPU time of a process and of all its descendants, also of those that have exited. */
export function familyCpuSeconds(pid: number): number {
  return familyOf(pid).reduce((sum, each) => sum + cpuSecondsOf(each), 0);
}

/**
 * Returns the value of each of a server's metrics. Series of one metric are added up; series of a step have the name of
 * the step after a space.
 */
export async function metricsOf(server: TestServer): Promise<Map<string, number>> {
  return readMetrics(await (await fetch(`${server.origin}/metrics`)).text());
}

/** Reads metrics in Prometheus' text format, see `metricsOf`. */
export function readMetrics(text: string): Map<string, number> {
  const values = new Map<string, number>();
  for (const [, name = "", labels = "", value] of text.matchAll(/^(\w+)(\{[^}]*\})? (\S+)$/gm)) {
    const step = /step="(\w+)"/.exec(labels)?.[1];
    const key = step === undefined ? name : `${name} ${step}`;
    values.set(key, (values.get(key) ?? 0) + Number(value));
  }
  return values;
}
