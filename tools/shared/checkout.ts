import { lstat, mkdir, rename, rm, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dir, "../..");

/** The context of every setup step. */
export interface SetupContext {
  /** Folder of fetched and built files, shared by all checkouts. */
  readonly cacheRoot: string;
  /** Receives one line at a time. */
  readonly log: (line: string) => void;
}

/** Makes `build/<name>` a folder; replaces a link of this name. */
export async function makeBuildFolder(name: string): Promise<void> {
  const path = join(root, "build", name);
  if ((await lstat(path).catch(() => undefined))?.isSymbolicLink()) await rm(path);
  await mkdir(path, { recursive: true });
}

/** Makes `build/<name>` a link to `target`; replaces an existing link atomically. */
export async function linkIntoBuild(name: string, target: string): Promise<void> {
  const path = join(root, "build", name);
  const existing = await lstat(path).catch(() => undefined);
  if (existing?.isDirectory()) await rm(path, { recursive: true });
  const temporary = `${path}.${process.pid}.new`;
  await symlink(target, temporary);
  await rename(temporary, path);
}
