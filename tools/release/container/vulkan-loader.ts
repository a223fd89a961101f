import { existsSync, readdirSync, realpathSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { unpackDebianPackages } from "../../../native/steps/debian-packages.ts";
import { makeCacheEntry } from "../../../src/files/index.ts";
import { messageOf } from "../../../src/text/index.ts";
import type { SystemPackage } from "../../build/sbom/image-sbom.ts";
import { ownSuite } from "../../shared/debian-packages.ts";
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
/** Folder of the package's archive below that of its files. */
const DOWNLOADS = ".apt/downloads";

/**
 * Returns Debian's Vulkan loader for an image, which the GPU backend is linked to. Without the loader the program uses no
 * GPU. A build machine needs no GPU, so that the loader is often not installed there.
 * @returns null if the loader is installed, or if nothing needs it
 * @throws {Error} when the package cannot be had
 */
export async function vulkanLoader(linked: readonly string[], cacheRoot: string): Promise<VulkanLoader | null> {
  const backend = linked.find((path) => basename(path) === "libggml-vulkan.so");
  if (backend === undefined || !(await runCommand(["ldd", backend])).includes("libvulkan.so.1 => not found"))
    return null;
  const architecture = (await runCommand(["dpkg", "--print-architecture"])).trim();
  const suite = ownSuite();
  const entry = join("packages", `${NAME}-${suite}-${architecture}-unpacked`);
  const folder = join(cacheRoot, entry);
  if (!existsSync(folder)) {
    await makeCacheEntry(cacheRoot, entry, async (directory) => {
      const known = archiveIn(ARCHIVES, architecture);
      if (known === null) await fetchPackage(suite, directory);
      else {
        await mkdir(join(directory, DOWNLOADS), { recursive: true });
        await copyFile(known, join(directory, DOWNLOADS, basename(known)));
        await runCommand(["dpkg-deb", "--extract", known, directory]);
      }
    });
  }
  // The image's files are found by their paths without links.
  const root = realpathSync(folder);
  const archive = archiveIn(join(root, DOWNLOADS), architecture);
  const [library] = new Bun.Glob("usr/lib/**/libvulkan.so.1").scanSync({ cwd: root, onlyFiles: false });
  if (archive === null || library === undefined)
    throw new Error(`the package ${NAME} in ${root} has no libvulkan.so.1`);
  const version = (await runCommand(["dpkg-deb", "--field", archive, "Version"])).trim();
  return { name: NAME, version, architecture, root, libraries: dirname(join(root, library)) };
}

/** Fetches the package and unpacks it; its archive is in DOWNLOADS. */
async function fetchPackage(suite: string, into: string): Promise<void> {
  await unpackDebianPackages({ suite, packages: [NAME] }, into).catch((error: unknown) => {
    throw new Error(`the image needs the Vulkan loader: apt-get install ${NAME} (${messageOf(error)})`);
  });
}

function archiveIn(folder: string, architecture: string): string | null {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  const name = names.findLast((each) => each.startsWith(`${NAME}_`) && each.endsWith(`_${architecture}.deb`));
  return name === undefined ? null : join(folder, name);
}
