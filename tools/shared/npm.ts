import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeCacheEntry } from "../../src/files/index.ts";
import { onlyOnce } from "./python.ts";
import { runCommand } from "./run-command.ts";

/** The names of the files that pin the packages: exact versions, and the digests of all packages. */
const PINS = ["package.json", "bun.lock"] as const;
const INSTALLATION_MILLISECONDS = 300_000;

/** Packages of npm, and the programs that run scripts with them. */
/**
 * Installs the packages that a folder pins, from the cache or from the user's own registry. No script of a package runs.
 * @param pins folder with package.json and bun.lock
 * @returns the folder with `node_modules`, and the path of the Node that is one of the packages
 * @throws {CommandError} when the packages are unavailable, or differ from the lock file
 */
export async function installNpmPackages(cacheRoot: string, pins: string) {
  const texts = PINS.map((name) => readFileSync(join(pins, name), "utf8"));
  const digest = createHash("sha256")
    .update(JSON.stringify([process.platform, process.arch, ...texts]))
    .digest("hex");
  const entry = join("npm-packages", digest);
  const path = join(cacheRoot, entry);
  const folder = existsSync(path)
    ? path
    : await makeCacheEntry(cacheRoot, entry, async (directory) => {
        for (const name of PINS) copyFileSync(join(pins, name), join(directory, name));
        const install = [process.execPath, "install", "--frozen-lockfile", "--ignore-scripts", "--no-progress"];
        const command = onlyOnce(cacheRoot, entry, install);
        await runCommand(command, { cwd: directory, timeoutMs: INSTALLATION_MILLISECONDS });
      });
  return { folder, node: join(folder, "node_modules", `node-linux-${process.arch}`, "bin/node") };
}

export type NpmPackages = Awaited<ReturnType<typeof installNpmPackages>>;
