import type { GpuBackend, GpuBackendKind } from "../whisper/index.ts";
import type { Outcome } from "./attempt.ts";
import { type DeviceTrialOptions, listDevices } from "./try-devices.ts";
import type { FoundGpu } from "./verdicts.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What a backend finds, as one that shows its number alone. */
type Device = Pick<FoundGpu, "label" | "name" | "address">;

/** The variables that the backends, or their drivers, take the numbers of the GPUs from that they are to see. */
const variables: Readonly<Record<GpuBackendKind, string>> = {
  cuda: "CUDA_VISIBLE_DEVICES",
  vulkan: "GGML_VK_VISIBLE_DEVICES",
};

/** Why a backend finds no GPU. */
export class NoGpuError extends Error {
  override readonly name = "NoGpuError";
  readonly failure: Omit<Outcome & { ok: false }, "ok">;

  constructor(reason: string, { lasting = false, late = false } = {}) {
    super(reason);
    this.failure = { reason, lasting, late };
  }
}

/** More devices than this no machine has. */
const mostDevices = 64;

/**
 * The GPUs that a backend finds, and how a process is made to see one of them alone. Where the environment names some, they
 * are those.
 * @throws {NoGpuError} @throws the signal's reason
 */
export async function listGpus(
  options: DeviceTrialOptions,
  { kind, library }: GpuBackend,
  environment: Environment = process.env,
): Promise<FoundGpu[]> {
  const found = await look(options, library, {});
  if (found.length === 0) throw new NoGpuError("it finds no GPU that it can use");
  // One that has no other beside it needs no number.
  if (found.length === 1) return found.map((device) => ({ ...device, library, environment: {} }));
  const variable = variables[kind];
  const named = (environment[variable] ?? "").split(/[\s,]+/).filter((number) => number !== "");
  const numbers = named.length > 0 ? named : await ownNumbers(options, { kind, library }, found);
  return found.flatMap((device, index) => {
    const number = numbers[index];
    return number === undefined ? [] : [{ ...device, library, environment: { [variable]: number } }];
  });
}

/** The numbers of what was found: CUDA counts those alone, Vulkan's backend counts what it passes over, too. */
async function ownNumbers(
  options: DeviceTrialOptions,
  { kind, library }: GpuBackend,
  found: readonly Device[],
): Promise<(string | undefined)[]> {
  if (kind === "cuda") return found.map((_, index) => String(index));
  let all: readonly (Device | null)[] = found;
  while (all.length < mostDevices) {
    const numbers = Array.from({ length: all.length + 1 }, (_, number) => number).join();
    // It refuses to work with a number that there is no device for.
    const more = await look(options, library, { [variables.vulkan]: numbers }).catch(() => null);
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

async function look(
  options: DeviceTrialOptions,
  library: string,
  environment: Readonly<Record<string, string>>,
): Promise<Device[]> {
  const listed = await listDevices(options, library, environment);
  if (!listed.ok) throw new NoGpuError(listed.reason, listed);
  const { devices, unusable } = listed.answer;
  const [failure] = unusable;
  if (failure !== undefined) throw new NoGpuError(failure.reason);
  return devices
    .filter(({ kind }) => kind === "gpu" || kind === "igpu")
    .map(({ name, description, address }) => ({ label: name, name: description, address }));
}
