import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DataPaths } from "../storage/index.ts";
import {
  folderKind,
  machineFiles,
  reach,
  requireInside,
  requireNoPackage,
  ServiceError,
  type ServiceLayout,
  type ServiceRole,
  servicePaths,
  unitPlaces,
} from "./layout.ts";
import { findUser, type Machine } from "./machine.ts";
import { stopService, unitState } from "./manager.ts";
import type { Step } from "./steps.ts";

interface UninstallOptions {
  readonly layout: ServiceLayout;
  readonly machine: Machine;
  readonly role: ServiceRole;
  /** User and data directory to remove together with the settings; null keeps them. */
  readonly purged: { readonly user: string; readonly dataDirectory: string } | null;
}

/** Returns the steps that remove the service, in order; parts that are missing already are no error. */
export function uninstallSteps({ layout, machine, role, purged }: UninstallOptions): Step[] {
  const dataPath = purged === null ? [] : [join(purged.dataDirectory, "x")];
  const { unit, enabled } = unitPlaces(role);
  if (!existsSync(join(layout.root, unit))) requireNoPackage(layout);
  requireInside(layout, [...Object.values(servicePaths), unit, enabled, layout.configFile, ...dataPath]);
  const at = (path: string) => reach(layout, path);
  const removal = (what: string, ...paths: readonly string[]): Step => ({
    what,
    needed: () => paths.some((path) => lstatSync(at(path), { throwIfNoEntry: false }) !== undefined),
    apply: () => {
      for (const path of paths) rmSync(at(path), { recursive: true, force: true });
    },
  });
  const always: Step[] = [
    {
      what: "the running service",
      // The tree of another machine has no relation to the services that run here.
      needed: () => layout.root === "/" && unitState(machine, role) !== null,
      apply: () => stopService(machine, role),
    },
    removal(unit, enabled, unit),
    removal(servicePaths.program, servicePaths.program, servicePaths.previousProgram),
    removal(servicePaths.runtimeDirectory, servicePaths.runtimeDirectory),
  ];
  if (purged === null) return always;
  const emptied = (path: string): Step => ({
    what: path,
    needed: () => isEmptyDirectory(at(path)),
    apply: () => rmdirSync(at(path)),
  });
  const { user, dataDirectory } = purged;
  const settingsDirectory = dirname(layout.configFile);
  const kind = folderKind(role);
  const files = machineFiles(layout, kind);
  const data = at(dataDirectory);
  const { databasePath, work } = new DataPaths(data);
  const marker = role === "server" ? databasePath : work;
  return [
    ...always,
    removal(layout.configFile, layout.configFile),
    removal(`the files for the ${kind}`, ...files),
    emptied(dirname(files[0])),
    emptied(settingsDirectory),
    {
      what: `${dataDirectory}: ${role === "server" ? "recordings, transcripts, accounts and keys" : "models and work files"}`,
      needed: () => existsSync(marker) || isEmptyDirectory(data),
      apply: () => removeData(data),
    },
    {
      what: `user ${user}`,
      needed: () => findUser(layout, machine, user) !== null,
      apply: () => {
        const removed = machine.run(["userdel", ...(layout.root === "/" ? [] : ["--prefix", layout.root]), user]);
        if (removed.exitCode !== 0) throw new ServiceError(`can't remove the user ${user}: ${removed.stderr}`);
      },
    },
  ];
}

/** Entries that a server or a standby creates in its data directory, and the cache directories of its libraries. */
const serverEntries =
  /^(?:transcribe\.db.*|server\.lock.*|(?:standby|replaced)\.json.*|incoming|uploads|work|listening|live|state|models|runtime|backups|\.cache|\.bun)$/;

/** Removes the server's entries from its data directory; all other entries stay. */
function removeData(directory: string): void {
  for (const name of readdirSync(directory).filter((entry) => serverEntries.test(entry))) {
    rmSync(join(directory, name), { recursive: true, force: true });
  }
  if (isEmptyDirectory(directory)) rmdirSync(directory);
}

function isEmptyDirectory(path: string): boolean {
  return existsSync(path) && readdirSync(path).length === 0;
}
