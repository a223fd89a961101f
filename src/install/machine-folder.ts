import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadSettings, type Settings } from "../config/index.ts";
import { type FolderKind, machineFiles, reach, ServiceError, type ServiceLayout } from "./layout.ts";

/** A machine's folder of `transcribe fleet init` or `transcribe standby init`. */
export interface MachineFolder {
  readonly kind: FolderKind;
  /** null: the settings file of an earlier installation has its settings. */
  readonly path: string | null;
}

/** The content of such a folder, for an installation. */
interface FolderContent {
  /** Settings of a new settings file, by dotted path. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Certificates and key: their paths in the folder, and on the machine. */
  readonly files: readonly (readonly [source: string, path: string])[];
}

/** How the settings of one kind of folder are read. */
interface KindOfFolder {
  readonly option: string;
  readonly snippet: string;
  /** Returns the machines that the settings name, as text for people; null if they name none. */
  named(settings: Settings): string | null;
  /** Whether a settings file is complete that names something. */
  isComplete(settings: Settings): boolean;
  /** End of the error about settings that name nothing. */
  readonly lacking: string;
  /** Returns the settings besides the paths of the files. */
  own(settings: Settings): Readonly<Record<string, unknown>>;
  files(settings: Settings): { readonly ca: string; readonly certificate: string; readonly key: string };
}

const kinds: Readonly<Record<FolderKind, KindOfFolder>> = {
  fleet: {
    option: "--worker",
    snippet: "fleet.toml",
    // A worker of a pool may have any name, which is in the settings file only.
    named: ({ fleet: { broker, machine, pool } }) =>
      broker === "" ? null : `the ${pool === "" ? `machine ${machine}` : `pool ${pool}`} and the broker ${broker}`,
    isComplete: () => true,
    lacking: "names no fleet",
    own: ({ fleet: { broker, machine, pool } }) => ({
      "fleet.broker": broker,
      ...(pool === "" ? { "fleet.machine": machine } : { "fleet.pool": pool }),
    }),
    files: ({ fleet }) => fleet,
  },
  standby: {
    option: "--standby",
    snippet: "settings.toml",
    named: ({ standby: { from } }) => (from.startsWith("tls://") ? `the server ${from}` : null),
    isComplete: ({ standby }) => standby.follow,
    lacking: "does not let this machine follow another one (standby.from = tls://HOST:PORT, standby.follow = true)",
    own: ({ standby: { listen, from } }) => ({
      ...{ "standby.listen": listen, "standby.from": from, "standby.follow": true },
    }),
    files: ({ standby }) => standby,
  },
};

/**
 * Returns the settings of a new installation, and its certificates with their new paths.
 * @throws {ServiceError} if neither the folder nor the settings file has them, or both differ
 */
export function contentOf(layout: ServiceLayout, { kind, path }: MachineFolder): FolderContent {
  const { option, snippet: name, named, isComplete, lacking, own, files } = kinds[kind];
  const { configFile } = layout;
  const init = `this machine's folder of transcribe ${kind} init`;
  const file = reach(layout, configFile);
  const present = existsSync(file) ? read(file) : null;
  const known = present === null ? null : named(present);
  if (present !== null && (known === null || !isComplete(present))) {
    throw new ServiceError(
      `${configFile} ${lacking}; complete its section [${kind}] as in ${name} of ${init}, with absolute paths`,
    );
  }
  if (path === null) {
    if (known !== null) return { settings: {}, files: [] };
    throw new ServiceError(`there is no ${configFile}; name ${init}: ${option} FOLDER`);
  }
  const snippet = join(path, name);
  if (!existsSync(snippet)) throw new ServiceError(`${snippet} does not exist; name ${init}`);
  const settings = read(snippet);
  const wanted = named(settings);
  if (wanted === null || wanted.includes("//HOST:")) {
    throw new ServiceError(`${snippet} names no other machine; complete its section [${kind}]`);
  }
  if (known !== null && known !== wanted) {
    throw new ServiceError(
      `${configFile} names ${known}; ${snippet} names ${wanted}; change the section [${kind}] of ${configFile}`,
    );
  }
  const [ca, certificate, key] = machineFiles(layout, kind);
  const sources = files(settings);
  return {
    settings: {
      ...own(settings),
      ...{ [`${kind}.ca`]: ca, [`${kind}.certificate`]: certificate, [`${kind}.key`]: key },
    },
    files: [
      [sources.ca, ca],
      [sources.certificate, certificate],
      [sources.key, key],
    ],
  };
}

function read(file: string): Settings {
  return loadSettings({ file, environment: {}, flags: {} });
}
