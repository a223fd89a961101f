import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { unpackDebianPackages } from "../../../native/steps/debian-packages.ts";
import { makeCacheEntry } from "../../../src/files/index.ts";
import { messageOf } from "../../../src/text/index.ts";
import type { SystemPackage } from "../../build/sbom/image-sbom.ts";
import { runCommand } from "../../shared/run-command.ts";

/** Debian's package of the Vulkan loader, which is unpacked below a folder and not installed. */
export interface VulkanLoader extends SystemPackage {
  readonly root: string;
  /** Folder of its libraries. */
  readonly libraries: string;
}

const NAME = "libvulkan1";
/** Folder of the packages that apt has fetched. */
const ARCHIVES = "/var/cache/apt/archives";

/**
 * Returns Debian's Vulkan loader for an image, which the GPU backend is linked to. Without the loader the program uses no
 * GPU. A build machine needs no GPU, so that the loader is often not installed there.
 * @param linked the libraries of the image
 * @returns null if the loader is installed, or if nothing needs it
 * @throws {Error} when the package cannot be had
 */
export async function vulkanLoader(linked: readonly string[], cacheRoot: string): Promise<VulkanLoader | null> {
  const backend = linked.find((path) => basename(path) === "libggml-vulkan.so");
  if (backend === undefined || !(await runCommand(["ldd", backend])).includes("libvulkan.so.1 => not found"))
    return null;
  const architecture = (await runCommand(["dpkg", "--print-architecture"])).trim();
  const archive = archiveIn(ARCHIVES, architecture) ?? (await fetchedArchive(architecture, cacheRoot));
  const version = (await runCommand(["dpkg-deb", "--field", archive, "Version"])).trim();
  const entry = join("packages", `${NAME}_${version.replaceAll(":", "%3a")}_${architecture}`);
  const folder = join(cacheRoot, entry);
  if (!existsSync(folder)) {
    await makeCacheEntry(cacheRoot, entry, async (directory) => {
      await runCommand(["dpkg-deb", "--extract", archive, directory]);
    });
  }
  // The image's files are found by their paths without links.
  const root = realpathSync(folder);
  const library = readdirSync(join(root, "usr/lib"), { recursive: true })
    .map(String)
    .find((path) => basename(path) === "libvulkan.so.1");
  if (library === undefined) throw new Error(`the package ${NAME} ${version} has no libvulkan.so.1`);
  return { name: NAME, version, architecture, root, libraries: dirname(join(root, "usr/lib", library)) };
}

/** Returns the path of the package's archive in the cache, which is fetched if it is not there. */
async function fetchedArchive(architecture: string, cacheRoot: string): Promise<string> {
  const suite = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "";
  const entry = join("packages", `${NAME}-${suite}-${architecture}`);
  const folder = join(cacheRoot, entry);
  if (!existsSync(folder)) {
    await makeCacheEntry(cacheRoot, entry, async (directory) => {
      const work = join(directory, "work");
      await mkdir(work);
      await unpackDebianPackages({ suite, packages: [NAME] }, work).catch((error: unknown) => {
        throw new Error(`the image needs the Vulkan loader: apt-get install ${NAME} (${messageOf(error)})`);
      });
      const fetched = archiveIn(join(work, ".apt/downloads"), architecture);
      if (fetched === null) throw new Error(`apt-get brought no ${NAME} for ${architecture}`);
      await rename(fetched, join(directory, basename(fetched)));
      await rm(work, { recursive: true });
    });
  }
  return archiveIn(folder, architecture) ?? folder;
}

function archiveIn(folder: string, architecture: string): string | null {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  const name = names.findLast((each) => each.startsWith(`${NAME}_`) && each.endsWith(`_${architecture}.deb`));
  return name === undefined ? null : join(folder, name);
}
