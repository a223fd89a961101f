import type { RemoteAttempts } from "../engine/index.ts";
import type { Unreported } from "./first-reports.ts";
import type { MachineLog } from "./machine-log.ts";
import type { PendingOperation, UnableWorkerError } from "./pending-operation.ts";
import type { Publications } from "./publications.ts";
import type { Roster } from "./roster.ts";

export interface RemoteWorkersEvents {
  /** Operations that have to start again, in their order. */
  readonly onReturned: (operations: readonly PendingOperation[]) => void;
  /** An operation ended, or a worker joined or left. */
  readonly onChange: () => void;
}

interface WithdrawalsOptions extends RemoteWorkersEvents {
  readonly publications: Publications;
  readonly attempts: RemoteAttempts;
  readonly roster: Roster;
  readonly log: MachineLog;
}

/** Number of times that an operation is fetched without a report before this machine's own engine runs it. */
const MAX_UNREPORTED = 2;
/** Number of machines that a line of the log names. */
const MAX_SUSPECTS = 5;
/** Name in the log of a machine that is not known. */
const UNKNOWN = "unknown";

/**
 * Takes operations back from workers. Each reason decides whether the worker is blamed, and whether an attempt at the
 * operation is counted: a worker that started it and did not finish it counts.
 */
export class Withdrawals {
  readonly #options: WithdrawalsOptions;
  /** Since the start. */
  readonly counts = { unreported: 0 };

  constructor(options: WithdrawalsOptions) {
    this.#options = options;
  }

  /** Takes an operation back from a worker that reports it as running without end. */
  stuck(
    id: string,
    pending: PendingOperation,
    machine: string,
    duration: { readonly seconds: number; readonly limitSeconds: number },
  ): void {
    const { operation } = pending;
    this.#options.log.write("error", machine, { event: "fleet.operation_stuck", operation, ...duration });
    this.failed(id, pending, machine);
  }

  /** Takes an operation back that no worker started in time. A worker that fetched it may hold it. */
  notStarted(id: string, { operation, fetchedBy }: PendingOperation, seconds: number): void {
    const { log, roster } = this.#options;
    log.write("warn", fetchedBy ?? UNKNOWN, { event: "fleet.operation_not_started", operation, seconds });
    if (fetchedBy !== null) roster.blame(fetchedBy);
    this.giveBack(this.#withdraw(id));
  }

  /** Takes an operation back from a worker that fetched it and reports nothing. Nobody started it. */
  unreported(id: string, { pool, model, at, seconds, machine }: Unreported): void {
    const { log, roster, publications } = this.#options;
    const [pending] = this.#withdraw(id);
    if (pending === undefined) return;
    const holders = publications.holders();
    const silent = machine === null ? roster.suspects(pool, model, at).filter((each) => !holders.has(each)) : [machine];
    const suspects = silent.slice(0, MAX_SUSPECTS);
    const { operation } = pending;
    log.write("error", machine ?? UNKNOWN, { event: "fleet.operation_unreported", operation, seconds, suspects });
    if (machine !== null) roster.blame(machine);
    this.counts.unreported++;
    pending.unreported++;
    // A worker that fetches everything and reports nothing could hold it without end.
    if (pending.unreported >= MAX_UNREPORTED) pending.isLocal = true;
    this.giveBack([pending]);
  }

  /** Takes an operation back from a worker that cannot finish it, and counts the attempt. */
  failed(id: string, pending: PendingOperation, machine: string): void {
    const { roster, onChange } = this.#options;
    const taken = this.#withdraw(id);
    roster.blame(machine);
    if (taken.length > 0 && this.hasAttemptLeft(pending)) this.giveBack([pending]);
    onChange();
  }

  /** Takes an operation back from a worker that cannot run any, and counts no attempt. */
  unable(id: string, { operation }: PendingOperation, machine: string, { message }: UnableWorkerError): null {
    const { log, roster } = this.#options;
    log.write("error", machine, { event: "fleet.worker_unable", operation, trouble: message });
    roster.blame(machine);
    this.unaffected((_, each) => each === id);
    return null;
  }

  /** Takes operations back for a reason that says nothing about them, e.g. because the connection was lost. */
  unaffected(isAffected: (operation: PendingOperation, id: string) => boolean): void {
    const { publications, attempts } = this.#options;
    const taken = publications.withdraw(isAffected);
    for (const { machine, record } of taken) if (machine !== null) attempts.countReturned(record);
    this.giveBack(taken);
  }

  /** Takes operations back from machines that did not finish them. */
  lost(isLost: (machine: string) => boolean): void {
    const lost = this.#options.publications.withdraw(({ machine, fetchedBy }) => {
      const holder = machine ?? fetchedBy;
      return holder !== null && isLost(holder);
    });
    // An operation that was only fetched ahead has no attempt to lose.
    this.giveBack(lost.filter((pending) => pending.machine === null || this.hasAttemptLeft(pending)));
  }

  /** Counts a worker that did not finish an operation. An operation without another attempt fails. */
  hasAttemptLeft(pending: PendingOperation): boolean {
    pending.lost++;
    const error = this.#options.attempts.countLost(pending.operation, pending.record, pending.lost);
    if (error !== null) pending.settle({ error });
    return error === null;
  }

  /** Returns operations that no worker has to the queue. */
  giveBack(operations: readonly PendingOperation[]): void {
    for (const operation of operations) {
      operation.machine = null;
      operation.fetchedBy = null;
    }
    this.#options.onReturned(operations);
  }

  #withdraw(id: string): readonly PendingOperation[] {
    return this.#options.publications.withdraw((_, each) => each === id);
  }
}
