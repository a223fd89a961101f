import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { runtimeDirectoryOf, type Settings, settingEntries, settingValue } from "../config/index.ts";
import { type Mount, mountOf, readMounts } from "../machine/index.ts";
import { ownCommand, programFile } from "../program/index.ts";
import { type FileSystem, identitiesOf } from "./file-calls.ts";

/**
 * Directories of the operating system (FHS 3.0, hier(7)), and of programs that it can't do without. None of them is
 * watched, nothing in them, and no directory that contains one. Other directories of /var belong to services, of which
 * some store recordings, e.g. /var/spool/asterisk/monitor.
 */
const SYSTEM_DIRECTORIES = [
  ...["/bin", "/boot", "/dev", "/efi", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/lost+found", "/proc"],
  ...["/nix/store", "/nix/var", "/run", "/sbin", "/snap", "/sys", "/usr"],
  ...["backups", "cache", "crash", "lock", "log", "mail", "run"].map((name) => `/var/${name}`),
  ...["at", "cron", "cups", "mail", "postfix", "rsyslog"].map((name) => `/var/spool/${name}`),
  ...["NetworkManager", "alternatives", "apt", "dbus", "dnf", "dpkg", "flatpak", "initramfs-tools", "misc"].map(
    (name) => `/var/lib/${name}`,
  ),
  ...["pacman", "pam", "polkit-1", "private", "rpm", "selinux", "snapd", "sudo", "systemd", "transcribe", "ucf"].map(
    (name) => `/var/lib/${name}`,
  ),
];

/** Desktops mount removable media in /run/media/USER. */
const REMOVABLE_MEDIUM = /^\/run\/media\/[^/]+\/[^/]/;

/**
 * Directories that hold those of many programs or people: their own files belong to nobody who delivers recordings. The
 * directories in them may be watched.
 */
const SHARED_DIRECTORIES = [
  ...["/", "/home", "/media", "/opt", "/root", "/tmp"],
  ...["/var", "/var/home", "/var/lib", "/var/local", "/var/opt", "/var/spool", "/var/tmp"],
];

/** A file or a directory of this program. No folder contains it, and none is in the directory. */
export interface OwnPlace {
  readonly path: string;
  /** Description of the place in messages. */
  readonly what: string;
  readonly isFile: boolean;
}

/** Returns the places of a program: its data, its configuration, and itself. */
export function ownPlaces(settings: Settings, settingsFile: string | undefined): OwnPlace[] {
  // From source, the runtime gets the entry file, src/main.ts of the checkout.
  const [, entry] = ownCommand();
  const directories = [
    { path: settings.storage.data_dir, what: "the server's data directory" },
    { path: runtimeDirectoryOf(settings), what: "the unpacked program" },
    ...(entry === undefined ? [] : [{ path: resolve(entry, "../.."), what: "the program's checkout" }]),
  ];
  const named = settingEntries.flatMap(({ path, namesPath }) => {
    const value = namesPath === null ? "" : settingValue(settings, path);
    return typeof value === "string" && value.includes("/") ? [{ path: value, what: `${path} of the settings` }] : [];
  });
  const files = [
    ...(settingsFile === undefined || settingsFile === "" ? [] : [{ path: settingsFile, what: "the settings file" }]),
    { path: programFile ?? process.execPath, what: "the program's file" },
    ...named,
  ];
  return [
    ...directories.map((each) => ({ ...each, isFile: false })),
    ...files.map((each) => ({ ...each, isFile: true })),
  ];
}

/** A path, and where it is on its file system: two paths can lead to one directory (bind mounts, subvolumes). */
interface Place {
  readonly path: string;
  readonly device: string;
  readonly inside: string;
}

/** The paths of this machine as the kernel reports them, without access to a file system that may not answer. */
interface Paths {
  readonly mounts: readonly Mount[];
  /** Links in the root directory, such as `/bin`, with the paths to which they lead. */
  readonly links: ReadonlyMap<string, string>;
}

/**
 * The places that no folder may be at, as they are now. The directories of the system are compared by their paths and
 * mounts: each may be on a file system that does not answer. Those of the program are also compared by their inodes, which
 * finds them under another name on a file system that ignores case.
 */
export class ClosedPlaces {
  readonly #mounts: readonly Mount[];
  readonly #system: readonly Place[];
  readonly #shared: readonly Place[];
  readonly #own: readonly (Place & Pick<OwnPlace, "what" | "isFile"> & { readonly identities: readonly string[] })[];

  constructor(own: readonly OwnPlace[], { mounts, links }: Paths = readPaths()) {
    this.#mounts = mounts;
    const placesOf = (paths: readonly string[]) =>
      [...new Set(paths.flatMap((path) => [path, throughLink(path, links)]))].map((path) => this.#placeOf(path));
    this.#system = placesOf(SYSTEM_DIRECTORIES);
    this.#shared = placesOf(SHARED_DIRECTORIES);
    this.#own = own.flatMap(({ path, ...kind }) => {
      const { real, identities } = leadsTo(path);
      // A link to a file of the program is moved as well.
      return [...new Set([resolve(path), real])].map((each) => {
        return { ...this.#placeOf(each), ...kind, identities };
      });
    });
  }

  /**
   * Returns why no folder may be at a path, as a sentence with advice; null if one may. Does not access the path.
   * @param path absolute
   * @param identities those of the directory, if it is there
   */
  reasonAgainst(path: string, identities: readonly string[] = []): string | null {
    const place = this.#placeOf(resolve(path));
    const advice = "choose a directory that only holds recordings, such as /srv/interviews";
    for (const system of this.#system) {
      const isInside = REMOVABLE_MEDIUM.test(place.path) ? isMountedIn(place, system) : isIn(place, system);
      if (isInside) {
        const what = isIn(system, place) ? "is" : `is in ${system.path},`;
        return `${path} ${what} a directory of the operating system; ${advice}`;
      }
      if (isIn(system, place)) {
        return `${path} contains ${system.path}, a directory of the operating system; ${advice}`;
      }
    }
    for (const shared of this.#shared) {
      if (isIn(place, shared) && isIn(shared, place)) {
        return `${path} holds the directories of many programs or people; ${advice}`;
      }
    }
    const [identity = ""] = identities;
    for (const own of this.#own) {
      const isInside = isIn(place, own) || identities.includes(own.identities[0] ?? "none");
      if (isIn(own, place) || own.identities.includes(identity) || (isInside && !own.isFile)) {
        return `${path} and ${own.path}, ${own.what}, contain one another; ${advice}`;
      }
    }
    return null;
  }

  /**
   * Returns why no folder may be at a path, also by what the file system knows about it.
   * @param path without links
   * @throws errors of the file system
   */
  async reasonAgainstDirectory(path: string, files: FileSystem): Promise<string | null> {
    return this.reasonAgainst(path) ?? this.reasonAgainst(path, await files.call("identities", path));
  }

  #placeOf(path: string): Place {
    const mount = mountOf(path, this.#mounts);
    if (mount === undefined) return { path, device: "", inside: path };
    return { path, device: mount.device, inside: join(mount.root, relative(mount.mountPoint, path)) };
  }
}

function readPaths(): Paths {
  return { mounts: readMounts((file) => readFileSync(file, "utf8")), links: new Map(rootLinks()) };
}

/** Reads the entries of the root directory, without an access to what is mounted there. */
function rootLinks(): [path: string, target: string][] {
  try {
    const links = readdirSync("/", { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
    return links.map(({ name }) => [`/${name}`, resolve("/", readlinkSync(`/${name}`))]);
  } catch {
    // Some systems let only root read it.
    return [];
  }
}

/** Returns the path to which a path leads whose first name may be a link. */
function throughLink(path: string, links: Paths["links"]): string {
  const [, first = "", ...rest] = path.split("/");
  return join(links.get(`/${first}`) ?? `/${first}`, ...rest);
}

/** Returns where the links of a path lead, and the identities there; none if there is nothing that can be accessed. */
function leadsTo(path: string): { readonly real: string; readonly identities: readonly string[] } {
  try {
    const real = realpathSync(path);
    return { real, identities: identitiesOf(real) };
  } catch {
    return { real: resolve(path), identities: [] };
  }
}

function isIn(place: Place, directory: Place): boolean {
  return isWithin(place.path, directory.path) || isMountedIn(place, directory);
}

/** Returns whether a place is a directory or in it, whatever the paths to them are. */
function isMountedIn(place: Place, directory: Place): boolean {
  return place.device === directory.device && isWithin(place.inside, directory.inside);
}

/** Returns whether a path is a directory or in it. */
export function isWithin(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith(`..${sep}`);
}
