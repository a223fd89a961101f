import type { Counter, Registry } from "prom-client";
import { type Counted, counter, countsOf, gauge, labelledGauge } from "./declare.ts";
import { residentBytes } from "./process-metrics.ts";

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
interface StepWork {
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
  readonly #exits: Counter<"signal">;

  constructor(registry: Registry, source: EngineSource) {
    const labels = ["step", "device", "gpu"] as const;
    this.#stepSeconds = counter(
      registry,
      "transcribe_step_seconds_total",
      "Time spent on each step, waiting excluded, by device and GPU; divided by the step's audio it is the RTF",
      labels,
    );
    this.#stepAudioSeconds = counter(
      registry,
      "transcribe_step_audio_seconds_total",
      "Duration of the audio that each step processed, by device and GPU; transcribe receives only speech",
      labels,
    );
    this.#exits = counter(
      registry,
      "transcribe_engine_worker_deaths_total",
      "Unexpected exits of the inference worker, by signal; none is an exit without a signal",
      ["signal"],
      [...signals, "none", "other"].map((signal) => ({ signal })),
    );
    gauge(
      registry,
      "transcribe_engine_ready",
      "1 while the inference worker accepts work, or is asleep and would start for it",
      () => (source.engine().ready ? 1 : 0),
    );
    gauge(
      registry,
      "transcribe_engine_asleep",
      "1 while the inference worker is ended because there was no work for engine.idle_minutes",
      () => (source.engine().asleep ? 1 : 0),
    );
    labelledGauge(
      registry,
      "transcribe_engine_worker_resident_memory_bytes",
      "Resident memory of each inference worker, models included, by the GPU that it uses (Linux)",
      ["gpu"],
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
      "transcribe_gpu_memory_free_bytes",
      "Free memory of each GPU that runs the speech model, as its driver reports it",
      ["gpu", "name"],
      () => memoryOf("freeBytes"),
    );
    labelledGauge(
      registry,
      "transcribe_gpu_memory_total_bytes",
      "Memory of each GPU that runs the speech model",
      ["gpu", "name"],
      () => memoryOf("totalBytes"),
    );
    labelledGauge(
      registry,
      "transcribe_model_info",
      "1 for the speech model that new recordings get",
      ["model"],
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

  /** Returns the number of unexpected worker exits since the server was started, by signal; `none` means no signal. */
  async crashes(): Promise<Counted[]> {
    return countsOf(this.#exits, "signal");
  }

  stepDone({ step, device, gpu = "", seconds, audioSeconds }: StepWork): void {
    this.#stepSeconds.inc({ step, device, gpu }, seconds);
    this.#stepAudioSeconds.inc({ step, device, gpu }, audioSeconds);
  }

  /** Counts an unexpected exit of the worker. @param signal null if the worker exited by itself */
  unexpectedExit(signal: string | null): void {
    this.#exits.inc({ signal: signal === null ? "none" : signals.includes(signal) ? signal : "other" });
  }
}
