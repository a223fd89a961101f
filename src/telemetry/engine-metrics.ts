import type { Counter } from "prom-client";
import { residentBytes } from "../program/index.ts";
import { type Counted, countsOf, type Declarations, type Sample } from "./declare.ts";

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
  /** The operations that it runs: `speakers` those without the recognizer; null: all. */
  readonly role: string | null;
  /** Number of operations that it runs at the same time. */
  readonly lanes: number;
  /** Number of them whose texts are decoded together; 1: each decodes alone. */
  readonly decoderSlots: number;
  /** Steps of the decoder that they share, and the rows of texts in these, since the start of the server. */
  readonly decoder: { readonly steps: number; readonly rows: number };
  /** Memory of that GPU; null while it is not known. */
  readonly gpuMemory: { readonly freeBytes: number; readonly totalBytes: number } | null;
}

export interface EngineSource {
  engine(): {
    readonly ready: boolean;
    /** Whether the worker was stopped because it was idle for long. It is started again when there is work. */
    readonly asleep: boolean;
    /** One worker; or one for each GPU, and those for the CPU's part of the work. */
    readonly workers: readonly MeasuredWorker[];
    /** Operations that wait for a lane, by the role of the workers that run them. */
    readonly waiting: { readonly speech: number; readonly speakers: number };
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
  /** Machine of the fleet that did the work; this machine if missing. */
  readonly machine?: string;
  readonly seconds: number;
  readonly audioSeconds: number;
}

/** `machine` is set in a fleet only. */
type StepLabel = "step" | "device" | "gpu" | "machine";
type StepLabels = Partial<Record<StepLabel, string | number>>;

/** Signals that end crashed or killed native code. */
const signals = ["SIGILL", "SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGTERM"];

/** Adds the metrics of the workers, and of the model that they run. */
export function registerEngineGauges(declare: Declarations, source: EngineSource): void {
  declare.gauge(
    "transcribe_engine_ready",
    "1 while the inference worker accepts work, or is asleep and would start for it",
    () => (source.engine().ready ? 1 : 0),
  );
  declare.gauge(
    "transcribe_engine_asleep",
    "1 while the inference worker is ended because there was no work for engine.idle_minutes",
    () => (source.engine().asleep ? 1 : 0),
  );
  declare.gauge(
    "transcribe_engine_worker_resident_memory_bytes",
    "Resident memory of the inference workers, models included, by the GPU that they use (Linux)",
    () =>
      [...Map.groupBy(source.engine().workers, ({ gpu }) => gpu?.label ?? "")].flatMap(([gpu, workers]): Sample[] => {
        const bytes = workers.flatMap(({ pid }) => residentBytes(pid) ?? []);
        return bytes.length === 0 ? [] : [[bytes.reduce((sum, each) => sum + each), gpu]];
      }),
    ["gpu"],
  );
  const ofSpeech = (read: (worker: MeasuredWorker) => number) => () =>
    source
      .engine()
      .workers.filter(({ role }) => role !== "speakers")
      .map((worker): Sample => [read(worker), worker.gpu?.label ?? ""]);
  declare.gauge(
    "transcribe_engine_lanes",
    "Operations of the speech model that each device runs at the same time, by measurement or setting",
    ofSpeech(({ lanes }) => lanes),
    ["gpu"],
  );
  declare.gauge(
    "transcribe_engine_decoder_slots",
    "Operations of each device whose texts are decoded together, by measurement or setting; 1: each decodes alone",
    ofSpeech(({ decoderSlots }) => decoderSlots),
    ["gpu"],
  );
  declare.readCounter(
    "transcribe_engine_decoder_steps_total",
    "Steps of the decoder that operations of a device share; 0 where each decodes alone",
    ofSpeech(({ decoder }) => decoder.steps),
    ["gpu"],
  );
  declare.readCounter(
    "transcribe_engine_decoder_rows_total",
    "Rows of texts in these steps; divided by the steps it is how well they are filled",
    ofSpeech(({ decoder }) => decoder.rows),
    ["gpu"],
  );
  declare.gauge(
    "transcribe_engine_waiting_operations",
    "Operations that wait until a worker of this machine is free: with the speech model, and of the speaker models",
    () => Object.entries(source.engine().waiting).map(([role, count]) => [count, role]),
    ["role"],
  );
  const memoryOf = (which: "freeBytes" | "totalBytes") => () =>
    source.engine().workers.flatMap(({ gpu, gpuMemory }): Sample[] => {
      return gpu === null || gpuMemory === null ? [] : [[gpuMemory[which], gpu.label, gpu.name]];
    });
  declare.gauge(
    "transcribe_gpu_memory_free_bytes",
    "Free memory of each GPU that runs the speech model, as its driver reports it",
    memoryOf("freeBytes"),
    ["gpu", "name"],
  );
  declare.gauge(
    "transcribe_gpu_memory_total_bytes",
    "Memory of each GPU that runs the speech model",
    memoryOf("totalBytes"),
    ["gpu", "name"],
  );
  declare.gauge(
    "transcribe_model_info",
    "1 for the speech model that new recordings get",
    () => [[1, source.modelInUse()]],
    ["model"],
  );
}

/** Metrics of the inference worker: speed, status and memory. */
export class EngineMetrics {
  readonly #machine: string | null;
  readonly #stepSeconds: Counter<StepLabel>;
  readonly #stepAudioSeconds: Counter<StepLabel>;
  readonly #exits: Counter<"signal">;

  /** @param machine this machine's name in its fleet; null if the server works alone */
  constructor(declare: Declarations, machine: string | null) {
    this.#machine = machine;
    const labels: readonly StepLabel[] = ["step", "device", "gpu", "machine"];
    this.#stepSeconds = declare.counter(
      "transcribe_step_seconds_total",
      "Time spent on each step, waiting excluded, by device, GPU and, in a fleet, machine; divided by the step's audio it is the RTF",
      labels,
    );
    this.#stepAudioSeconds = declare.counter(
      "transcribe_step_audio_seconds_total",
      "Duration of the audio that each step processed, by device, GPU and, in a fleet, machine; transcribe receives only speech",
      labels,
    );
    this.#exits = declare.counter(
      "transcribe_engine_worker_deaths_total",
      "Unexpected exits of the inference worker, by signal; none is an exit without a signal",
      ["signal"],
      [...signals, "none", "other"].map((signal) => ({ signal })),
    );
  }

  /** Returns the work of each step on each device since the server was started, on all machines together. */
  async work(): Promise<StepWork[]> {
    const [seconds, audio] = await Promise.all([this.#stepSeconds.get(), this.#stepAudioSeconds.get()]);
    const keyOf = ({ step = "", device = "", gpu = "" }: StepLabels) => JSON.stringify([step, device, gpu]);
    const sumOf = (values: readonly { readonly value: number }[] = []) =>
      values.reduce((sum, { value }) => sum + value, 0);
    const audioByKey = Map.groupBy(audio.values, ({ labels }) => keyOf(labels));
    return [...Map.groupBy(seconds.values, ({ labels }) => keyOf(labels))].map(([key, values]) => {
      const { step = "", device = "", gpu = "" } = values[0]?.labels ?? {};
      const names = { step: String(step), device: String(device), gpu: String(gpu) };
      return { ...names, seconds: sumOf(values), audioSeconds: sumOf(audioByKey.get(key)) };
    });
  }

  /** Returns the number of unexpected worker exits since the server was started, by signal; `none` means no signal. */
  async crashes(): Promise<Counted[]> {
    return countsOf(this.#exits, "signal");
  }

  stepDone({ step, device, gpu = "", machine, seconds, audioSeconds }: StepWork): void {
    const name = machine ?? this.#machine;
    const labels = name === null ? { step, device, gpu } : { step, device, gpu, machine: name };
    this.#stepSeconds.inc(labels, seconds);
    this.#stepAudioSeconds.inc(labels, audioSeconds);
  }

  /** Counts an unexpected exit of the worker. @param signal null if the worker exited by itself */
  unexpectedExit(signal: string | null): void {
    this.#exits.inc({ signal: signal === null ? "none" : signals.includes(signal) ? signal : "other" });
  }
}
