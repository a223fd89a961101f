import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  defaultConfigFile,
  defaultDataDirectory,
  defaultUser,
  installedRole,
  packagePaths,
  type ServiceRole,
  unitPlaces,
} from "./layout.ts";
import { runTool, textOf } from "./machine.ts";
import template from "./transcribe.service" with { type: "text" };

interface UnitOptions {
  readonly role: ServiceRole;
  readonly user: string;
  readonly configFile: string;
  readonly dataDirectory: string;
  /** Port to listen on; a port below 1024 needs a capability. A worker listens on none. */
  readonly port: number;
  /** Folder of `standby.fence`, on storage of several machines; null if there is none. */
  readonly fence: string | null;
  /** Paths of the program, of its unpacked parts and of the unit itself. */
  readonly paths: { readonly program: string; readonly runtimeDirectory: string; readonly unit: string };
  /** Groups that own GPU devices and exist on the machine. */
  readonly deviceGroups: readonly string[];
}

/** Groups that own the device files of GPUs. */
export const gpuGroups: readonly string[] = ["video", "render"];

/** Returns the service's unit (systemd.unit(5)), as restricted as its work allows. */
export function unitFile(options: UnitOptions): string {
  const { role, user, configFile, dataDirectory, port, fence, paths, deviceGroups } = options;
  const capability = role === "server" && port > 0 && port < 1024 ? "CAP_NET_BIND_SERVICE" : "";
  const isDefaultDirectory = dataDirectory === defaultDataDirectory;
  const values: Readonly<Record<string, string>> = {
    ...ROLE_LINES[role],
    ...paths,
    origin:
      paths.unit === packagePaths.unit ? "Part of the package transcribe" : 'Written by "transcribe service install"',
    ownChanges: unitPlaces(role).unit,
    ...{ user, configFile, dataDirectory, capability },
    deviceGroups: deviceGroups.map((group) => `SupplementaryGroups=${group}\n`).join(""),
    // systemd creates its default state directory; any other one must be listed as writable.
    dataDirectoryAccess: isDefaultDirectory
      ? "StateDirectory=transcribe\nStateDirectoryMode=0700"
      : `ReadWritePaths=${dataDirectory}`,
    // The storage may be mounted later, or be away; the server waits for it.
    fenceAccess: fence === null ? "" : `ReadWritePaths=-${fence}\n`,
    fenceMount: fence === null ? "" : " remote-fs.target",
    privateUsers: capability === "" ? "yes" : "no",
  };
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
}

/** The lines in which the units differ. */
const ROLE_LINES: Readonly<Record<ServiceRole, Readonly<Record<string, string>>>> = {
  server: {
    description: "Transcribe, transcription server",
    command: "serve",
    startLimit: "StartLimitIntervalSec=300\nStartLimitBurst=5",
    reload:
      "# Uses kill of the shell, because small systems have no kill program.\nExecReload=/bin/sh -c 'kill -HUP $MAINPID'\n",
    restartSeconds: "2",
  },
  worker: {
    description: "Transcribe, worker of a fleet",
    command: "worker",
    startLimit: "# A fault of the fleet can be mended on another machine.\nStartLimitIntervalSec=0",
    reload: "",
    restartSeconds: "10",
  },
};

/** Returns the user and settings file of an installed unit; null when the unit is not ours. */
export function readUnit(text: string): { user: string; configFile: string } | null {
  const user = /^User=(\S+)$/m.exec(text)?.[1];
  const configFile = /^ExecStart=\S+ (?:serve|worker) --config (\S+)$/m.exec(text)?.[1];
  return user === undefined || configFile === undefined ? null : { user, configFile };
}

/** Returns the unit of a package of the distribution: a server with the default settings. */
export function packageUnit(): string {
  return unitFile({
    ...{ role: "server", user: defaultUser, configFile: defaultConfigFile, dataDirectory: defaultDataDirectory },
    ...{ port: 0, fence: null, paths: packagePaths, deviceGroups: gpuGroups },
  });
}

/** The installed service. */
interface InstalledService {
  readonly role: ServiceRole;
  readonly user: string;
  readonly configFile: string;
  /**
   * Returns the lines of a drop-in file that lets it write to those directories to which its unit and its drop-in files do
   * not; none without a unit.
   */
  dropInFor(directories: readonly string[]): string[];
}

/** Returns the installed service; without a unit, with the defaults. */
export function installedService(root: string): InstalledService {
  const role = installedRole({ root });
  const unit = unitText(root, role);
  const known = readUnit(unit);
  return {
    role,
    user: known?.user ?? defaultUser,
    configFile: known?.configFile ?? defaultConfigFile,
    dropInFor(directories) {
      if (known === null) return [];
      const allowed = [unit, ...dropIns(root, role)].flatMap(writablePathsIn);
      const forbidden = directories.filter((each) =>
        allowed.every((place) => each !== place && !each.startsWith(`${place}/`)),
      );
      if (forbidden.length === 0) return [];
      return [
        ...["[Unit]", ...forbidden.map((each) => `RequiresMountsFor=${pathInUnit(each)}`)],
        ...["[Service]", ...forbidden.map((each) => `ReadWritePaths=${pathInUnit(each, "-")}`)],
      ];
    },
  };
}

/** Returns a path as a unit file names it. systemd.syntax(7): quotes and backslashes; systemd.unit(5): % is a specifier. */
function pathInUnit(path: string, prefix = ""): string {
  const text = `${prefix}${path}`.replaceAll("%", "%%");
  return /[\s"'\\]/.test(text) ? `"${text.replace(/["\\]/g, "\\$&")}"` : text;
}

function dropIns(root: string, role: ServiceRole): string[] {
  const directory = join(root, `${unitPlaces(role).unit}.d`);
  const names = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".conf")) : [];
  return names.map((name) => textOf(join(directory, name)));
}

function writablePathsIn(unit: string): string[] {
  return [...unit.matchAll(/^(?:ReadWritePaths|BindPaths)=(.*)$/gm)]
    .flatMap(([, list = ""]) => list.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? [])
    .map((word) => (word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/g, "$1") : word))
    .map((path) => path.replace(/^[-+]+/, "").replaceAll("%%", "%"))
    .filter((path) => path !== "");
}

function unitText(root: string, role = installedRole({ root })): string {
  return textOf(join(root, unitPlaces(role).unit)) || textOf(join(root, packagePaths.unit));
}

/**
 * Returns the ids of the installed service's extra groups; an empty list when the service runs as another user.
 * @param unit the unit's text
 * @param groups this machine's list of groups
 */
export function serviceGroups(userId: number, unit = unitText("/"), groups = textOf("/etc/group")): number[] {
  const user = readUnit(unit)?.user;
  if (user === undefined || runTool(["id", "-u", user]).stdout !== `${userId}\n`) return [];
  const names = [...unit.matchAll(/^SupplementaryGroups=(\S+)$/gm)].map(([, name]) => name);
  const lines = groups.split("\n").map((line) => line.split(":"));
  return lines.flatMap(([name, , id]) => (names.includes(name) && id !== undefined ? [Number(id)] : []));
}
