import { attempt, type Outcome } from "./attempt.ts";
import { type DeviceList, deviceListSchema, readAnswer, timingSchema } from "./self-test-answers.ts";

/** How a trial in a process of its own went. */
export type Trial<T> = { readonly ok: true; readonly answer: T } | (Outcome & { readonly ok: false });

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

/** What a GPU backend and the CPU's find to compute on. Loads GPU drivers, in another process. @param environment that one's, beside this one's */
export async function listDevices(
  options: DeviceTrialOptions,
  gpuLibrary: string,
  environment: Readonly<Record<string, string>>,
): Promise<Trial<DeviceList>> {
  const { command, nativeDirectory, cpuLibrary, signal } = options;
  const line = [...command, "devices", nativeDirectory, cpuLibrary, gpuLibrary];
  const outcome = await attempt(line, { timeoutMilliseconds, signal, environment });
  return outcome.ok ? { ok: true, answer: readAnswer(deviceListSchema, outcome.output) } : outcome;
}

/** ONNX Runtime's addon, and the models that tell speakers apart. */
export interface SpeakerTrialOptions extends TrialOptions {
  readonly onnxBinding: string;
  readonly segmentationModel: string;
  readonly embeddingModel: string;
}

/** A little work with the models that tell speakers apart. @returns the seconds it took */
export async function tryOnnx(options: SpeakerTrialOptions): Promise<Trial<number>> {
  const line = [...options.command, "onnx", options.onnxBinding, options.segmentationModel, options.embeddingModel];
  const outcome = await attempt(line, { timeoutMilliseconds, signal: options.signal });
  return outcome.ok ? { ok: true, answer: readAnswer(timingSchema, outcome.output).seconds } : outcome;
}
