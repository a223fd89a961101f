import { existsSync } from "node:fs";
import { hostname } from "node:os";
import type { Settings } from "../config/index.ts";
import type { Engine } from "../engine/index.ts";
import type { Broker, FleetEngine, FleetEngineOptions } from "../fleet/index.ts";
import type { RecordingModels } from "../pipeline/index.ts";
import { buildInfo, programVersion } from "../program/index.ts";
import type { Logger, MetricSources } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { StartError } from "./start-error.ts";

interface Parts {
  readonly engine: Engine;
  readonly models: RecordingModels;
  readonly onCompletion: FleetEngineOptions["onCompletion"];
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
  close(): Promise<void>;
}

/**
 * Connects the server to its fleet.
 * @throws {StartError} if the broker cannot be used
 */
export async function coordinateFleet(
  settings: Settings["fleet"],
  { engine: local, models, onCompletion, log, now }: Parts,
): Promise<Coordinator> {
  // Loaded only here, so that a single machine does not load the broker's client.
  const { Broker, FleetEngine, subjectToken } = await import("../fleet/index.ts");
  const digests = new Map<string, string>();
  const known: RecordingModels = {
    ...models,
    async sha256Of(model) {
      const sha256 = await models.sha256Of(model);
      digests.set(model.path, sha256);
      return sha256;
    },
  };
  await known.sha256Of(models.current());
  try {
    await using stack = new AsyncDisposableStack();
    const { machine, build } = await fleetIdentity(settings);
    const broker = await Broker.connectOrWait({ ...settings, url: settings.broker, machine, log });
    stack.defer(() => broker.close());
    const engine = new FleetEngine({
      local,
      broker,
      build,
      version: programVersion,
      onCompletion,
      now,
      log,
      machine,
      coordinator: subjectToken(Bun.randomUUIDv7()),
      workHere: settings.work_here,
      sha256Of: (path) => digests.get(path) ?? null,
      // A model that was removed is needed no more.
      models: () => [...digests].filter(([path]) => existsSync(path)).map(([, sha256]) => sha256),
    });
    stack.defer(() => engine.close());
    // Without the broker this machine works alone, and the fleet starts when the broker is back.
    if (broker.connected) await engine.start();
    const roundTrip = measureRoundTrip(broker);
    stack.defer(() => roundTrip.stop());
    log.info({ event: "fleet.coordinating", broker: settings.broker, build });
    const parts = stack.move();
    return {
      engine,
      machine,
      models: known,
      status: () => ({
        brokerConnected: broker.connected,
        roundTripSeconds: roundTrip.seconds(),
        machines: engine.machines(),
        published: engine.load().published,
        counts: engine.counts,
      }),
      close: () => parts.disposeAsync(),
    };
  } catch (error) {
    throw new StartError(`fleet: ${messageOf(error)}`);
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

/** Returns this machine's name in the fleet, and the name of its build: only equal builds work together. */
export async function fleetIdentity({ machine }: Pick<Settings["fleet"], "machine">) {
  const { subjectToken } = await import("../fleet/index.ts");
  const { version, commit } = await buildInfo();
  return { machine: subjectToken(machine === "" ? hostname() : machine), build: subjectToken(`${version}-${commit}`) };
}
