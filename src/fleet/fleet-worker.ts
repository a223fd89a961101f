import type { Logger } from "../telemetry/index.ts";
import { messageOf, orAborted } from "../text/index.ts";
import { type Broker, NobodyThereError } from "./broker.ts";
import type { Delivery } from "./delivery.ts";
import type { LocalEngine } from "./fleet-engine.ts";
import {
  cancelSchema,
  encode,
  MAX_HELD,
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
import { runWork, WorkData, type WorkerModel } from "./run-work.ts";
import { WorkFetcher } from "./work-fetcher.ts";

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
/** Pause before an operation that this worker failed at is delivered again. */
const RETRY_MILLISECONDS = 500;
/** Time for the answers to results when the worker stops. */
const STOP_MILLISECONDS = 1000;
/**
 * Mean duration of operations up to which one is fetched ahead for each lane. A longer operation gains nothing from it,
 * and the one ahead would wait while another worker becomes idle. Fetching one takes 20 to 50 ms.
 */
const MAX_AHEAD_SECONDS = 2;
/** Weight of the last operation in the mean. */
const LAST_WEIGHT = 0.2;

/** An operation that the worker has fetched and not yet returned to the broker. */
interface Fetched {
  readonly delivery: Delivery;
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
  readonly #fetcher: WorkFetcher;
  readonly #presence: NodeJS.Timeout;
  #isDraining = false;
  #models: readonly WorkerModel[] = [];
  /** Mean duration of the last operations; before the first one no operation is fetched ahead. */
  #meanSeconds = Number.POSITIVE_INFINITY;

  constructor(options: FleetWorkerOptions) {
    this.#options = options;
    const { broker, build, log } = options;
    this.#fetcher = new WorkFetcher({
      ...{ broker, build, log },
      models: () => this.#models.map(({ sha256 }) => sha256),
      wanted: () => this.#wanted(),
      onDelivery: (delivery) => void this.#process(delivery),
    });
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
    return this.#isDraining ? "it is stopping" : this.#fetcher.trouble;
  }

  /** Whether operations may arrive: a coordinator of this build uses the broker, the engine runs, and it is not stopping. */
  get isReady(): boolean {
    const { broker, engine } = this.#options;
    return broker.connected && this.#fetcher.hasCoordinator && engine.lanes > 0 && !this.#isDraining;
  }

  /**
   * Prepares the stop: fetches nothing more, returns at once the operations that have not begun, and waits until those
   * that run are completed.
   * @param signal ends the wait; `stop` then returns the operations that still run
   */
  async drain(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    this.#isDraining = true;
    this.#fetcher.stop();
    this.#giveBack(({ state }) => state === "waiting");
    // The coordinator still expects the results of the operations that run.
    this.#report(false);
    log.info({ event: "fleet.draining", running: this.#fetched.size });
    const wake = () => this.#fetcher.wake();
    signal.addEventListener("abort", wake);
    while (this.#fetched.size > 0 && !signal.aborted) await this.#fetcher.change();
    signal.removeEventListener("abort", wake);
    log.info({ event: "fleet.drained", returned: this.#fetched.size });
  }

  /** Reports that the machine leaves, and returns its operations to the broker at once. */
  async stop(): Promise<void> {
    this.#fetcher.stop();
    clearInterval(this.#presence);
    this.#report(true);
    this.#giveBack(({ state }) => state !== "answering");
    // A result on its way is worth a moment, unless the broker does not answer.
    const late = setTimeout(() => this.#giveBack(() => true), STOP_MILLISECONDS);
    while (this.#fetched.size > 0) await this.#fetcher.change();
    clearTimeout(late);
    // The messages that were sent last are lost if the connection is closed at once.
    const { broker } = this.#options;
    if (broker.connected) await Promise.race([broker.roundTrip().catch(() => {}), Bun.sleep(STOP_MILLISECONDS)]);
  }

  #giveBack(isAffected: (fetched: Fetched) => boolean): void {
    for (const fetched of [...this.#fetched].filter(isAffected)) {
      fetched.delivery.nak();
      fetched.abort.abort(new Error("the worker stops"));
    }
    this.#fetcher.wake();
  }

  /** Reports the models that are installed now, and fetches operations for new ones. */
  #refresh(): void {
    this.#readModels();
    this.#report(false);
    this.#fetcher.start();
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
      // The coordinator publishes nothing for the lanes of a worker that stops.
      lanes: this.#isDraining ? 0 : engine.lanes,
      busy: this.busy,
      holds: [...this.#byId.keys()].slice(0, MAX_HELD),
      clock: now(),
      trouble,
      leaves,
    };
    broker.publish(subjects.presence(machine), encode(presence));
  }

  /** Returns what the next operation is for; null if none is wanted. */
  #wanted(): "free lane" | "busy lane" | null {
    const { lanes } = this.#options.engine;
    const unanswered = this.#fetched.size - this.#countIn("answering");
    if (unanswered < lanes) return "free lane";
    return unanswered < 2 * lanes && this.#meanSeconds <= MAX_AHEAD_SECONDS ? "busy lane" : null;
  }

  #hasModel(model: string): boolean {
    return model === "none" || this.#models.some(({ sha256 }) => sha256 === model);
  }

  async #process(delivery: Delivery): Promise<void> {
    const { broker, directory, log } = this.#options;
    const own: Fetched = { delivery, abort: new AbortController(), state: "waiting" };
    this.#fetched.add(own);
    const beats = setInterval(() => broker.connected && delivery.working(), BEAT_MILLISECONDS);
    let work: Work | null = null;
    try {
      const { header, contents } = unpack(workSchema, delivery.data);
      work = header;
      this.#byId.set(header.id, own);
      await using data = new WorkData(header, contents, directory, log);
      if (!(await this.#start(own, header))) return;
      const result = await this.#run(header, data, own.abort.signal);
      if (own.abort.signal.aborted) return;
      own.state = "answering";
      this.#fetcher.wake();
      // A damaged model is found when it is used. The coordinator must know before it publishes the operation again.
      if (this.#readModels()) this.#refresh();
      await this.#answer(own, header, result);
    } catch (error) {
      if (own.abort.signal.aborted) return;
      // The coordinator that published it is gone. One that comes back publishes again what it needs.
      if (error instanceof NobodyThereError) {
        log.warn({ event: "fleet.coordinator_gone", operation: work?.operation });
        delivery.ack();
        return;
      }
      log.error({ event: "fleet.operation_failed", operation: work?.operation, trouble: messageOf(error) });
      // A message that this build cannot read will not become readable; anything else may succeed elsewhere.
      if (error instanceof MessageError) delivery.term(messageOf(error));
      else delivery.nak(RETRY_MILLISECONDS);
      // A worker whose reports get no answer would fetch the same operation again and again.
      if (broker.connected) this.#fetcher.pause();
    } finally {
      clearInterval(beats);
      if (work !== null && this.#byId.get(work.id) === own) this.#byId.delete(work.id);
      this.#fetched.delete(own);
      this.#fetcher.wake();
    }
  }

  /** Waits for a lane and asks the coordinator. @returns whether the operation may run now */
  async #start(own: Fetched, work: Work): Promise<boolean> {
    const { engine } = this.#options;
    const { delivery, abort } = own;
    const isFree = () => this.busy < engine.lanes;
    if (!isFree() && !(await this.#mayGoOn(own, work, false))) return false;
    while (!isFree() && engine.lanes > 0 && !abort.signal.aborted) await this.#fetcher.change();
    if (abort.signal.aborted) return false;
    // The engine or the model was lost while the operation waited; another machine may have both.
    if (engine.lanes === 0 || !this.#hasModel(work.model ?? "none")) {
      delivery.nak();
      return false;
    }
    own.state = "running";
    return await this.#mayGoOn(own, work, true);
  }

  /** Asks the coordinator whether an operation may start or wait; if not, the broker gets it back. */
  async #mayGoOn({ delivery, abort }: Fetched, { id, coordinator }: Work, starts: boolean): Promise<boolean> {
    const started: Started = { id, starts, delivery: delivery.info.deliveryCount };
    const subject = subjects.started(coordinator, this.#options.machine);
    const { verdict } = await this.#ask(subject, encode(started), abort.signal);
    if (abort.signal.aborted) return false;
    if (verdict === "go") return true;
    if (verdict === "paused") {
      this.#fetcher.pause();
      delivery.nak();
    } else delivery.ack();
    return false;
  }

  async #run(work: Work, data: WorkData, signal: AbortSignal): Promise<Uint8Array> {
    const { engine, device, log } = this.#options;
    const model = this.#models.find(({ sha256 }) => sha256 === work.model) ?? null;
    const startedAt = performance.now();
    const result = await runWork(work, data, { engine, model, device, log }, signal);
    const seconds = (performance.now() - startedAt) / 1000;
    const isFirst = this.#meanSeconds === Number.POSITIVE_INFINITY;
    this.#meanSeconds = isFirst ? seconds : this.#meanSeconds + LAST_WEIGHT * (seconds - this.#meanSeconds);
    return result;
  }

  async #answer({ delivery, abort }: Fetched, { coordinator, operation }: Work, result: Uint8Array): Promise<void> {
    const { machine, log } = this.#options;
    const { verdict } = await this.#ask(subjects.result(coordinator, machine), result, abort.signal);
    if (verdict !== "go") log.warn({ event: "fleet.result_not_taken", operation, verdict });
    delivery.ack();
  }

  /** Asks the coordinator. @throws the signal's reason when it is aborted, e.g. because the worker stops */
  async #ask(subject: string, message: Uint8Array, signal: AbortSignal): Promise<Reply> {
    signal.throwIfAborted();
    return parse(replySchema, await orAborted(this.#options.broker.request(subject, message), signal));
  }

  #onCancel(data: Uint8Array): null {
    try {
      const fetched = this.#byId.get(parse(cancelSchema, data).id);
      fetched?.delivery.ack();
      fetched?.abort.abort(new Error("the operation was cancelled"));
      this.#fetcher.wake();
    } catch (error) {
      this.#options.log.warn({ event: "fleet.message_refused", kind: "cancel", trouble: messageOf(error) });
    }
    return null;
  }

  #countIn(state: Fetched["state"]): number {
    return [...this.#fetched].filter((each) => each.state === state).length;
  }
}
