import { existsSync } from "node:fs";
import { hostname } from "node:os";
import type { Settings } from "../config/index.ts";
import type { Engine } from "../engine/index.ts";
import type { Broker, FleetEngine, FleetEngineOptions, WantedWorkers } from "../fleet/index.ts";
import type { SpeechModel } from "../models/index.ts";
import type { RecordingModels } from "../pipeline/index.ts";
import { buildCommit, programVersion } from "../program/index.ts";
import { createLogger, type Logger, type MetricSources } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { StartError } from "./start-error.ts";

interface Parts {
  readonly engine: Engine;
  readonly models: RecordingModels;
  readonly onCompletion: FleetEngineOptions["onCompletion"];
  /** Returns the seconds of audio in recordings that are not processed yet. */
  readonly waitingAudioSeconds: () => number;
  /** Returns the bounds of the number of workers, which can change at run time. */
  readonly goal: () => Pick<Settings["fleet"], "target_minutes" | "max_workers">;
  /** Returns whether this server may serve now. */
  readonly holdsLease: () => boolean;
  readonly log: Logger;
  readonly now: () => number;
}

/** The server as the coordinator of a fleet: its engine also uses the workers on other machines. */
export interface Coordinator {
  readonly engine: FleetEngine;
  /** Name of the server's machine. */
  readonly machine: string;
  /** The server's models; the fleet learns their digests from it. */
  readonly models: RecordingModels;
  status(): ReturnType<MetricSources["fleet"]>;
  /** Returns how many workers the waiting audio needs. */
  wantedWorkers(): WantedWorkers;
  close(): Promise<void>;
}

/**
 * Connects the server to its fleet.
 * @throws {StartError} if the broker cannot be used
 */
export async function coordinateFleet(
  settings: Settings["fleet"],
  { engine: local, models, onCompletion, waitingAudioSeconds, goal, holdsLease, log, now }: Parts,
): Promise<Coordinator> {
  // Loaded only here, so that a single machine does not load the broker's client.
  const { Broker, FleetEngine, subjectToken, WorkerDemand } = await import("../fleet/index.ts");
  const digests = new ModelDigests(models);
  await digests.sha256Of(models.current());
  try {
    await using stack = new AsyncDisposableStack();
    const { machine, build } = await fleetIdentity(settings);
    const connection = { ...settings, url: settings.broker, machine };
    const broker = await Broker.connectOrWait({ ...connection, log });
    stack.defer(() => broker.close());
    // The log has the state of the first connection.
    const partsBroker = await Broker.connectOrWait({ ...connection, log: createLogger("silent") });
    stack.defer(() => partsBroker.close());
    const demand = new WorkerDemand();
    const engine = new FleetEngine({
      local,
      broker,
      partsBroker,
      build,
      version: programVersion,
      onCompletion(completed) {
        demand.note(completed);
        onCompletion(completed);
      },
      now,
      log,
      holdsLease,
      machine,
      coordinator: subjectToken(Bun.randomUUIDv7()),
      workHere: settings.work_here,
      sha256Of: (path) => digests.of(path),
      models: () => digests.needed(),
    });
    const learning = setInterval(() => void digests.learn(), LEARN_MILLISECONDS);
    stack.defer(() => clearInterval(learning));
    stack.defer(() => engine.close());
    // Without the broker this machine works alone, and the fleet starts when the broker is back.
    if (broker.connected) await engine.start();
    const roundTrip = measureRoundTrip(partsBroker);
    stack.defer(() => roundTrip.stop());
    log.info({ event: "fleet.coordinating", broker: settings.broker, build });
    const parts = stack.move();
    const wantedWorkers = () => demand.wanted(waitingAudioSeconds(), engine.machines(), goal());
    return {
      engine,
      machine,
      wantedWorkers,
      models: { ...models, sha256Of: (model) => digests.sha256Of(model) },
      status: () => ({
        brokerConnected: broker.connected,
        roundTripSeconds: roundTrip.seconds(),
        machines: engine.machines(),
        published: engine.load().published,
        counts: engine.counts,
        demand: wantedWorkers(),
      }),
      close: () => parts.disposeAsync(),
    };
  } catch (error) {
    throw new StartError(`fleet: ${messageOf(error)}`);
  }
}

/** Interval at which the digests of newly chosen models are learned. */
const LEARN_MILLISECONDS = 5000;

/** The digests of the models that parts of recordings may need, which workers must have. */
export class ModelDigests {
  readonly #models: RecordingModels;
  readonly #byPath = new Map<string, string>();

  constructor(models: RecordingModels) {
    this.#models = models;
  }

  /** Returns the digest of a model, and learns it. @throws {Error} if its file cannot be read */
  async sha256Of(model: SpeechModel): Promise<string> {
    const sha256 = await this.#models.sha256Of(model);
    this.#byPath.set(model.path, sha256);
    return sha256;
  }

  /**
   * Learns the digests of the models that the next recording will use. Without this, `fleet status` would not report the
   * workers that lack a newly chosen model before its first recording. A model that is missing is learned when it is
   * back: the recordings that need it report it.
   */
  async learn(): Promise<void> {
    const models = this.#models;
    const attempts = [
      () => [models.current()],
      () => [models.companionOf(models.current())].filter((model) => model !== null),
      () => models.routes().map(({ model }) => model),
    ].map(async (modelsOf) => await Promise.all(modelsOf().map((model) => this.sha256Of(model))));
    await Promise.allSettled(attempts);
  }

  /** Returns a digest that was learned; null for another path. */
  of(path: string): string | null {
    return this.#byPath.get(path) ?? null;
  }

  /** Returns the digests of all models that were learned. A model that was removed is needed no more. */
  needed(): string[] {
    return [...this.#byPath].filter(([path]) => existsSync(path)).map(([, sha256]) => sha256);
  }
}

/** Interval of the measurements of the round-trip time to the broker. */
const ROUND_TRIP_MILLISECONDS = 5000;

/** Measures the round-trip time to the broker at regular intervals. */
function measureRoundTrip(broker: Broker) {
  let seconds: number | null = null;
  let isMeasuring = false;
  const measure = async () => {
    if (isMeasuring) return;
    isMeasuring = true;
    // A broker that is away has no round-trip time.
    const since = performance.now();
    const answered = broker.connected && (await broker.roundTrip().catch(() => null)) !== null;
    seconds = answered ? (performance.now() - since) / 1000 : null;
    isMeasuring = false;
  };
  void measure();
  const timer = setInterval(() => void measure(), ROUND_TRIP_MILLISECONDS);
  return { seconds: () => (broker.connected ? seconds : null), stop: () => clearInterval(timer) };
}

/** The commit of the code that this process runs. Read once, because changes of the files do not change the process. */
let commit: Promise<string> | null = null;

/**
 * Returns this machine's name in the fleet, and the name of its build: only equal builds work together.
 * @throws {ExpectedError} if a worker of a pool cannot have its name
 */
export async function fleetIdentity({ machine, pool }: Pick<Settings["fleet"], "machine" | "pool">) {
  const { machineName, subjectToken } = await import("../fleet/index.ts");
  commit ??= buildCommit();
  const build = `${programVersion}-${await commit}`;
  return { machine: machineName(pool, machine === "" ? hostname() : machine), build: subjectToken(build) };
}
