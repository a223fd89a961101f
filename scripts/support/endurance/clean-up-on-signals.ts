import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { TestServer } from "../../../test/support/server.ts";
import { removeTemporaryDirectories, temporaryDirectories } from "../../../test/support/temporary-directory.ts";

/** Has a signal that ends the run end its servers, too, and what they left on disk. After SIGKILL only the latter stays. */
export function cleanUpOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, async () => {
      await Promise.all([...TestServer.running].map((server) => server.killHard()));
      for (const path of mountsIn(temporaryDirectories())) Bun.spawnSync(["umount", "--lazy", path]);
      removeTemporaryDirectories();
      process.exit(128 + constants.signals[signal]);
    });
  }
}

/** File systems that disk and broken-disk have mounted. */
function mountsIn(directories: readonly string[]): string[] {
  if (process.platform !== "linux") return [];
  const mounted = readFileSync("/proc/self/mounts", "utf8").split("\n");
  const paths = mounted.map((line) => line.split(" ")[1] ?? "");
  return paths.filter((path) =>
    directories.some((directory) => path === directory || path.startsWith(`${directory}/`)),
  );
}
