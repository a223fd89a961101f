import { Value } from "@sinclair/typebox/value";
import {
  type AttemptRecord,
  countLostWorker,
  dataOf,
  describeWork,
  type Engine,
  EngineCrashError,
  EngineKilledError,
  EngineOperationError,
  type EngineOptions,
  EngineStalledError,
  isSpanOperation,
  type OperationName,
  operations,
  type Params,
  type Result,
  type SpanOperation,
} from "../engine/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { readItem, writeItem } from "../timeline/index.ts";
import type { Broker } from "./broker.ts";
import {
  type CoordinatorStatus,
  type cancelSchema,
  encode,
  MAX_MESSAGE_BYTES,
  MessageError,
  PRESENCE_MILLISECONDS,
  pack,
  parse,
  presenceSchema,
  type Reply,
  resultSchema,
  startedSchema,
  subjects,
  unpack,
  type Work,
  type WorkResult,
} from "./messages.ts";
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
  /** Returns the SHA-256 of a speech model by its path; null if it is not known yet. */
  readonly sha256Of: (modelPath: string) => string | null;
  /** Returns the SHA-256 of the models that operations may need. */
  readonly models: () => readonly string[];
  /** Called with every operation that a worker completed. */
  readonly onCompletion: NonNullable<EngineOptions["onCompletion"]>;
  readonly now: () => number;
  readonly log: Logger;
}

/** Counters since the start, for metrics and `fleet status`. */
interface FleetCounts {
  published: number;
  redelivered: number;
  lateResults: number;
  refusedResults: number;
  sentBytes: number;
  receivedBytes: number;
}

/** Operations published for each lane of the workers, so that a worker finds its next one without a round trip. */
const PUBLISHED_PER_LANE = 1.5;

interface Task {
  readonly operation: SpanOperation;
  readonly params: Params<SpanOperation>;
  readonly record: AttemptRecord | null;
  /** SHA-256 of the speech model that the operation needs; null if it needs none. */
  readonly model: string | null;
  readonly signal: AbortSignal;
  readonly settle: (outcome: { result: unknown } | { error: unknown }) => void;
  /** Whether it is too large for a message, so that only this machine can run it. */
  isLocal: boolean;
  /** Number of workers that did not finish it. */
  lost: number;
  /** Machine that runs it; null while it waits in the broker. */
  machine: string | null;
}

/**
 * Distributes the operations on spans of recordings to the workers of a fleet, and runs the other operations on this
 * machine. Operations start in the order of their requests. Few are published at a time, so that the recording queue
 * keeps deciding the order between accounts. The broker's queue is disposable: when the connection is lost, published
 * operations return to this queue. A result counts only while its operation is awaited.
 */
export class FleetEngine {
  readonly #options: FleetEngineOptions;
  readonly #roster: Roster;
  readonly #waiting: Task[] = [];
  /** Published operations by the ids of their publications. */
  readonly #published = new Map<string, Task>();
  readonly #consumers = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #runningHere = 0;
  #nextId = 1;
  #streamReady = false;
  #closed = false;
  readonly counts: FleetCounts = {
    published: 0,
    redelivered: 0,
    lateResults: 0,
    refusedResults: 0,
    sentBytes: 0,
    receivedBytes: 0,
  };

  constructor(options: FleetEngineOptions) {
    this.#options = options;
    const { broker, build, version, coordinator, now, log } = options;
    this.#roster = new Roster({ build, version }, now, log);
    broker.subscribe(subjects.allPresence, (data) => this.#onPresence(data));
    broker.subscribe(subjects.started(coordinator), (data) => encode(this.#onStarted(data)));
    broker.subscribe(subjects.result(coordinator), async (data) => encode(await this.#onResult(data)));
    broker.subscribe(subjects.allStatus, () => encode(this.#status()));
    broker.onChange((connected) => (connected ? void this.#reset() : this.#takeBack(() => true)));
    this.#timer = setInterval(() => this.#check(), PRESENCE_MILLISECONDS);
  }

  /** Creates the stream. @throws {BrokerError} if the broker cannot be used */
  async start(): Promise<void> {
    // What is published before the stream is complete would be deleted with the old one.
    this.#streamReady = false;
    await this.#options.broker.resetStream();
    this.#consumers.clear();
    await this.#ensureConsumers(["none", ...this.#options.models()]);
    this.#streamReady = true;
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
    return { waiting: this.#waiting.length, published: this.#published.size, here: this.#runningHere };
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
        this.#withdraw(task);
        reject(signal.reason);
        this.#dispatch();
      };
      const { model } = params as { readonly model?: string };
      const task: Task = {
        operation,
        params: params as Params<SpanOperation>,
        record,
        model: model === undefined ? null : this.#options.sha256Of(model),
        signal,
        settle: (outcome) => {
          signal.removeEventListener("abort", abort);
          if ("error" in outcome) reject(outcome.error);
          else resolve(outcome.result as Result<N>);
        },
        // A model without a known digest cannot be asked for elsewhere.
        isLocal: model !== undefined && this.#options.sha256Of(model) === null,
        lost: 0,
        machine: null,
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#waiting.push(task);
      this.#dispatch();
    });
  }

  /** Rejects all operations that wait or are published. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    const published = [...this.#published];
    for (const [id, task] of published) this.#unpublish(id, task);
    for (const task of [...published.map(([, task]) => task), ...this.#waiting.splice(0)])
      task.settle({ error: closedError() });
  }

  #dispatch(): void {
    for (let at = 0; at < this.#waiting.length; ) {
      const task = this.#waiting[at] as Task;
      const start = this.#placeFor(task);
      if (start === null) {
        at++;
        continue;
      }
      this.#waiting.splice(at, 1);
      start();
    }
  }

  /** Returns a function that starts the operation now; null if it has to wait. */
  #placeFor(task: Task): (() => void) | null {
    const { local, workHere, broker } = this.#options;
    const mayRunHere = workHere || task.isLocal;
    if (mayRunHere && this.#runningHere < Math.max(1, local.lanes)) return () => void this.#runHere(task);
    if (task.isLocal || !broker.connected || !this.#streamReady) return null;
    const window = Math.ceil(PUBLISHED_PER_LANE * this.#roster.lanes(task.model));
    const published = [...this.#published.values()].filter(({ model }) => model === task.model || model === null);
    return published.length < window ? () => void this.#publish(task) : null;
  }

  async #runHere(task: Task): Promise<void> {
    this.#runningHere++;
    try {
      task.settle({ result: await this.#options.local.run(task.operation, task.params, task.signal, task.record) });
    } catch (error) {
      task.settle({ error });
    } finally {
      this.#runningHere--;
      this.#dispatch();
    }
  }

  async #publish(task: Task): Promise<void> {
    const { broker, build, coordinator, log } = this.#options;
    const id = `${coordinator}-${this.#nextId++}`;
    this.#published.set(id, task);
    task.machine = null;
    const message = await messageFor(id, coordinator, task).catch((error: unknown) => {
      // The operation's own data cannot be read.
      if (this.#published.delete(id)) task.settle({ error });
      this.#dispatch();
      return null;
    });
    if (message === null || !this.#published.has(id)) return;
    try {
      if (message.length > MAX_MESSAGE_BYTES) {
        log.warn({ event: "fleet.operation_too_large", operation: task.operation, bytes: message.length });
        this.#published.delete(id);
        task.isLocal = true;
        this.#requeue(task);
        return;
      }
      const model = task.model ?? "none";
      await this.#ensureConsumers([model]);
      await broker.publishWork(subjects.work(build, model), id, message);
      this.counts.published++;
      this.counts.sentBytes += message.length;
    } catch (error) {
      if (!this.#published.delete(id)) return;
      if (task.signal.aborted) return;
      log.warn({ event: "fleet.publish_failed", operation: task.operation, trouble: messageOf(error) });
      // The next check tries again, unless this machine takes the operation before.
      this.#streamReady = false;
      this.#waiting.unshift(task);
      this.#dispatch();
    }
  }

  async #ensureConsumers(models: readonly string[]): Promise<void> {
    for (const model of models) {
      if (this.#consumers.has(model)) continue;
      await this.#options.broker.ensureConsumer(this.#options.build, model);
      this.#consumers.add(model);
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
      const task = this.#published.get(id);
      if (task === undefined) return { verdict: "late" };
      if (delivery > 1) {
        this.counts.redelivered++;
        this.#options.log.warn({ event: "fleet.redelivered", operation: task.operation, machine, delivery });
        if (!this.#countLoss(id, task)) return { verdict: "late" };
      }
      try {
        task.record?.onStart();
      } catch (error) {
        this.#published.delete(id);
        task.settle({ error });
        this.#dispatch();
        return { verdict: "late" };
      }
      task.machine = machine;
      return { verdict: "go" };
    } catch (error) {
      return this.#refuse("started", error);
    }
  }

  async #onResult(data: Uint8Array): Promise<Reply> {
    try {
      this.counts.receivedBytes += data.length;
      const { header, contents } = unpack(resultSchema, data);
      const task = this.#published.get(header.id);
      if (task === undefined) {
        this.counts.lateResults++;
        return { verdict: "late" };
      }
      const outcome = await this.#outcomeOf(task, header, contents).catch((error: unknown) => {
        if (this.#published.delete(header.id) && this.#countLoss(header.id, task)) this.#requeue(task);
        throw error;
      });
      // The operation may have been cancelled while its files were written.
      if (!this.#published.delete(header.id)) return { verdict: "late" };
      task.settle(outcome);
      if ("result" in outcome) {
        task.record?.onCompletedBy?.(header.machine);
        this.#count(task, header);
      }
      this.#dispatch();
      return { verdict: "go" };
    } catch (error) {
      return this.#refuse("result", error);
    }
  }

  #count({ operation, params }: Task, { device, gpu, seconds }: WorkResult): void {
    const work = describeWork(operation, params, { speechDevice: device, gpu, speakersOnGpu: [] });
    this.#options.onCompletion({ ...work, seconds });
  }

  /** Writes the files of a result. @throws {MessageError} if the result is not one of this operation */
  async #outcomeOf(
    { operation, params }: Task,
    { outcome, attachments }: WorkResult,
    contents: readonly Uint8Array[],
  ): Promise<{ result: unknown } | { error: Error }> {
    if (outcome.type !== "done") return { error: errorOf(outcome) };
    if (!Value.Check(operations[operation].result, outcome.result)) {
      throw new MessageError(`the result of ${operation} does not match its schema`);
    }
    const { outputs } = dataOf(operation, params);
    const isExpected =
      outputs.length === attachments.length &&
      outputs.every((output, at) => Value.Equal(output, attachments[at]?.item));
    if (!isExpected) throw new MessageError(`the result of ${operation} has other files than expected`);
    for (const [at, output] of outputs.entries()) {
      await writeItem(params.area, output, contents[at] as Uint8Array).catch((error: unknown) => {
        throw new MessageError(`a file of the result of ${operation} cannot be used: ${messageOf(error)}`);
      });
    }
    return { result: outcome.result };
  }

  #refuse(kind: string, error: unknown): Reply {
    this.counts.refusedResults++;
    this.#options.log.error({ event: "fleet.message_refused", kind, trouble: messageOf(error) });
    return { verdict: "refused" };
  }

  /** Counts a worker that did not finish an operation. @returns whether another attempt remains */
  #countLoss(id: string, task: Task): boolean {
    task.lost++;
    const error = countLostWorker(task.operation, task.record, task.lost, this.#options.log);
    if (error === null) return true;
    this.#published.delete(id);
    task.settle({ error });
    return false;
  }

  #requeue(task: Task): void {
    task.machine = null;
    this.#waiting.unshift(task);
    this.#dispatch();
  }

  /** Returns published operations to the queue, e.g. after the connection was lost. */
  #takeBack(isAffected: (task: Task) => boolean): void {
    const affected = [...this.#published].filter(([, task]) => isAffected(task));
    for (const [id, task] of affected) this.#unpublish(id, task);
    this.#waiting.unshift(...affected.map(([, task]) => task));
    this.#dispatch();
  }

  #withdraw(task: Task): void {
    const at = this.#waiting.indexOf(task);
    if (at >= 0) this.#waiting.splice(at, 1);
    for (const [id, each] of this.#published) if (each === task) this.#unpublish(id, task);
  }

  #unpublish(id: string, task: Task): void {
    this.#published.delete(id);
    task.machine = null;
    const { broker, coordinator } = this.#options;
    if (broker.connected)
      broker.publish(subjects.cancel(coordinator), encode({ id } satisfies typeof cancelSchema.static));
  }

  /** Notices machines that are gone, and repeats what failed. */
  #check(): void {
    this.#roster.removeGone();
    const present = new Set(this.#roster.machines().map(({ machine }) => machine));
    for (const [id, task] of this.#published) {
      if (task.machine === null || present.has(task.machine)) continue;
      this.#unpublish(id, task);
      if (this.#countLoss(id, task)) this.#waiting.unshift(task);
    }
    if (!this.#streamReady && this.#options.broker.connected) void this.#reset();
    // Nobody would fetch these any more.
    this.#takeBack((task) => task.machine === null && this.#roster.lanes(task.model) === 0);
    this.#dispatch();
  }

  async #reset(): Promise<void> {
    if (this.#closed) return;
    // The stream is created anew, so nothing that was published before arrives.
    this.#streamReady = false;
    this.#takeBack(() => true);
    try {
      await this.start();
    } catch (error) {
      this.#options.log.error({ event: "fleet.broker_unusable", trouble: messageOf(error) });
    }
  }
}

async function messageFor(id: string, coordinator: string, { operation, params, model }: Task): Promise<Uint8Array> {
  const { area, model: _, encoder, ...rest } = params as Params<"transcribe">;
  const { inputs } = dataOf(operation, params);
  const contents = await Promise.all(inputs.map((item) => readItem(area, item)));
  const header: Work = {
    ...{ id, coordinator, operation, params: rest, model },
    sampleCount: area.pcm.sampleCount,
    usesEncoder: encoder !== undefined,
    attachments: inputs.map((item, at) => ({ item, bytes: contents[at]?.length ?? 0 })),
  };
  return pack(header, contents);
}

function errorOf(outcome: Exclude<WorkResult["outcome"], { type: "done" }>): Error {
  if (outcome.type === "failed") return new EngineOperationError(outcome.message, outcome.code);
  if (outcome.type === "stalled") return new EngineStalledError(outcome.message);
  if (outcome.type === "killed") return new EngineKilledError(outcome.message);
  return new EngineCrashError(outcome.message);
}

const closedError = () => new EngineOperationError("the engine is closed");
