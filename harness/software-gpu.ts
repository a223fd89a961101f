import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../src/text/index.ts";
import { cachedDebianPackages, ownSuite } from "../tools/shared/debian-packages.ts";

/** Environment variables of a process that computes on the software GPU. */
export type SoftwareGpu = Readonly<Record<string, string>>;

/**
 * Installs Mesa's software device for Vulkan from Debian's packages into the cache, for machines without a GPU. The
 * version of Debian 12 runs whisper at half the speed of its backports, which are therefore preferred.
 * @returns null, after a warning, when the packages are unavailable
 */
export async function softwareGpu(what: string): Promise<SoftwareGpu | null> {
  try {
    const suite = ownSuite();
    const directory = await cachedDebianPackages("software-gpu", {
      ...{ suite, packages: ["mesa-vulkan-drivers", "libvulkan1"], withLibraries: true },
      ...(suite === "bookworm" ? { preferred: "bookworm-backports" } : {}),
    });
    const library = readdirSync(join(directory, "usr/lib"), { recursive: true })
      .map(String)
      .find((path) => path.endsWith("/libvulkan_lvp.so"));
    if (library === undefined) throw new Error("the packages contain no libvulkan_lvp.so");
    const driver = join(directory, "driver.json");
    const path = join(directory, "usr/lib", library);
    writeFileSync(
      driver,
      JSON.stringify({ file_format_version: "1.0.0", ICD: { library_path: path, api_version: "1.3.0" } }),
    );
    return {
      LD_LIBRARY_PATH: ["usr/lib", "lib"].map((folder) => join(directory, folder, library, "..")).join(":"),
      VK_DRIVER_FILES: driver,
      VK_ICD_FILENAMES: driver,
      // The backend lists software devices only when devices are selected by number.
      GGML_VK_VISIBLE_DEVICES: "0",
      // The device needs many minutes to compile cooperative-matrix kernels, which it cannot run in hardware.
      GGML_VK_DISABLE_COOPMAT: "1",
      // 16-bit kernels also need many minutes to compile. 32-bit kernels need three and are as fast here.
      GGML_VK_DISABLE_F16: "1",
      XDG_CACHE_HOME: join(directory, "cache"),
    };
  } catch (error) {
    console.warn(`SKIPPED: ${what}; Mesa's software device is unavailable: ${messageOf(error)}`);
    return null;
  }
}
