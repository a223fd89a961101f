import { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { openDatabase } from "../database/index.ts";
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
import { codeOf, messageOf } from "../text/index.ts";
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
/**
 * Speed at which SQLite checks a database, at least; the check can't be interrupted. Measured: 200 bytes a microsecond, with two cores of an AMD
 * EPYC (zen4) under load, and 874 MB in the cache.
 */
const CHECKED_BYTES_PER_MILLISECOND = 100_000;

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
  /** Whether the database was checked for damage. The time is too short for a large one. */
  readonly isChecked: boolean;
}

/**
 * Makes the data directory of a standby that of a server: takes the fence, which keeps the other server from serving, ends
 * the standby's process, checks the database and increases its epoch.
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
  const fence = options.openRegister === null ? null : stack.use(await takeFence(options, options.openRegister));
  onStep("fenced");
  stack.defer(await endStandby(directory));
  onStep("ended");
  noteOpened(directory);
  const isChecked = check(directory, begun + CHECK_UNTIL_MILLISECONDS - clock.monotonic());
  onStep("checked");
  const store = openDatabase(directory.databasePath);
  stack.defer(() => store.$client.close());
  const known = readServing(store);
  const epoch = fence === null ? known.epoch + 1 : await fence.raise(known);
  storeServing(store, { epoch });
  onStep("stored");
  removeMarkers(directory);
  onStep("activated");
  return { epoch, ...followed, isChecked };
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
  openRegister: () => Promise<LeaseRegister>,
): Promise<AsyncDisposable & { raise(known: Serving): Promise<number> }> {
  await using stack = new AsyncDisposableStack();
  const register = await openRegister();
  stack.defer(() => register.close());
  const { owner, host } = holderOf(directory);
  const fence = { register, milliseconds: leaseMilliseconds, clock };
  const expired = force ? null : await untilExpired(owner, fence);
  onStep("watched");
  const take = async (epoch: number) => {
    const lease = new ServingLease({ ...fence, holder: { owner, host, epoch }, expired, log });
    await lease.acquire({ persists: false });
    return lease.epoch;
  };
  const { record } = await register.read();
  const wasOwn = record?.owner === owner;
  const epoch = await take(Math.max(1, (record?.epoch ?? 0) + (wasOwn ? 0 : 1)));
  const opened = stack.move();
  return {
    async raise(known) {
      if ((await register.identify()) !== known.fence) {
        throw new PromotionError(
          "standby.fence is not what fenced the other server, which may serve nevertheless. Is it set there, too, and is the shared storage mounted? If that server is off and stays off: --without-fence",
        );
      }
      // A broker that was started again knows no epoch.
      const isEnough = epoch > known.epoch || (epoch === known.epoch && wasOwn);
      return isEnough ? epoch : await take(known.epoch + 1);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/**
 * Lets SQLite recover the database, and checks it if the time is long enough.
 * @param remaining milliseconds
 * @returns whether it was checked
 * @throws {PromotionError} if it is damaged
 */
function check({ databasePath }: DataDirectory, remaining: number): boolean {
  using database = new Database(databasePath, { readwrite: true });
  const { size } = statSync(databasePath);
  if (remaining < size / CHECKED_BYTES_PER_MILLISECOND) return false;
  const fault = faultOf(database);
  if (fault === null) return true;
  throw new PromotionError(
    `the standby's database ${databasePath} is damaged (${fault}); restore a backup, or start the former server again with: transcribe promote --force`,
  );
}

/** Returns the first damage of a database in SQLite's words; null if it has none. */
function faultOf(database: Database): string | null {
  try {
    const found = database.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get()?.quick_check ?? "ok";
    return found === "ok" ? null : found;
  } catch (error) {
    if (codeOf(error) !== "SQLITE_CORRUPT") throw error;
    return messageOf(error);
  }
}
