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
import { checkPath, defaultDataDirectory, places, reach, requireInside, type ServiceLayout } from "./layout.ts";
import { existingGroups, findUser, type Machine, textOf, type User } from "./machine.ts";
import { placeCopy, placeText, sameBytes } from "./place-file.ts";
import { ServiceError } from "./service-error.ts";
import type { Step } from "./steps.ts";
import { unitFile } from "./unit.ts";

/** The program in one file that is installed. */
export interface InstalledProgram {
  readonly path: string;
  /** Unpacks its native parts and models into a directory; does nothing where they are there. */
  unpack(directory: string): Promise<unknown>;
}

export interface InstallOptions {
  readonly layout: ServiceLayout;
  readonly machine: Machine;
  readonly program: InstalledProgram;
  readonly user: string;
  /** Where the data shall lie; null leaves it to the settings file, or else to the usual place. */
  readonly dataDirectory: string | null;
}

/** Groups that own the device files of GPUs. */
const gpuGroups = ["video", "render"];

/** What a fresh settings file says: the places, so that this machine's commands and its service agree. */
function settingsText(dataDirectory: string): string {
  return exampleFile({ "storage.data_dir": dataDirectory, "storage.runtime_dir": places.runtimeDirectory });
}

/**
 * The service's data directory and port, by its settings file or, where there is none yet, by what a fresh one will say.
 * @throws {SettingsError} @throws {ServiceError} where the file and the command line differ
 */
export function serviceSettings(layout: ServiceLayout, wanted: string | null): { dataDirectory: string; port: number } {
  const file = reach(layout, layout.configFile);
  const known = existsSync(file);
  const settings = loadSettings({ file: known ? file : undefined, environment: {}, flags: {} });
  const dataDirectory = known ? settings.storage.data_dir : (wanted ?? defaultDataDirectory);
  if (wanted !== null && wanted !== dataDirectory) {
    throw new ServiceError(
      `${layout.configFile} says that the data lies in ${dataDirectory}, not in ${wanted}; change storage.data_dir there`,
    );
  }
  checkPath(dataDirectory, `storage.data_dir in ${layout.configFile}`);
  return { dataDirectory, port: settings.server.port };
}

/** What makes the service, in order; each step can be taken again. */
export function installSteps(options: InstallOptions): Step[] {
  const { layout, machine, program, user } = options;
  const { dataDirectory, port } = serviceSettings(layout, options.dataDirectory);
  requireInside(layout, [...Object.values(places), layout.configFile, join(dataDirectory, "x")]);
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
      what: `user ${user}, who can't log in`,
      needed: () => isMissing(findUser(layout, machine, user), user),
      apply: () => addUser(options, dataDirectory),
    },
    {
      what: `${places.program}, this program`,
      restarts: true,
      needed: async () => !(await sameBytes(program.path, at(places.program))),
      apply: () => placeCopy(at(places.program), program.path, { mode: 0o755, previous: at(places.previousProgram) }),
    },
    {
      what: `${places.runtimeDirectory}, its native parts and models`,
      needed: () => true,
      apply: () => unpackForAll(program, at(places.runtimeDirectory)),
    },
    {
      what: `${layout.configFile}, the settings`,
      needed: () => !existsSync(at(layout.configFile)),
      apply: () => placeText(at(layout.configFile), settingsText(dataDirectory), { mode: 0o640, gid: account().gid }),
    },
    {
      what: `${dataDirectory}, for the data, open to ${user} alone`,
      needed: () => !isOwnedBy(at(dataDirectory), findUser(layout, machine, user)),
      apply: () => makeDataDirectory(at(dataDirectory), account(), user),
    },
    {
      what: `${places.unit}, the unit`,
      restarts: true,
      needed: () => textOf(at(places.unit)) !== unit,
      apply: () => placeText(at(places.unit), unit, { mode: 0o644 }),
    },
    {
      what: "its start with the machine",
      needed: () => linkOf(at(places.enabled)) !== places.unit,
      apply: () => {
        mkdirSync(dirname(at(places.enabled)), { recursive: true });
        rmSync(at(places.enabled), { force: true });
        symlinkSync(places.unit, at(places.enabled));
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
  const made = machine.run([
    ...(["useradd", "--system", "--user-group", "--no-create-home"] as const),
    ...["--home-dir", home, "--shell", "/usr/sbin/nologin", ...elsewhere, user],
  ]);
  if (made.exitCode !== 0) {
    throw new ServiceError(`the user ${user} can't be made: ${made.stderr}; make it by other means and run this again`);
  }
}

/** Everybody may read what is unpacked, root alone may write it: the service can't change its own code. */
async function unpackForAll(program: InstalledProgram, directory: string): Promise<void> {
  await program.unpack(directory);
  openToAll(directory);
}

function openToAll(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, (lstatSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

function isOwnedBy(directory: string, user: User | null): boolean {
  // Another disk may be linked to here.
  return existsSync(directory) && statSync(directory).uid === user?.uid;
}

function makeDataDirectory(directory: string, { uid, gid }: User, user: string): void {
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    throw new ServiceError(
      `${directory} holds files of another user; give them to ${user}: chown -R ${user}: ${directory}`,
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
