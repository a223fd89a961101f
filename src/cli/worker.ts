import { Command } from "commander";
import { findSupervisor } from "../install/index.ts";
import { startFleetMachine } from "../server/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { UsageError } from "./command-error.ts";
import { servingSettings } from "./serve.ts";
import { addSettingsOptions, becomeDataOwner } from "./settings-options.ts";

/** transcribe worker */
export function workerCommand(): Command {
  return addSettingsOptions(new Command("worker"), ["fleet.broker", "storage.data_dir", "log.level"])
    .description("Process parts of recordings for a fleet's server until SIGINT or SIGTERM. See docs/fleet.md.")
    .action(async (_options: object, command: Command) => {
      const settings = servingSettings(command)();
      if (settings.fleet.broker === "") {
        throw new UsageError("fleet.broker is not set; name the fleet's broker with --fleet tls://HOST:4222");
      }
      becomeDataOwner(settings);
      const log = createLogger(settings.log.level);
      const supervisor = findSupervisor(process.env, process.pid, log);
      const machine = await startFleetMachine(settings, log);
      const stopped = new Promise<void>((resolve) => {
        for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve());
      });
      process.stdout.write(`transcribe works for ${settings.fleet.broker} as ${machine.machine}\n`);
      supervisor?.ready(machine.status);
      await stopped;
      supervisor?.stopping();
      await machine.stop();
    });
}
