import { Command } from "commander";
import { findSupervisor } from "../install/index.ts";
import { startFleetMachine } from "../server/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { UsageError } from "./command-error.ts";
import { servingSettings } from "./serve.ts";
import { addSettingsOptions, becomeDataOwner } from "./settings-options.ts";

/** transcribe worker */
export function workerCommand(): Command {
  return addSettingsOptions(new Command("worker"), ["fleet.broker", "fleet.machine", "storage.data_dir", "log.level"])
    .description(
      "Process parts of recordings for a fleet's server until SIGINT or SIGTERM. The parts that run are finished first, within fleet.drain_seconds; a second signal returns them at once. See docs/fleet.md.",
    )
    .action(async (_options: object, command: Command) => {
      const settings = servingSettings(command)();
      if (settings.fleet.broker === "") {
        throw new UsageError("fleet.broker is not set; name the fleet's broker with --fleet tls://HOST:4222");
      }
      becomeDataOwner(settings);
      const log = createLogger(settings.log.level);
      const supervisor = findSupervisor(process.env, process.pid, log);
      const machine = await startFleetMachine(settings, log);
      // The first signal ends the work, the second one the wait for the parts that run.
      const [first, second] = [Promise.withResolvers<void>(), new AbortController()];
      let received = 0;
      for (const signal of ["SIGINT", "SIGTERM"] as const) {
        process.on(signal, () => (++received === 1 ? first.resolve() : second.abort()));
      }
      process.stdout.write(`transcribe works for ${settings.fleet.broker} as ${machine.machine}\n`);
      supervisor?.ready(machine.status);
      await first.promise;
      supervisor?.stopping();
      const limit = AbortSignal.timeout(1000 * settings.fleet.drain_seconds);
      await machine.drain(AbortSignal.any([limit, second.signal]));
      await machine.stop();
    });
}
