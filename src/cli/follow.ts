import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/index.ts";
import { findSupervisor } from "../install/index.ts";
import { prepareStandby, readCredentials, Standby } from "../replication/index.ts";
import { startStandbyHealth } from "../server/index.ts";
import { untilPromoted } from "../standby/index.ts";
import { DataDirectory, DataPaths, readReplacedMarker, readStandbyMarker } from "../storage/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { UsageError } from "./command-error.ts";

/**
 * Returns how `transcribe serve` follows another server, by its settings and the state of its data directory; null if it
 * serves. Data of a server that was not replaced is never discarded.
 */
export function followingOf({ standby, storage }: Settings): { readonly replace: boolean } | null {
  const { follow, rejoin } = standby;
  if (!follow && !rejoin) return null;
  const paths = new DataPaths(storage.data_dir);
  if (readReplacedMarker(paths) !== null) return rejoin ? { replace: true } : null;
  const isEmpty = !existsSync(paths.databasePath);
  return readStandbyMarker(paths) !== null || (follow && isEmpty) ? { replace: false } : null;
}

/** Requires that the settings name a server to follow. @throws {UsageError} */
export function requireServer({ standby }: Pick<Settings, "standby">): void {
  if (standby.from !== "") return;
  throw new UsageError(
    "standby.from is not set; set it in the settings file, or use transcribe standby --from tls://HOST:PORT or --from DIRECTORY",
  );
}

interface FollowOptions {
  /** Whether data of another server is replaced. */
  readonly replace: boolean;
  /** Whether this process is started again after a takeover, and serves then. It answers on the server's address until then. */
  readonly servesLater: boolean;
}

/** Follows the server of `standby.from` until SIGINT or SIGTERM. The process is the owner of the data directory. */
export async function follow(settings: Settings, { replace, servesLater }: FollowOptions): Promise<void> {
  const { from } = settings.standby;
  if (from.startsWith("tls://")) readCredentials(settings.standby);
  const log = createLogger(settings.log.level);
  const supervisor = findSupervisor(process.env, process.pid, log);
  const directory = new DataDirectory(settings.storage.data_dir);
  {
    using stack = new DisposableStack();
    stack.defer(directory.lock());
    const pidPath = join(directory.state, "standby.pid");
    writeFileSync(pidPath, `${process.pid}\n`, { mode: 0o600 });
    stack.defer(() => rmSync(pidPath, { force: true }));
    prepareStandby(directory, { from, replace }, Date.now());
    const standby = new Standby({
      paths: directory,
      from,
      credentials: () => readCredentials(settings.standby),
      maxLogBytes: settings.standby.log_bytes,
      log,
      now: Date.now,
    });
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => standby.stop());
    if (servesLater) stack.use(startStandbyHealth(settings.server, () => `this machine follows ${from}`, log));
    process.stdout.write(`transcribe follows ${from}\n`);
    const trouble = () => (standby.status().phase === "connecting" ? `connecting to ${from}` : null);
    supervisor?.ready(() => ({ trouble: trouble(), queued: 0, processing: 0 }));
    await standby.run();
  }
  // If this process is the first one of a container, the promotion would end with it.
  await untilPromoted(directory);
}
