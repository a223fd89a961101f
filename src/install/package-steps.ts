import { chmodSync, chownSync, existsSync, statSync } from "node:fs";
import { defaultDataDirectory, packagePaths, reach, type ServiceLayout } from "./layout.ts";
import { existingGroups, type Machine } from "./machine.ts";
import { runOrThrow } from "./manager.ts";
import { accountOf, dataDirectoryStep, type InstalledProgram, partsStep, userStep } from "./shared-steps.ts";
import type { Step } from "./steps.ts";
import { gpuGroups } from "./unit.ts";

interface PackageOptions {
  readonly layout: ServiceLayout;
  readonly machine: Machine;
  readonly user: string;
  readonly program: InstalledProgram;
}

/** Mode of the settings file: the service reads it, and only root writes it. */
const SETTINGS_MODE = 0o640;

/**
 * Returns the steps that complete the installation by a package of the distribution, in order; each step can be
 * repeated. The package itself contains the program, the unit and the settings file.
 */
export function packageSteps({ layout, machine, user, program }: PackageOptions): Step[] {
  const service = { layout, machine, user, dataDirectory: defaultDataDirectory };
  const settings = reach(layout, layout.configFile);
  return [
    ...gpuGroups.map(
      (group): Step => ({
        what: `group ${group}, which the unit names`,
        needed: () => existingGroups(layout, [group]).length === 0,
        apply: () => runOrThrow(machine, ["groupadd", "--system", group]),
      }),
    ),
    userStep(service),
    {
      what: `${layout.configFile}, readable only by root and ${user}`,
      needed: () => existsSync(settings) && (statSync(settings).mode & 0o7777) === SETTINGS_MODE && isRoots(settings),
      apply: () => {
        chownSync(settings, 0, accountOf(service).gid);
        chmodSync(settings, SETTINGS_MODE);
      },
    },
    dataDirectoryStep(service),
    partsStep(layout, program, packagePaths.runtimeDirectory),
  ];
}

/** Returns whether a file has the owner and group with which the package contains it; others are the operator's. */
function isRoots(path: string): boolean {
  const { uid, gid } = statSync(path);
  return uid === 0 && gid === 0;
}
