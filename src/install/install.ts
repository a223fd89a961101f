import { existsSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { exampleFile, loadSettings } from "../config/index.ts";
import { valueOr } from "../text/index.ts";
import {
  checkPath,
  defaultDataDirectory,
  folderKind,
  machineFiles,
  reach,
  requireInside,
  requireNoPackage,
  ServiceError,
  type ServiceLayout,
  type ServiceRole,
  serviceNames,
  servicePaths,
  unitPlaces,
} from "./layout.ts";
import { existingGroups, type Machine, textOf } from "./machine.ts";
import { contentOf, type MachineFolder } from "./machine-folder.ts";
import { placeCopy, placeText, sameBytes } from "./place-file.ts";
import { accountOf, dataDirectoryStep, type InstalledProgram, partsStep, userStep } from "./shared-steps.ts";
import type { Step } from "./steps.ts";
import { gpuGroups, unitFile } from "./unit.ts";

interface InstallOptions {
  readonly layout: ServiceLayout;
  readonly machine: Machine;
  readonly role: ServiceRole;
  /** The folder of a worker, or of a server that begins as a standby; null for any other server. */
  readonly folder: MachineFolder | null;
  readonly program: InstalledProgram;
  readonly user: string;
  /** Data directory of the command line; null takes the settings file's, or else the default. */
  readonly dataDirectory: string | null;
}

/**
 * Returns the data directory, the port and the folder of the fence, if there is one, from the settings file or, if there is no
 * file yet, as a new one will set them.
 * @throws {SettingsError} @throws {ServiceError} when the file and the command line differ
 */
export function serviceSettings(layout: ServiceLayout, wanted: string | null) {
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
  const fence = settings.standby.fence.startsWith("/") ? settings.standby.fence : null;
  if (fence !== null) checkPath(fence, `standby.fence in ${layout.configFile}`);
  return { dataDirectory, port: settings.server.port, fence };
}

/** Returns the steps that install the service, in order; each step can be repeated. */
export function installSteps(options: InstallOptions): Step[] {
  const { layout, machine, role, program, user } = options;
  requireNoPackage(layout);
  requireOnly(layout, role);
  const { unit: unitPath, enabled } = unitPlaces(role);
  const { dataDirectory, port, fence } = serviceSettings(layout, options.dataDirectory);
  requireInside(layout, [
    ...[...Object.values(servicePaths), unitPath, enabled, layout.configFile, join(dataDirectory, "x")],
    ...machineFiles(layout, folderKind(role)),
  ]);
  const at = (path: string) => reach(layout, path);
  const service = { layout, machine, user, dataDirectory };
  const content = options.folder === null ? null : contentOf(layout, options.folder);
  const unit = unitFile({
    ...{ role, user, dataDirectory, port, fence, configFile: layout.configFile },
    paths: { ...servicePaths, unit: unitPath },
    deviceGroups: existingGroups(layout, gpuGroups),
  });
  return [
    userStep(service),
    {
      what: `${servicePaths.program}, this program`,
      restarts: true,
      needed: async () => !(await sameBytes(program.path, at(servicePaths.program))),
      apply: () =>
        placeCopy(at(servicePaths.program), program.path, { mode: 0o755, previous: at(servicePaths.previousProgram) }),
    },
    partsStep(layout, program, servicePaths.runtimeDirectory),
    {
      what: `${layout.configFile}, the settings`,
      needed: () => !existsSync(at(layout.configFile)),
      apply: () => {
        // The file names the directories, so that commands on this machine and the service use the same ones.
        const directories = { "storage.data_dir": dataDirectory, "storage.runtime_dir": servicePaths.runtimeDirectory };
        placeText(at(layout.configFile), exampleFile({ ...directories, ...content?.settings }), {
          mode: 0o640,
          gid: accountOf(service).gid,
        });
      },
    },
    ...(content?.files ?? []).map(([source, path]): Step => {
      const mode = path.endsWith("key.pem") ? 0o640 : 0o644;
      return {
        what: `${path}, for the ${options.folder?.kind}`,
        restarts: true,
        needed: async () => !(await sameBytes(source, at(path))),
        apply: () => placeCopy(at(path), source, { mode, gid: accountOf(service).gid }),
      };
    }),
    dataDirectoryStep(service),
    {
      what: `${unitPath}, the unit`,
      restarts: true,
      needed: () => textOf(at(unitPath)) !== unit,
      apply: () => placeText(at(unitPath), unit, { mode: 0o644 }),
    },
    {
      what: "the start with the machine",
      needed: () => valueOr(() => readlinkSync(at(enabled)), null) !== unitPath,
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
