import { isatty } from "node:tty";
import { Command } from "commander";
import { baseUrlOf } from "../api-contract/index.ts";
import { faultText, locate, readSettings, type Settings, SettingsError } from "../config/index.ts";
import { findSupervisor } from "../install/index.ts";
import { settingFaults, startTranscribeServer, type TranscribeServer } from "../server/index.ts";
import { InactiveDirectoryError } from "../storage/index.ts";
import { createLogger, type Logger } from "../telemetry/index.ts";
import { exitCodes } from "./command-error.ts";
import { follow, followingOf } from "./follow.ts";
import {
  addSettingsOptions,
  becomeDataOwner,
  serveFlags,
  settingsFileOf,
  settingsSourcesOf,
} from "./settings-options.ts";

/** transcribe serve */
export function serveCommand(): Command {
  return addSettingsOptions(new Command("serve"), serveFlags)
    .description(
      "Serve the API until SIGINT or SIGTERM, or follow another server (standby.follow). SIGHUP reloads the settings.",
    )
    .action(async (_options: object, command: Command) => {
      const onHangup = catchHangups();
      const readSettings = servingSettings(command);
      const settings = readSettings();
      becomeDataOwner(settings);
      const following = followingOf(settings);
      if (following !== null) return await follow(settings, { ...following, servesLater: true });
      const log = createLogger(settings.log.level);
      const supervisor = findSupervisor(process.env, process.pid, log);
      let server: TranscribeServer;
      try {
        server = await startTranscribeServer(settings, log, settingsFileOf(command));
      } catch (error) {
        // The fence has shown that another server has taken over, and the data directory is marked now.
        const rejoining = error instanceof InactiveDirectoryError ? followingOf(settings) : null;
        if (rejoining === null) throw error;
        return await follow(settings, { ...rejoining, servesLater: true });
      }
      // The signal handlers must be active before the server announces that it is ready.
      const stopped = untilStopped(server, { onHangup, readSettings, log, stopping: () => supervisor?.stopping() });
      process.stdout.write(`transcribe serves ${baseUrlOf(server.origin)}\n`);
      supervisor?.ready(server.status);
      const replaced = await Promise.race([stopped, server.replaced]);
      if (typeof replaced !== "string") return;
      // Nothing is stopped in order: a stop would write, and answer clients.
      process.stderr.write(`transcribe: ${replaced}\n`);
      // A service manager starts a server again that follows then.
      process.exit(settings.standby.rejoin ? exitCodes.failed : exitCodes.inactive);
    });
}

/**
 * Returns a function that reads the settings of a server, at the start and for each reload. The settings file is chosen
 * once. If that file is missing later, the function fails and does not fall back to the defaults.
 * @returns a function that throws a {SettingsError} with all faults and their places
 */
export function servingSettings(command: Command): () => Settings {
  const { file } = settingsSourcesOf(command);
  return () => {
    const current = settingsSourcesOf(command);
    const { settings, origins, faults } = readSettings({ ...current, file: file ?? current.file });
    if (settings === null) throw new SettingsError(faults);
    const invalid = settingFaults(settings);
    if (invalid.length > 0) throw new SettingsError(locate(invalid, origins));
    return settings;
  };
}

/** Sets the handler of SIGHUP. */
type SetHangupHandler = (handler: () => void) => void;

/** Catches SIGHUP from now on. A signal before a handler is set is delivered to that handler. */
export function catchHangups(): SetHangupHandler {
  let isPending = false;
  let handle = () => {
    isPending = true;
  };
  process.on("SIGHUP", () => handle());
  return (handler) => {
    handle = handler;
    if (isPending) handler();
  };
}

interface ServingOptions {
  /** Created before the settings are read for the first time, so that no SIGHUP is lost. */
  readonly onHangup: SetHangupHandler;
  readonly readSettings: () => Settings;
  readonly log: Logger;
  /** Called before the server stops. */
  readonly stopping?: () => void;
}

/**
 * Waits for SIGINT or SIGTERM and stops the server gracefully; a second signal during the stop has no effect. On
 * SIGHUP, reloads the settings; if they are invalid, the server keeps its current settings. If the server's terminal
 * was closed, SIGHUP stops the server, too.
 */
export async function untilStopped(server: TranscribeServer, options: ServingOptions): Promise<void> {
  const hasTerminal = isatty(2);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve());
    options.onHangup(() => {
      if (!hasTerminal || isatty(2)) return reload(server, options);
      // Here SIGHUP has its original meaning: the server's terminal was closed, so nothing can be logged to it.
      options.log.level = "silent";
      resolve();
    });
  });
  options.stopping?.();
  await server.stop();
}

function reload(server: TranscribeServer, { readSettings, log }: ServingOptions): void {
  try {
    server.reload(readSettings());
  } catch (error) {
    // After any error, the server continues with its current settings.
    const faults = error instanceof SettingsError ? error.faults.map(faultText) : [String(error)];
    log.error({ event: "settings.not_reloaded", faults });
  }
}
