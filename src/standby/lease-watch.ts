import { ExpectedError } from "../text/index.ts";
import type { LeaseRecord, LeaseRegister } from "./lease-record.ts";

/** Another server serves now, and renews its lease. */
export class StillServesError extends ExpectedError {
  override readonly name = "StillServesError";
  readonly host: string;

  constructor({ host }: LeaseRecord) {
    super(`the server on ${host} still serves: it renews its lease`);
    this.host = host;
  }
}

/** The clocks of this machine, in milliseconds. */
export interface LeaseClock {
  /** Never set, and at rest while the machine is suspended. */
  readonly monotonic: () => number;
  /** Continues while the machine is suspended. */
  readonly wall: () => number;
}

/** Part of a lease that is added to it for another machine, whose clock runs at a slightly different rate. */
const MARGIN = 0.1;
/** Reads within a lease while it is watched. */
const READS = 48;

/** Returns how long the lease of another server may be valid after its last write was seen. */
export function waitFor(milliseconds: number, record: LeaseRecord | null): number {
  return Math.max(milliseconds, record?.milliseconds ?? 0) * (1 + MARGIN);
}

/** Watches the lease of another server, which has run out when it has not changed for long enough by this machine's clock. */
export class LeaseWatch {
  readonly #milliseconds: number;
  readonly #clock: LeaseClock;
  #seen: { readonly version: string; readonly since: number } | null = null;

  constructor(milliseconds: number, clock: LeaseClock) {
    this.#milliseconds = milliseconds;
    this.#clock = clock;
  }

  /**
   * Returns whether a lease has run out.
   * @param begun when the read of the record began
   * @throws {StillServesError} if it was renewed since the first call
   */
  hasExpired(record: LeaseRecord, version: string, begun: number): boolean {
    // Counted from the end of the read, because the lease may have been renewed during it.
    this.#seen ??= { version, since: this.#clock.monotonic() };
    if (this.#seen.version !== version) throw new StillServesError(record);
    return begun >= this.#seen.since + waitFor(this.#milliseconds, record);
  }
}

interface WatchOptions {
  readonly register: LeaseRegister;
  readonly milliseconds: number;
  readonly clock: LeaseClock;
}

/**
 * Waits until the lease of another server has run out, without changing it.
 * @returns its version; null if it does not have to run out: nobody has it, its owner has released it, or it belongs to `owner`
 * @throws {StillServesError} if it is renewed
 * @throws {FenceError} if the fence can't be used
 */
export async function untilExpired(
  owner: string,
  { register, milliseconds, clock }: WatchOptions,
): Promise<string | null> {
  const watch = new LeaseWatch(milliseconds, clock);
  for (;;) {
    const begun = clock.monotonic();
    const { record, version } = await register.read();
    if (record === null || record.owner === owner || record.state === "released") return null;
    if (watch.hasExpired(record, version, begun)) return version;
    await Bun.sleep(milliseconds / READS);
  }
}
