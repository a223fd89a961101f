import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CudaBackend } from "../../../native/build-cuda.ts";
import { packagePaths } from "../../../src/install/layout.ts";
import { digestFile, type EmbeddedPart, programVersion } from "../../../src/program/index.ts";
import { innerDirectoryName } from "../../../src/program/inner-program.ts";
import type { Component } from "../../build/sbom/document.ts";
import type { SystemPackage } from "../../build/sbom/image-sbom.ts";
import { licensed, licensedAs } from "../../build/sbom/licences.ts";
import { runCommand } from "../../shared/run-command.ts";
import type { VulkanLoader } from "./vulkan-loader.ts";

/** The shell, which ends ffmpeg together with the server: see src/media/run-ffmpeg.ts. */
const systemPrograms: Readonly<Record<string, string>> = { "bin/sh": "/bin/dash" };

/** Files of the image: target path and source path. */
export type RootFiles = ReadonlyMap<string, string>;

/**
 * Returns all files of this machine that the program needs: the shell, the libraries to which all programs are linked,
 * and the licences of their packages.
 * @param linked programs and libraries whose own libraries are needed
 * @param loader the Vulkan loader, where it is not installed
 */
export async function systemFiles(linked: readonly string[], loader: VulkanLoader | null = null): Promise<RootFiles> {
  const files = new Map(Object.entries(systemPrograms));
  for (const path of [...linked, ...files.values()]) {
    for (const [target, source] of await librariesOf(path, loader)) files.set(target, realpathSync(source));
  }
  for (const source of new Set(files.values())) {
    const own = loader !== null && source.startsWith(`${loader.root}/`) ? loader : null;
    const notice = `usr/share/doc/${own?.name ?? (await packageOf(source))}/copyright`;
    const path = join(own?.root ?? "/", notice);
    if (!existsSync(path)) throw new Error(`${source} has no licence for the image: ${path} is missing`);
    files.set(notice, realpathSync(path));
    for (const text of commonLicences(path)) files.set(text.slice(1), realpathSync(text));
  }
  return files;
}

/** Returns the place in the image where the launcher finds the unpacked inner program. */
export function innerPath(inner: EmbeddedPart): string {
  return join(packagePaths.runtimeDirectory.slice(1), innerDirectoryName(inner), inner.path);
}

/** The Vulkan loader on a machine where it cannot be had. Without it, the backend is skipped. */
const missingLoader = /^.*libvulkan\.so\.1 => not found$\n?/gm;

/** Returns the paths of the licence texts that a package's notice names instead of repeating them. */
function commonLicences(notice: string): string[] {
  const named = readFileSync(notice, "utf8").match(/\/usr\/share\/common-licenses\/[\w.-]*\w/g) ?? [];
  return [...new Set(named)].filter((path) => existsSync(path));
}

/** Returns the libraries of a program or library that are not part of the product: path in the image, and source. */
async function librariesOf(path: string, loader: VulkanLoader | null): Promise<[string, string][]> {
  const search = loader === null ? [] : [`LD_LIBRARY_PATH=${loader.libraries}`];
  const text = (await outputOf(...search, "ldd", path)).replace(missingLoader, "");
  if (text.includes("not found")) throw new Error(`${path} needs libraries that are missing on this machine:\n${text}`);
  const sources = [...text.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map((match) => match[1] ?? "");
  return sources.flatMap((source): [string, string][] => {
    const root = loader !== null && source.startsWith(`${loader.root}/`) ? loader.root : "";
    const target = source.slice(root.length);
    return /^\/(?:usr\/)?lib(?:64)?\//.test(target) ? [[target.slice(1), source]] : [];
  });
}

/** Returns the Debian package of a file, which dpkg may list by its path from before /lib became a link. */
async function packageOf(path: string): Promise<string> {
  const names = [path, path.replace(/^\/usr/, ""), join("/usr", path)];
  for (const name of names) {
    const text = await outputOf("dpkg-query", "--search", name).catch(() => "");
    const found = /^([a-z0-9.+-]+)/.exec(text)?.[1];
    if (found !== undefined && !text.startsWith("diversion")) return found;
  }
  throw new Error(`${basename(path)} in ${dirname(path)} belongs to no package`);
}

/** Returns the Debian packages of an image's files: those whose licences it contains. */
export async function systemPackages(files: RootFiles, loader: VulkanLoader | null = null): Promise<SystemPackage[]> {
  const names = [...files.keys()].flatMap((path) => /^usr\/share\/doc\/([^/]+)\/copyright$/.exec(path)?.[1] ?? []);
  const packages = names.map(async (name) => {
    if (name === loader?.name) return { name, version: loader.version, architecture: loader.architecture };
    const text = await outputOf("dpkg-query", "--status", name);
    const field = (label: string) => new RegExp(`^${label}: (\\S+)$`, "m").exec(text)?.[1] ?? "unknown";
    return { name, version: field("Version"), architecture: field("Architecture") };
  });
  return await Promise.all(packages);
}

/** Returns the machine's distribution in the form of a package URL, e.g. `debian-12`. */
export function distributionOf(osRelease: string): string {
  const field = (name: string) => new RegExp(`^${name}="?([^"\n]*)"?$`, "m").exec(osRelease)?.[1] ?? "unknown";
  return `${field("ID")}-${field("VERSION_ID")}`;
}

/** Runs a command, after assignments of variables, with messages in English. */
function outputOf(...command: readonly string[]): Promise<string> {
  return runCommand(["env", "LC_ALL=C", ...command]);
}

/** The folder that deploy/Containerfile.cuda names in `engine.cuda_library`. */
const cudaFolder = "usr/local/lib/transcribe-cuda";
const cudaNotice = "usr/share/doc/nvidia-cublas/copyright";

/** Returns the files that an image with CUDA has besides those of the image without it. */
export function cudaFiles({ library, cublas, licence }: CudaBackend): RootFiles {
  const libraries = [library, ...cublas].map((path) => [join(cudaFolder, basename(path)), path] as const);
  return new Map([...libraries, [cudaNotice, licence]]);
}

/** Returns the parts of that layer for its bill of materials. */
export function cudaComponents({ library, cublas, cublasVersion }: CudaBackend): Promise<Component[]> {
  const component = async (path: string): Promise<Component> => ({
    type: "library",
    "bom-ref": basename(path),
    name: basename(path),
    version: path === library ? programVersion : cublasVersion,
    hashes: [{ alg: "SHA-256", content: await digestFile(path, "sha256") }],
    licenses: path === library ? licensed("MIT") : licensedAs(`NVIDIA's CUDA licence, see /${cudaNotice} in the image`),
  });
  return Promise.all([library, ...cublas].map(component));
}
