import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JsMsg } from "@nats-io/jetstream";
import { Value } from "@sinclair/typebox/value";
import {
  dataOf,
  EngineCrashError,
  EngineKilledError,
  EngineOperationError,
  EngineStalledError,
  operations,
  type Params,
  type SpanOperation,
} from "../engine/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { readItem, type WorkArea, type WorkItem, writeItem } from "../timeline/index.ts";
import { type Broker, NobodyThereError } from "./broker.ts";
import type { LocalEngine } from "./fleet-engine.ts";
import {
  cancelSchema,
  encode,
  MessageError,
  PRESENCE_MILLISECONDS,
  type Presence,
  pack,
  parse,
  type Reply,
  replySchema,
  type Started,
  subjects,
  unpack,
  type Work,
  type WorkResult,
  workSchema,
} from "./messages.ts";

/** A speech model that a worker has. */
export interface WorkerModel {
  readonly path: string;
  readonly sha256: string;
  /**
   * Ensures that the engine can run the model.
   * @returns the path of the ONNX form of its encoder on this machine; null if its own encoder is used
   */
  readonly prepare: (signal: AbortSignal, usesEncoder: boolean) => Promise<string | null>;
}

export interface FleetWorkerOptions {
  readonly broker: Broker;
  readonly engine: LocalEngine;
  readonly models: readonly WorkerModel[];
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

/** Interval of the beats that keep the broker from delivering a running operation again. */
const BEAT_MILLISECONDS = 3000;
/** Time for which a request for the next operation waits at the broker. */
const PULL_MILLISECONDS = 5000;
/** Pause before another attempt to reach a consumer that does not exist yet, or a broker that is away. */
const RETRY_MILLISECONDS = 500;
/** Pause of a worker that gets no operations for a while. */
const PAUSE_MILLISECONDS = 10_000;

interface Running {
  readonly message: JsMsg;
  readonly abort: AbortController;
}

/** A machine's part in a fleet: fetches operations, runs them on the machine's engine, and returns the results. */
export class FleetWorker {
  readonly #options: FleetWorkerOptions;
  readonly #running = new Map<string, Running>();
  readonly #presence: NodeJS.Timeout;
  #waiters: (() => void)[] = [];
  /** End of a pause that the coordinator ordered, on the monotonic clock. */
  #pausedUntil = 0;
  #stops = false;

  constructor(options: FleetWorkerOptions) {
    this.#options = options;
    const { broker, models } = options;
    broker.subscribe(subjects.allCancels, (data) => this.#onCancel(data));
    broker.onChange((connected) => connected && this.#report(false));
    this.#presence = setInterval(() => this.#report(false), PRESENCE_MILLISECONDS);
    this.#report(false);
    for (const model of ["none", ...models.map(({ sha256 }) => sha256)]) void this.#fetchFor(model);
  }

  /** Number of operations that run. */
  get busy(): number {
    return this.#running.size;
  }

  /** Reports that the machine leaves, and returns its operations to the broker at once. */
  async stop(): Promise<void> {
    this.#stops = true;
    clearInterval(this.#presence);
    this.#report(true);
    this.#release();
    for (const { abort, message } of this.#running.values()) {
      message.nak();
      abort.abort(new Error("the worker stops"));
    }
    while (this.#running.size > 0) await this.#freeLane();
  }

  #report(leaves: boolean): void {
    const { broker, engine, models, build, version, machine, instance, status, now } = this.#options;
    if (!broker.connected) return;
    const { devices, trouble } = status();
    const presence: Presence = {
      machine,
      instance,
      version,
      build,
      models: models.map(({ sha256 }) => sha256),
      devices: [...devices],
      lanes: engine.lanes,
      busy: this.#running.size,
      clock: now(),
      trouble,
      leaves,
    };
    broker.publish(subjects.presence(machine), encode(presence));
  }

  /** Fetches and starts operations of one model until the worker stops. */
  async #fetchFor(model: string): Promise<void> {
    const { broker, build, engine, log } = this.#options;
    while (!this.#stops) {
      if (this.#running.size >= engine.lanes || performance.now() < this.#pausedUntil) {
        await this.#freeLane();
        continue;
      }
      try {
        const consumer = broker.connected ? await broker.consumer(build, model) : null;
        const message = consumer === null ? null : await consumer.next({ expires: PULL_MILLISECONDS });
        if (consumer === null) await Bun.sleep(RETRY_MILLISECONDS);
        if (message === null) continue;
        if (this.#stops) message.nak();
        else void this.#process(message);
      } catch (error) {
        log.debug({ event: "fleet.fetch_failed", trouble: messageOf(error) });
        await Bun.sleep(RETRY_MILLISECONDS);
      }
    }
  }

  async #process(message: JsMsg): Promise<void> {
    const { machine, log, directory } = this.#options;
    const abort = new AbortController();
    const beats = setInterval(() => message.working(), BEAT_MILLISECONDS);
    let work: Work | null = null;
    let area = "";
    try {
      const { header, contents } = unpack(workSchema, message.data);
      work = header;
      this.#running.set(header.id, { message, abort });
      const started: Started = { id: header.id, delivery: message.info.deliveryCount };
      const answer = await this.#ask(subjects.started(header.coordinator, machine), encode(started));
      if (answer.verdict === "paused") {
        this.#pausedUntil = performance.now() + PAUSE_MILLISECONDS;
        message.nak();
        return;
      }
      if (answer.verdict !== "go") {
        message.ack();
        return;
      }
      area = await mkdtemp(join(directory, "operation-"));
      const result = await this.#run(header, contents, area, abort.signal);
      if (abort.signal.aborted) return;
      const { verdict } = await this.#ask(subjects.result(header.coordinator, machine), result);
      if (verdict !== "go") log.warn({ event: "fleet.result_not_taken", operation: header.operation, verdict });
      message.ack();
    } catch (error) {
      if (abort.signal.aborted) return;
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
      if (area !== "") await rm(area, { recursive: true, force: true });
      if (work !== null) this.#running.delete(work.id);
      this.#release();
    }
  }

  /** Runs an operation and packs its result. */
  async #run(work: Work, contents: readonly Uint8Array[], directory: string, signal: AbortSignal): Promise<Uint8Array> {
    const { engine } = this.#options;
    const startedAt = performance.now();
    const area: WorkArea = { directory, pcm: { path: join(directory, "samples.pcm"), sampleCount: work.sampleCount } };
    const params = await this.#paramsOf(work, area, signal);
    for (const [at, { item }] of work.attachments.entries()) await writeItem(area, item, contents[at] as Uint8Array);
    const header = (outcome: WorkResult["outcome"], attachments: WorkResult["attachments"]): WorkResult => ({
      id: work.id,
      outcome,
      ...this.#options.device(),
      seconds: (performance.now() - startedAt) / 1000,
      attachments,
    });
    try {
      const result = await engine.run(work.operation, params, signal);
      const { outputs } = dataOf(work.operation, params);
      const files = await Promise.all(outputs.map((item: WorkItem) => readItem(area, item)));
      const attachments = outputs.map((item, at) => ({ item, bytes: files[at]?.length ?? 0 }));
      return pack(header({ type: "done", result }, attachments), files);
    } catch (error) {
      signal.throwIfAborted();
      return pack(header(outcomeOf(error), []), []);
    }
  }

  /** Returns the parameters with this machine's paths. @throws {MessageError} if they do not match their schema */
  async #paramsOf(work: Work, area: WorkArea, signal: AbortSignal): Promise<Params<SpanOperation>> {
    const model = this.#options.models.find(({ sha256 }) => sha256 === work.model);
    if (work.model !== null && model === undefined) throw new Error("this machine does not have the operation's model");
    const encoder = await model?.prepare(signal, work.usesEncoder);
    const params = {
      ...work.params,
      area,
      ...(model === undefined ? {} : { model: model.path }),
      ...(encoder == null ? {} : { encoder }),
    };
    const { params: schema } = operations[work.operation];
    if (!Value.Check(schema, params))
      throw new MessageError(`the parameters of ${work.operation} do not match their schema`);
    await mkdir(area.directory, { recursive: true, mode: 0o700 });
    return params as Params<SpanOperation>;
  }

  async #ask(subject: string, message: Uint8Array): Promise<Reply> {
    return parse(replySchema, await this.#options.broker.request(subject, message));
  }

  #onCancel(data: Uint8Array): null {
    try {
      const running = this.#running.get(parse(cancelSchema, data).id);
      running?.message.ack();
      running?.abort.abort(new Error("the operation was cancelled"));
    } catch (error) {
      this.#options.log.warn({ event: "fleet.message_refused", kind: "cancel", trouble: messageOf(error) });
    }
    return null;
  }

  /** Resolves when a lane may have become free. */
  async #freeLane(): Promise<void> {
    await Promise.race([new Promise<void>((resolve) => this.#waiters.push(resolve)), Bun.sleep(RETRY_MILLISECONDS)]);
  }

  #release(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }
}

function outcomeOf(error: unknown): WorkResult["outcome"] {
  const message = messageOf(error).slice(0, 4000);
  if (error instanceof EngineStalledError) return { type: "stalled", message };
  if (error instanceof EngineKilledError) return { type: "killed", message };
  if (error instanceof EngineCrashError) return { type: "crashed", message };
  return { type: "failed", message, code: error instanceof EngineOperationError ? error.code : "" };
}
