import { ServerStateFile } from "../api-contract/index.ts";
import { runtimeDirectoryOf, type Settings } from "../config/index.ts";
import { openDatabase } from "../database/index.ts";
import { DiskSpace } from "../disk/index.ts";
import { KeyUsage } from "../keys/index.ts";
import { SpeechModels } from "../models/index.ts";
import { programFiles } from "../program/index.ts";
import { Recordings } from "../recordings/index.ts";
import { DataDirectory, DiskUsage, requireActive } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { Usage } from "../usage/index.ts";
import { Chores } from "./chores.ts";
import { createMetrics } from "./create-metrics.ts";
import { fleetIdentity } from "./fleet-coordinator.ts";
import { openLease } from "./open-lease.ts";
import { RunningSettings } from "./running-settings.ts";
import { ServerCertificate } from "./server-certificate.ts";
import { requireCpuVariantOf, usableSpeechModel } from "./speech-models.ts";

/** The data of a server: settings, data directory, database, models, and the metrics that its parts count. */
export type ServerData = Awaited<ReturnType<typeof openData>>;

/**
 * Opens the data of a server: locks the data directory, opens and upgrades the database, waits for the lease if the
 * servers are fenced, and finds the speech model.
 * Closing it releases the lock.
 * @throws {DataDirectoryInUseError} @throws {InactiveDirectoryError} @throws {MigrationError}
 * @throws {SettingsError} for an invalid list of hosts
 * @throws {StartError} for a model that cannot be read, or a CPU variant that cannot be used
 */
export async function openData(settings: Settings, log: Logger) {
  const now = Date.now;
  // Errors in the settings are reported before any resource is acquired.
  const running = new RunningSettings(settings);
  const certificate = settings.server.tls_certificate === "" ? null : new ServerCertificate(settings.server, log, now);
  await using stack = new AsyncDisposableStack();
  const dataDirectory = DataDirectory.of(settings);
  stack.defer(dataDirectory.lock());
  requireActive(dataDirectory);
  // After the lock, because the files are unpacked into the data directory, and errors of that directory come first.
  const files = await programFiles(runtimeDirectoryOf(settings));
  await requireCpuVariantOf(settings, files);
  const store = openDatabase(dataDirectory.databasePath, (upgrade) =>
    log.info({ event: "storage.upgraded", ...upgrade }),
  );
  // Released after the last write.
  const lease = stack.use(await openLease(settings, { dataDirectory, store, log }));
  stack.defer(() => store.$client.close());
  const stateFile = new ServerStateFile(dataDirectory, log);
  stack.defer(() => stateFile.remove());
  const chores = new Chores(log);
  const keyUsage = new KeyUsage(store);
  stack.defer(() => chores.run("last use of keys", () => keyUsage.flush()));
  const recordings = new Recordings(store, now);
  const speech = SpeechModels.of(settings, { files, dataDirectory, store, log });
  const modelInUse = usableSpeechModel(settings, speech);
  dataDirectory.cleanUp((ids) => recordings.open.areOpen(ids));
  const machine = settings.fleet.broker === "" ? null : (await fleetIdentity(settings.fleet)).machine;
  const opened = stack.move();
  return {
    settings,
    running,
    certificate,
    dataDirectory,
    files,
    store,
    lease,
    stateFile,
    chores,
    keyUsage,
    recordings,
    speech,
    modelInUse,
    usage: new Usage(store),
    disk: new DiskUsage(dataDirectory, () => performance.now()),
    diskSpace: new DiskSpace(dataDirectory.root, () => running.values.storage.reserve_bytes),
    metrics: createMetrics(machine),
    log,
    now,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
