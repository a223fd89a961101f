import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Device nodes of GPUs: render nodes, NVIDIA's and AMD's own devices, and that of WSL. */
const nodes: readonly (readonly [directory: string, name: RegExp])[] = [
  ["/dev/dri", /^renderD\d+$/],
  ["/dev", /^(?:nvidia\d+|nvidiactl|kfd|dxg)$/],
];

/** Directories in which the system's Vulkan drivers are registered. */
const driverFolders = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"];

/** Environment variables that name drivers or select devices. */
const choosing =
  /^(?:VK_(?:DRIVER_FILES|ADD_DRIVER_FILES|ICD_FILENAMES)|(?:GGML_VK|CUDA|NVIDIA)_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|GGML_VK_.*)$/;

/** Environment variables that make devices visible in addition to those under /dev. */
const showing = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "GGML_VK_VISIBLE_DEVICES"];

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns whether a GPU might be reachable. If not, no driver has to be queried. */
export function isGpuWithinReach(environment: Environment = process.env): boolean {
  return gpuNodes().length > 0 || showing.some((name) => (environment[name] ?? "") !== "");
}

/** Returns a hash that identifies this machine's GPUs and drivers, as far as this is possible without querying them. */
export function gpuIdentity(environment: Environment = process.env): string {
  const cards = list("/sys/class/drm", /^card\d+$/).map((card) =>
    ["vendor", "device", "subsystem_device", "driver/module/version"].map((name) =>
      textOf(join("/sys/class/drm", card, "device", name)),
    ),
  );
  const drivers = driverFolders.flatMap((folder) =>
    list(folder, /\.json$/).map((name) => [folder, name, readOr(0, () => statSync(join(folder, name)).mtimeMs)]),
  );
  const variables = Object.entries(environment).filter(([name]) => choosing.test(name));
  const seen = [gpuNodes(), cards, textOf("/proc/driver/nvidia/version"), drivers, variables.sort()];
  return createHash("sha256").update(JSON.stringify(seen)).digest("hex");
}

/** Returns the content of a text file; empty if it cannot be read. */
export function textOf(path: string): string {
  return readOr("", () => readFileSync(path, "utf8"));
}

function gpuNodes(): string[] {
  return nodes.flatMap(([directory, name]) => list(directory, name));
}

function list(directory: string, name: RegExp): string[] {
  const names = readOr<string[]>([], () => readdirSync(directory));
  return names.filter((each) => name.test(each)).sort();
}

/** Returns what a function reads; otherwise a value that stands for what is not there. */
function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
