import { Command } from "commander";
import { readCurrentStatus, readStatus, requireHost, writeCertificateFolders } from "../replication/index.ts";
import { DataPaths, readStandbyMarker } from "../storage/index.ts";
import { size } from "../text/index.ts";
import { fromCommandLine, UsageError } from "./command-error.ts";
import { follow, requireServer } from "./follow.ts";
import { facts, type JsonOption, optionalDate, print, readableTime } from "./output.ts";
import { someText } from "./parse-option.ts";
import {
  addSettingsOptions,
  becomeDataOwner,
  dataSettingsOf,
  settingsCommand,
  settingsOf,
} from "./settings-options.ts";

interface FollowOptions {
  readonly replace?: boolean;
}

/** transcribe standby [follow|init|status] */
export function standbyCommand(): Command {
  return new Command("standby")
    .description("A second machine that follows a server, so that it can take over. See docs/standby.md.")
    .addCommand(followCommand(), { isDefault: true })
    .addCommand(initCommand())
    .addCommand(statusCommand());
}

function followCommand(): Command {
  return addSettingsOptions(new Command("follow"), ["standby.from", "storage.data_dir", "log.level"])
    .description(
      "Follow a server until SIGINT or SIGTERM: copy its database, its audio and their changes, so that this machine can take over (the default command).",
    )
    .option("--replace", "replace the data of another server in the data directory")
    .action(async ({ replace = false }: FollowOptions, command: Command) => {
      const settings = settingsOf(command);
      requireServer(settings);
      becomeDataOwner(settings);
      await follow(settings, { replace, servesLater: false });
    });
}

interface InitOptions extends JsonOption {
  readonly directory: string;
  readonly machine?: readonly string[];
  readonly renew?: readonly string[];
}

function initCommand(): Command {
  return new Command("init")
    .description(
      "Create the certificates and settings by which a server and its standby know each other, or renew them.",
    )
    .requiredOption(
      "--directory <directory>",
      "directory for the folders; an existing file is never overwritten without --renew",
      someText,
    )
    .option("--machine <host...>", "hosts of the machines, under which they reach each other")
    .option("--renew <host...>", "new certificates for machines, in their folders")
    .option("--json", "print the result as JSON")
    .action(async (options: InitOptions) => {
      const { directory, machine = [], renew = [] } = options;
      if (machine.length + renew.length === 0) {
        throw new UsageError("name the machines with --machine HOST OTHER-HOST, or those to renew with --renew HOST");
      }
      fromCommandLine(() => {
        for (const host of [...machine, ...renew]) requireHost(host);
      });
      const path = await writeCertificateFolders(directory, { machines: machine, renew }, Date.now());
      const folders = [...machine, ...renew];
      print(options, { directory: path, folders }, () =>
        [
          `wrote ${folders.map((name) => `${path}/${name}/`).join(", ")}`,
          "next: copy each folder to its machine and its settings into the settings file, as docs/standby.md describes;",
          `the authority's key stays in ${path}: store it in a safe place`,
        ].join("\n"),
      );
    });
}

function statusCommand(): Command {
  const description = "Show how far the standby is: on its own machine, or on that of the server that it follows.";
  return settingsCommand("status", description).action((options: JsonOption, command: Command) => {
    const paths = new DataPaths(dataSettingsOf(command).storage.data_dir);
    const status = readStatus(paths);
    const marker = readStandbyMarker(paths);
    if (status === null) throw new UsageError(`${paths.root} has no standby, and is none: see docs/standby.md`);
    const running = readCurrentStatus(paths, Date.now());
    const phase = running?.phase ?? "stopped";
    const json = {
      role: status.role,
      phase,
      [status.role === "server" ? "standby" : "from"]: running?.from ?? marker?.from ?? null,
      complete: status.role === "server" ? status.isComplete && running !== null : (marker?.complete ?? false),
      behind_bytes: running?.behindBytes ?? null,
      delay_seconds: running?.delaySeconds ?? null,
      last_contact: optionalDate(status.lastContactAt),
      version: status.version,
    };
    print(options, json, () =>
      facts({
        ROLE: status.role,
        [status.role === "server" ? "STANDBY" : "FROM"]: running?.from ?? marker?.from ?? null,
        PHASE: phaseTexts[phase],
        COMPLETE: json.complete ? "yes" : "no, so it cannot take over",
        BEHIND: running?.behindBytes === null || running === null ? null : size(running.behindBytes),
        DELAY: running?.delaySeconds === null || running === null ? null : `${running.delaySeconds.toFixed(1)} s`,
        "LAST CONTACT": readableTime(status.lastContactAt),
      }),
    );
  });
}

const phaseTexts: Readonly<Record<string, string>> = {
  stopped: "stopped: the process does not run",
  none: "no standby is connected",
  connecting: "connecting to the server",
  files: "copying files",
  snapshot: "copying the database",
  following: "following",
};
