import { Command } from "commander";
import { type Appliance, baseUrlOf, startAppliance } from "../appliance/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { addSettingsOptions, settingsOf } from "./settings-options.ts";

/** The flags of a command that serves. */
export const serveFlags = ["server.host", "server.port", "storage.data_dir", "log.level"];

/** transcribe serve */
export function serveCommand(): Command {
  return addSettingsOptions(new Command("serve"), serveFlags)
    .description("Serve the API until told to stop (SIGINT or SIGTERM).")
    .action(async (_options: object, command: Command) => {
      const settings = settingsOf(command);
      const appliance = await startAppliance(settings, createLogger(settings.log.level));
      process.stdout.write(`transcribe serves ${baseUrlOf(appliance.origin)}\n`);
      await untilStopped(appliance);
    });
}

/** Waits for SIGINT or SIGTERM and stops in order; a second signal while stopping changes nothing. */
export async function untilStopped(appliance: Appliance): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve());
  });
  await appliance.stop();
}
