import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommandError } from "../run-command.ts";
import type { Reference } from "./corpus.ts";
import { Appliance, textOf } from "./hypotheses.ts";
import { warmUp } from "./warm-up.ts";

/** For a start, in which a GPU is tried, and for a recording: where a CPU plays the GPU, either takes minutes. */
const patienceMilliseconds = 3_600_000;

/** What a server is to compute on. */
export interface Device {
  /** As the log names it: `cpu`, `vulkan` or `cuda`. */
  readonly speechDevice: string;
  /** Settings and variables that bring it about. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Has a server of this checkout transcribe recordings on one device, one after another.
 * @param corpus of which the CPU is given what it finds out its way to encode with
 * @param onText called with each recording and what was heard in it
 * @throws {CommandError} where something else computes, from the start or after a failure
 */
export async function hearOnDevice(
  { speechDevice, environment }: Device,
  corpus: readonly Reference[],
  recordings: readonly Reference[],
  onText: (recording: Reference, text: string) => void,
): Promise<void> {
  if (recordings.length === 0) return;
  const directory = await mkdtemp(join(tmpdir(), "evaluate-"));
  await using kept = new AsyncDisposableStack();
  kept.defer(() => rm(directory, { recursive: true }));
  const server = kept.use(new Appliance(environment, patienceMilliseconds));
  // Who stops this early leaves no server behind either.
  const stop = () => void kept.disposeAsync().finally(() => process.exit(1));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, stop);
    kept.defer(() => void process.off(signal, stop));
  }
  const check = () => {
    if (server.speechDevice === speechDevice) return;
    const why = server.trouble() || "transcribe doctor says how it stands with GPUs";
    throw new CommandError(`the server computes on ${server.speechDevice}, not on ${speechDevice}; ${why}`);
  };
  await server.start();
  check();
  if (speechDevice === "cpu") await warmUp(server, corpus, directory);
  for (const recording of recordings) {
    const hypothesis = await server.transcribe(recording.file);
    check();
    onText(recording, textOf(hypothesis));
  }
}
