import { hostname } from "node:os";
import type { Settings } from "../config/index.ts";
import type { Engine, EngineOptions } from "../engine/index.ts";
import type { FleetEngine } from "../fleet/index.ts";
import type { RecordingModels } from "../pipeline/index.ts";
import { buildInfo, programVersion } from "../program/index.ts";
import type { Logger, MetricSources } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { StartError } from "./start-error.ts";

interface Parts {
  readonly engine: Engine;
  readonly models: RecordingModels;
  readonly onCompletion: NonNullable<EngineOptions["onCompletion"]>;
  readonly log: Logger;
  readonly now: () => number;
}

/** The server as the coordinator of a fleet: its engine also uses the workers on other machines. */
export interface Coordinator {
  readonly engine: FleetEngine;
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
    const { machine, build } = await fleetIdentity(settings);
    const broker = await Broker.connect({ ...settings, url: settings.broker, machine, log });
    const engine = new FleetEngine({
      local,
      broker,
      build,
      version: programVersion,
      onCompletion,
      now,
      log,
      coordinator: subjectToken(Bun.randomUUIDv7()),
      workHere: settings.work_here,
      sha256Of: (path) => digests.get(path) ?? null,
      models: () => [...digests.values()],
    });
    await engine.start();
    log.info({ event: "fleet.coordinating", broker: settings.broker, build });
    return {
      engine,
      models: known,
      status: () => ({
        brokerConnected: broker.connected,
        machines: engine.machines(),
        published: engine.load().published,
        counts: engine.counts,
      }),
      async close() {
        engine.close();
        await broker.close();
      },
    };
  } catch (error) {
    throw new StartError(`fleet: ${messageOf(error)}`);
  }
}

/** Returns this machine's name in the fleet, and the name of its build: only equal builds work together. */
export async function fleetIdentity({ machine }: Pick<Settings["fleet"], "machine">) {
  const { subjectToken } = await import("../fleet/index.ts");
  const { version, commit } = await buildInfo();
  return { machine: subjectToken(machine === "" ? hostname() : machine), build: subjectToken(`${version}-${commit}`) };
}
