import { Counter, type Registry } from "prom-client";
import { askedGauge, type Counted, closedCounter, countsOf, labelledGauge } from "./declare.ts";
import { residentBytes } from "./resident-bytes.ts";

/** A worker, and what it computes on. */
interface MeasuredWorker {
  /** null while there is none. */
  readonly pid: number | null;
  /** null: it computes on the CPU. */
  readonly gpu: {
    /** Its backend and number, e.g. `CUDA0`. */
    readonly label: string;
    readonly name: string;
  } | null;
  /** Of that GPU; null while it is not known. */
  readonly gpuMemory: { readonly freeBytes: number; readonly totalBytes: number } | null;
}

export interface EngineSource {
  engine(): {
    readonly ready: boolean;
    /** There is no worker, since nothing was to do for long; it is started when there is. */
    readonly asleep: boolean;
    /** One, or one for each GPU. */
    readonly workers: readonly MeasuredWorker[];
  };
  /** The id of the speech model that new recordings get. */
  modelInUse(): string;
}

/** A piece of work that is done, and the part of a recording that it was done for. */
export interface StepWork {
  readonly step: string;
  /** `cpu`, or the GPU backend. */
  readonly device: string;
  /** The GPU's label; empty or missing where the CPU did it. */
  readonly gpu?: string;
  readonly seconds: number;
  readonly audioSeconds: number;
}

/** Signals that broken or killed native code ends with. */
const signals = ["SIGILL", "SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGTERM"];

/** The inference worker: how fast it is, and how it stands. */
export class EngineMetrics {
  readonly #stepSeconds: Counter<"step" | "device" | "gpu">;
  readonly #stepAudioSeconds: Counter<"step" | "device" | "gpu">;
  readonly #deaths: Counter<"signal">;

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
    this.#deaths = closedCounter(
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

  /** What was done of each step on each device since the server was started. */
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

  /** Times that the worker ended unasked since then, by signal; `none` is an exit of its own. */
  async deaths(): Promise<Counted[]> {
    return countsOf(await this.#deaths.get(), "signal");
  }

  stepDone({ step, device, gpu = "", seconds, audioSeconds }: StepWork): void {
    this.#stepSeconds.inc({ step, device, gpu }, seconds);
    this.#stepAudioSeconds.inc({ step, device, gpu }, audioSeconds);
  }

  /** @param signal null where the worker ended by itself */
  workerDied(signal: string | null): void {
    this.#deaths.inc({ signal: signal === null ? "none" : signals.includes(signal) ? signal : "other" });
  }
}
