import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { exampleFile, loadSettings } from "../config/index.ts";
import {
  checkPath,
  defaultDataDirectory,
  fleetFiles,
  reach,
  requireInside,
  ServiceError,
  type ServiceLayout,
  type ServiceRole,
  serviceNames,
  servicePaths,
  unitPlaces,
} from "./layout.ts";
import { existingGroups, findUser, type Machine, textOf, type User } from "./machine.ts";
import { placeCopy, placeText, sameBytes } from "./place-file.ts";
import type { Step } from "./steps.ts";
import { unitFile } from "./unit.ts";

/** The single-file program to install. */
interface InstalledProgram {
  readonly path: string;
  /** Unpacks its native parts and models into a directory; does nothing when they exist already. */
  unpack(directory: string): Promise<unknown>;
}

interface InstallOptions {
  readonly layout: ServiceLayout;
  readonly machine: Machine;
  readonly role: ServiceRole;
  /** A worker's folder of `transcribe fleet init`; null: the settings file names the fleet. */
  readonly fleetFolder: string | null;
  readonly program: InstalledProgram;
  readonly user: string;
  /** Data directory of the command line; null takes the settings file's, or else the default. */
  readonly dataDirectory: string | null;
}

/** Groups that own the device files of GPUs. */
const gpuGroups = ["video", "render"];

/**
 * Returns the service's data directory and port from its settings file, or, if there is none, as a new file will set
 * them.
 * @throws {SettingsError} @throws {ServiceError} when the file and the command line differ
 */
export function serviceSettings(layout: ServiceLayout, wanted: string | null): { dataDirectory: string; port: number } {
  const file = reach(layout, layout.configFile);
  const known = existsSync(file);
  const settings = loadSettings({ file: known ? file : undefined, environment: {}, flags: {} });
  const dataDirectory = known ? settings.storage.data_dir : (wanted ?? defaultDataDirectory);
  if (wanted !== null && wanted !== dataDirectory) {
    throw new ServiceError(
      `${layout.configFile} sets the data directory to ${dataDirectory}, not ${wanted}; change storage.data_dir there`,
    );
  }
  checkPath(dataDirectory, `storage.data_dir in ${layout.configFile}`);
  return { dataDirectory, port: settings.server.port };
}

/** Returns the steps that install the service, in order; each step can be repeated. */
export function installSteps(options: InstallOptions): Step[] {
  const { layout, machine, role, program, user } = options;
  requireOnly(layout, role);
  const { unit: unitPath, enabled } = unitPlaces(role);
  const { dataDirectory, port } = serviceSettings(layout, options.dataDirectory);
  requireInside(layout, [
    ...[...Object.values(servicePaths), unitPath, enabled, layout.configFile, join(dataDirectory, "x")],
    ...(role === "server" ? [] : fleetFiles(layout)),
  ]);
  const at = (path: string) => reach(layout, path);
  const account = () => {
    const found = findUser(layout, machine, user);
    if (found === null) throw new ServiceError(`there is no user ${user}`);
    return found;
  };
  const fleet = role === "server" ? null : workerFleet(layout, options.fleetFolder);
  const unit = unitFile({
    ...{ role, user, dataDirectory, port, configFile: layout.configFile },
    deviceGroups: existingGroups(layout, gpuGroups),
  });
  return [
    {
      what: `user ${user}, without a login`,
      needed: () => isMissing(findUser(layout, machine, user), user),
      apply: () => addUser(options, dataDirectory),
    },
    {
      what: `${servicePaths.program}, this program`,
      restarts: true,
      needed: async () => !(await sameBytes(program.path, at(servicePaths.program))),
      apply: () =>
        placeCopy(at(servicePaths.program), program.path, { mode: 0o755, previous: at(servicePaths.previousProgram) }),
    },
    {
      what: `${servicePaths.runtimeDirectory}, its native parts and models`,
      needed: () => true,
      apply: async () => {
        await program.unpack(at(servicePaths.runtimeDirectory));
        openToAll(at(servicePaths.runtimeDirectory));
      },
    },
    {
      what: `${layout.configFile}, the settings`,
      needed: () => !existsSync(at(layout.configFile)),
      apply: () => {
        // The file names the directories, so that commands on this machine and the service use the same ones.
        const directories = { "storage.data_dir": dataDirectory, "storage.runtime_dir": servicePaths.runtimeDirectory };
        placeText(at(layout.configFile), exampleFile({ ...directories, ...fleet?.settings }), {
          mode: 0o640,
          gid: account().gid,
        });
      },
    },
    ...(fleet?.files ?? []).map(([source, path]): Step => {
      const mode = path.endsWith("key.pem") ? 0o640 : 0o644;
      return {
        what: `${path}, for the fleet`,
        restarts: true,
        needed: async () => !(await sameBytes(source, at(path))),
        apply: () => placeCopy(at(path), source, { mode, gid: account().gid }),
      };
    }),
    {
      what: `${dataDirectory}, the data directory, accessible only to ${user}`,
      needed: () => !isOwnedBy(at(dataDirectory), findUser(layout, machine, user)),
      apply: () => makeDataDirectory(at(dataDirectory), account(), user),
    },
    {
      what: `${unitPath}, the unit`,
      restarts: true,
      needed: () => textOf(at(unitPath)) !== unit,
      apply: () => placeText(at(unitPath), unit, { mode: 0o644 }),
    },
    {
      what: "the start with the machine",
      needed: () => linkOf(at(enabled)) !== unitPath,
      apply: () => {
        mkdirSync(dirname(at(enabled)), { recursive: true });
        rmSync(at(enabled), { force: true });
        symlinkSync(unitPath, at(enabled));
      },
    },
  ];
}

/** Requires that the other service is not installed: both would use the same data directory and the same devices. */
function requireOnly(layout: ServiceLayout, role: ServiceRole): void {
  const other = role === "server" ? "worker" : "server";
  if (!existsSync(reach(layout, unitPlaces(other).unit))) return;
  const reason = role === "worker" ? "; the server of a fleet processes parts itself (fleet.work_here)" : "";
  throw new ServiceError(
    `this machine has the service ${serviceNames[other]} already${reason}; remove it first: transcribe service uninstall`,
  );
}

/**
 * Returns the settings of a new worker, and its certificates with their new paths.
 * @throws {ServiceError} if neither the folder nor the settings file names a fleet
 */
function workerFleet(layout: ServiceLayout, folder: string | null) {
  const file = reach(layout, layout.configFile);
  const fleetOf = (path: string) => loadSettings({ file: path, environment: {}, flags: {} }).fleet;
  const known = existsSync(file) ? fleetOf(file) : null;
  if (known !== null && known.broker === "") {
    throw new ServiceError(
      `${layout.configFile} names no fleet; add the section [fleet] of the worker's fleet.toml to it, with absolute paths`,
    );
  }
  if (folder === null) {
    if (known !== null) return { settings: {}, files: [] };
    throw new ServiceError(
      `there is no ${layout.configFile}; name this machine's folder of transcribe fleet init: --worker FOLDER`,
    );
  }
  const snippet = join(folder, "fleet.toml");
  if (!existsSync(snippet)) {
    throw new ServiceError(`${snippet} does not exist; name this machine's folder of transcribe fleet init`);
  }
  const { broker, machine, ...own } = fleetOf(snippet);
  if (known !== null && (known.broker !== broker || known.machine !== machine)) {
    throw new ServiceError(
      `${layout.configFile} names the machine ${known.machine} and the broker ${known.broker}, ${snippet} names ${machine} and ${broker}; change the section [fleet] there`,
    );
  }
  const [ca, certificate, key] = fleetFiles(layout);
  return {
    settings: {
      ...{ "fleet.broker": broker, "fleet.machine": machine },
      ...{ "fleet.ca": ca, "fleet.certificate": certificate, "fleet.key": key },
    },
    files: [
      [own.ca, ca],
      [own.certificate, certificate],
      [own.key, key],
    ] as const,
  };
}

function isMissing(found: User | null, name: string): boolean {
  if (found?.uid === 0) throw new ServiceError(`the service does not run as root; choose another --user than ${name}`);
  return found === null;
}

function addUser({ layout, machine, user }: InstallOptions, home: string): void {
  const elsewhere = layout.root === "/" ? [] : ["--prefix", layout.root];
  const created = machine.run([
    ...(["useradd", "--system", "--user-group", "--no-create-home"] as const),
    ...["--home-dir", home, "--shell", "/usr/sbin/nologin", ...elsewhere, user],
  ]);
  if (created.exitCode !== 0) {
    throw new ServiceError(
      `can't create the user ${user}: ${created.stderr}; create it by other means and run this again`,
    );
  }
}

/** Lets everybody read a directory, but only root write to it: the service cannot change its own code. */
function openToAll(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, (lstatSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

function isOwnedBy(directory: string, user: User | null): boolean {
  // The directory may be a link to another disk, which statSync follows.
  return existsSync(directory) && statSync(directory).uid === user?.uid;
}

function makeDataDirectory(directory: string, { uid, gid }: User, user: string): void {
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    throw new ServiceError(
      `${directory} contains files of another user; change their owner: chown -R ${user}: ${directory}`,
    );
  }
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  chownSync(directory, uid, gid);
  chmodSync(directory, 0o700);
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
