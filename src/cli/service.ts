import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import {
  checkPath,
  defaultConfigFile,
  defaultDataDirectory,
  defaultUser,
  installedService,
  installSteps,
  packageSteps,
  reach,
  readStatus,
  reloadUnits,
  restartService,
  runSteps,
  ServiceError,
  type ServiceRole,
  type ServiceStatus,
  type StepReport,
  serviceNames,
  servicePaths,
  serviceSettings,
  thisMachine,
  uninstallSteps,
  unitState,
} from "../install/index.ts";
import { installProgramFiles, programFile } from "../program/index.ts";
import { size } from "../text/index.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { type JsonOption, print } from "./output.ts";
import { checkedBy, someText } from "./parse-option.ts";
import { dataSettingsOf, settingsCommand } from "./settings-options.ts";

/** transcribe service install|uninstall|status */
export function serviceCommand(): Command {
  return new Command("service")
    .description("Manage the server, or a worker of a fleet, as a systemd service of this machine.")
    .addCommand(installCommand())
    .addCommand(uninstallCommand())
    .addCommand(statusCommand());
}

interface InstallOptions {
  readonly user: string;
  readonly dataDir?: string;
  readonly config: string;
  readonly root: string;
  readonly start: boolean;
  readonly dryRun?: boolean;
  readonly worker?: true | string;
  readonly standby?: true | string;
  readonly fromPackage?: boolean;
}

const upgradeHelp = `
Run it again with a newer program to upgrade. The replaced program is stored and can be restored with
  sudo ${servicePaths.previousProgram} service install`;

function installCommand(): Command {
  return new Command("install")
    .description("Install this program as a service of this machine and start it. A repeated run applies only changes.")
    .option("--user <name>", "the user of the service; created if it does not exist", userName, defaultUser)
    .option("--data-dir <directory>", `the data directory (default: ${defaultDataDirectory})`, unitPath("--data-dir"))
    .option(
      "--config <file>",
      "its settings file; created if it does not exist",
      unitPath("--config"),
      defaultConfigFile,
    )
    .option(
      "--worker [folder]",
      "install a worker of a fleet instead of the server; with the machine's folder of transcribe fleet init at the first time",
      someText,
    )
    .addOption(
      new Option(
        "--standby [folder]",
        "install a server that follows another one until transcribe promote; with the machine's folder of transcribe standby init at the first time",
      )
        .argParser(someText)
        .conflicts(["worker"]),
    )
    .option(
      "--root <directory>",
      "install into the directory tree of another machine, and start nothing",
      someText,
      "/",
    )
    .option("--no-start", "don't start it now")
    .option("--dry-run", "print what would be done, and change nothing")
    .addOption(
      new Option(
        "--from-package",
        "complete the installation by a package; its scripts run this, and start the service",
      ).conflicts(["user", "dataDir", "config", "worker", "standby", "root", "start"]),
    )
    .addHelpText("after", upgradeHelp)
    .action(install);
}

/** Returns the parser of an option whose path goes into the unit. */
function unitPath(option: string): (text: string) => string {
  return checkedBy((path) => checkPath(path, option));
}

function userName(text: string): string {
  if (/^[a-z_][a-z0-9_-]{0,30}$/.test(text)) return text;
  throw new InvalidArgumentError("It takes a user's name: lower-case letters, digits, '_' and '-'.");
}

async function install(options: InstallOptions): Promise<void> {
  const layout = { root: resolve(options.root), configFile: options.config };
  if (programFile === null) {
    throw new ServiceError(
      "a service needs the single-file program: build it with scripts/build, and run it to install",
    );
  }
  if (options.fromPackage === true) return await completePackage(programFile, options.dryRun === true);
  const role: ServiceRole = options.worker === undefined ? "server" : "worker";
  const isThisMachine = layout.root === "/";
  const dryRun = options.dryRun === true;
  if (!dryRun) requireRoot("transcribe service install");
  if (isThisMachine && options.start && !thisMachine.hasSystemd) {
    throw new ServiceError(
      `systemd is not running here: have your own supervisor run transcribe ${role === "server" ? "serve" : "worker"}, or install only the files with --no-start`,
    );
  }
  const steps = installSteps({
    layout,
    machine: thisMachine,
    role,
    folder: folderOf(options),
    user: options.user,
    dataDirectory: options.dataDir ?? null,
    program: { path: programFile, unpack: installProgramFiles },
  });
  const reports = await runSteps(steps, dryRun, printStep);
  if (dryRun || !isThisMachine) return;
  reloadUnits(thisMachine);
  if (!options.start) {
    process.stdout.write(`\nInstalled, but not started. Start it: systemctl start ${serviceNames[role]}\n`);
    return;
  }
  const isCurrent = unitState(thisMachine, role)?.active === "active" && !reports.some(({ restarts }) => restarts);
  if (!isCurrent) restartService(thisMachine, role);
  const option = options.config === defaultConfigFile ? "" : ` --config ${options.config}`;
  const name = serviceNames[role];
  const next =
    role === "worker"
      ? ["transcribe fleet status     (on the coordinator's machine)"]
      : options.standby === undefined
        ? [`transcribe accounts create NAME${option}`, `transcribe keys create --account NAME${option}`]
        : [`transcribe standby status${option}`];
  process.stdout.write(`
${isCurrent ? "The service is running already, unchanged." : "The service is running."} Next steps, as root:
${[`transcribe service status${option}`, ...next].map((line) => `  ${line}`).join("\n")}
Settings: ${options.config}, then systemctl ${role === "server" ? "reload" : "restart"} ${name}. Log: journalctl -u ${name}
`);
}

/** The folder of a machine that an installation takes its certificates and settings from. */
type MachineFolder = NonNullable<Parameters<typeof installSteps>[0]["folder"]>;

/** Returns the machine's folder that the options name, or whose settings an earlier installation has taken. */
function folderOf({ worker, standby }: InstallOptions): MachineFolder | null {
  const named = (kind: MachineFolder["kind"], option: true | string): MachineFolder => ({
    kind,
    path: option === true ? null : resolve(option),
  });
  if (worker !== undefined) return named("fleet", worker);
  return standby === undefined ? null : named("standby", standby);
}

/** Does the part of an installation by a package that the package's files can't do. */
async function completePackage(path: string, dryRun: boolean): Promise<void> {
  if (!dryRun) requireRoot("transcribe service install --from-package");
  const layout = { root: "/", configFile: defaultConfigFile };
  const program = { path, unpack: installProgramFiles };
  await runSteps(packageSteps({ layout, machine: thisMachine, user: defaultUser, program }), dryRun, printStep);
}

interface UninstallOptions {
  readonly purge?: boolean;
  readonly yes?: boolean;
  readonly root: string;
  readonly dryRun?: boolean;
}

function uninstallCommand(): Command {
  return new Command("uninstall")
    .description("Stop and remove the service. Settings, data and user remain, except with --purge.")
    .option("--purge", "remove settings, recordings, transcripts, accounts, keys and the user, too")
    .option("--yes", "with --purge: confirms the removal, which can't be undone")
    .option("--root <directory>", "remove it from the directory tree of another machine", someText, "/")
    .option("--dry-run", "print what would be done, and change nothing")
    .action(uninstall);
}

async function uninstall({ purge = false, yes = false, dryRun = false, ...options }: UninstallOptions): Promise<void> {
  const root = resolve(options.root);
  if (purge && !yes && !dryRun) {
    throw new UsageError("--purge can't be undone; confirm it with --yes, or list its steps with --dry-run");
  }
  if (yes && !purge) throw new UsageError("--yes only confirms --purge; leave it out");
  if (!dryRun) requireRoot("transcribe service uninstall");
  const { role, user, configFile } = installedService(root);
  const layout = { root, configFile };
  const purged = purge ? { user, dataDirectory: serviceSettings(layout, null).dataDirectory } : null;
  process.stdout.write("Removing:\n");
  await runSteps(uninstallSteps({ layout, machine: thisMachine, role, purged }), dryRun, printStep);
  if (root === "/" && !dryRun) reloadUnits(thisMachine);
  if (dryRun) return;
  const remaining =
    purged === null
      ? [`The user ${user}, ${layout.configFile} and the data directory remain; --purge --yes removes them.\n`]
      : [dirname(layout.configFile), purged.dataDirectory]
          .filter((path) => existsSync(reach(layout, path)))
          .map((path) => `${path} remains, because it has files that are not part of the service.\n`);
  process.stdout.write(`\n${remaining.join("")}`);
}

/** Requires root. @throws {ServiceError} when the user is not root */
function requireRoot(command: string): void {
  if (process.geteuid?.() === 0) return;
  throw new ServiceError(`this needs root: sudo ${command}; --dry-run prints what it does`);
}

/** Prints one line for a completed step. */
function printStep({ what, outcome }: StepReport): void {
  process.stdout.write(`${outcome.padEnd(9)}  ${what}\n`);
}

function statusCommand(): Command {
  const description =
    "Show the status of the server, standby or worker, with or without systemd. Exit code 0 if it is ready, else 1.";
  return settingsCommand("status", description, ["server.host", "server.port", "storage.data_dir"]).action(
    async (options: JsonOption, command: Command) => {
      const { role } = installedService("/");
      // Before the process becomes the data directory's owner: without a D-Bus daemon, systemd answers only to root.
      const unit = unitState(thisMachine, role);
      const status = await readStatus(dataSettingsOf(command), unit, role);
      print(options, statusJson(status), () => statusText(status, role));
      // The message is empty, because the printed status contains the reason.
      if (!status.ready) throw new CommandError("");
    },
  );
}

function statusJson({ ready, trouble, unit, pid, version, origin, queue, follows }: ServiceStatus) {
  if (unit === null) return { ready, trouble, pid, version, origin, queue, follows, unit };
  const { memoryBytes, pid: _mainPid, ...state } = unit;
  return { ready, trouble, pid, version, origin, queue, follows, unit: { ...state, memory_bytes: memoryBytes } };
}

function statusText(status: ServiceStatus, role: ServiceRole): string {
  const { ready, trouble, unit, pid, version, origin, queue, follows } = status;
  const readyText =
    follows !== null ? `follows ${follows}` : role === "worker" ? unit?.says || "ready" : `ready at ${origin}`;
  const queueText = queue === null ? "-" : `${queue.processing} processing, ${queue.queued} queued`;
  return [
    `${follows === null ? `${role} ` : "standby"}   ${ready ? readyText : `not ready: ${trouble}`}`,
    `process   ${pid ?? "-"}${version === null ? "" : `, version ${version}`}`,
    ...(role === "worker" || follows !== null ? [] : [`queue     ${queueText}`]),
    `systemd   ${unit === null ? "no unit" : unitText(unit)}`,
  ].join("\n");
}

function unitText({ active, sub, enabled, restarts, memoryBytes }: NonNullable<ServiceStatus["unit"]>): string {
  return [
    `${active} (${sub})`,
    enabled ? "starts with the machine" : "does not start with the machine",
    ...(restarts > 0 ? [`restarted ${restarts} times`] : []),
    ...(memoryBytes === null ? [] : [size(memoryBytes)]),
  ].join("; ");
}
