import { attempt } from "./attempt.ts";
import { type DeviceList, deviceListSchema, readAnswer, timingSchema } from "./self-test-answers.ts";

/** How a trial in a process of its own went. */
export type Trial<T> = { readonly ok: true; readonly answer: T } | { readonly ok: false; readonly reason: string };

export interface TrialOptions {
  /** Command line that ends in `runSelfTest` with the arguments that follow. */
  readonly command: readonly string[];
  readonly signal?: AbortSignal;
}

export interface DeviceTrialOptions extends TrialOptions {
  /** Directory of whisper.node and its libraries. */
  readonly nativeDirectory: string;
  /** The CPU variant that works here; the rest of a model's work is done on it. */
  readonly cpuLibrary: string;
}

const timeoutMilliseconds = 60_000;

/** What the backends of this build find to compute on. Loads GPU drivers, in another process. */
export async function listDevices(options: DeviceTrialOptions): Promise<Trial<DeviceList>> {
  const { command, nativeDirectory, cpuLibrary, signal } = options;
  const outcome = await attempt([...command, "devices", nativeDirectory, cpuLibrary], timeoutMilliseconds, signal);
  return outcome.ok ? { ok: true, answer: readAnswer(deviceListSchema, outcome.output) } : outcome;
}

/** A little work with the models that tell speakers apart. @returns the seconds it took */
export async function tryOnnx(
  options: TrialOptions & {
    readonly onnxBinding: string;
    readonly segmentationModel: string;
    readonly embeddingModel: string;
  },
): Promise<Trial<number>> {
  const line = [...options.command, "onnx", options.onnxBinding, options.segmentationModel, options.embeddingModel];
  const outcome = await attempt(line, timeoutMilliseconds, options.signal);
  return outcome.ok ? { ok: true, answer: readAnswer(timingSchema, outcome.output).seconds } : outcome;
}
