import type { Consumer } from "@nats-io/jetstream";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import type { Broker } from "./broker.ts";
import type { Delivery } from "./delivery.ts";

interface WorkFetcherOptions {
  readonly broker: Broker;
  readonly build: string;
  /** Returns the digests of the installed models. */
  readonly models: () => readonly string[];
  /** Returns what the next operation is for: a free lane, or a busy one that will soon be free; null for no operation. */
  readonly wanted: () => "free lane" | "busy lane" | null;
  readonly onDelivery: (delivery: Delivery) => void;
  readonly log: Logger;
}

/** Time for which a request for the next operation waits at the broker. */
const PULL_MILLISECONDS = 5000;
/** Pause before another attempt to reach a consumer that does not exist yet, or a broker that is away. */
const RETRY_MILLISECONDS = 500;
/** First pause before another request for an operation ahead; each further one is twice as long, up to the retry's. */
const AHEAD_MILLISECONDS = 50;
/** Pause of a worker that the coordinator gives no operations for a while. */
const PAUSE_MILLISECONDS = 10_000;

/**
 * Number of attempts without a consumer after which there seems to be no coordinator: three seconds. It creates the stream
 * of a pool when the first worker of the pool reports.
 */
const MISSING_ATTEMPTS = 6;

/** The subject of operations that need no speech model. */
const NO_MODEL = "none";

const NO_COORDINATOR =
  "no coordinator of this build uses the broker; start it (transcribe serve), or install its version on this machine";

/**
 * Fetches operations for a worker. For a free lane, a request for each model waits at the broker. For a busy lane, a
 * request returns at once, so that an operation ahead is one that no idle worker waits for.
 */
export class WorkFetcher {
  readonly #options: WorkFetcherOptions;
  /** Models, or `none`, whose operations are fetched. */
  readonly #fetching = new Set<string>();
  readonly #waiters = new Set<() => void>();
  /** End of a pause that the coordinator ordered, on the monotonic clock. */
  #pausedUntil = 0;
  /** Whether a coordinator of this build uses the broker; null until the broker has been asked. */
  #hasCoordinator: boolean | null = null;
  /** Attempts since the last one that found the consumer. */
  #missing = 0;
  #stops = false;

  constructor(options: WorkFetcherOptions) {
    this.#options = options;
    void this.#fetchAhead();
  }

  /** Returns why no operations arrive, and what to do; null if they may arrive. */
  get trouble(): string | null {
    return this.#hasCoordinator === false ? NO_COORDINATOR : null;
  }

  /** Whether a coordinator of this build uses the broker, as far as the broker has been asked. */
  get hasCoordinator(): boolean {
    return this.#hasCoordinator === true;
  }

  /** Fetches operations for models that were installed. */
  start(): void {
    if (this.#stops) return;
    for (const model of this.#models()) {
      if (this.#fetching.has(model)) continue;
      this.#fetching.add(model);
      void this.#fetchFor(model);
    }
  }

  /** Fetches no operations for a while. */
  pause(): void {
    this.#pausedUntil = performance.now() + PAUSE_MILLISECONDS;
  }

  /** Fetches nothing any more. Operations on their way are returned. */
  stop(): void {
    this.#stops = true;
    this.wake();
  }

  /** Notes that what is wanted may have changed. */
  wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  /**
   * Waits until what is wanted may have changed, at most for a moment: the lanes of an engine change by themselves.
   * @returns whether it may have changed
   */
  async change(milliseconds = RETRY_MILLISECONDS): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const changed = () => resolve(true);
    const timer = setTimeout(() => resolve(false), milliseconds);
    this.#waiters.add(changed);
    try {
      return await promise;
    } finally {
      this.#waiters.delete(changed);
      clearTimeout(timer);
    }
  }

  #models(): readonly string[] {
    return [NO_MODEL, ...this.#options.models()];
  }

  #mayFetch(purpose: "free lane" | "busy lane"): boolean {
    const { broker, wanted } = this.#options;
    return broker.connected && performance.now() >= this.#pausedUntil && wanted() === purpose;
  }

  /** Fetches operations of one model for free lanes, until the worker stops or the model is removed. */
  async #fetchFor(model: string): Promise<void> {
    const { broker, build, log } = this.#options;
    let consumer: Consumer | null = null;
    while (!this.#stops && this.#models().includes(model)) {
      if (!this.#mayFetch("free lane")) {
        await this.change();
        continue;
      }
      try {
        consumer ??= await broker.stream.consumer(build, model);
        if (model === NO_MODEL) this.#noteCoordinator(consumer !== null);
        const delivery = (await consumer?.next({ expires: PULL_MILLISECONDS })) ?? null;
        if (consumer === null) await Bun.sleep(RETRY_MILLISECONDS);
        // The consumer may be gone with its stream. While operations arrive it need not be asked for.
        if (delivery === null) consumer = null;
        else this.#deliver(delivery, model);
      } catch (error) {
        consumer = null;
        log.debug({ event: "fleet.fetch_failed", trouble: messageOf(error) });
        await Bun.sleep(RETRY_MILLISECONDS);
      }
    }
    this.#fetching.delete(model);
  }

  /** Fetches operations for busy lanes, one at a time, until the worker stops. */
  async #fetchAhead(): Promise<void> {
    let last = NO_MODEL;
    let pause = AHEAD_MILLISECONDS;
    while (!this.#stops) {
      // The operations that follow usually need the same model.
      const models = new Set([last, ...this.#models()].filter((model) => this.#models().includes(model)));
      const found = this.#mayFetch("busy lane") ? await this.#firstNow(models) : null;
      if (found !== null) last = found;
      const isChanged = found !== null || (await this.change(pause));
      pause = isChanged ? AHEAD_MILLISECONDS : Math.min(2 * pause, RETRY_MILLISECONDS);
    }
  }

  /** Fetches an operation of the first model that has one now. @returns the model; null if none has */
  async #firstNow(models: Iterable<string>): Promise<string | null> {
    const { broker, build, log } = this.#options;
    try {
      for (const model of models) {
        const delivery = this.#mayFetch("busy lane") ? await broker.stream.nextNow(build, model) : null;
        if (delivery === null) continue;
        this.#deliver(delivery, model);
        return model;
      }
    } catch (error) {
      log.debug({ event: "fleet.fetch_failed", trouble: messageOf(error) });
    }
    return null;
  }

  #deliver(delivery: Delivery, model: string): void {
    if (this.#stops || !this.#models().includes(model)) delivery.nak();
    else this.#options.onDelivery(delivery);
  }

  #noteCoordinator(isThere: boolean): void {
    const { log, build } = this.#options;
    this.#missing = isThere ? 0 : this.#missing + 1;
    if (isThere === this.#hasCoordinator || (!isThere && this.#missing < MISSING_ATTEMPTS)) return;
    this.#hasCoordinator = isThere;
    if (isThere) log.info({ event: "fleet.coordinator_found", build });
    else log.warn({ event: "fleet.no_coordinator", build, reason: NO_COORDINATOR });
  }
}
