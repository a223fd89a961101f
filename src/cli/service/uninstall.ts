import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Command } from "commander";
import {
  defaultConfigFile,
  defaultUser,
  places,
  reach,
  readUnit,
  reloadUnits,
  type ServiceLayout,
  serviceSettings,
  takeSteps,
  textOf,
  uninstallSteps,
} from "../../install/index.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { printStep, requireRoot, thisMachine } from "./this-machine.ts";

interface Options {
  readonly purge?: boolean;
  readonly yes?: boolean;
  readonly root: string;
  readonly dryRun?: boolean;
}

/** transcribe service uninstall */
export function uninstallCommand(): Command {
  return new Command("uninstall")
    .description("Stop the service and remove it. Settings, data and user stay, unless --purge says otherwise.")
    .option("--purge", "remove settings, recordings, transcripts, accounts, keys and the user, too")
    .option("--yes", "with --purge: it can't be undone")
    .option("--root <directory>", "take it out of the tree of another machine", "/")
    .option("--dry-run", "say what would be done, and change nothing")
    .action(uninstall);
}

async function uninstall(options: Options): Promise<void> {
  const { purge = false, yes = false, dryRun = false } = options;
  const root = resolve(options.root);
  if (purge && !yes && !dryRun) {
    throw new CommandError("--purge can't be undone; say --yes, too, or --dry-run to see what goes", exitCodes.usage);
  }
  if (!dryRun) requireRoot("transcribe service uninstall");
  const unit = readUnit(textOf(reach({ root, configFile: "" }, places.unit)));
  const user = unit?.user ?? defaultUser;
  const layout: ServiceLayout = { root, configFile: unit?.configFile ?? defaultConfigFile };
  const purged = purge ? { user, dataDirectory: serviceSettings(layout, null).dataDirectory } : null;
  process.stdout.write("Removing:\n");
  await takeSteps(uninstallSteps({ layout, machine: thisMachine, purged }), dryRun, printStep);
  if (root === "/" && !dryRun) reloadUnits(thisMachine);
  if (dryRun) return;
  process.stdout.write(
    purged === null
      ? `\nThe user ${user}, ${layout.configFile} and the data that it names stay; --purge --yes removes them.\n`
      : `\n${[dirname(layout.configFile), purged.dataDirectory]
          .filter((path) => existsSync(reach(layout, path)))
          .map((path) => `${path} stays, for what in it is not ours.\n`)
          .join("")}`,
  );
}
