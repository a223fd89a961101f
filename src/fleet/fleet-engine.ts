import {
  type AttemptRecord,
  countLostWorker,
  describeWork,
  type Engine,
  EngineOperationError,
  type EngineOptions,
  isSpanOperation,
  type OperationName,
  type Params,
  type Result,
  type SpanOperation,
} from "../engine/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import type { Broker } from "./broker.ts";
import {
  type CoordinatorStatus,
  encode,
  PRESENCE_MILLISECONDS,
  parse,
  presenceSchema,
  type Reply,
  resultSchema,
  startedSchema,
  subjects,
  unpack,
  type WorkResult,
} from "./messages.ts";
import { acceptResult, type PendingOperation } from "./pending-operation.ts";
import { Publications } from "./publications.ts";
import { type Machine, Roster } from "./roster.ts";

/** The engine of this machine, as the fleet uses it. */
export type LocalEngine = Pick<Engine, "run" | "partsAtOnce" | "lanes">;

export interface FleetEngineOptions {
  readonly local: LocalEngine;
  readonly broker: Broker;
  /** Whether this machine's own engine also runs operations on spans. */
  readonly workHere: boolean;
  /** This build, and this start of the coordinator. */
  readonly build: string;
  readonly version: string;
  readonly coordinator: string;
  /** Name of this machine. */
  readonly machine: string;
  /** Returns the SHA-256 of a speech model by its path; null if it is not known yet. */
  readonly sha256Of: (modelPath: string) => string | null;
  /** Returns the SHA-256 of the models that operations may need. */
  readonly models: () => readonly string[];
  /** Called with every operation that a worker completed. */
  readonly onCompletion: (completed: Completed & { readonly machine: string }) => void;
  readonly now: () => number;
  readonly log: Logger;
}

type Completed = Parameters<NonNullable<EngineOptions["onCompletion"]>>[0];

/** Operations published for each lane of the workers, so that a worker finds its next one without a round trip. */
const PUBLISHED_PER_LANE = 1.5;

/**
 * Distributes the operations on spans of recordings to the workers of a fleet, and runs the other operations on this
 * machine. Operations start in the order of their requests. Few are published at a time, so that the recording queue
 * keeps deciding the order between accounts. The broker's queue is disposable: when the connection is lost, published
 * operations return to this queue. A result counts only while its operation is awaited.
 */
export class FleetEngine {
  readonly #options: FleetEngineOptions;
  readonly #roster: Roster;
  readonly #publications: Publications;
  /** Operations that neither a worker nor this machine has, in the order in which they start. */
  readonly #waiting: PendingOperation[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #counts = { redelivered: 0, lateResults: 0, refusedResults: 0, receivedBytes: 0 };
  #runningHere = 0;
  #closed = false;

  constructor(options: FleetEngineOptions) {
    this.#options = options;
    const { broker, build, version, coordinator, now, log } = options;
    this.#roster = new Roster({ build, version }, now, log);
    this.#publications = new Publications(options);
    broker.subscribe(subjects.allPresence, (data) => this.#onPresence(data));
    broker.subscribe(subjects.started(coordinator), (data) => encode(this.#onStarted(data)));
    broker.subscribe(subjects.result(coordinator), async (data) => encode(await this.#onResult(data)));
    broker.subscribe(subjects.allStatus, () => encode(this.#status()));
    broker.onChange((connected) => (connected ? void this.#reopen() : this.#takeBack(() => true)));
    this.#timer = setInterval(() => this.#check(), PRESENCE_MILLISECONDS);
  }

  /** Creates the stream. @throws {BrokerError} if the broker cannot be used */
  async start(): Promise<void> {
    await this.#publications.open();
    this.#dispatch();
  }

  /** Number of parts of one recording that are worth requesting at the same time. */
  get partsAtOnce(): number {
    const here = this.#options.workHere ? this.#options.local.partsAtOnce : 0;
    return Math.max(1, here + Math.ceil(PUBLISHED_PER_LANE * this.#roster.lanes(null)));
  }

  machines(): readonly Machine[] {
    return this.#roster.machines();
  }

  /** Operations that wait, that the broker or a worker has, and that run on this machine. */
  load(): { readonly waiting: number; readonly published: number; readonly here: number } {
    return { waiting: this.#waiting.length, published: this.#publications.size, here: this.#runningHere };
  }

  /** Counters since the start, for metrics and `fleet status`. */
  get counts(): CoordinatorStatus["counts"] {
    return { ...this.#counts, ...this.#publications.counts };
  }

  #status(): CoordinatorStatus {
    const { version, build, models, workHere } = this.#options;
    return { version, build, models: [...models()], workHere, load: this.load(), counts: this.counts };
  }

  /** Runs an operation; see Engine.run. */
  run<N extends OperationName>(
    operation: N,
    params: Params<N>,
    signal: AbortSignal,
    record: AttemptRecord | null = null,
  ): Promise<Result<N>> {
    if (!isSpanOperation(operation)) return this.#options.local.run(operation, params, signal, record);
    signal.throwIfAborted();
    if (this.#closed) return Promise.reject(closedError());
    return new Promise<Result<N>>((resolve, reject) => {
      const abort = () => {
        this.#withdraw(pending);
        reject(signal.reason);
        this.#dispatch();
      };
      const { model } = params as { readonly model?: string };
      const sha256 = model === undefined ? null : this.#options.sha256Of(model);
      const pending: PendingOperation = {
        operation,
        params: params as Params<SpanOperation>,
        record,
        model: sha256,
        signal,
        settle: (outcome) => {
          signal.removeEventListener("abort", abort);
          if ("error" in outcome) reject(outcome.error);
          else resolve(outcome.result as Result<N>);
        },
        isLocal: model !== undefined && sha256 === null,
        lost: 0,
        machine: null,
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#waiting.push(pending);
      this.#dispatch();
    });
  }

  /** Rejects all operations that wait or are published. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    const published = this.#publications.withdraw(() => true);
    for (const { settle } of [...published, ...this.#waiting.splice(0)]) settle({ error: closedError() });
  }

  /** Starts the waiting operations for which there is a place, in their order. */
  #dispatch(): void {
    for (let at = 0; at < this.#waiting.length; ) {
      const pending = this.#waiting[at] as PendingOperation;
      const start = this.#placeFor(pending);
      if (start === null) {
        at++;
        continue;
      }
      this.#waiting.splice(at, 1);
      start();
    }
  }

  /** Returns a function that starts the operation now; null if it has to wait. */
  #placeFor(pending: PendingOperation): (() => void) | null {
    const { local, workHere } = this.#options;
    const { isLocal, model } = pending;
    const mayRunHere = workHere || isLocal;
    if (mayRunHere && this.#runningHere < Math.max(1, local.lanes)) return () => void this.#runHere(pending);
    if (isLocal || !this.#publications.isOpen) return null;
    const limit = Math.ceil(PUBLISHED_PER_LANE * this.#roster.lanes(model));
    return this.#publications.competingWith(model) < limit ? () => void this.#publish(pending) : null;
  }

  async #runHere({ operation, params, signal, record, settle }: PendingOperation): Promise<void> {
    const { local, machine } = this.#options;
    this.#runningHere++;
    try {
      const result = await local.run(operation, params, signal, record);
      record?.onCompletedBy?.(machine);
      settle({ result });
    } catch (error) {
      settle({ error });
    } finally {
      this.#runningHere--;
      this.#dispatch();
    }
  }

  async #publish(pending: PendingOperation): Promise<void> {
    try {
      const outcome = await this.#publications.publish(pending);
      if (outcome === "published" || outcome === "withdrawn") return;
      // After a failure the next check opens the stream, unless this machine starts the operation before.
      if (outcome === "too large") pending.isLocal = true;
      this.#putBack([pending]);
    } catch (error) {
      pending.settle({ error });
      this.#dispatch();
    }
  }

  #onPresence(data: Uint8Array): null {
    try {
      const presence = parse(presenceSchema, data);
      this.#roster.note(presence);
      // A machine that leaves returns its operations; no attempt is lost.
      if (presence.leaves) this.#takeBack(({ machine }) => machine === presence.machine);
      this.#dispatch();
    } catch (error) {
      this.#options.log.warn({ event: "fleet.message_refused", kind: "presence", trouble: messageOf(error) });
    }
    return null;
  }

  #onStarted(data: Uint8Array): Reply {
    try {
      const { id, machine, delivery } = parse(startedSchema, data);
      const pending = this.#publications.get(id);
      if (pending === undefined) return { verdict: "late" };
      if (delivery > 1) {
        this.#counts.redelivered++;
        this.#options.log.warn({ event: "fleet.redelivered", operation: pending.operation, machine, delivery });
        if (!this.#hasAttemptLeft(pending)) {
          this.#publications.remove(id);
          return { verdict: "late" };
        }
      }
      try {
        pending.record?.onStart();
      } catch (error) {
        this.#publications.remove(id);
        pending.settle({ error });
        this.#dispatch();
        return { verdict: "late" };
      }
      pending.machine = machine;
      return { verdict: "go" };
    } catch (error) {
      return this.#refuse("started", error);
    }
  }

  async #onResult(data: Uint8Array): Promise<Reply> {
    try {
      this.#counts.receivedBytes += data.length;
      const { header, contents } = unpack(resultSchema, data);
      const pending = this.#publications.get(header.id);
      if (pending === undefined) {
        this.#counts.lateResults++;
        return { verdict: "late" };
      }
      const outcome = await acceptResult(pending, header, contents).catch((error: unknown) => {
        if (this.#publications.remove(header.id) && this.#hasAttemptLeft(pending)) this.#putBack([pending]);
        throw error;
      });
      // The operation may have been cancelled while its files were written.
      if (!this.#publications.remove(header.id)) return { verdict: "late" };
      if ("result" in outcome) this.#noteCompletion(pending, header);
      pending.settle(outcome);
      this.#dispatch();
      return { verdict: "go" };
    } catch (error) {
      return this.#refuse("result", error);
    }
  }

  #noteCompletion({ operation, params, record }: PendingOperation, by: WorkResult): void {
    record?.onCompletedBy?.(by.machine);
    const work = describeWork(operation, params, { speechDevice: by.device, gpu: by.gpu, speakersOnGpu: [] });
    this.#options.onCompletion({ ...work, seconds: by.seconds, machine: by.machine });
  }

  #refuse(kind: string, error: unknown): Reply {
    this.#counts.refusedResults++;
    this.#options.log.error({ event: "fleet.message_refused", kind, trouble: messageOf(error) });
    return { verdict: "refused" };
  }

  /** Counts a worker that did not finish an operation. An operation without another attempt fails. */
  #hasAttemptLeft(pending: PendingOperation): boolean {
    pending.lost++;
    const error = countLostWorker(pending.operation, pending.record, pending.lost, this.#options.log);
    if (error !== null) pending.settle({ error });
    return error === null;
  }

  /** Puts operations back at the head of the queue, in their order. */
  #putBack(pending: readonly PendingOperation[]): void {
    for (const each of pending) each.machine = null;
    this.#waiting.unshift(...pending);
    this.#dispatch();
  }

  /** Returns published operations to the queue, e.g. after the connection was lost. */
  #takeBack(isAffected: (pending: PendingOperation) => boolean): void {
    this.#putBack(this.#publications.withdraw(isAffected));
  }

  #withdraw(pending: PendingOperation): void {
    const at = this.#waiting.indexOf(pending);
    if (at >= 0) this.#waiting.splice(at, 1);
    this.#publications.withdraw((each) => each === pending);
  }

  /** Notices machines that are gone, and repeats what failed. */
  #check(): void {
    this.#roster.removeGone();
    const present = new Set(this.#roster.machines().map(({ machine }) => machine));
    const lost = this.#publications.withdraw(({ machine }) => machine !== null && !present.has(machine));
    this.#putBack(lost.filter((pending) => this.#hasAttemptLeft(pending)));
    if (!this.#publications.isOpen && this.#options.broker.connected) void this.#reopen();
    // No machine would fetch these any more.
    this.#takeBack(({ machine, model }) => machine === null && this.#roster.lanes(model) === 0);
  }

  async #reopen(): Promise<void> {
    if (this.#closed) return;
    this.#takeBack(() => true);
    try {
      await this.start();
    } catch (error) {
      this.#options.log.error({ event: "fleet.broker_unusable", trouble: messageOf(error) });
    }
  }
}

const closedError = () => new EngineOperationError("the engine is closed");
