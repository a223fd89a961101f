import type { OperationName, Params } from "../operations/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { EngineCrashError } from "./errors.ts";
import { type AttemptRecord, finalError, recordInterruption } from "./task.ts";
import { TimeLimits } from "./time-limits.ts";
import { Watchdog } from "./watchdog.ts";

interface RemoteOperation {
  readonly operation: OperationName;
  readonly params: Params<OperationName>;
}

interface RemoteAttemptsOptions {
  readonly log: Logger;
  /** Maximum limit of an attempt. */
  readonly maxSeconds?: number;
  readonly checkMilliseconds?: number;
}

/**
 * A machine's own engine ends a stuck attempt and makes three in all. Its answer is due before it would have had four.
 */
const OWN_ATTEMPTS = 4;
/** An operation waits behind the running ones of a machine; each of them may take as long as it does. */
const WAIT_FACTOR = 2;
/** Time that a machine may take before its first operation with a model, e.g. for self-tests. */
const PREPARE_SECONDS = 300;
/** Machines whose limits are known; those that completed nothing for the longest time are forgotten. */
const MAX_MACHINES = 1000;
/** Maximum limit: an operation has at most two minutes of audio. */
const MAX_SECONDS = 3600;

/**
 * The attempts of other machines at operations: how long they last, and how many were lost. A machine can report that it
 * is alive for ever without computing anything, so each attempt has a limit here. Limits are learned for each machine
 * by itself, so that a machine cannot raise those of others.
 */
export class RemoteAttempts implements Disposable {
  readonly #options: Required<RemoteAttemptsOptions>;
  readonly #watchdog: Watchdog<string>;
  readonly #machines = new Map<string, { readonly limits: TimeLimits; readonly completed: Set<string> }>();

  constructor(options: RemoteAttemptsOptions) {
    this.#options = {
      maxSeconds: MAX_SECONDS,
      checkMilliseconds: 1000,
      ...options,
    };
    this.#watchdog = new Watchdog(this.#options.checkMilliseconds);
  }

  /** Limits the time until a machine starts an operation. @param onOverdue called once, when the limit is exceeded */
  waits(id: string, operation: RemoteOperation, onOverdue: (seconds: number, limitSeconds: number) => void): void {
    const limits = [...this.#machines.keys()].map((machine) => this.#limitOf(operation, machine));
    this.#watch(id, WAIT_FACTOR * Math.max(...limits, this.#limitOf(operation, null)), onOverdue);
  }

  /** Limits the time that a machine may take for an operation that it starts now. */
  starts(
    id: string,
    operation: RemoteOperation,
    machine: string,
    onOverdue: (seconds: number, limitSeconds: number) => void,
  ): void {
    this.#watch(id, this.#limitOf(operation, machine), onOverdue);
  }

  /** Learns from an operation that a machine completed. */
  completed(id: string, operation: RemoteOperation, machine: string): void {
    const elapsed = this.#watchdog.elapsed(id);
    if (elapsed === null) return;
    const known = this.#machines.get(machine) ?? { limits: new TimeLimits(), completed: new Set() };
    // A map keeps the order of its entries: the first one completed nothing for the longest time.
    this.#machines.delete(machine);
    this.#machines.set(machine, known);
    const [oldest] = this.#machines.keys();
    if (this.#machines.size > MAX_MACHINES && oldest !== undefined) this.#machines.delete(oldest);
    known.limits.learn(timed(operation), elapsed.seconds);
    known.completed.add(kindOf(operation));
  }

  release(id: string): void {
    this.#watchdog.release(id);
  }

  /**
   * Records that a machine did not finish an operation.
   * @param lost number of machines that did not finish it, this one included
   * @returns the error of the operation if no attempt is left; null when another attempt remains
   */
  countLost(operation: OperationName, record: AttemptRecord | null, lost: number): EngineCrashError | null {
    recordInterruption({ record }, "killed", this.#options.log);
    return finalError({ operation: { name: operation }, crashes: 0, kills: lost, stalled: false });
  }

  /** Records that an operation was taken back from a machine through no fault of the operation. */
  countReturned(record: AttemptRecord | null): void {
    recordInterruption({ record }, "returned", this.#options.log);
  }

  [Symbol.dispose](): void {
    this.#watchdog[Symbol.dispose]();
  }

  #watch(id: string, limitSeconds: number, onOverdue: (seconds: number, limitSeconds: number) => void): void {
    this.#watchdog.watch(id, limitSeconds, (seconds) => onOverdue(seconds, limitSeconds));
  }

  #limitOf(operation: RemoteOperation, machine: string | null): number {
    const known = machine === null ? undefined : this.#machines.get(machine);
    const isFirst = known?.completed.has(kindOf(operation)) !== true;
    const limits = known?.limits ?? new TimeLimits();
    const seconds = OWN_ATTEMPTS * limits.of(timed(operation), isFirst) + (isFirst ? PREPARE_SECONDS : 0);
    return Math.min(seconds, this.#options.maxSeconds);
  }
}

/** A machine's operations of one kind need the same models. */
function kindOf({ operation, params }: RemoteOperation): string {
  return "model" in params ? `${operation} ${params.model ?? ""}` : operation;
}

function timed({ operation, params }: RemoteOperation) {
  return { name: operation, params, speechDevice: "" };
}
