import { Engine, type EngineOptions } from "../engine/index.ts";
import type { SpeechModel, SpeechModels } from "../models/index.ts";
import type { RecordingModels } from "../pipeline/index.ts";
import { ownCommand } from "../program/index.ts";
import type { Recordings } from "../recordings/index.ts";
import { chooseCpuLibraryFor } from "../speech/index.ts";
import { messageOf } from "../text/index.ts";
import { Encoders, type EncodersOptions } from "./encoders.ts";
import { type PrepareWorkerOptions, workerPreparation } from "./prepare-worker.ts";

export interface WorkerModelsOptions extends Omit<PrepareWorkerOptions, "speechModels"> {
  readonly room: EncodersOptions["room"];
  readonly speech: SpeechModels;
  readonly recordings: Recordings;
  readonly onWork: NonNullable<EngineOptions["onWork"]>;
  readonly onWorkerDeath: NonNullable<EngineOptions["onWorkerDeath"]>;
  readonly idleMilliseconds: NonNullable<EngineOptions["idleMilliseconds"]>;
}

/**
 * The engine and the speech models that its worker holds: the current one, and those that open recordings were created
 * for. A new model is self-tested in separate processes before the worker uses it.
 */
export class WorkerModels implements RecordingModels {
  readonly engine: Engine;
  readonly #options: WorkerModelsOptions;
  readonly #encoders: Encoders;
  #cpuLibrary = "";
  #hasGpu = false;
  #admitted: ReadonlySet<string> = new Set();

  constructor(options: WorkerModelsOptions) {
    this.#options = options;
    this.#encoders = new Encoders(options);
    const prepare = workerPreparation({ ...options, speechModels: () => this.#needed() });
    this.engine = new Engine({
      command: ownCommand("__worker"),
      prepare: async (death, signal) => {
        const needed = this.#needed();
        const starts = await prepare(death, signal);
        const [{ cpuLibrary, gpu }] = starts;
        this.#cpuLibrary = cpuLibrary;
        this.#hasGpu = gpu !== undefined;
        this.#admitted = new Set(needed);
        return starts;
      },
      log: options.log,
      onWork: options.onWork,
      onWorkerDeath: options.onWorkerDeath,
      idleMilliseconds: options.idleMilliseconds,
    });
  }

  current(): SpeechModel {
    return this.#options.speech.current();
  }

  find(id: string): SpeechModel | null {
    return this.#options.speech.find(id);
  }

  sha256Of(model: SpeechModel): Promise<string> {
    return this.#options.speech.sha256Of(model);
  }

  async admit({ path }: SpeechModel, signal: AbortSignal): Promise<void> {
    if (this.#admitted.has(path)) return;
    await this.#untilReady(signal);
    this.#admitted = new Set([...this.#admitted, path]);
    const { files, verdictsPath, log } = this.#options;
    const { nativeDirectory } = files;
    const choice = { command: ownCommand("__selftest"), nativeDirectory, verdictsPath, signal };
    try {
      const { cpuLibrary } = await chooseCpuLibraryFor(choice, this.#needed());
      if (cpuLibrary !== this.#cpuLibrary) this.engine.renewWorkers();
    } catch (error) {
      signal.throwIfAborted();
      // The worker may still manage; if it crashes, the recording fails and the others continue.
      log.error({ event: "engine.models_unusable", detail: messageOf(error) });
    }
  }

  async encoderOf({ path }: SpeechModel, spokenSeconds: number, signal: AbortSignal): Promise<string | null> {
    await this.#untilReady(signal);
    // On a GPU, the model's own encoder is much faster.
    if (this.#hasGpu) return null;
    const use = { cpuLibrary: this.#cpuLibrary, speechModel: path };
    return orAborted(this.#encoders.find(use, spokenSeconds), signal);
  }

  /** Closes the engine and aborts its self-tests. */
  async close(): Promise<void> {
    this.#encoders.close();
    await this.engine.close();
  }

  async #untilReady(signal: AbortSignal): Promise<void> {
    await orAborted(this.engine.ready(), signal);
  }

  /** Frees the models that only an ended recording needed. */
  freeUnneeded(): void {
    this.engine.keepModels(this.#needed());
  }

  #needed(): [string, ...string[]] {
    const { speech, recordings } = this.#options;
    const current = speech.current().path;
    const others = recordings.open.models().flatMap((id) => speech.find(id)?.path ?? []);
    return [current, ...new Set(others.filter((path) => path !== current))];
  }
}

/**
 * Waits for a promise until the signal aborts.
 * @throws the signal's reason
 */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
