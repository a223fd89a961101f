import { resolve } from "node:path";
import { Command } from "commander";
import {
  checkPath,
  defaultConfigFile,
  defaultDataDirectory,
  defaultUser,
  installSteps,
  places,
  reloadUnits,
  restartService,
  ServiceError,
  type ServiceLayout,
  serviceName,
  takeSteps,
  unitState,
} from "../../install/index.ts";
import { programFile, programFiles } from "../../program/index.ts";
import { printStep, requireRoot, thisMachine } from "./this-machine.ts";

interface Options {
  readonly user: string;
  readonly dataDir?: string;
  readonly config: string;
  readonly root: string;
  readonly start: boolean;
  readonly dryRun?: boolean;
}

const afterwards = `
Run it again with a newer program to upgrade; the one before is kept, and goes back in its place by
  sudo ${places.previousProgram} service install`;

/** transcribe service install */
export function installCommand(): Command {
  return new Command("install")
    .description(
      "Install this program as a service of this machine, and start it. Taken again, it changes what differs.",
    )
    .option("--user <name>", "the user that it runs as; made if there is none", defaultUser)
    .option("--data-dir <directory>", `where everything is kept (default: ${defaultDataDirectory})`)
    .option("--config <file>", "its settings file; written if there is none", defaultConfigFile)
    .option("--root <directory>", "put it into the tree of another machine, and start nothing", "/")
    .option("--no-start", "don't start it now")
    .option("--dry-run", "say what would be done, and change nothing")
    .addHelpText("after", afterwards)
    .action(install);
}

async function install(options: Options): Promise<void> {
  const layout: ServiceLayout = { root: resolve(options.root), configFile: options.config };
  checkPath(layout.configFile, "--config");
  if (options.dataDir !== undefined) checkPath(options.dataDir, "--data-dir");
  if (!/^[a-z_][a-z0-9_-]{0,30}$/.test(options.user)) throw new ServiceError(`${options.user} can't be a user's name`);
  if (programFile === null) {
    throw new ServiceError(
      "a service runs the program in one file: make it with scripts/build, then let it install itself",
    );
  }
  const here = layout.root === "/";
  const dryRun = options.dryRun === true;
  if (!dryRun) requireRoot("transcribe service install");
  if (here && options.start && !thisMachine.hasSystemd) {
    throw new ServiceError(
      "systemd does not run here: have your own supervisor run transcribe serve, or put the files in place with --no-start",
    );
  }
  const steps = installSteps({
    ...{ layout, machine: thisMachine, user: options.user, dataDirectory: options.dataDir ?? null },
    program: { path: programFile, unpack: programFiles },
  });
  const reports = await takeSteps(steps, dryRun, printStep);
  if (dryRun || !here) return;
  reloadUnits(thisMachine);
  const changed = reports.some(({ restarts }) => restarts);
  if (!options.start) {
    process.stdout.write(`\nInstalled, and not started. Start it: systemctl start ${serviceName}\n`);
    return;
  }
  const running = unitState(thisMachine)?.active === "active";
  if (changed || !running) restartService(thisMachine);
  process.stdout.write(`\n${changed || !running ? "It runs" : "It runs already, as it was"}. ${next(options)}\n`);
}

function next({ config }: Options): string {
  const option = config === defaultConfigFile ? "" : ` --config ${config}`;
  return `What next, as root:
  transcribe service status${option}
  transcribe accounts create NAME${option}
  transcribe keys create --account NAME${option}
Settings: ${config}, then systemctl reload ${serviceName}. Log: journalctl -u ${serviceName}`;
}
