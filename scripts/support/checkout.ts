import { lstat, mkdir, rename, rm, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";

/** The checkout's root. */
export const root = resolve(import.meta.dir, "../..");

/** What every step of setup is handed. */
export interface SetupContext {
  /** Where fetched and built things are kept, across checkouts. */
  readonly cacheRoot: string;
  /** Takes one line at a time. */
  readonly log: (line: string) => void;
}

/** Makes `build/<name>` a folder of this checkout, where it may have been a link. */
export async function makeBuildFolder(name: string): Promise<void> {
  const path = join(root, "build", name);
  if ((await lstat(path).catch(() => undefined))?.isSymbolicLink()) await rm(path);
  await mkdir(path, { recursive: true });
}

/** Makes `build/<name>` a link to `target`; one that is there is replaced in one step. */
export async function linkIntoBuild(name: string, target: string): Promise<void> {
  const path = join(root, "build", name);
  const existing = await lstat(path).catch(() => undefined);
  if (existing?.isDirectory()) await rm(path, { recursive: true });
  const temporary = `${path}.${process.pid}.new`;
  await symlink(target, temporary);
  await rename(temporary, path);
}
