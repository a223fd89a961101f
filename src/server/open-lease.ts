import type { Settings } from "../config/index.ts";
import { checkWrites, type Store } from "../database/index.ts";
import {
  BROKER_ID,
  BrokerRegister,
  FenceError,
  FolderRegister,
  holderOf,
  type LeaseClock,
  type LeaseRecord,
  type LeaseRegister,
  LimitedRegister,
  OtherDatabaseError,
  ReplacedError,
  readServing,
  ServingLease,
  StillServesError,
  storeServing,
} from "../standby/index.ts";
import { type DataDirectory, InactiveDirectoryError, noteReplaced } from "../storage/index.ts";
import { createLogger, type Logger } from "../telemetry/index.ts";
import { fleetIdentity } from "./fleet-coordinator.ts";
import { StartError } from "./start-error.ts";

/** The lease of a server, which is always held if no fence is set. */
export interface ServerLease extends AsyncDisposable {
  /** Returns why the server may not serve now, in plain words; null if it may. */
  trouble(): string | null;
  /** Returns whether it may serve now. */
  isHeld(): boolean;
  /** Returns its epoch and the seconds for which it is valid without a renewal; null without a fence. */
  status(): { readonly epoch: number; readonly remainingSeconds: number } | null;
  /** Calls a listener when the lease has lapsed, and when it is held again. */
  onChange(listener: (isHeld: boolean) => void): void;
  /** Why the server must exit at once, as soon as another one has taken over. */
  readonly replaced: Promise<string>;
}

interface LeaseParts {
  readonly dataDirectory: DataDirectory;
  readonly store: Store;
  readonly log: Logger;
}

const withoutFence: ServerLease = {
  trouble: () => null,
  isHeld: () => true,
  status: () => null,
  onChange() {},
  replaced: new Promise(() => {}),
  async [Symbol.asyncDispose]() {},
};

/** The clocks of this machine. */
export const leaseClock: LeaseClock = { monotonic: () => performance.now(), wall: Date.now };

/**
 * Waits until this server holds the lease, and renews it from then on. While the lease is not held, writes to the store
 * fail. Call it with the data directory's lock held.
 * @throws {InactiveDirectoryError} if another server has taken over
 * @throws {StartError} if another server serves with the same data, or the fence belongs to another database
 */
export async function openLease(settings: Settings, { dataDirectory, store, log }: LeaseParts): Promise<ServerLease> {
  const known = readServing(store);
  if (settings.standby.fence === "") {
    if (known.fence !== null) storeServing(store, { fence: null });
    return withoutFence;
  }
  const register = await openRegister(settings, known.fence, true);
  const lease = new ServingLease({
    register,
    holder: { ...holderOf(dataDirectory), epoch: known.epoch, database: known.database },
    milliseconds: settings.standby.lease_seconds * 1000,
    clock: leaseClock,
    log,
  });
  // Equal epochs: the other server has a copy of this directory, or the directory itself, by no promotion.
  const replacedBy = ({ epoch, host, at }: LeaseRecord) =>
    noteReplaced(dataDirectory, { epoch, host, at }, epoch > lease.epoch);
  try {
    await lease.acquire({ persists: true });
    const fence = await register.identify();
    const current = { epoch: lease.epoch, fence };
    if (current.epoch !== known.epoch || fence !== known.fence) storeServing(store, current);
  } catch (error) {
    await lease.release();
    if (error instanceof ReplacedError) throw new InactiveDirectoryError(replacedBy(error.by));
    if (error instanceof OtherDatabaseError) throw new StartError(error.message);
    if (error instanceof StillServesError) {
      throw new StartError(`${error.message}, with the same data and epoch; stop it, or let this one follow it`);
    }
    throw error;
  }
  lease.keep();
  checkWrites(store, () => lease.check());
  return {
    trouble: () => lease.trouble(),
    isHeld: () => lease.isHeld,
    status: () => ({ epoch: lease.epoch, remainingSeconds: lease.remaining / 1000 }),
    onChange: (listener) => lease.onChange(listener),
    replaced: lease.replaced.then(replacedBy),
    [Symbol.asyncDispose]: () => lease.release(),
  };
}

/**
 * Opens the register of the fence in the settings.
 * @param folder id of the fence that was used before; null if none was
 * @param waits whether a broker that is away is no fault
 * @throws {BrokerError} for a broker that a person has to mend
 * @throws {FenceError} if the settings name no broker
 */
export async function openRegister(settings: Settings, folder: string | null, waits = false): Promise<LeaseRegister> {
  const { fence, lease_seconds: seconds } = settings.standby;
  if (fence !== "broker") {
    const register = new FolderRegister(fence, folder === BROKER_ID ? null : folder);
    return new LimitedRegister(register, seconds * 1000, `the fence's folder ${fence}`);
  }
  if (settings.fleet.broker === "") {
    throw new FenceError(
      "standby.fence names the fleet's broker, and fleet.broker is not set; set it as on the other server",
    );
  }
  // Loaded only here, so that a single machine does not load the broker's client.
  const { Broker } = await import("../fleet/index.ts");
  const { machine } = await fleetIdentity(settings.fleet);
  // A connection of its own: on a shared one, renewals would wait behind parts of recordings.
  const options = { ...settings.fleet, url: settings.fleet.broker, machine, log: createLogger("silent") };
  const broker = await (waits ? Broker.connectOrWait(options) : Broker.connect(options));
  return new BrokerRegister(broker.leaseStream(), () => broker.close());
}
