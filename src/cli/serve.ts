import { Command } from "commander";
import { type Appliance, baseUrlOf, startAppliance } from "../appliance/index.ts";
import { findSupervisor } from "../service/index.ts";
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
      const log = createLogger(settings.log.level);
      const supervisor = findSupervisor(process.env, process.pid, log);
      const appliance = await startAppliance(settings, log);
      process.stdout.write(`transcribe serves ${baseUrlOf(appliance.origin)}\n`);
      supervisor?.ready(appliance.standing);
      await untilStopped(appliance, () => supervisor?.stopping());
    });
}

/**
 * Waits for SIGINT or SIGTERM and stops in order; a second signal while stopping changes nothing.
 * @param stopping is called before
 */
export async function untilStopped(appliance: Appliance, stopping: () => void = () => {}): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve());
  });
  stopping();
  await appliance.stop();
}
