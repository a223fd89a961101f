import { Counter, type Registry } from "prom-client";
import { askedGauge, closedCounter, labelledGauge } from "./declare.ts";
import { residentBytes } from "./resident-bytes.ts";

export interface GpuMemory {
  /** The backend's name of it, e.g. `CUDA0`. */
  readonly name: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export interface EngineSource {
  engine(): {
    readonly ready: boolean;
    /** There is no worker, since nothing was to do for long; it is started when there is. */
    readonly asleep: boolean;
    readonly workerPid: number | null;
    /** None where the worker computes on the CPU alone. */
    readonly gpus: readonly GpuMemory[];
  };
  /** The id of the speech model that new recordings get. */
  modelInUse(): string;
}

/** A piece of work that is done, and the part of a recording that it was done for. */
export interface StepWork {
  readonly step: string;
  /** `cpu`, or the GPU backend. */
  readonly device: string;
  readonly seconds: number;
  readonly audioSeconds: number;
}

/** Signals that broken or killed native code ends with. */
const signals = ["SIGILL", "SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGTERM"];

/** The inference worker: how fast it is, and how it stands. */
export class EngineMetrics {
  readonly #stepSeconds: Counter<"step" | "device">;
  readonly #stepAudioSeconds: Counter<"step" | "device">;
  readonly #deaths: Counter<"signal">;

  constructor(registry: Registry, source: EngineSource) {
    const registers = [registry];
    const labelNames = ["step", "device"] as const;
    this.#stepSeconds = new Counter({
      name: "transcribe_step_seconds_total",
      help: "Time spent on each step of the work, without waiting for a turn, by device; divided by the audio's it is the RTF",
      labelNames,
      registers,
    });
    this.#stepAudioSeconds = new Counter({
      name: "transcribe_step_audio_seconds_total",
      help: "Audio that each step worked through, by device; transcribe is handed speech alone",
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
    askedGauge(
      registry,
      {
        name: "transcribe_engine_worker_resident_memory_bytes",
        help: "Resident memory of the inference worker, models included (Linux)",
      },
      () => residentBytes(source.engine().workerPid),
    );
    labelledGauge(
      registry,
      {
        name: "transcribe_gpu_memory_free_bytes",
        help: "Free memory of each GPU that speech is computed on, as its driver tells the worker",
        labelNames: ["gpu"],
      },
      () => source.engine().gpus.map(({ name, freeBytes }) => ({ labels: { gpu: name }, value: freeBytes })),
    );
    labelledGauge(
      registry,
      { name: "transcribe_gpu_memory_total_bytes", help: "Memory of each such GPU", labelNames: ["gpu"] },
      () => source.engine().gpus.map(({ name, totalBytes }) => ({ labels: { gpu: name }, value: totalBytes })),
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

  stepDone({ step, device, seconds, audioSeconds }: StepWork): void {
    this.#stepSeconds.inc({ step, device }, seconds);
    this.#stepAudioSeconds.inc({ step, device }, audioSeconds);
  }

  /** @param signal null where the worker ended by itself */
  workerDied(signal: string | null): void {
    this.#deaths.inc({ signal: signal === null ? "none" : signals.includes(signal) ? signal : "other" });
  }
}
