import { Command } from "commander";
import type { CoordinatorStatus, FleetStatus, MachineStatus } from "../fleet/index.ts";
import { type InstalledModel, lackingModelsText, ModelLibrary, productCatalogue } from "../models/index.ts";
import { programVersion } from "../program/index.ts";
import { fleetIdentity } from "../server/index.ts";
import { DataPaths } from "../storage/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { size } from "../text/index.ts";
import { fromCommandLine, UsageError } from "./command-error.ts";
import { type JsonOption, print, table } from "./output.ts";
import { portNumber, someText } from "./parse-option.ts";
import { printable } from "./printable.ts";
import { dataSettingsOf, settingsCommand } from "./settings-options.ts";

/** transcribe fleet init|revoke|status */
export function fleetCommand(): Command {
  return new Command("fleet")
    .description("Set up and watch a fleet of machines that process recordings together. See docs/fleet.md.")
    .addCommand(initCommand())
    .addCommand(revokeCommand())
    .addCommand(statusCommand());
}

interface InitOptions extends JsonOption {
  readonly directory: string;
  readonly broker?: readonly string[];
  readonly port?: number;
  readonly worker?: readonly string[];
  readonly pool?: readonly string[];
  readonly add?: readonly string[];
  readonly renew?: readonly string[];
}

const initHelp = `
For each machine and each pool there is one folder with its certificate, its key and its settings. The folder broker is for nats-server.
The authority's key ca-key.pem stays in the directory: store the directory in a safe place, and never on a worker.
The workers of a pool share its folder, and each has the name of its host or pod. Any number of them may come and go.`;

function initCommand(): Command {
  return new Command("init")
    .description(
      "Create the certificates, the settings and nats.conf of a fleet, add workers and pools or renew certificates.",
    )
    .requiredOption(
      "--directory <directory>",
      "the fleet's directory; an existing file is never overwritten without --renew",
      someText,
    )
    .option("--broker <host...>", "addresses of the broker; the machines connect to the first one")
    .option("--port <number>", `the broker's port (default: ${DEFAULT_PORT})`, portNumber)
    .option("--worker <name...>", "names of the workers")
    .option(
      "--pool <name...>",
      "names of pools of workers; without --broker, pools that are added to the fleet in the directory",
    )
    .option("--add <name...>", "add workers to the fleet in the directory")
    .option("--renew <name...>", "new certificates for workers, pools, coordinator or broker, in their folders")
    .option("--json", "print the result as JSON")
    .addHelpText("after", initHelp)
    .action(async (options: InitOptions) => {
      const { directory, broker = [], port, worker = [], pool = [], add = [], renew = [] } = options;
      const changes = add.length > 0 || renew.length > 0 || (pool.length > 0 && broker.length === 0);
      if (changes && (broker.length > 0 || worker.length > 0)) {
        throw new UsageError(
          "--add, --renew and --pool without --broker change an existing fleet; leave out --broker and --worker",
        );
      }
      if (!changes && (broker.length === 0 || worker.length + pool.length === 0)) {
        throw new UsageError("a new fleet needs --broker HOST, and --worker NAME or --pool NAME");
      }
      if (changes && port !== undefined) throw new UsageError("--port belongs to a new fleet; leave it out");
      const { checkHost, checkNewNames, FleetDirectory } = await fleetLibrary();
      fromCommandLine(() => {
        for (const host of broker) checkHost(host);
        checkNewNames([...(changes ? add : worker), ...pool]);
      });
      const created = { broker, port: port ?? DEFAULT_PORT, workers: worker, pools: pool };
      const fleet = changes
        ? FleetDirectory.open(directory)
        : await FleetDirectory.create(directory, created, Date.now());
      if (changes) {
        await fleet.add({ workers: add, pools: pool }, Date.now());
        await fleet.renew(renew, Date.now());
      }
      const written = changes ? [...add, ...pool, ...renew] : ["broker", "coordinator", ...worker, ...pool];
      const json = {
        directory: fleet.path,
        broker: fleet.url,
        workers: fleet.workers,
        pools: fleet.pools,
        folders: written,
      };
      print(options, json, () =>
        [
          `wrote ${written.map((name) => `${fleet.path}/${name}/`).join(", ")}`,
          changes ? brokerAdvice(fleet) : `the machines use the broker at ${fleet.url}`,
          "next: copy each folder to its machine or machines, as docs/fleet.md describes",
        ].join("\n"),
      );
    });
}

function revokeCommand(): Command {
  return new Command("revoke")
    .description("Remove a worker or a pool from a fleet, so that the broker refuses its certificate.")
    .argument("<name>", "name of the worker or the pool", someText)
    .requiredOption("--directory <directory>", "the fleet's directory, from transcribe fleet init", someText)
    .option("--json", "print the result as JSON")
    .action(async (name: string, options: JsonOption & { readonly directory: string }) => {
      const { FleetDirectory } = await fleetLibrary();
      const fleet = FleetDirectory.open(options.directory);
      fleet.revoke(name);
      const json = {
        directory: fleet.path,
        broker: fleet.url,
        workers: fleet.workers,
        pools: fleet.pools,
        revoked: name,
      };
      print(
        options,
        json,
        () => `removed ${name} from nats.conf and deleted ${fleet.path}/${name}/\n${brokerAdvice(fleet)}`,
      );
    });
}

/** Port that the NATS project registered. */
const DEFAULT_PORT = 4222;

function brokerAdvice({ brokerNeedsRestart }: { readonly brokerNeedsRestart: boolean }): string {
  return brokerNeedsRestart
    ? "the broker needs the new broker/nats.conf: copy it there, then restart the broker, because a reload cannot change the memory of its streams (systemctl restart transcribe-broker)"
    : "the broker needs the new broker/nats.conf: copy it there, then reload the broker (systemctl reload transcribe-broker)";
}

/** Only these commands load the libraries of a fleet. */
const fleetLibrary = () => import("../fleet/index.ts");

function statusCommand(): Command {
  const description =
    "Show the fleet's workers, their problems and the commands that mend them, and the operations of the coordinator.";
  return settingsCommand("status", description, ["fleet.broker", "storage.data_dir"]).action(
    async (options: JsonOption, command: Command) => {
      const { fleet: settings, storage } = dataSettingsOf(command);
      if (settings.broker === "") {
        throw new UsageError(
          "fleet.broker is not set, so this machine works alone; name the broker with --fleet tls://HOST:4222",
        );
      }
      const { Broker, fleetStatus } = await fleetLibrary();
      const { machine, build } = await fleetIdentity(settings);
      const log = createLogger("silent");
      const broker = await Broker.connect({ ...settings, url: settings.broker, machine, log });
      const status = await fleetStatus(broker, { version: programVersion, build }, Date.now).finally(() =>
        broker.close(),
      );
      const installed = new ModelLibrary(new DataPaths(storage.data_dir).models).list();
      const nameOf = modelNames(installed);
      const machines = status.machines.map((each) => machineRow(each, installed, nameOf));
      const json = {
        broker: { url: settings.broker, round_trip_milliseconds: status.roundTripMilliseconds },
        coordinator: status.coordinator === null ? null : coordinatorJson(status.coordinator, nameOf),
        machines,
      };
      print(options, json, () => forPeople(settings.broker, status, machines));
    },
  );
}

type NameOfModel = (sha256: string) => string | null;

/** Returns a function that knows the ids of the models of the catalogue and of this machine. */
function modelNames(installed: readonly InstalledModel[]): NameOfModel {
  const names = new Map(productCatalogue().map(({ id, sha256 }) => [sha256, id]));
  for (const { id, sha256 } of installed) names.set(sha256, id);
  return (sha256) => names.get(sha256) ?? null;
}

function modelsJson(digests: readonly string[], nameOf: NameOfModel) {
  return digests.map((sha256) => ({ id: nameOf(sha256), sha256 }));
}

function coordinatorJson({ version, build, models, workHere, load, counts }: CoordinatorStatus, nameOf: NameOfModel) {
  return {
    version,
    build,
    models: modelsJson(models, nameOf),
    work_here: workHere,
    waiting: load.waiting,
    in_flight: load.published,
    running_here: load.here,
    published: counts.published,
    redelivered: counts.redelivered,
    late_results: counts.lateResults,
    refused_messages: counts.refusedResults,
    unreported: counts.unreported,
    sent_bytes: counts.sentBytes,
    received_bytes: counts.receivedBytes,
  };
}

/** Returns a worker in the format of `fleet status --json`. */
function machineRow(status: MachineStatus, installed: readonly InstalledModel[], nameOf: NameOfModel) {
  const { machine, version, build, devices, lanes, busy, clockDifferenceSeconds, missingModels } = status;
  const catalogue = productCatalogue();
  const lack = missingModels.length === 0 ? null : lackingModelsText(missingModels, { catalogue, installed });
  return {
    machine,
    pool: status.pool === "" ? null : status.pool,
    version,
    build,
    models: modelsJson(status.models, nameOf),
    devices,
    lanes,
    busy,
    clock_difference_seconds: clockDifferenceSeconds,
    problem: status.problem ?? lack,
  };
}

type MachineRow = ReturnType<typeof machineRow>;

function forPeople(
  url: string,
  { coordinator, roundTripMilliseconds }: FleetStatus,
  rows: readonly MachineRow[],
): string {
  const problems = rows.filter(({ problem }) => problem !== null);
  const columns = {
    MACHINE: ({ machine }: MachineRow) => machine,
    VERSION: ({ version }: MachineRow) => printable(version),
    BUILD: ({ build }: MachineRow) => build.replace(/^[^-]*-/, "").slice(0, 10),
    MODELS: ({ models }: MachineRow) => models.map(({ id, sha256 }) => id ?? shortDigest(sha256)).join(", ") || "-",
    DEVICES: ({ devices }: MachineRow) => printable(devicesText(devices)),
    LANES: ({ lanes }: MachineRow) => `${lanes}`,
    BUSY: ({ busy }: MachineRow) => `${busy}`,
    CLOCK: (row: MachineRow) => clockText(row.clock_difference_seconds),
    STATUS: ({ problem }: MachineRow) => (problem === null ? "ready" : "see below"),
  };
  return [
    `broker: ${url}, round trip ${roundTripMilliseconds} ms`,
    coordinator === null ? noCoordinator : coordinatorText(coordinator),
    "",
    table(rows, columns, "no worker reports; start one on its machine: transcribe worker"),
    ...(problems.length === 0 ? [] : [""]),
    ...problems.map(({ machine, problem }) => `${machine}: ${printable(problem ?? "")}`),
  ].join("\n");
}

const noCoordinator =
  "coordinator: its server does not answer; start it (transcribe serve), and see its log for fleet.broker_lost";

function coordinatorText({ version, workHere, load, counts }: CoordinatorStatus): string {
  const here = workHere ? `${load.here} running here` : "none running here (fleet.work_here = false)";
  return [
    `coordinator: version ${printable(version)}; ${load.waiting} parts waiting, ${load.published} in flight, ${here}`,
    `since its start: ${counts.published} parts sent (${size(counts.sentBytes)}), ${size(counts.receivedBytes)} received, ${counts.redelivered} redelivered, ${counts.lateResults} late results, ${counts.refusedResults} refused messages, ${counts.unreported} parts fetched without a report`,
  ].join("\n");
}

/** Returns a list of devices with the number of each, e.g. `2 × CPU`. */
function devicesText(devices: readonly string[]): string {
  const groups = [...Map.groupBy(devices, (device) => device)];
  return groups.map(([device, all]) => (all.length === 1 ? device : `${all.length} × ${device}`)).join(", ") || "-";
}

/** Returns a difference of clocks to a tenth of a second, e.g. `+0.2 s`. */
function clockText(seconds: number): string {
  const rounded = Math.round(seconds * 10) / 10;
  return `${rounded > 0 ? "+" : ""}${(rounded || 0).toFixed(1)} s`;
}

const shortDigest = (sha256: string) => sha256.slice(0, 12);
