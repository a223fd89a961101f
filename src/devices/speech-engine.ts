import { statSync } from "node:fs";
import { loadavg } from "node:os";
import { Engine, type EngineOptions } from "../engine/index.ts";
import { memoryOf } from "../machine/index.ts";
import { ownCommand } from "../program/index.ts";
import { messageOf, orAborted } from "../text/index.ts";
import { chooseCpuLibraryFor } from "./cpu-libraries.ts";
import { Encoders, type EncodersOptions, type EncoderUse } from "./encoders.ts";
import type { Tuning } from "./lane-shares.ts";
import { MemoryFallback } from "./memory-fallback.ts";
import { memoryNeed } from "./memory-need.ts";
import { type PrepareWorkerOptions, workerPreparation } from "./prepare-worker.ts";
import { Tuner } from "./tuner.ts";
import { devicesOf, readTuning } from "./tunings.ts";

export interface SpeechEngineOptions extends PrepareWorkerOptions {
  /** Whether the best number of lanes is measured in idle time. */
  readonly tunes?: boolean;
  /** Returns how many recordings are processed at once, each of which may need a decoder. */
  readonly slots: () => number;
  readonly lackOfSpace: EncodersOptions["lackOfSpace"];
  readonly onCompletion?: EngineOptions["onCompletion"];
  readonly onUnexpectedExit?: EngineOptions["onUnexpectedExit"];
  readonly idleMilliseconds?: EngineOptions["idleMilliseconds"];
}

/** How long the engine is idle before its lanes are measured. */
const IDLE_BEFORE_TUNING_MILLISECONDS = 60_000;

/**
 * The engine with the devices and models that it uses, for `serve`, `run` and `bench`. Self-tests choose the CPU
 * variant, the GPUs and the encoder, and a device that fails at work is replaced. The lanes are measured in idle time.
 * Where memory is too short for them, one operation runs at once.
 */
export class SpeechEngine {
  readonly engine: Engine;
  readonly #options: SpeechEngineOptions;
  readonly #encoders: Encoders;
  readonly #tuner: Tuner | null;
  readonly #memory: MemoryFallback;
  /** Devices of the first worker; null before the first start. */
  #start: { readonly cpuLibrary: string; readonly gpus: number; readonly tunings: readonly Tuning[] } | null = null;
  /** Models that the workers were started for, or that were self-tested since. */
  #admitted: ReadonlySet<string> = new Set();

  constructor(options: SpeechEngineOptions) {
    this.#options = options;
    this.#encoders = new Encoders(options);
    this.#memory = this.#createMemoryFallback();
    const prepare = workerPreparation({ ...options, runsOneAtOnce: () => this.#memory.isActive });
    const { log, onCompletion, onUnexpectedExit, idleMilliseconds } = options;
    this.#tuner = this.#createTuner();
    this.engine = new Engine({
      command: ownCommand("__worker"),
      prepare: async (exit, signal) => {
        const models = options.speechModels();
        if (exit !== null) this.#memory.after(exit);
        const starts = await prepare(exit, signal);
        const [{ cpuLibrary }] = starts;
        const gpus = starts.filter(({ gpu }) => gpu !== undefined).length;
        const recognizing = starts.filter(({ role }) => role !== "speakers");
        const { verdictsPath, threads } = options;
        const tunings = recognizing.map((start) => readTuning(verdictsPath, { start, threads }));
        this.#start = { cpuLibrary, gpus, tunings };
        this.#admitted = new Set(models);
        void this.engine.ready().then(() => this.#tuner?.use(devicesOf(starts, options.threads)));
        return starts;
      },
      log,
      memoryShortage: () => this.#memory.shortage(),
      onUse: () => this.#tuner?.interrupt(),
      ...(onCompletion === undefined ? {} : { onCompletion }),
      ...(onUnexpectedExit === undefined ? {} : { onUnexpectedExit }),
      ...(idleMilliseconds === undefined ? {} : { idleMilliseconds }),
    });
    void this.engine.ready().then(() => {
      const warning = this.memoryWarning();
      if (warning !== null) log.warn({ event: "engine.memory_short", warning });
    });
  }

  /** Returns a warning if this machine or container has less memory than the settings and the model need; else null. */
  memoryWarning(): string | null {
    return this.#memory.warning();
  }

  /** Self-tests a new model in separate processes before the workers use it. @throws the signal's reason */
  async admit(modelPath: string, signal: AbortSignal): Promise<void> {
    if (this.#admitted.has(modelPath)) return;
    await orAborted(this.engine.ready(), signal);
    this.#admitted = new Set([...this.#admitted, modelPath]);
    const { files, verdictsPath, cpuVariant, log, speechModels } = this.#options;
    const test = { nativeDirectory: files.nativeDirectory, verdictsPath, cpuVariant, signal };
    try {
      const { cpuLibrary } = await chooseCpuLibraryFor(test, speechModels());
      if (cpuLibrary !== this.#start?.cpuLibrary) this.engine.renewWorkers();
    } catch (error) {
      signal.throwIfAborted();
      // The worker may still manage; if it crashes, the recording fails and the others continue.
      log.error({ event: "engine.models_unusable", detail: messageOf(error) });
    }
  }

  /**
   * Returns the path of the ONNX form of a model's encoder, or null if the model's own is to be used. Tests an unknown
   * encoder first if the amount of speech justifies it. @throws the signal's reason
   */
  async encoderOf(modelPath: string, spokenSeconds: number, signal: AbortSignal): Promise<string | null> {
    const use = await this.#encoderUse(modelPath, signal);
    return use === null ? null : await orAborted(this.#encoders.find(use, spokenSeconds), signal);
  }

  /**
   * Returns the result of `encoderOf` where it does not depend on the amount of speech, because the encoder has been
   * tested or none is used; else undefined. @throws the signal's reason
   */
  async knownEncoderOf(modelPath: string, signal: AbortSignal): Promise<string | null | undefined> {
    const use = await this.#encoderUse(modelPath, signal);
    return use === null ? null : await orAborted(this.#encoders.known(use), signal);
  }

  /** Returns what a model's encoder is tested for; null on a GPU, where the model's own encoder is much faster. */
  async #encoderUse(modelPath: string, signal: AbortSignal): Promise<EncoderUse | null> {
    await orAborted(this.engine.ready(), signal);
    if (this.#start === null || this.#start.gpus > 0) return null;
    return { cpuLibrary: this.#start.cpuLibrary, speechModel: modelPath };
  }

  /** Frees the models that are no longer needed. */
  freeUnneeded(): void {
    this.engine.keepModels(this.#options.speechModels());
  }

  /** Closes the engine and aborts its self-tests. */
  async close(): Promise<void> {
    this.#encoders.close();
    this.#memory.close();
    await Promise.all([this.#tuner?.close(), this.engine.close()]);
  }

  /** Returns whether other programs use the CPU, so that a measurement of the CPU would be wrong. */
  #hasOtherLoad(): boolean {
    return this.#start?.gpus === 0 && (loadavg()[0] ?? 0) > this.#options.threads / 2;
  }

  /** Returns the size of the model for new recordings; 0 if the database or the file cannot be read now. */
  #modelBytes(): number {
    try {
      return statSync(this.#options.speechModels()[0]).size;
    } catch {
      return 0;
    }
  }

  #createMemoryFallback(): MemoryFallback {
    const { threads, lanes, slots, log } = this.#options;
    const need = () => {
      const { gpus, tunings } = this.#start ?? { gpus: 0, tunings: [] };
      const use = { modelBytes: this.#modelBytes(), gpus, tunings, slots: slots() };
      return memoryNeed({ ...use, threads, lanes, availableBytes: memoryOf().availableBytes });
    };
    const onEnd = () => this.engine.renewWorkers();
    return new MemoryFallback({ log, memory: memoryOf, need, onEnd, now: () => performance.now() });
  }

  /** Returns what measures the lanes; null if nothing does, because a setting names their number. */
  #createTuner(): Tuner | null {
    const { tunes = false, lanes, verdictsPath, withSample, log } = this.#options;
    if (!tunes || lanes > 0) return null;
    return new Tuner({
      ...{ verdictsPath, withSample, log, idleMilliseconds: IDLE_BEFORE_TUNING_MILLISECONDS },
      isBusy: () => this.engine.status().busy || this.#memory.isActive || this.#hasOtherLoad(),
      gpuMemoryOf: ({ start }) => {
        const { workers } = this.engine.status();
        return workers.find(({ gpu }) => gpu?.label === start.gpu?.label)?.gpuMemory ?? null;
      },
      encoderOf: async ({ start: { gpu, cpuLibrary, speechModel } }) =>
        gpu === undefined ? await this.#encoders.find({ cpuLibrary, speechModel }, 0) : null,
      onTuned: () => this.engine.renewWorkers(),
    });
  }
}
