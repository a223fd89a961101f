import type { JsMsg } from "@nats-io/jetstream";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { type Broker, NobodyThereError } from "./broker.ts";
import type { LocalEngine } from "./fleet-engine.ts";
import {
  cancelSchema,
  encode,
  MessageError,
  PRESENCE_MILLISECONDS,
  type Presence,
  parse,
  type Reply,
  replySchema,
  type Started,
  subjects,
  unpack,
  type Work,
  workSchema,
} from "./messages.ts";
import { runWork, type WorkerModel } from "./run-work.ts";

export interface FleetWorkerOptions {
  readonly broker: Broker;
  readonly engine: LocalEngine;
  /** Returns the installed models, which may change while the worker runs. */
  readonly models: () => readonly WorkerModel[];
  readonly build: string;
  readonly version: string;
  readonly machine: string;
  /** Unique for each start; a later start has a greater one. */
  readonly instance: string;
  /** Directory for the data of running operations. */
  readonly directory: string;
  /** Describes the devices, and why the engine takes no work; null if it does. */
  readonly status: () => { readonly devices: readonly string[]; readonly trouble: string | null };
  /** Returns the device of the recognizer: `cpu`, or a GPU's backend and label. */
  readonly device: () => { readonly device: string; readonly gpu: string };
  readonly now: () => number;
  readonly log: Logger;
}

/** Interval of the beats that keep the broker from delivering a fetched operation again. */
const BEAT_MILLISECONDS = 3000;
/** Time for which a request for the next operation waits at the broker. */
const PULL_MILLISECONDS = 5000;
/** Pause before another attempt to reach a consumer that does not exist yet, or a broker that is away. */
const RETRY_MILLISECONDS = 500;
/** Time for the answers to results when the worker stops. */
const STOP_MILLISECONDS = 1000;
/** Pause of a worker that the coordinator gives no operations for a while. */
const PAUSE_MILLISECONDS = 10_000;

const NO_COORDINATOR =
  "no coordinator of this build uses the broker; start it (transcribe serve), or install its version on this machine";

/** An operation that the worker has fetched and not yet returned to the broker. */
interface Fetched {
  readonly message: JsMsg;
  readonly abort: AbortController;
  /**
   * `waiting`: for a lane; the coordinator counts no attempt. `running`: it has a lane. `answering`: its result is on its
   * way, and its lane is free.
   */
  state: "waiting" | "running" | "answering";
}

/** A machine's part in a fleet: fetches operations, runs them on the machine's engine, and returns the results. */
export class FleetWorker {
  readonly #options: FleetWorkerOptions;
  readonly #fetched = new Set<Fetched>();
  readonly #byId = new Map<string, Fetched>();
  /** Models, or `none`, for which operations are fetched. */
  readonly #fetching = new Set<string>();
  readonly #presence: NodeJS.Timeout;
  #models: readonly WorkerModel[] = [];
  #waiters: (() => void)[] = [];
  /** End of a pause that the coordinator ordered, on the monotonic clock. */
  #pausedUntil = 0;
  /** Whether a coordinator of this build uses the broker; null until the broker has been asked. */
  #hasCoordinator: boolean | null = null;
  #stops = false;

  constructor(options: FleetWorkerOptions) {
    this.#options = options;
    const { broker } = options;
    broker.subscribe(subjects.allCancels, (data) => this.#onCancel(data));
    broker.onChange((connected) => connected && this.#report(false));
    this.#presence = setInterval(() => this.#refresh(), PRESENCE_MILLISECONDS);
    this.#refresh();
  }

  /** Number of operations that run. */
  get busy(): number {
    return this.#countIn("running");
  }

  /** Returns why no operations arrive, and what to do; null if they may arrive. */
  get trouble(): string | null {
    return this.#hasCoordinator === false ? NO_COORDINATOR : null;
  }

  /** Reports that the machine leaves, and returns its operations to the broker at once. */
  async stop(): Promise<void> {
    this.#stops = true;
    clearInterval(this.#presence);
    this.#report(true);
    this.#giveBack(({ state }) => state !== "answering");
    // A result on its way is worth a moment, unless the broker does not answer.
    const late = setTimeout(() => this.#giveBack(() => true), STOP_MILLISECONDS);
    while (this.#fetched.size > 0) await this.#change();
    clearTimeout(late);
  }

  #giveBack(isAffected: (fetched: Fetched) => boolean): void {
    for (const fetched of [...this.#fetched].filter(isAffected)) {
      fetched.message.nak();
      fetched.abort.abort(new Error("the worker stops"));
    }
    this.#wake();
  }

  /** Reports the models that are installed now, and fetches operations for new ones. */
  #refresh(): void {
    this.#readModels();
    this.#report(false);
    for (const model of ["none", ...this.#models.map(({ sha256 }) => sha256)]) {
      if (this.#fetching.has(model)) continue;
      this.#fetching.add(model);
      void this.#fetchFor(model);
    }
  }

  /** Reads which models are installed. @returns whether they changed */
  #readModels(): boolean {
    const { models, log } = this.#options;
    const before = this.#models;
    try {
      this.#models = models();
    } catch (error) {
      log.error({ event: "fleet.models_unreadable", trouble: messageOf(error) });
    }
    return this.#models !== before;
  }

  #report(leaves: boolean): void {
    const { broker, engine, build, version, machine, instance, status, now } = this.#options;
    if (!broker.connected) return;
    const { devices, trouble } = status();
    const presence: Presence = {
      machine,
      instance,
      version,
      build,
      models: this.#models.map(({ sha256 }) => sha256),
      devices: [...devices],
      lanes: engine.lanes,
      busy: this.busy,
      clock: now(),
      trouble,
      leaves,
    };
    broker.publish(subjects.presence(machine), encode(presence));
  }

  /** Fetches and starts operations of one model until the worker stops or the model is removed. */
  async #fetchFor(model: string): Promise<void> {
    const { broker, build, engine, log } = this.#options;
    let consumer: Awaited<ReturnType<Broker["stream"]["consumer"]>> = null;
    while (!this.#stops && this.#hasModel(model)) {
      const unanswered = this.#fetched.size - this.#countIn("answering");
      if (unanswered >= engine.lanes || performance.now() < this.#pausedUntil || !broker.connected) {
        await this.#change();
        continue;
      }
      try {
        consumer ??= await broker.stream.consumer(build, model);
        if (model === "none") this.#noteCoordinator(consumer !== null);
        const message = (await consumer?.next({ expires: PULL_MILLISECONDS })) ?? null;
        if (consumer === null) await Bun.sleep(RETRY_MILLISECONDS);
        // The consumer may be gone with its stream. While operations arrive it need not be asked for.
        if (message === null) consumer = null;
        else if (this.#stops || !this.#hasModel(model)) message.nak();
        else void this.#process(message);
      } catch (error) {
        consumer = null;
        log.debug({ event: "fleet.fetch_failed", trouble: messageOf(error) });
        await Bun.sleep(RETRY_MILLISECONDS);
      }
    }
    this.#fetching.delete(model);
  }

  #noteCoordinator(isThere: boolean): void {
    const { log, build } = this.#options;
    if (isThere === this.#hasCoordinator) return;
    this.#hasCoordinator = isThere;
    if (isThere) log.info({ event: "fleet.coordinator_found", build });
    else log.warn({ event: "fleet.no_coordinator", build, reason: NO_COORDINATOR });
  }

  #hasModel(model: string): boolean {
    return model === "none" || this.#models.some(({ sha256 }) => sha256 === model);
  }

  async #process(message: JsMsg): Promise<void> {
    const { broker, log } = this.#options;
    const own: Fetched = { message, abort: new AbortController(), state: "waiting" };
    this.#fetched.add(own);
    const beats = setInterval(() => broker.connected && message.working(), BEAT_MILLISECONDS);
    let work: Work | null = null;
    try {
      const { header, contents } = unpack(workSchema, message.data);
      work = header;
      this.#byId.set(header.id, own);
      if (!(await this.#start(own, header))) return;
      const result = await this.#run(header, contents, own.abort.signal);
      if (own.abort.signal.aborted) return;
      // A damaged model is found when it is used. The coordinator must know before it publishes the operation again.
      if (this.#readModels()) this.#refresh();
      own.state = "answering";
      this.#wake();
      await this.#answer(own, header, result);
    } catch (error) {
      if (own.abort.signal.aborted) return;
      // The coordinator that published it is gone. One that comes back publishes again what it needs.
      if (error instanceof NobodyThereError) {
        log.warn({ event: "fleet.coordinator_gone", operation: work?.operation });
        message.ack();
        return;
      }
      log.error({ event: "fleet.operation_failed", operation: work?.operation, trouble: messageOf(error) });
      // A message that this build cannot read will not become readable; anything else may succeed elsewhere.
      if (error instanceof MessageError) message.term(messageOf(error));
      else message.nak(RETRY_MILLISECONDS);
    } finally {
      clearInterval(beats);
      if (work !== null && this.#byId.get(work.id) === own) this.#byId.delete(work.id);
      this.#fetched.delete(own);
      this.#wake();
    }
  }

  /** Waits for a lane and asks the coordinator. @returns whether the operation may run now */
  async #start(own: Fetched, { id, coordinator, model }: Work): Promise<boolean> {
    const { engine, machine } = this.#options;
    const { message, abort } = own;
    while (this.busy >= engine.lanes && engine.lanes > 0 && !abort.signal.aborted) await this.#change();
    if (abort.signal.aborted) return false;
    // The engine or the model was lost while the operation waited; another machine may have both.
    if (engine.lanes === 0 || !this.#hasModel(model ?? "none")) {
      message.nak();
      return false;
    }
    own.state = "running";
    const started: Started = { id, delivery: message.info.deliveryCount };
    const { verdict } = await this.#ask(subjects.started(coordinator, machine), encode(started), abort.signal);
    if (abort.signal.aborted) return false;
    if (verdict === "go") return true;
    if (verdict === "paused") {
      this.#pausedUntil = performance.now() + PAUSE_MILLISECONDS;
      message.nak();
    } else message.ack();
    return false;
  }

  #run(work: Work, contents: readonly Uint8Array[], signal: AbortSignal): Promise<Uint8Array> {
    const { engine, device, directory, log } = this.#options;
    const model = this.#models.find(({ sha256 }) => sha256 === work.model) ?? null;
    return runWork(work, contents, { engine, model, device, directory, log }, signal);
  }

  async #answer({ message, abort }: Fetched, { coordinator, operation }: Work, result: Uint8Array): Promise<void> {
    const { machine, log } = this.#options;
    const { verdict } = await this.#ask(subjects.result(coordinator, machine), result, abort.signal);
    if (verdict !== "go") log.warn({ event: "fleet.result_not_taken", operation, verdict });
    message.ack();
  }

  /** Asks the coordinator. @throws the signal's reason when it is aborted, e.g. because the worker stops */
  async #ask(subject: string, message: Uint8Array, signal: AbortSignal): Promise<Reply> {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return parse(replySchema, await Promise.race([this.#options.broker.request(subject, message), aborted.promise]));
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  #onCancel(data: Uint8Array): null {
    try {
      const fetched = this.#byId.get(parse(cancelSchema, data).id);
      fetched?.message.ack();
      fetched?.abort.abort(new Error("the operation was cancelled"));
      this.#wake();
    } catch (error) {
      this.#options.log.warn({ event: "fleet.message_refused", kind: "cancel", trouble: messageOf(error) });
    }
    return null;
  }

  #countIn(state: Fetched["state"]): number {
    return [...this.#fetched].filter((each) => each.state === state).length;
  }

  /** Resolves when a lane may have become free, at the latest after a moment: the engine's lanes change by themselves. */
  async #change(): Promise<void> {
    await Promise.race([new Promise<void>((resolve) => this.#waiters.push(resolve)), Bun.sleep(RETRY_MILLISECONDS)]);
  }

  #wake(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }
}
