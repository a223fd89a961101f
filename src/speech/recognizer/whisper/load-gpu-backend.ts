import { isAbsolute, resolve } from "node:path";
import { messageOf } from "../../../text/index.ts";
import type { NativeAddon } from "./addon.ts";

/** Hints where to get the system libraries that a backend may lack. */
const sources: readonly (readonly [library: RegExp, source: string])[] = [
  [/^libcuda\./, "it is part of NVIDIA's driver, and has to be handed into a container"],
  [/^libcu/, "put it beside the backend, as docs/gpu.md says"],
  [/^libvulkan\./, "install the Vulkan loader (Debian: libvulkan1)"],
];

/**
 * Loads a GPU backend into this process. It needs the vendor's libraries, a driver and a device. A machine without them
 * simply has no GPU.
 * @param library file name in the directory, or the path of a library elsewhere, which may be of another build
 * @returns the reason why it is unusable, for people; null when it is usable
 */
export function loadGpuBackend(
  addon: Pick<NativeAddon, "checkBackend" | "loadBackend">,
  nativeDirectory: string,
  library: string,
): string | null {
  const path = resolve(nativeDirectory, library);
  try {
    if (isAbsolute(library) && !addon.checkBackend(path)) {
      return "it is not of this program's build: make it with scripts/build --cuda of the same release";
    }
    addon.loadBackend(path);
    return null;
  } catch (error) {
    return withSource(path, messageOf(error));
  }
}

/** Adds a hint where to get the missing library, when the error message names one. */
function withSource(path: string, message: string): string {
  const missing = /(\S+): cannot open shared object file: No such file or directory/.exec(message)?.[1];
  if (missing === undefined) return message;
  if (missing === path) return "it is not there";
  const source = sources.find(([library]) => library.test(missing))?.[1];
  return `it needs ${missing}, which this machine has not got${source === undefined ? "" : `: ${source}`}`;
}
