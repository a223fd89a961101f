import type { Settings } from "../config/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { hourlyChores } from "./chores.ts";
import { metricSources } from "./create-metrics.ts";
import { moveAudio } from "./move-audio.ts";
import { openData, type ServerData } from "./open-data.ts";
import { openSurfaces, type ServerSurfaces } from "./open-surfaces.ts";
import { openWyoming } from "./open-wyoming.ts";
import { startAuditForwarding } from "./start-audit-forwarding.ts";
import { startEngine } from "./start-engine.ts";
import { type ServerQueue, startQueue } from "./start-queue.ts";
import { startStandby } from "./start-standby.ts";
import { startWebhooks } from "./start-webhooks.ts";

/** The status of a running server. */
export interface ServerStatus {
  /** The reason why it accepts no work, in plain words; null if it accepts work. */
  readonly trouble: string | null;
  readonly queued: number;
  readonly processing: number;
}

/** A running server. */
export interface TranscribeServer {
  /** e.g. `http://127.0.0.1:8787` */
  readonly origin: string;
  /**
   * Returns the server's status.
   * @throws if the database cannot be read
   */
  status(): ServerStatus;
  /**
   * Applies other settings. Some can change at run time and take effect at once; requests and recordings in progress
   * use them the next time they read them. Settings that need a restart stay unchanged, and the log reports them.
   * @throws {SettingsError} and changes nothing
   */
  reload(settings: Settings): void;
  /** The reason why this server must exit at once and never serve its data again, as soon as another one has taken over. */
  readonly replaced: Promise<string>;
  /** Accepts no more work, suspends recordings in progress at their next checkpoint, and releases all resources. */
  stop(): Promise<void>;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Interval at which a server looks whether it is idle and can measure how many live sessions it serves. */
const LIVE_PLACES_MILLISECONDS = 10_000;
/** Interval after which a failed write of the server state file is retried. */
const STATE_FILE_RETRY_MILLISECONDS = 10_000;

/**
 * Starts the server: locks the data directory, opens the database, starts the engine's worker, resumes the work of an
 * earlier server, and listens.
 * @param settingsFile the file of the settings, which no watched folder may contain
 * @throws {DataDirectoryInUseError} @throws {InactiveDirectoryError} @throws {MigrationError}
 * @throws {SettingsError} for an invalid list of hosts
 * @throws {StartError} for a model that cannot be read, a CPU variant that cannot be used, or an address that is in use
 */
export async function startTranscribeServer(
  settings: Settings,
  log: Logger,
  settingsFile?: string,
): Promise<TranscribeServer> {
  // Stages are closed in reverse order, both when the server stops and when it fails to start.
  await using stack = new AsyncDisposableStack();
  const data = stack.use(await openData(settings, log));
  const standby = stack.use(await startStandby(data));
  const audioMoves = stack.use(moveAudio(data));
  const engine = stack.use(await startEngine(data));
  const queued = stack.use(await startQueue(data, engine, standby));
  const surfaces = stack.use(openSurfaces(data, engine, queued, standby, settingsFile));
  const wyoming = stack.use(await openWyoming(data, surfaces.live));
  const webhooks = stack.use(startWebhooks(data, standby));
  const auditForwarding = stack.use(startAuditForwarding(data, standby));
  stack.defer(startChores(data, queued, surfaces));
  const { recordings, running, metrics } = data;
  const { queue, readiness, recovered } = queued;
  const { origin, folders, live, consoleSwitch } = surfaces;
  metrics.observe(
    metricSources({
      ...data,
      engine: engine.local,
      modelInUse: () => data.speech.current().id,
      certificateEndsAt: () => (data.certificate === null ? null : data.certificate.endsAt / 1000),
      stalled: () => queue.stalled(),
      fleet: () => engine.fleet?.status() ?? null,
      lease: () => data.lease.status(),
      folders: () => folders.overview(),
      live: () => live.status(),
      webhooks: () => webhooks.status(),
      auditForwarding: () => auditForwarding.status(),
      audioStore: () => audioMoves.state(),
      standby: () => standby.status(),
    }),
  );
  data.lease.onChange((isHeld) => {
    if (isHeld) return;
    surfaces.cut();
    wyoming.cut();
  });
  folders.start();
  live.start();
  surfaces.writeState();
  log.info({ event: "server.listening", origin, recovered });

  const stages = stack.move();
  return {
    origin,
    replaced: data.lease.replaced,
    status: () => ({ trouble: readiness.known(), ...recordings.open.counts() }),
    reload(next) {
      if (readiness.isStopping) return;
      const { settings, changed, needRestart } = running.reload(next);
      log.level = settings.log.level;
      // Runs outside the reload: if the port is lost, the process exits instead of staying up without serving anybody.
      setImmediate(surfaces.renewCertificate);
      standby.renewCertificate();
      queue.slots = settings.queue.slots;
      consoleSwitch.follow();
      log.info({ event: "settings.reloaded", changed });
      if (needRestart.length > 0) log.warn({ event: "settings.need_restart", settings: needRestart });
    },
    async stop() {
      surfaces.refuse();
      // The API still responds in the meantime, with a recording's progress or a refusal of new ones.
      await Promise.all([queue.stop(), folders.stop(), live.stop(), webhooks.stop(), auditForwarding.stop()]);
      await stages.disposeAsync();
      log.info({ event: "server.stopped" });
    },
  };
}

/** Starts the periodic tasks. @returns a function that stops them */
function startChores(
  data: ServerData,
  { library, events, removal }: ServerQueue,
  { live, livePlaces }: Pick<ServerSurfaces, "live" | "livePlaces">,
): () => void {
  const { chores, keyUsage, stateFile, store, running, now } = data;
  chores.every(SECOND, "live sessions", () => live.check());
  chores.every(LIVE_PLACES_MILLISECONDS, "places of live sessions", async () => {
    if (running.values.live.enabled) await livePlaces.measure();
  });
  chores.every(MINUTE, "last use of keys", () => keyUsage.flush());
  // Ends that an earlier server did not deliver, or that a full disk delayed.
  chores.run("ends of recordings", () => events.deliver());
  chores.every(MINUTE, "ends of recordings", () => events.deliver());
  chores.every(STATE_FILE_RETRY_MILLISECONDS, "server state file", () => stateFile.retry());
  const hourly = hourlyChores({ ...removal, store, log: data.log, settled: () => library.settled() }, running, now);
  for (const [name, chore] of Object.entries(hourly)) {
    chores.every(HOUR, name, chore);
    chores.run(name, chore);
  }
  return () => chores.stop();
}
