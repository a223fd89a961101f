import { join } from "node:path";
import { Engine, type EngineOptions } from "../../src/engine/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { scriptedStart } from "./scripted-start.ts";

export const never = new AbortController().signal;
const engines: Engine[] = [];

/** Returns an engine with a scripted worker, which restarts at once. */
export function scriptedEngine({
  lanes = 1,
  ...options
}: Partial<EngineOptions> & { readonly lanes?: number } = {}): Engine {
  const engine = new Engine({
    command: [process.execPath, join(import.meta.dir, "scripted-worker.ts")],
    prepare: async () => [{ ...scriptedStart, lanes }],
    log: createLogger("silent"),
    restartDelayMilliseconds: () => 10,
    ...options,
  });
  engines.push(engine);
  return engine;
}

/** Closes all engines of a test. */
export async function closeEngines(): Promise<void> {
  for (const engine of engines.splice(0)) await engine.close();
}

/** Returns the parameters of an operation in which the worker follows a script, see scripted-worker.ts. */
export const script = (path: string) => ({ area: { directory: "/", pcm: { path, sampleCount: 1 } } });

/** Runs an operation without the recognizer. */
export const run = (engine: Engine, path: string, signal = never, ...record: Parameters<Engine["run"]>[3][]) =>
  engine.run("planChunks", script(path), signal, ...record);

/** Runs an operation of the recognizer. @returns the number of the GPU that ran it */
export async function gpuOf(engine: Engine, path = "answer", signal = never): Promise<string> {
  const span = { startSeconds: 0, endSeconds: 1 };
  const params = { ...script(path), chunk: { ...span, speech: [span] }, model: "/" };
  return Object.keys((await engine.run("detectLanguage", params, signal)).probabilities).join();
}

export const pidOf = (engine: Engine) => engine.status().workers[0]?.pid ?? null;

/** Returns a record of attempts that notes their starts, and why they were interrupted. */
export function notedRecord(crashes = 0) {
  const noted: string[] = [];
  return {
    ...{ noted, crashes },
    onStart: () => void noted.push("start"),
    onInterrupted: (cause: string) => void noted.push(cause),
  };
}

/** Waits until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(5);
}
