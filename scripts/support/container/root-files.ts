import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { SystemPackage } from "../sbom/image-sbom.ts";

/** The shell, which ends ffmpeg together with the server: see src/media/run-ffmpeg.ts. */
const systemPrograms: Readonly<Record<string, string>> = { "bin/sh": "/bin/dash" };

/** Files of the image: target path and source path. */
export type RootFiles = ReadonlyMap<string, string>;

/**
 * Returns all files of this machine that the program needs: the shell, the libraries to which all programs are linked,
 * and the licences of their packages.
 * @param linked programs and libraries whose own libraries are needed
 */
export async function systemFiles(linked: readonly string[]): Promise<RootFiles> {
  const files = new Map(Object.entries(systemPrograms));
  for (const path of [...linked, ...files.values()]) {
    for (const library of await librariesOf(path)) files.set(library.slice(1), realpathSync(library));
  }
  for (const source of new Set(files.values())) {
    const notice = `/usr/share/doc/${await packageOf(source)}/copyright`;
    if (!existsSync(notice)) throw new Error(`${source} has no licence for the image: ${notice} is missing`);
    files.set(notice.slice(1), realpathSync(notice));
  }
  return files;
}

/** The Vulkan loader. An image for a GPU has the one of its driver; without one, the backend is skipped. */
const vulkanLoader = /^.*libvulkan\.so\.1 .*$\n?/gm;

/** Returns the system's libraries of a program or library, by the paths that the loader uses. */
async function librariesOf(path: string): Promise<string[]> {
  const text = (await outputOf(["ldd", path])).replace(vulkanLoader, "");
  if (text.includes("not found")) throw new Error(`${path} needs libraries that are missing on this machine:\n${text}`);
  const paths = [...text.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map((match) => match[1] ?? "");
  return paths.filter((library) => /^\/(?:usr\/)?lib(?:64)?\//.test(library));
}

/** Returns the Debian package of a file, which dpkg may list by its path from before /lib became a link. */
async function packageOf(path: string): Promise<string> {
  const names = [path, path.replace(/^\/usr/, ""), join("/usr", path)];
  for (const name of names) {
    const text = await outputOf(["dpkg-query", "--search", name]).catch(() => "");
    const found = /^([a-z0-9.+-]+)/.exec(text)?.[1];
    if (found !== undefined && !text.startsWith("diversion")) return found;
  }
  throw new Error(`${basename(path)} in ${dirname(path)} belongs to no package`);
}

/** Returns the Debian packages of an image's files: those whose licences it contains. */
export async function systemPackages(files: RootFiles): Promise<SystemPackage[]> {
  const names = [...files.keys()].flatMap((path) => /^usr\/share\/doc\/([^/]+)\/copyright$/.exec(path)?.[1] ?? []);
  return await Promise.all(
    names.map(async (name) => {
      const text = await outputOf(["dpkg-query", "--status", name]);
      const field = (label: string) => new RegExp(`^${label}: (\\S+)$`, "m").exec(text)?.[1] ?? "unknown";
      return { name, version: field("Version"), architecture: field("Architecture") };
    }),
  );
}

/** Returns the machine's distribution in the form of a package URL, e.g. `debian-12`. */
export function distributionOf(osRelease: string): string {
  const field = (name: string) => new RegExp(`^${name}="?([^"\n]*)"?$`, "m").exec(osRelease)?.[1] ?? "unknown";
  return `${field("ID")}-${field("VERSION_ID")}`;
}

async function outputOf(command: string[]): Promise<string> {
  const child = Bun.spawn(command, {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    env: { ...process.env, LC_ALL: "C" },
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
  return text;
}
