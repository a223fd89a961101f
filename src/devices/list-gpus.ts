import type { GpuBackend, GpuBackendKind } from "../runtimes/index.ts";
import { type Failure, failed, runSelfTest, type SelfTestOptions } from "./run-self-test.ts";
import type { FoundGpu } from "./verdicts.ts";

export interface DeviceTestOptions extends SelfTestOptions {
  /** Directory of the addon and its libraries. */
  readonly nativeDirectory: string;
  /** CPU variant that works on this machine; it computes the parts of a model that the GPU does not. */
  readonly cpuLibrary: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A device as reported by a backend, without the environment that makes a process see only this device. */
type Device = Pick<FoundGpu, "label" | "name" | "address">;

/** Environment variables that select the GPUs of a backend or its driver by number. */
const variables: Readonly<Record<GpuBackendKind, string>> = {
  cuda: "CUDA_VISIBLE_DEVICES",
  vulkan: "GGML_VK_VISIBLE_DEVICES",
};

/** Error with the reason why a backend finds no GPU. */
export class NoGpuError extends Error {
  override readonly name = "NoGpuError";

  constructor(readonly failure: Failure) {
    super(failure.reason);
  }
}

/** Upper limit of devices per machine. */
const MAX_DEVICES = 64;

/**
 * Returns the GPUs that a backend finds, each with the environment that makes a process see only this GPU. If the
 * environment selects GPUs by number, these numbers are used.
 * @throws {NoGpuError} if the backend finds no GPU; the signal's reason if it is aborted
 */
export async function listGpus(
  options: DeviceTestOptions,
  { kind, library }: GpuBackend,
  environment: Environment = process.env,
): Promise<FoundGpu[]> {
  const found = await listDevices(options, library, {});
  if (found.length === 0) throw new NoGpuError(failed("it finds no usable GPU"));
  // A single GPU needs no number.
  if (found.length === 1) return found.map((device) => ({ ...device, library, environment: {} }));
  const variable = variables[kind];
  const named = (environment[variable] ?? "").split(/[\s,]+/).filter((number) => number !== "");
  const numbers = named.length > 0 ? named : await ownNumbers(options, { kind, library }, found);
  return found.flatMap((device, index) => {
    const number = numbers[index];
    return number === undefined ? [] : [{ ...device, library, environment: { [variable]: number } }];
  });
}

/** Returns the numbers of the found devices. Vulkan's backend also numbers devices that it skips. */
async function ownNumbers(
  options: DeviceTestOptions,
  { kind, library }: GpuBackend,
  found: readonly Device[],
): Promise<(string | undefined)[]> {
  if (kind === "cuda") return found.map((_, index) => String(index));
  let all: readonly (Device | null)[] = found;
  while (all.length < MAX_DEVICES) {
    const numbers = Array.from({ length: all.length + 1 }, (_, number) => number).join();
    // The backend fails if it gets a number without a device.
    const more = await listDevices(options, library, { [variables.vulkan]: numbers }).catch(() => null);
    options.signal?.throwIfAborted();
    if (more === null || more.length <= all.length) break;
    all = more;
  }
  const left = [...all];
  return found.map(({ name, address }) => {
    const number = left.findIndex((device) => device?.name === name && device.address === address);
    if (number < 0) return undefined;
    left[number] = null;
    return String(number);
  });
}

/**
 * Lists the GPUs of a backend in a separate process, which loads the GPU drivers.
 * @throws {NoGpuError} if the process fails or the backend is not usable
 */
async function listDevices(
  options: DeviceTestOptions,
  library: string,
  environment: Readonly<Record<string, string>>,
): Promise<Device[]> {
  const listed = await runSelfTest("listDevices", { ...options, gpuLibrary: library, environment });
  if (!listed.ok) throw new NoGpuError(listed);
  const { devices, unusable } = listed.answer;
  const [failure] = unusable;
  if (failure !== undefined) throw new NoGpuError(failed(failure.reason));
  return devices
    .filter(({ kind }) => kind === "gpu" || kind === "igpu")
    .map(({ name, description, address }) => ({ label: name, name: description, address }));
}
