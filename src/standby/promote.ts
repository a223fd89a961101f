import { existsSync } from "node:fs";
import { databaseState, MigrationError, openDatabase, pendingMigrations, readDatabase } from "../database/index.ts";
import { probeWriting } from "../disk/index.ts";
import {
  type DataDirectory,
  InactiveDirectoryError,
  readReplacedMarker,
  readStandbyMarker,
  removeMarkers,
  requireActive,
  writeStandbyMarker,
} from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { findDamage, storeUnchecked } from "./check-database.ts";
import { holderOf } from "./directory-identity.ts";
import { endStandby, PromotionError } from "./end-standby.ts";
import { readServing, type Serving, storeServing } from "./epoch.ts";
import { ServingLease } from "./lease.ts";
import type { LeaseRegister } from "./lease-record.ts";
import { type LeaseClock, untilExpired } from "./lease-watch.ts";

/** The steps of a promotion. It can be interrupted after each, and repeated. */
type PromotionStep = "watched" | "fenced" | "ended" | "checked" | "stored" | "activated";

/** Time from the start by which the check of the database must end: the takeover is promised within 30 s. */
const CHECK_UNTIL_MILLISECONDS = 25_000;

export interface PromotionOptions {
  readonly directory: DataDirectory;
  /** Opens the register of the fence; null to take over without one. */
  readonly openRegister: (() => Promise<LeaseRegister>) | null;
  readonly leaseMilliseconds: number;
  /** Takes over from a server that still serves, and in the data directory of a server that was replaced. */
  readonly force: boolean;
  readonly onStep: (step: PromotionStep) => void;
  readonly clock: LeaseClock;
  readonly log: Logger;
}

/** A completed promotion. */
export interface Promotion {
  readonly epoch: number;
  /** What the standby followed; null for a server that was replaced before. */
  readonly from: string | null;
  /** When the standby applied the last transaction; null if that is unknown. */
  readonly appliedAt: number | null;
  /** Whether the database was checked for damage. If the time was too short, the server does it. */
  readonly isChecked: boolean;
}

/**
 * Makes the data directory of a standby that of a server: takes the fence, which keeps the other server from serving, ends
 * the standby's process, checks the database and increases its epoch. Up to the end of the check the standby's copy is not
 * changed, so the standby can be started again after a failure.
 * @returns null if the data directory is a server's already
 * @throws {PromotionError} @throws {StillServesError} @throws {FenceError} @throws {InactiveDirectoryError}
 */
export async function promote(options: PromotionOptions): Promise<Promotion | null> {
  const { directory, onStep, clock } = options;
  const begun = clock.monotonic();
  if (!existsSync(directory.databasePath)) {
    throw new PromotionError(
      `there is no database in ${directory.root}: the standby has not copied it yet, or --data-dir is wrong`,
    );
  }
  const followed = followedBy(options);
  if (followed === null) return null;
  await using stack = new AsyncDisposableStack();
  const register = (await options.openRegister?.()) ?? null;
  stack.defer(async () => await register?.close());
  // Before anything is changed, so that a mistake costs neither the standby nor the other server.
  const database = await requireUsable(directory, register);
  const fault = await probeWriting(directory.root);
  if (fault !== null) {
    throw new PromotionError(
      `${directory.root} can't be written (${fault.message}); free some disk space or mend the disk, and repeat transcribe promote`,
    );
  }
  const fence = register === null ? null : await takeFence(options, register, database);
  onStep("fenced");
  const unlock = await endStandby(directory).catch((error: unknown) => {
    if (followedBy(options) !== null) throw error;
  });
  if (unlock !== undefined) stack.defer(unlock);
  // Another command has taken over in the meantime.
  if (followedBy(options) === null) return null;
  onStep("ended");
  await requireUsable(directory, register);
  const isChecked = await check(directory, begun + CHECK_UNTIL_MILLISECONDS - clock.monotonic());
  onStep("checked");
  noteOpened(directory);
  const store = openDatabase(directory.databasePath);
  stack.defer(() => store.$client.close());
  const known = readServing(store);
  await requireSameFence(register, known);
  const epoch = fence === null ? known.epoch + 1 : await fence.raise(known);
  storeServing(store, { epoch });
  onStep("stored");
  storeUnchecked(directory, !isChecked);
  removeMarkers(directory);
  onStep("activated");
  return { epoch, ...followed, isChecked };
}

/**
 * Requires that this version can open the database, and that its server uses the same fence.
 * The standby may run, so the database is only read. What can't be read is left to the check for damage.
 * @returns the id of the database, if it could be read
 * @throws {PromotionError}
 */
async function requireUsable(
  { databasePath }: DataDirectory,
  register: LeaseRegister | null,
): Promise<string | undefined> {
  let known: Serving;
  try {
    const store = readDatabase(databasePath);
    try {
      pendingMigrations(databaseState(store.$client));
      known = readServing(store);
    } finally {
      store.$client.close();
    }
  } catch (error) {
    if (!(error instanceof MigrationError)) return undefined;
    throw new PromotionError(`${error.message}; install that version here, and repeat transcribe promote`);
  }
  await requireSameFence(register, known);
  return known.database;
}

/** @throws {PromotionError} if the database's server used another fence than this one, or none */
async function requireSameFence(register: LeaseRegister | null, { fence }: Serving): Promise<void> {
  if (register === null || (await register.identify()) === fence) return;
  throw new PromotionError(
    "standby.fence is not what fenced the other server, which may serve nevertheless. Is it set there, too, and is the shared storage mounted? If that server is off and stays off: --without-fence",
  );
}

/** Notes in the marker that SQLite opens the copy, so that no standby continues it. */
function noteOpened(directory: DataDirectory): void {
  const marker = markerIn(true, () => readStandbyMarker(directory));
  if (marker !== null && marker !== "damaged") writeStandbyMarker(directory, { ...marker, promoting: true });
}

/** Returns what a data directory's standby followed; null if it is a server's. @throws {ExpectedError} if it can't take over */
function followedBy({ directory, force }: PromotionOptions): Pick<Promotion, "from" | "appliedAt"> | null {
  const replaced = markerIn(force, () => readReplacedMarker(directory));
  if (replaced !== null && !force) requireActive(directory);
  const standby = markerIn(force, () => readStandbyMarker(directory));
  if (standby === null && replaced === null) return null;
  if (standby === null || standby === "damaged") return { from: null, appliedAt: null };
  const { from, appliedAt, complete } = standby;
  if (complete) return { from, appliedAt };
  throw new PromotionError(
    `the first copy of ${from} in ${directory.root} is not complete, so this standby can't take over; let transcribe standby finish it`,
  );
}

function markerIn<T>(force: boolean, read: () => T | null): T | null | "damaged" {
  try {
    return read();
  } catch (error) {
    if (force && error instanceof InactiveDirectoryError) return "damaged";
    throw error;
  }
}

/**
 * Takes the fence, while the standby still follows the server. So nothing is lost that is acknowledged meanwhile.
 * @returns `raise` returns an epoch that is greater than the database's, unless an interrupted promotion stored that
 */
async function takeFence(
  { directory, leaseMilliseconds, force, onStep, clock, log }: PromotionOptions,
  register: LeaseRegister,
  database: string | undefined,
): Promise<{ raise(known: Serving): Promise<number> }> {
  const { owner, host } = holderOf(directory);
  const fence = { register, milliseconds: leaseMilliseconds, clock };
  const expired = force ? null : await untilExpired(owner, fence);
  onStep("watched");
  const take = async (epoch: number) => {
    const lease = new ServingLease({
      ...fence,
      holder: { owner, host, epoch, ...(database === undefined ? {} : { database }) },
      expired,
      log,
    });
    await lease.acquire({ persists: false });
    return lease.epoch;
  };
  const { record } = await register.read();
  const wasOwn = record?.owner === owner;
  const epoch = await take(Math.max(1, (record?.epoch ?? 0) + (wasOwn ? 0 : 1)));
  return {
    async raise(known) {
      // A broker that was started again knows no epoch.
      const isEnough = epoch > known.epoch || (epoch === known.epoch && wasOwn);
      return isEnough ? epoch : await take(known.epoch + 1);
    },
  };
}

/**
 * Checks the database for damage, as far as the time allows.
 * @param remaining milliseconds
 * @returns whether it was checked
 * @throws {PromotionError} if it is damaged
 */
async function check({ databasePath }: DataDirectory, remaining: number): Promise<boolean> {
  const limit = AbortSignal.timeout(Math.max(0, remaining));
  let damage: string | null;
  try {
    damage = await findDamage(databasePath, true, limit);
  } catch (error) {
    if (limit.aborted) return false;
    throw error;
  }
  if (damage === null) return true;
  throw new PromotionError(
    `the standby's database ${databasePath} is damaged (${damage}); restore a backup, or start the former server again with: transcribe promote --force`,
  );
}
