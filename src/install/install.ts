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
  reach,
  requireInside,
  ServiceError,
  type ServiceLayout,
  servicePaths,
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
  const { layout, machine, program, user } = options;
  const { dataDirectory, port } = serviceSettings(layout, options.dataDirectory);
  requireInside(layout, [...Object.values(servicePaths), layout.configFile, join(dataDirectory, "x")]);
  const at = (path: string) => reach(layout, path);
  const account = () => {
    const found = findUser(layout, machine, user);
    if (found === null) throw new ServiceError(`there is no user ${user}`);
    return found;
  };
  const unit = unitFile({
    ...{ user, dataDirectory, port, configFile: layout.configFile },
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
        placeText(at(layout.configFile), exampleFile(directories), { mode: 0o640, gid: account().gid });
      },
    },
    {
      what: `${dataDirectory}, the data directory, accessible only to ${user}`,
      needed: () => !isOwnedBy(at(dataDirectory), findUser(layout, machine, user)),
      apply: () => makeDataDirectory(at(dataDirectory), account(), user),
    },
    {
      what: `${servicePaths.unit}, the unit`,
      restarts: true,
      needed: () => textOf(at(servicePaths.unit)) !== unit,
      apply: () => placeText(at(servicePaths.unit), unit, { mode: 0o644 }),
    },
    {
      what: "the start with the machine",
      needed: () => linkOf(at(servicePaths.enabled)) !== servicePaths.unit,
      apply: () => {
        mkdirSync(dirname(at(servicePaths.enabled)), { recursive: true });
        rmSync(at(servicePaths.enabled), { force: true });
        symlinkSync(servicePaths.unit, at(servicePaths.enabled));
      },
    },
  ];
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
