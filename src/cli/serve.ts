import { isatty } from "node:tty";
import { Command } from "commander";
import { faultText, type Settings, SettingsError } from "../config/index.ts";
import { findSupervisor } from "../install/index.ts";
import { type Appliance, baseUrlOf, startAppliance } from "../server/index.ts";
import { createLogger, type Logger } from "../telemetry/index.ts";
import { Hangups } from "./hangups.ts";
import { servingSettings } from "./serving-settings.ts";
import { addSettingsOptions, becomeDataOwner } from "./settings-options.ts";

/** The flags of a command that serves. */
export const serveFlags = ["server.host", "server.port", "storage.data_dir", "log.level"];

/** transcribe serve */
export function serveCommand(): Command {
  return addSettingsOptions(new Command("serve"), serveFlags)
    .description("Serve the API until told to stop (SIGINT or SIGTERM). SIGHUP has it read its settings again.")
    .action(async (_options: object, command: Command) => {
      const hangups = new Hangups();
      const readSettings = servingSettings(command);
      const settings = readSettings();
      becomeDataOwner(settings);
      const log = createLogger(settings.log.level);
      const supervisor = findSupervisor(process.env, process.pid, log);
      const appliance = await startAppliance(settings, log);
      // Signals are heard before anybody is told that there is a server to send them to.
      const stopped = untilStopped(appliance, { hangups, readSettings, log, stopping: () => supervisor?.stopping() });
      process.stdout.write(`transcribe serves ${baseUrlOf(appliance.origin)}\n`);
      supervisor?.ready(appliance.standing);
      await stopped;
    });
}

export interface ServingOptions {
  /** Made before the settings were read for the first time. */
  readonly hangups: Hangups;
  readonly readSettings: () => Settings;
  readonly log: Logger;
  /** Called before the server stops. */
  readonly stopping?: () => void;
}

/**
 * Waits for SIGINT or SIGTERM and stops in order; a second signal while stopping changes nothing. At SIGHUP the settings
 * are read again; when they are wrong the server goes on with what it has.
 */
export async function untilStopped(appliance: Appliance, options: ServingOptions): Promise<void> {
  const hasTerminal = isatty(2);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve());
    options.hangups.take(() => {
      if (!hasTerminal || isatty(2)) return reload(appliance, options);
      // The signal's first meaning: the terminal that this server was started in is gone, and no line can be written to it.
      options.log.level = "silent";
      resolve();
    });
  });
  options.stopping?.();
  await appliance.stop();
}

function reload(appliance: Appliance, { readSettings, log }: ServingOptions): void {
  try {
    appliance.reload(readSettings());
  } catch (error) {
    // Whatever it is, what runs goes on.
    const faults = error instanceof SettingsError ? error.faults.map(faultText) : [String(error)];
    log.error({ event: "settings.not_reloaded", faults });
  }
}
