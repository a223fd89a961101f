import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { findSupervisor } from "../install/index.ts";
import { prepareStandby, readCredentials, Standby } from "../replication/index.ts";
import { DataDirectory } from "../storage/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { UsageError } from "./command-error.ts";
import { addSettingsOptions, becomeDataOwner, settingsOf } from "./settings-options.ts";

interface FollowOptions {
  readonly replace?: boolean;
}

/** transcribe standby [init|status] */
export function standbyCommand(): Command {
  return addSettingsOptions(new Command("standby"), ["standby.from", "storage.data_dir", "log.level"])
    .description(
      "Follow a server as its standby until SIGINT or SIGTERM: copy its database, its audio and their changes, so that this machine can take over with `transcribe promote`. See docs/standby.md.",
    )
    .option("--replace", "replace the data of another server in the data directory")
    .action(async ({ replace = false }: FollowOptions, command: Command) => {
      const settings = settingsOf(command);
      const { from } = settings.standby;
      if (from === "") {
        throw new UsageError(
          "standby.from is not set; name the server with --from tls://HOST:PORT or --from DIRECTORY",
        );
      }
      becomeDataOwner(settings);
      const log = createLogger(settings.log.level);
      const supervisor = findSupervisor(process.env, process.pid, log);
      const directory = new DataDirectory(settings.storage.data_dir);
      using stack = new DisposableStack();
      stack.defer(directory.lock());
      const pidPath = join(directory.state, "standby.pid");
      writeFileSync(pidPath, `${process.pid}\n`, { mode: 0o600 });
      stack.defer(() => rmSync(pidPath, { force: true }));
      prepareStandby(directory, { from, replace }, Date.now());
      const standby = new Standby({
        paths: directory,
        from,
        credentials: () => readCredentials(settings.standby),
        maxLogBytes: settings.standby.log_bytes,
        log,
        now: Date.now,
      });
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => standby.stop());
      process.stdout.write(`transcribe follows ${from}\n`);
      supervisor?.ready(() => ({ trouble: null, queued: 0, processing: 0 }));
      await standby.run();
    });
}
