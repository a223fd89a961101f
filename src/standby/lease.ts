import { MachineError } from "../disk/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { ExpectedError, messageOf } from "../text/index.ts";
import { FenceError, type LeaseRecord, type LeaseRegister } from "./lease-record.ts";
import { type LeaseClock, LeaseWatch, waitFor } from "./lease-watch.ts";

/** Another server has taken over, so this one must never serve its data again. */
export class ReplacedError extends ExpectedError {
  override readonly name = "ReplacedError";
  /** The lease of the other server. */
  readonly by: LeaseRecord;

  constructor(by: LeaseRecord) {
    super(`${by.host} has taken over (epoch ${by.epoch})`);
    this.by = by;
  }
}

/** The lease is that of a server with another database. */
export class OtherDatabaseError extends ExpectedError {
  override readonly name = "OtherDatabaseError";

  constructor({ host, at }: LeaseRecord) {
    super(
      `the fence belongs to another database, which ${host} served last (${new Date(at).toISOString()}). If the data of this machine was lost, let the standby take over: transcribe promote. If this is meant to be a new installation, give it a fence of its own: another folder, which must be empty, or another broker`,
    );
  }
}

interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

export interface LeaseOptions {
  readonly register: LeaseRegister;
  /** The data directory, this machine, and the database with its epoch. */
  readonly holder: Pick<LeaseRecord, "owner" | "host" | "epoch" | "database">;
  readonly milliseconds: number;
  /** Version of a lease of another server that is known to have run out. */
  readonly expired?: string | null;
  readonly clock: LeaseClock;
  readonly log: Logger;
}

/** Renewals within a lease: one or two may fail. */
const RENEWALS = 4;
/** Attempts within a lease while it is not held, and checks whether it has lapsed: 250 ms apart with a lease of 12 s. */
const STEPS = 48;
const RELEASE_MILLISECONDS = 3000;
/** No register has this version. */
const LATE_VERSION = "late";

/**
 * The lease without which a server does not serve. It is valid for a time after a renewal began, by the clocks of this
 * machine alone: another machine takes it when it has not changed for that time by the other machine's clock. The greater
 * epoch wins; between equal epochs, the holder.
 */
export class ServingLease {
  readonly #options: LeaseOptions;
  readonly #replaced = Promise.withResolvers<LeaseRecord>();
  readonly #wakes = new Set<() => void>();
  readonly #listeners = new Set<(isHeld: boolean) => void>();
  #epoch: number;
  #validUntil: Moment | null = null;
  #hasHeld = false;
  /** Version of the last record that this process wrote in time; null before it has written one. */
  #ownVersion: string | null = null;
  /** Since when this process's claim stands without interruption, and how long it must. */
  #claim: { readonly since: number; readonly milliseconds: number } | null = null;
  #watch: LeaseWatch | null = null;
  #trouble: string | null = null;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#epoch = options.holder.epoch;
  }

  /** The epoch of this server. A record of the same data directory may have a greater one than its database: a backup was restored. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Milliseconds for which this server may still serve without a renewal; 0 if it may not. */
  get remaining(): number {
    if (this.#validUntil === null) return 0;
    const { monotonic, wall } = this.#now();
    // Each clock alone may stand still or be set back.
    return Math.max(0, Math.min(this.#validUntil.monotonic - monotonic, this.#validUntil.wall - wall));
  }

  get isHeld(): boolean {
    return this.remaining > 0;
  }

  /** Returns why this server may not serve, in plain words; null if it may. The log has the cause, which clients need not know. */
  trouble(): string | null {
    return this.isHeld ? null : "it can't renew its lease, so another server may have taken over";
  }

  /** @throws {MachineError} if this server may not serve, and so may not write */
  check(): void {
    const trouble = this.trouble();
    if (trouble !== null) throw new MachineError("NO_LEASE", trouble);
  }

  /**
   * Waits until this server holds the lease, for as long as the fence can't be reached or another lease may be valid.
   * @throws {ReplacedError} @throws {StillServesError} @throws {OtherDatabaseError}
   * @throws {FenceError} if the fence can't be used; `persists` retries instead
   */
  async acquire({ persists }: { readonly persists: boolean }): Promise<void> {
    const { log } = this.#options;
    let reported = "";
    while (!this.isHeld && !this.#isStopped) {
      try {
        await this.#step();
        this.#trouble = null;
        if (this.isHeld) break;
      } catch (error) {
        if (!(error instanceof FenceError) || !persists) throw error;
        this.#trouble = messageOf(error);
      }
      const waits = this.#trouble ?? "the lease of another server may still be valid";
      if (waits !== reported) log.warn({ event: "standby.lease_awaited", reason: waits });
      reported = waits;
      await this.#sleep(this.#options.milliseconds / STEPS);
    }
    log.info({ event: "standby.lease_held", epoch: this.#epoch });
  }

  /** The lease of the server that has taken over, as soon as one has. */
  get replaced(): Promise<LeaseRecord> {
    return this.#replaced.promise;
  }

  /** Calls a listener when the lease has lapsed, and when it is held again. */
  onChange(listener: (isHeld: boolean) => void): void {
    this.#listeners.add(listener);
  }

  /** Renews the lease until it is released, or another server has taken over. */
  keep(): void {
    const { log, milliseconds } = this.#options;
    let wasHeld = this.isHeld;
    const notice = () => {
      const { isHeld } = this;
      if (isHeld === wasHeld || this.#isStopped) return;
      wasHeld = isHeld;
      if (isHeld) log.info({ event: "standby.lease_held", epoch: this.#epoch });
      else {
        const trouble = this.#trouble ?? "the fence does not answer, or a clock of this machine was set or stood still";
        log.error({ event: "standby.lease_lapsed", trouble });
        // After a clock was set, the next renewal need not wait for its time.
        for (const wake of this.#wakes) wake();
      }
      for (const listener of this.#listeners) listener(isHeld);
    };
    const timer = setInterval(notice, milliseconds / STEPS);
    this.#running = this.#renewUntilStopped(notice)
      .catch((error: unknown) => {
        if (!(error instanceof ReplacedError)) throw error;
        this.#validUntil = null;
        log.fatal({ event: "standby.replaced", host: error.by.host, epoch: error.by.epoch });
        this.#replaced.resolve(error.by);
      })
      .finally(() => clearInterval(timer));
  }

  /** Stops the renewals and tells other servers that this one has stopped. Call it when nothing is written any more. */
  async release(): Promise<void> {
    this.#isStopped = true;
    for (const wake of this.#wakes) wake();
    const released = this.#running.then(() => this.#release()).catch(() => {});
    // A fence that can't be reached must not delay the program's end.
    await Promise.race([released, Bun.sleep(RELEASE_MILLISECONDS)]);
    this.#validUntil = null;
    await Promise.race([this.#options.register.close(), Bun.sleep(RELEASE_MILLISECONDS)]);
  }

  async #release(): Promise<void> {
    const { register } = this.#options;
    const { record, version } = await register.read();
    if (record?.owner !== this.#options.holder.owner || record.epoch !== this.#epoch) return;
    await register.replace(version, this.#record("released"));
  }

  async #renewUntilStopped(notice: () => void): Promise<void> {
    const { milliseconds, log } = this.#options;
    while (!this.#isStopped) {
      try {
        await this.#step();
        this.#trouble = null;
      } catch (error) {
        if (error instanceof ReplacedError) throw error;
        const trouble = messageOf(error);
        if (trouble !== this.#trouble) log.warn({ event: "standby.lease_not_renewed", trouble });
        this.#trouble = trouble;
      }
      notice();
      const isRenewed = this.isHeld && this.#trouble === null;
      // A renewal that was answered late leaves less time until the next one.
      await this.#sleep(isRenewed ? Math.min(milliseconds / RENEWALS, this.remaining / 2) : milliseconds / STEPS);
    }
  }

  /** Reads the register, and writes this server's record if that is allowed. */
  async #step(): Promise<void> {
    const { register } = this.#options;
    const begun = this.#now();
    const { record, version } = await register.read();
    const isOwn = record !== null && record.owner === this.#options.holder.owner;
    if (isOwn) this.#epoch = Math.max(this.#epoch, record.epoch);
    const state =
      isOwn || record === null ? this.#stateAfterOwn(record, version, begun) : this.#stateAfter(record, version, begun);
    if (state === null) return;
    const continues = isOwn && version === this.#ownVersion;
    const written = await register.replace(version, this.#record(state));
    // Another machine was faster; the next step reads its record.
    if (written === null) return;
    if (state === "waiting") {
      this.#ownVersion = written;
      if (continues && this.#claim !== null) return;
      this.#claim = { since: this.#now().monotonic, milliseconds: waitFor(this.#options.milliseconds, record) };
      return;
    }
    this.#hold(begun);
    // A write that took longer than a lease may have met a register that has forgotten another server's lease meanwhile.
    this.#ownVersion = this.isHeld ? written : LATE_VERSION;
  }

  /** Returns the state to write after this server's own record, or after none. */
  #stateAfterOwn(record: LeaseRecord | null, version: string, begun: Moment): LeaseRecord["state"] {
    if (this.isHeld) return "held";
    // After its restart, a broker knows no leases, and that of another server may still be valid.
    if (record === null) return this.#options.register.forgets ? "waiting" : "held";
    const isKnown = this.#ownVersion === null || version === this.#ownVersion;
    if (record.state !== "waiting") return isKnown || !this.#options.register.forgets ? "held" : "waiting";
    const claim = version === this.#ownVersion ? this.#claim : null;
    return claim !== null && begun.monotonic >= claim.since + claim.milliseconds ? "held" : "waiting";
  }

  /** Returns the state to write after the record of another server; null to write none. */
  #stateAfter(record: LeaseRecord, version: string, begun: Moment): LeaseRecord["state"] | null {
    if (record.epoch > this.#epoch || (record.epoch === this.#epoch && this.#hasHeld)) throw new ReplacedError(record);
    // A server that has lost its disk begins with an empty database. Its standby must not follow that.
    if (!this.#hasHeld && isOther(record.database, this.#options.holder.database)) throw new OtherDatabaseError(record);
    // A server of a lower epoch serves only after it has waited for a whole lease. Its record is younger than this server's
    // last renewal, which is still valid, so it has not.
    if (this.isHeld || record.state === "released" || version === this.#options.expired) return "held";
    if (record.epoch < this.#epoch) return "waiting";
    // Its owner may have been lost.
    this.#watch ??= new LeaseWatch(this.#options.milliseconds, this.#options.clock);
    return this.#watch.hasExpired(record, version, begun.monotonic) ? "held" : null;
  }

  #hold(since: Moment): void {
    const { milliseconds } = this.#options;
    this.#claim = null;
    this.#hasHeld = true;
    this.#validUntil = { monotonic: since.monotonic + milliseconds, wall: since.wall + milliseconds };
  }

  #record(state: LeaseRecord["state"]): LeaseRecord {
    const { holder, milliseconds, clock } = this.#options;
    return { ...holder, epoch: this.#epoch, state, milliseconds, at: Math.round(clock.wall()) };
  }

  #now(): Moment {
    const { monotonic, wall } = this.#options.clock;
    return { monotonic: monotonic(), wall: wall() };
  }

  async #sleep(milliseconds: number): Promise<void> {
    if (this.#isStopped) return;
    const woken = Promise.withResolvers<void>();
    this.#wakes.add(woken.resolve);
    const timer = setTimeout(woken.resolve, milliseconds);
    await woken.promise;
    clearTimeout(timer);
    this.#wakes.delete(woken.resolve);
  }
}

function isOther(database: string | undefined, own: string | undefined): boolean {
  return database !== undefined && own !== undefined && database !== own;
}
