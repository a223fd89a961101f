import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { reach, ServiceError, type ServiceLayout } from "./layout.ts";
import { findUser, type Machine, type User } from "./machine.ts";
import type { Step } from "./steps.ts";

// Steps of both installations: by the program itself, and by a package of the distribution.

/** The single-file program to install. */
export interface InstalledProgram {
  readonly path: string;
  /** Unpacks it, its native parts and models into a directory; does nothing when they exist already. */
  unpack(directory: string): Promise<unknown>;
}

/** The user and the data of a service. */
interface ServiceAccount {
  readonly layout: ServiceLayout;
  readonly machine: Machine;
  readonly user: string;
  readonly dataDirectory: string;
}

/** Returns the service's user. @throws {ServiceError} if there is none */
export function accountOf({ layout, machine, user }: ServiceAccount): User {
  const found = findUser(layout, machine, user);
  if (found === null) throw new ServiceError(`there is no user ${user}`);
  return found;
}

/** Creates the service's user. */
export function userStep(service: ServiceAccount): Step {
  const { layout, machine, user } = service;
  return {
    what: `user ${user}, without a login`,
    needed: () => isMissing(findUser(layout, machine, user), user),
    apply: () => addUser(service),
  };
}

/** Unpacks the program, its native parts and models, so that the service can read them and never write them. */
export function partsStep(layout: ServiceLayout, program: InstalledProgram, directory: string): Step {
  const target = reach(layout, directory);
  return {
    what: `${directory}, the unpacked program, its native parts and models`,
    needed: () => true,
    apply: async () => {
      await program.unpack(target);
      openToAll(target);
    },
  };
}

/** Creates the data directory. */
export function dataDirectoryStep(service: ServiceAccount): Step {
  const { layout, machine, user, dataDirectory } = service;
  const target = reach(layout, dataDirectory);
  return {
    what: `${dataDirectory}, the data directory, accessible only to ${user}`,
    // The directory may be a link to another disk, which statSync follows.
    needed: () => !existsSync(target) || statSync(target).uid !== findUser(layout, machine, user)?.uid,
    apply: () => makeDataDirectory(target, accountOf(service), user),
  };
}

function isMissing(found: User | null, name: string): boolean {
  if (found?.uid === 0) throw new ServiceError(`the service does not run as root; choose another --user than ${name}`);
  return found === null;
}

function addUser({ layout, machine, user, dataDirectory }: ServiceAccount): void {
  const elsewhere = layout.root === "/" ? [] : ["--prefix", layout.root];
  const created = machine.run([
    ...(["useradd", "--system", "--user-group", "--no-create-home"] as const),
    ...["--home-dir", dataDirectory, "--shell", "/usr/sbin/nologin", ...elsewhere, user],
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
