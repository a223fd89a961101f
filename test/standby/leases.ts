import { FolderRegister } from "../../src/standby/folder-register.ts";
import { type LeaseClock, type LeaseRecord, promote } from "../../src/standby/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";

/** The shortest lease that a record may have. */
export const SHORT_LEASE_MILLISECONDS = 1000;

export const clock: LeaseClock = { monotonic: () => performance.now(), wall: Date.now };

/** Returns the lease of a server whose epoch names it. */
export function leaseOf(epoch: number, state: LeaseRecord["state"] = "held"): LeaseRecord {
  const owner = String(epoch).padStart(32, "0");
  return { epoch, owner, host: `host-${epoch}`, state, milliseconds: SHORT_LEASE_MILLISECONDS, at: 0 };
}

/** Promotes the standby in a data directory, with a folder as the fence. */
export function promoteByFolder(directory: string, fence: string, onStep: () => void = () => {}, by = clock) {
  return promote({
    directory: new DataDirectory(directory),
    openRegister: async () => new FolderRegister(fence, null),
    leaseMilliseconds: SHORT_LEASE_MILLISECONDS,
    force: false,
    onStep,
    clock: by,
    log: createLogger("silent"),
  });
}
