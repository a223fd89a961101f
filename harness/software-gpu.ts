import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultCacheRoot } from "../native/build.ts";
import { type DebianPackages, unpackDebianPackages } from "../native/steps/debian-packages.ts";
import { inCache } from "../native/steps/in-cache.ts";
import { messageOf } from "../src/text/index.ts";

/** Environment variables of a process that computes on the software GPU. */
export type SoftwareGpu = Readonly<Record<string, string>>;

/**
 * Installs Mesa's software device for Vulkan from Debian's packages into the cache, for machines without a GPU. The
 * version of Debian 12 runs whisper at half the speed of its backports, which are therefore preferred.
 * @returns null, after a warning, when the packages are unavailable
 */
export async function softwareGpu(what: string): Promise<SoftwareGpu | null> {
  try {
    const suite = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "";
    const packages: DebianPackages = {
      ...{ suite, packages: ["mesa-vulkan-drivers", "libvulkan1"], withLibraries: true },
      ...(suite === "bookworm" ? { preferred: "bookworm-backports" } : {}),
    };
    const key = createHash("sha256")
      .update(JSON.stringify([process.arch, packages]))
      .digest("hex")
      .slice(0, 16);
    const directory = await inCache(
      join(defaultCacheRoot(), "software-gpu", key),
      () => {},
      async (work) => {
        const unpacked = join(work, "root");
        mkdirSync(unpacked);
        await unpackDebianPackages(packages, unpacked);
        for (const name of [".apt", "usr/share/doc"]) rmSync(join(unpacked, name), { recursive: true, force: true });
        return unpacked;
      },
    );
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
