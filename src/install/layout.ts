import { existsSync, lstatSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { defaultSettingsFile } from "../config/index.ts";
import { ExpectedError } from "../text/index.ts";

/** The service cannot be installed, removed or inspected; the message gives the reason and what to do next. */
export class ServiceError extends ExpectedError {
  override readonly name = "ServiceError";
}

/** The service's task: the server of the API, or a worker of a fleet. A machine has one of them. */
export type ServiceRole = "server" | "worker";

/** Names of the units, without their suffix. */
export const serviceNames = { server: "transcribe", worker: "transcribe-worker" } as const;

export const defaultUser = "transcribe";
export const defaultDataDirectory = "/var/lib/transcribe";
/** Default settings file of the service and of all commands. */
export const defaultConfigFile = defaultSettingsFile;

/** Location of the service: on this machine, or in the directory tree of a machine that is being built. */
export interface ServiceLayout {
  /** Root of that tree; `/` is this machine. Paths below are as the machine itself will see them. */
  readonly root: string;
  readonly configFile: string;
}

/** Fixed paths, where a system administrator expects them (FHS 3.0, 4.9). */
export const servicePaths = {
  program: "/usr/local/bin/transcribe",
  /** The program that the current one replaced. */
  previousProgram: "/usr/local/bin/transcribe.previous",
  /** Native parts and default models, unpacked at install: the service can read them and never write them. */
  runtimeDirectory: "/usr/local/lib/transcribe",
} as const;

/** Paths of a service that a package of the distribution installed. */
export const packagePaths = {
  program: "/usr/bin/transcribe",
  runtimeDirectory: "/usr/lib/transcribe",
  unit: "/usr/lib/systemd/system/transcribe.service",
} as const;

/**
 * Requires that no package has installed the service. Its files belong to the package manager.
 * @throws {ServiceError} with the commands to use instead
 */
export function requireNoPackage({ root }: Pick<ServiceLayout, "root">): void {
  if (!existsSync(join(root, packagePaths.unit))) return;
  throw new ServiceError(
    "the package transcribe has installed the service; upgrade it with apt install ./FILE.deb or dnf install ./FILE.rpm, remove it with apt remove transcribe or dnf remove transcribe",
  );
}

/** Paths of a unit, and of the link that starts it with the machine. */
export function unitPlaces(role: ServiceRole): { readonly unit: string; readonly enabled: string } {
  const name = `${serviceNames[role]}.service`;
  return { unit: `/etc/systemd/system/${name}`, enabled: `/etc/systemd/system/multi-user.target.wants/${name}` };
}

/** Returns the role of the service that is installed; `server` if there is none. */
export function installedRole(layout: Pick<ServiceLayout, "root">): ServiceRole {
  return existsSync(join(layout.root, unitPlaces("worker").unit)) ? "worker" : "server";
}

/** Commands whose subcommand `init` makes folders for machines. */
export type FolderKind = "fleet" | "standby";

/** Returns which folder the machine of a service may have. */
export function folderKind(role: ServiceRole): FolderKind {
  return role === "server" ? "standby" : "fleet";
}

/** Paths of a machine's certificates for its fleet or for its standby: the authority, its own certificate and its key. */
export function machineFiles(
  { configFile }: ServiceLayout,
  kind: FolderKind,
): readonly [ca: string, certificate: string, key: string] {
  const at = (name: string) => join(dirname(configFile), kind, name);
  return [at("ca.pem"), at("certificate.pem"), at("key.pem")];
}

/** Returns a path of the layout as this process reaches it. */
export function reach({ root }: ServiceLayout, path: string): string {
  return join(root, path);
}

/**
 * Requires that paths of a tree are inside it. An absolute link in the tree is meant for the machine that is being
 * built, and would lead into this machine's files.
 * @throws {ServiceError} when a path leads out of the tree
 */
export function requireInside(layout: ServiceLayout, paths: readonly string[]): void {
  if (layout.root === "/" || !existsSync(layout.root)) return;
  const root = realpathSync(layout.root);
  for (const path of paths) {
    let there = dirname(reach(layout, path));
    while (lstatSync(there, { throwIfNoEntry: false }) === undefined) there = dirname(there);
    const real = existsSync(there) ? realpathSync(there) : null;
    if (real !== root && real?.startsWith(`${root}/`) !== true) {
      throw new ServiceError(`${there} leads out of ${layout.root}; replace that link with a directory`);
    }
  }
}

/** Directories that the unit makes inaccessible or empty for the service. */
const inaccessible = ["/home", "/root", "/run/user", "/tmp", "/var/tmp", "/dev", "/proc", "/sys"];

/**
 * Checks a path that goes into the unit.
 * @throws {ServiceError} when the path is not absolute, systemd would read it differently, or the service could not
 * reach it
 */
export function checkPath(path: string, what: string): void {
  if (!/^(?:\/[\w.+@-]+)+$/.test(path) || path.split("/").some((name) => name === "." || name === "..")) {
    throw new ServiceError(
      `${what}: ${JSON.stringify(path)} is not valid; use an absolute path of letters, digits and . _ - + @`,
    );
  }
  const blocked = inaccessible.find((directory) => path === directory || path.startsWith(`${directory}/`));
  if (blocked !== undefined) {
    throw new ServiceError(
      `${what}: the service can't access ${path}, because it can't access ${blocked}; choose another path`,
    );
  }
}
