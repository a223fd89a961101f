import { type EngineOptions, RemoteAttempts } from "../engine/index.ts";
import { describeWork } from "../operations/index.ts";
import { messageOf } from "../text/index.ts";
import { FirstReports, type ReportLimits } from "./first-reports.ts";
import { MachineLog } from "./machine-log.ts";
import { poolOf } from "./machine-names.ts";
import {
  encode,
  MessageError,
  PRESENCE_MILLISECONDS,
  parse,
  presenceSchema,
  type Reply,
  resultSchema,
  senderOf,
  startedSchema,
  subjects,
  unpack,
  type WorkResult,
} from "./messages.ts";
import { acceptResult, type PendingOperation, UnableWorkerError } from "./pending-operation.ts";
import { Publications, type PublicationsOptions } from "./publications.ts";
import { Roster } from "./roster.ts";
import { type RemoteWorkersEvents, Withdrawals } from "./withdrawals.ts";

export interface RemoteWorkersOptions extends Omit<PublicationsOptions, "onPublished" | "onRemoved"> {
  readonly version: string;
  /** Called with every operation that a worker completed. */
  readonly onCompletion: (completed: Completed & { readonly machine: string }) => void;
  /** Limits of the attempts of workers. */
  readonly attempts?: RemoteAttempts;
  readonly reportLimits?: ReportLimits;
  readonly now: () => number;
}

type Completed = Parameters<NonNullable<EngineOptions["onCompletion"]>>[0];

/** Operations published for each lane of the workers: one that runs, and one that the worker fetches ahead. */
const PUBLISHED_PER_LANE = 2;

/**
 * The workers of a fleet, and the operations that they have. An operation that is published here ends in one of three
 * ways: it is settled, it is returned, or its caller withdraws it. Each worker that started it and did not finish it
 * counts as a lost attempt, unless the operation was taken back for a reason that says nothing about it.
 */
export class RemoteWorkers {
  readonly #options: RemoteWorkersOptions;
  readonly #events: RemoteWorkersEvents;
  readonly #publications: Publications;
  readonly #attempts: RemoteAttempts;
  readonly #log: MachineLog;
  readonly #timer: NodeJS.Timeout;
  readonly #reports: FirstReports;
  readonly #withdrawals: Withdrawals;
  readonly #counts = { redelivered: 0, lateResults: 0, refusedResults: 0, receivedBytes: 0 };
  readonly roster: Roster;
  #isClosed = false;

  constructor(options: RemoteWorkersOptions, events: RemoteWorkersEvents) {
    const { broker, partsBroker, build, version, coordinator, now, log } = options;
    this.#options = options;
    this.#events = events;
    this.#log = new MachineLog(log, now);
    this.roster = new Roster({ build, version }, now, this.#log);
    this.#attempts = options.attempts ?? new RemoteAttempts({ log });
    this.#reports = new FirstReports({
      ...options,
      onOverdue: (id, unreported) => this.#withdrawals.unreported(id, unreported),
    });
    this.#publications = new Publications({
      ...options,
      onPublished: (id, published) => {
        const { machine, fetchedBy } = this.#publications.get(id) ?? {};
        // A worker may report before the broker confirms.
        if (machine === null && fetchedBy === null) this.#reports.expect(id, published);
      },
      onRemoved: (id) => {
        this.#attempts.release(id);
        this.#reports.release(id);
      },
    });
    this.#withdrawals = new Withdrawals({
      ...{ publications: this.#publications, attempts: this.#attempts, roster: this.roster, log: this.#log },
      ...events,
    });
    const onPresence = (data: Uint8Array, subject: string) => this.#onPresence(data, senderOf(subject, 2));
    broker.subscribe(subjects.allPresence, onPresence);
    broker.subscribe(subjects.allPoolPresence, onPresence, () =>
      log.info({ event: "fleet.no_pools", reason: "the broker's nats.conf is of a version without pools" }),
    );
    broker.subscribe(subjects.started(coordinator, ">"), (data, subject) =>
      encode(this.#onStarted(data, senderOf(subject, 3))),
    );
    broker.subscribe(subjects.result(coordinator, ">"), async (data, subject) =>
      encode(await this.#onResult(data, senderOf(subject, 3))),
    );
    broker.onChange((connected) => (connected ? this.#reopenAll() : this.#withdrawals.unaffected(() => true)));
    partsBroker?.onChange((connected) => {
      // Parts on their way are lost; workers continue with those that they have.
      if (connected) events.onChange();
      else this.#withdrawals.unaffected(({ machine, fetchedBy }) => machine === null && fetchedBy === null);
    });
    this.#timer = setInterval(() => this.#check(), PRESENCE_MILLISECONDS);
  }

  /** Creates the stream of the workers with certificates of their own. @throws {BrokerError} if the broker cannot be used */
  async open(): Promise<void> {
    await this.#publications.queueOf("").open();
    this.#events.onChange();
  }

  /** Number of operations that the broker or a worker has. */
  get published(): number {
    return this.#publications.size;
  }

  /** Counters since the start. */
  get counts() {
    return { ...this.#counts, ...this.#withdrawals.counts, ...this.#publications.counts };
  }

  /** Number of operations that may be published at the same time. */
  get window(): number {
    return Math.ceil(PUBLISHED_PER_LANE * this.roster.lanes(null));
  }

  /**
   * Returns the pool for whose workers an operation with a model may be published now: the one with the smallest share of
   * its operations published.
   * @returns empty for the workers with certificates of their own; null if the operation has to wait
   */
  poolFor(model: string | null): string | null {
    let found: { readonly pool: string; readonly share: number } | null = null;
    for (const pool of this.#publications.pools) {
      const limit = PUBLISHED_PER_LANE * this.roster.lanes(model, pool);
      if (limit === 0 || !this.#publications.takesMore(pool)) continue;
      const share = this.#publications.competingWith(model, pool) / limit;
      if (share < (found?.share ?? 1)) found = { pool, share };
    }
    return found?.pool ?? null;
  }

  async publish(pending: PendingOperation, pool: string): Promise<void> {
    pending.pool = pool;
    const id = `${this.#options.coordinator}-${crypto.randomUUID()}`;
    this.#attempts.waits(id, pending, (seconds) => this.#withdrawals.notStarted(id, pending, seconds));
    try {
      const outcome = await this.#publications.publish(id, pending);
      if (outcome === "published" || outcome === "withdrawn") return;
      // After a failure the next check opens the stream, unless this machine starts the operation before.
      if (outcome === "too large") pending.isLocal = true;
      this.#withdrawals.giveBack([pending]);
    } catch (error) {
      pending.settle({ error });
      this.#events.onChange();
    }
  }

  /** Withdraws an operation whose caller no longer waits for it. */
  withdraw(pending: PendingOperation): void {
    this.#publications.withdraw((each) => each === pending);
  }

  /** Stops, and withdraws all operations. @returns them */
  close(): readonly PendingOperation[] {
    this.#isClosed = true;
    clearInterval(this.#timer);
    const withdrawn = this.#publications.withdraw(() => true);
    this.#reports[Symbol.dispose]();
    this.#attempts[Symbol.dispose]();
    return withdrawn;
  }

  #onPresence(data: Uint8Array, sender: string): null {
    try {
      const presence = parse(presenceSchema, data);
      if (presence.machine !== sender) throw new MessageError(`${sender} reports as another machine`);
      // A worker that was started again has lost its operations: it is not necessary to wait for the broker.
      if (this.roster.isRestarted(presence)) this.#withdrawals.lost((machine) => machine === sender);
      this.roster.note(presence);
      this.#reports.noteHeld(sender, presence.holds ?? []);
      // A machine that leaves returns its operations; no attempt is lost.
      if (presence.leaves) this.#withdrawals.unaffected(({ machine }) => machine === sender);
      this.#openPool(poolOf(sender));
      this.#events.onChange();
    } catch (error) {
      const trouble = messageOf(error);
      this.#log.write("warn", sender, { event: "fleet.message_refused", kind: "presence", trouble });
    }
    return null;
  }

  /** Opens the queue of a pool when its first worker reports, so that it need not wait for the next check. */
  #openPool(pool: string): void {
    if (pool !== "" && this.roster.hasPool(pool) && this.#publications.queueOf(pool).canOpen) void this.#reopen(pool);
  }

  #onStarted(data: Uint8Array, machine: string): Reply {
    try {
      const { id, starts, delivery } = parse(startedSchema, data);
      this.roster.noteReport(machine);
      const pending = this.#publications.get(id);
      // A machine that was stopped meanwhile may have an earlier delivery than the one that runs.
      if (pending === undefined || delivery < pending.delivery) return { verdict: "late" };
      // The broker gives a machine the operations of its own pool only.
      if (pending.pool !== poolOf(machine)) return { verdict: "late" };
      this.#reports.release(id);
      if (this.roster.pauseOf(machine) !== null) return { verdict: "paused" };
      // A pool's certificate allows any number of names; those that count are limited.
      if (pending.pool !== "" && !this.roster.has(machine)) return { verdict: "paused" };
      if (!starts) {
        pending.fetchedBy = machine;
        return { verdict: "go" };
      }
      const { operation } = pending;
      if (delivery > 1) this.#log.write("warn", machine, { event: "fleet.redelivered", operation, delivery });
      // A worker that only fetched it made no attempt.
      if (pending.machine !== null) {
        this.#counts.redelivered++;
        if (!this.#withdrawals.hasAttemptLeft(pending)) {
          this.#publications.remove(id);
          this.#events.onChange();
          return { verdict: "late" };
        }
      }
      try {
        pending.record?.onStart();
      } catch (error) {
        this.#publications.remove(id);
        pending.settle({ error });
        this.#events.onChange();
        return { verdict: "late" };
      }
      pending.machine = machine;
      pending.delivery = delivery;
      this.#attempts.starts(id, pending, machine, (seconds, limitSeconds) =>
        this.#withdrawals.stuck(id, pending, machine, { seconds, limitSeconds }),
      );
      return { verdict: "go" };
    } catch (error) {
      return this.#refuse("started", machine, error);
    }
  }

  async #onResult(data: Uint8Array, machine: string): Promise<Reply> {
    try {
      this.#counts.receivedBytes += data.length;
      const { header, contents } = unpack(resultSchema, data);
      const { id } = header;
      const pending = this.#publications.get(id);
      if (pending === undefined || pending.machine !== machine) {
        this.#counts.lateResults++;
        return { verdict: "late" };
      }
      const outcome = await acceptResult(pending, header, contents).catch((error: unknown) => {
        if (error instanceof UnableWorkerError) return this.#withdrawals.unable(id, pending, machine, error);
        this.#withdrawals.failed(id, pending, machine);
        throw error;
      });
      if (outcome === null) return { verdict: "go" };
      this.#attempts.completed(id, pending, machine);
      // The operation may have been cancelled while its files were written.
      if (!this.#publications.remove(id)) return { verdict: "late" };
      if ("result" in outcome) this.#noteCompletion(pending, machine, header);
      pending.settle(outcome);
      this.#events.onChange();
      return { verdict: "go" };
    } catch (error) {
      return this.#refuse("result", machine, error);
    }
  }

  #noteCompletion(
    { operation, params, record }: PendingOperation,
    machine: string,
    { device, gpu, seconds }: WorkResult,
  ): void {
    record?.onCompletedBy?.(machine);
    const work = describeWork(operation, params, { speechDevice: device, gpu });
    // The workers of a pool come and go, and metrics keep every name.
    this.#options.onCompletion({ ...work, seconds, machine: poolOf(machine) || machine });
  }

  #refuse(kind: string, machine: string, error: unknown): Reply {
    this.#counts.refusedResults++;
    this.#log.write("error", machine, { event: "fleet.message_refused", kind, trouble: messageOf(error) });
    return { verdict: "refused" };
  }

  /** Notices machines that are gone, and repeats what failed. */
  #check(): void {
    this.roster.removeGone();
    const present = new Set(this.roster.machines().map(({ machine }) => machine));
    this.#withdrawals.lost((machine) => !present.has(machine));
    // No machine would fetch these any more.
    this.#withdrawals.unaffected(
      ({ machine, model, pool }) => machine === null && this.roster.lanes(model, pool) === 0,
    );
    for (const pool of this.#publications.pools) {
      const queue = this.#publications.queueOf(pool);
      const isNeeded = pool === "" || this.roster.hasPool(pool);
      if (isNeeded && queue.canOpen) void this.#reopen(pool);
      else if (!isNeeded && queue.isOpen) void queue.remove();
    }
  }

  #reopenAll(): void {
    for (const pool of this.#publications.pools) {
      this.#publications.queueOf(pool).close();
      if (pool === "" || this.roster.hasPool(pool)) void this.#reopen(pool);
    }
  }

  async #reopen(pool: string): Promise<void> {
    if (this.#isClosed) return;
    this.#withdrawals.unaffected((operation) => operation.pool === pool);
    if (await this.#publications.queueOf(pool).tryOpen()) this.#events.onChange();
  }
}
