import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { type DebianPackages, unpackDebianPackages } from "../../native/steps/debian-packages.ts";
import { inCache } from "../../native/steps/in-cache.ts";
import { messageOf } from "../../src/text/index.ts";

/** Variables for a process that computes on it. */
export type SoftwareGpu = Readonly<Record<string, string>>;

/**
 * Mesa's software device for Vulkan, which computes as a GPU would on a machine without one: Debian's packages, in the cache.
 * Null where they can't be had; says so aloud. Debian 12's own is too old for WebGPU, and takes whisper twice the time of its backports'.
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
    if (library === undefined) throw new Error("Debian's drivers have no software device");
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
      // The backend shows software devices to those alone who choose by number.
      GGML_VK_VISIBLE_DEVICES: "0",
      // It takes the device many minutes to compile kernels that multiply matrices as a whole, which it can't in fact.
      GGML_VK_DISABLE_COOPMAT: "1",
      // Kernels that compute in 16 bits take it many minutes, too; those of 32, which are as fast here, three.
      GGML_VK_DISABLE_F16: "1",
      XDG_CACHE_HOME: join(directory, "cache"),
    };
  } catch (error) {
    console.warn(`SKIPPED: ${what}; Mesa's software device can't be had: ${messageOf(error)}`);
    return null;
  }
}
