import { Counter, type Registry } from "prom-client";
import { askedGauge, type Counted, closedCounter, countsOf, labelledGauge } from "./declare.ts";
import { residentBytes } from "./resident-bytes.ts";

/** A worker process and its device. */
interface MeasuredWorker {
  /** null while the process does not run. */
  readonly pid: number | null;
  /** null: the worker computes on the CPU. */
  readonly gpu: {
    /** Backend and number, e.g. `CUDA0`. */
    readonly label: string;
    readonly name: string;
  } | null;
  /** Memory of that GPU; null while it is not known. */
  readonly gpuMemory: { readonly freeBytes: number; readonly totalBytes: number } | null;
}

export interface EngineSource {
  engine(): {
    readonly ready: boolean;
    /** Whether the worker was stopped because it was idle for long. It is started again when there is work. */
    readonly asleep: boolean;
    /** One worker, or one for each GPU. */
    readonly workers: readonly MeasuredWorker[];
  };
  /** Returns the id of the speech model that new recordings get. */
  modelInUse(): string;
}

/** Time spent on a step, and the length of the audio that was processed. */
export interface StepWork {
  readonly step: string;
  /** `cpu`, or the GPU backend. */
  readonly device: string;
  /** The GPU's label; empty or missing if the CPU did the work. */
  readonly gpu?: string;
  readonly seconds: number;
  readonly audioSeconds: number;
}

/** Signals that end crashed or killed native code. */
const signals = ["SIGILL", "SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGTERM"];

/** Metrics of the inference worker: speed, status and memory. */
export class EngineMetrics {
  readonly #stepSeconds: Counter<"step" | "device" | "gpu">;
  readonly #stepAudioSeconds: Counter<"step" | "device" | "gpu">;
  readonly #unexpectedExits: Counter<"signal">;

  constructor(registry: Registry, source: EngineSource) {
    const registers = [registry];
    const labelNames = ["step", "device", "gpu"] as const;
    this.#stepSeconds = new Counter({
      name: "transcribe_step_seconds_total",
      help: "Time spent on each step of the work, without waiting for a turn, by device and GPU; divided by the audio's it is the RTF",
      labelNames,
      registers,
    });
    this.#stepAudioSeconds = new Counter({
      name: "transcribe_step_audio_seconds_total",
      help: "Audio that each step worked through, by device and GPU; transcribe is handed speech alone",
      labelNames,
      registers,
    });
    this.#unexpectedExits = closedCounter(
      registry,
      {
        name: "transcribe_engine_worker_deaths_total",
        help: "Times the inference worker ended unasked, by signal; none is an exit of its own",
        labelNames: ["signal"],
      },
      [...signals, "none", "other"].map((signal) => ({ signal })),
    );
    askedGauge(
      registry,
      { name: "transcribe_engine_ready", help: "1 while the inference worker takes work, or sleeps and would" },
      () => (source.engine().ready ? 1 : 0),
    );
    askedGauge(
      registry,
      {
        name: "transcribe_engine_asleep",
        help: "1 while there is no inference worker because nothing was to do for engine.idle_minutes",
      },
      () => (source.engine().asleep ? 1 : 0),
    );
    labelledGauge(
      registry,
      {
        name: "transcribe_engine_worker_resident_memory_bytes",
        help: "Resident memory of each inference worker, models included, by the GPU that it computes on (Linux)",
        labelNames: ["gpu"],
      },
      () =>
        source.engine().workers.flatMap(({ pid, gpu }) => {
          const value = residentBytes(pid);
          return value === null ? [] : [{ labels: { gpu: gpu?.label ?? "" }, value }];
        }),
    );
    const memoryOf = (which: "freeBytes" | "totalBytes") =>
      source.engine().workers.flatMap(({ gpu, gpuMemory }) => {
        if (gpu === null || gpuMemory === null) return [];
        return [{ labels: { gpu: gpu.label, name: gpu.name }, value: gpuMemory[which] }];
      });
    labelledGauge(
      registry,
      {
        name: "transcribe_gpu_memory_free_bytes",
        help: "Free memory of each GPU that speech is computed on, as its driver tells the worker",
        labelNames: ["gpu", "name"],
      },
      () => memoryOf("freeBytes"),
    );
    labelledGauge(
      registry,
      { name: "transcribe_gpu_memory_total_bytes", help: "Memory of each such GPU", labelNames: ["gpu", "name"] },
      () => memoryOf("totalBytes"),
    );
    labelledGauge(
      registry,
      {
        name: "transcribe_model_info",
        help: "1 for the speech model that new recordings get",
        labelNames: ["model"],
      },
      () => [{ labels: { model: source.modelInUse() }, value: 1 }],
    );
  }

  /** Returns the work of each step on each device since the server was started. */
  async work(): Promise<StepWork[]> {
    const [seconds, audio] = await Promise.all([this.#stepSeconds.get(), this.#stepAudioSeconds.get()]);
    return seconds.values.map(({ labels, value }) => {
      const { step = "", device = "", gpu = "" } = labels;
      const same = audio.values.find(
        (each) => each.labels.step === step && each.labels.device === device && each.labels.gpu === gpu,
      );
      const of = { step: String(step), device: String(device), gpu: String(gpu) };
      return { ...of, seconds: value, audioSeconds: same?.value ?? 0 };
    });
  }

  /**
   * Returns the number of unexpected worker exits since the server was started, by signal. `none` is an exit without a
   * signal.
   */
  async deaths(): Promise<Counted[]> {
    return countsOf(await this.#unexpectedExits.get(), "signal");
  }

  stepDone({ step, device, gpu = "", seconds, audioSeconds }: StepWork): void {
    this.#stepSeconds.inc({ step, device, gpu }, seconds);
    this.#stepAudioSeconds.inc({ step, device, gpu }, audioSeconds);
  }

  /** Counts an unexpected exit of the worker. @param signal null if the worker exited by itself */
  unexpectedExit(signal: string | null): void {
    this.#unexpectedExits.inc({ signal: signal === null ? "none" : signals.includes(signal) ? signal : "other" });
  }
}
