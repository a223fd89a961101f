import { Command } from "commander";
import { CommandError, exitCodes } from "./command-error.ts";
import { type JsonOption, print } from "./output.ts";
import { positiveNumber } from "./parse-option.ts";

/** transcribe fleet init|revoke|status */
export function fleetCommand(): Command {
  return new Command("fleet")
    .description("Set up and watch a fleet of machines that process recordings together. See docs/fleet.md.")
    .addCommand(initCommand())
    .addCommand(revokeCommand());
}

interface InitOptions extends JsonOption {
  readonly directory: string;
  readonly broker?: readonly string[];
  readonly port: number;
  readonly worker?: readonly string[];
  readonly add?: readonly string[];
  readonly renew?: readonly string[];
}

const initHelp = `
For each machine there is one folder with its certificate, its key and its settings. The folder broker is for nats-server.
The authority's key ca-key.pem stays in the directory: store the directory in a safe place, and never on a worker.`;

function initCommand(): Command {
  return new Command("init")
    .description("Create the certificates, the settings and nats.conf of a fleet, add workers or renew certificates.")
    .requiredOption(
      "--directory <directory>",
      "the fleet's directory; an existing file is never overwritten without --renew",
    )
    .option("--broker <host...>", "addresses of the broker; the machines connect to the first one")
    .option("--port <number>", "the broker's port", positiveNumber, DEFAULT_PORT)
    .option("--worker <name...>", "names of the workers")
    .option("--add <name...>", "add workers to the fleet in the directory")
    .option("--renew <name...>", "new certificates for workers, coordinator or broker, in their folders")
    .option("--json", "print the result as JSON")
    .addHelpText("after", initHelp)
    .action(async (options: InitOptions) => {
      const { directory, broker = [], port, worker = [], add = [], renew = [] } = options;
      const changes = add.length > 0 || renew.length > 0;
      if (changes && (broker.length > 0 || worker.length > 0)) {
        throw new CommandError(
          "--add and --renew change an existing fleet; leave out --broker and --worker",
          exitCodes.usage,
        );
      }
      if (!changes && (broker.length === 0 || worker.length === 0)) {
        throw new CommandError("a new fleet needs --broker HOST and --worker NAME", exitCodes.usage);
      }
      const fleet = await explained(async ({ FleetDirectory }) => {
        if (!changes) return FleetDirectory.create(directory, { broker, port, workers: worker }, Date.now());
        const opened = FleetDirectory.open(directory);
        if (add.length > 0) await opened.add(add, Date.now());
        if (renew.length > 0) await opened.renew(renew, Date.now());
        return opened;
      });
      const written = changes ? [...add, ...renew] : ["broker", "coordinator", ...worker];
      const json = { directory: fleet.path, broker: fleet.url, workers: fleet.workers, folders: written };
      print(options, json, () =>
        [
          `wrote ${written.map((name) => `${fleet.path}/${name}/`).join(", ")}`,
          changes ? reload : `the machines use the broker at ${fleet.url}`,
          "next: copy each folder to its machine, as docs/fleet.md describes",
        ].join("\n"),
      );
    });
}

function revokeCommand(): Command {
  return new Command("revoke")
    .description("Remove a worker from a fleet, so that the broker refuses its certificate.")
    .argument("<name>", "the worker's name")
    .requiredOption("--directory <directory>", "the fleet's directory, from transcribe fleet init")
    .option("--json", "print the result as JSON")
    .action(async (name: string, options: JsonOption & { readonly directory: string }) => {
      const fleet = await explained(async ({ FleetDirectory }) => {
        const opened = FleetDirectory.open(options.directory);
        opened.revoke(name);
        return opened;
      });
      const json = { directory: fleet.path, broker: fleet.url, workers: fleet.workers, revoked: name };
      print(options, json, () => `removed ${name} from nats.conf and deleted ${fleet.path}/${name}/\n${reload}`);
    });
}

/** Port that the NATS project registered. */
const DEFAULT_PORT = 4222;

const reload =
  "the broker needs the new broker/nats.conf: copy it there, then reload the broker (systemctl reload transcribe-broker)";

/** Runs a change of a fleet's directory. Only these commands load the libraries of a fleet. */
async function explained<T>(change: (fleet: typeof import("../fleet/index.ts")) => Promise<T>): Promise<T> {
  const fleet = await import("../fleet/index.ts");
  try {
    return await change(fleet);
  } catch (error) {
    if (error instanceof fleet.FleetDirectoryError) throw new CommandError(error.message);
    throw error;
  }
}
