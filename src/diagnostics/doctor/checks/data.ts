import { constants, existsSync, lstatSync, unlinkSync } from "node:fs";
import { basename } from "node:path";
import { lockFile } from "../../../files/index.ts";
import { mountOf, readMounts } from "../../../machine/index.ts";
import type { DataPaths } from "../../../storage/index.ts";
import { count, size } from "../../../text/index.ts";
import { type Check, type Finding, ok, problem, skipped, warning } from "../check.ts";
import { type DataEntry, withDataEntries, withFilesIn } from "../data-entries.ts";
import { attempt, isAllowed } from "../machine.ts";
import { existingPart } from "../machine-facts.ts";

const directory: Check = {
  id: "data.directory",
  title: "Data directory",
  explanation:
    "The directory of the database, the recordings and the work files (`storage.data_dir`). It must exist or be creatable, and the server's user must be able to write to it.",
  run({ paths, data }) {
    const part = existingPart(paths.root);
    if (!isWritable(part)) {
      const fault = lstatSync(part).isDirectory() ? `this user may not write to ${part}` : `${part} is not a directory`;
      return problem(data === "unreadable" ? `this user may not read ${paths.root}` : fault, {
        advice:
          "If the server runs as another user, run this command as that user too (sudo -u USER transcribe doctor …). Otherwise give the directory to the server's user (chown), or choose another with --data-dir.",
      });
    }
    return ok(
      data === "missing" ? `${paths.root} does not exist yet; the server's first start creates it` : paths.root,
    );
  },
};

function isWritable(path: string): boolean {
  const isDirectory = attempt(() => lstatSync(path).isDirectory()) ?? false;
  return isDirectory && isAllowed(path, constants.R_OK | constants.W_OK | constants.X_OK);
}

const MAX_SHOWN_ENTRIES = 8;

const permissions: Check = {
  id: "data.rights",
  title: "Data permissions",
  explanation:
    "The data directory contains recordings, transcripts and keys, so only its owner may read it, and everything in it must belong to that owner. A copy made by root, or a command of an earlier version run as root, may have left files that the server can't open.",
  run({ data, paths, machine }): Finding {
    if (data !== "present") return skipped("there is no readable data directory");
    const { uid, gid, open, foreign } = withDataEntries(paths, faultsOf);
    if (open.length === 0 && foreign.length === 0) return ok("only its owner can read it");
    const opened = count(open.length, "entry", "entries");
    const isOwner = machine.userId === uid;
    const faults: string[] = [];
    const advice: string[] = [];
    if (open.length > 0) {
      faults.push(`others may read ${opened}`);
      advice.push(
        isOwner
          ? "`transcribe doctor --fix` removes the permissions of others."
          : "Run `transcribe doctor --fix` as root or as the directory's owner.",
      );
    }
    if (foreign.length > 0) {
      faults.push(`${count(foreign.length, "entry", "entries")} of another owner`);
      advice.push(chownAdvice(foreign, uid, gid));
    }
    return warning(`${faults.join(", ")} in ${paths.root}`, {
      detail: [...new Set([...open, ...foreign])].slice(0, MAX_SHOWN_ENTRIES).map(describe),
      advice: advice.join(" "),
      ...(isOwner &&
        open.length > 0 && {
          repair: { what: `In ${paths.root}, close ${opened} to others`, apply: () => closeToOthers(paths) },
        }),
    });
  },
};

/**
 * Returns advice to change the owner by hand. `--fix` never does it as root: a user could move one of root's files into
 * the data directory to become its owner.
 */
function chownAdvice(foreign: readonly DataEntry[], userId: number, groupId: number): string {
  const paths = foreign.slice(0, MAX_SHOWN_ENTRIES).map(({ path }) => `'${path.replaceAll("'", "'\\''")}'`);
  return `Look at the entries of another owner and, if they belong there, change the owner: sudo chown -h ${userId}:${groupId} ${paths.join(" ")}`;
}

function closeToOthers(paths: DataPaths): void {
  withDataEntries(paths, (entries) => {
    const { uid, open } = faultsOf(entries);
    for (const entry of open) if (entry.stats.uid === uid) entry.close();
  });
}

/**
 * Finds the entries with permissions for the group or for others ("open"), and those with another owner than the data
 * directory ("foreign").
 * @param entries entries of the data directory; the first is the directory itself
 */
function faultsOf([root, ...entries]: readonly DataEntry[]) {
  if (root === undefined) throw new RangeError("the first entry must be the data directory");
  const { uid, gid, mode } = root.stats;
  // If the directory itself is closed to others, the mode of a file in it does not matter. Keys are an exception, since
  // they are copied and moved.
  const isOpen = (mode & 0o077) !== 0;
  const open = [root, ...entries].filter(({ path, stats }) => {
    // Links have no permissions of their own; sockets and pipes do not belong to this program.
    const hasPermissions = stats.isFile() || stats.isDirectory();
    return hasPermissions && (stats.mode & 0o077) !== 0 && (isOpen || isKey(path));
  });
  return { uid, gid, open, foreign: entries.filter(({ stats }) => stats.uid !== uid) };
}

function isKey(path: string): boolean {
  return /(?:^|[-_.])key$|\.pem$/.test(basename(path));
}

function describe({ path, stats }: DataEntry): string {
  return `${path}: owner ${stats.uid}, mode ${(stats.mode & 0o777).toString(8).padStart(3, "0")}`;
}

const networkKinds =
  /^(nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|glusterfs|lustre|fuse\.(sshfs|s3fs|glusterfs|ceph|rclone|davfs))$/;

const fileSystem: Check = {
  id: "data.filesystem",
  title: "File system",
  explanation:
    "SQLite's write-ahead log needs a local file system: over a network, two machines may write at once and damage the database. A tmpfs loses everything at a restart, and so does the writable layer of a container. The directory into which the program unpacks its parts must not be on a noexec mount.",
  run({ paths, settings, machine }) {
    const mounts = readMounts(machine.read);
    const mount = mountOf(existingPart(paths.root), mounts);
    if (mount === undefined) return skipped("this system does not list its mounts");
    const { kind, mountPoint, options } = mount;
    const where = `${kind} at ${mountPoint}`;
    if (networkKinds.test(kind)) {
      return problem(`the data directory is on a network file system (${where}): the database may be damaged`, {
        advice: "Move the data directory to a local disk, and back it up to the network instead.",
      });
    }
    if (options.includes("ro")) {
      return problem(`the data directory is on a read-only file system (${where})`, {
        advice:
          "Mount it writable, or choose another directory with --data-dir. After disk errors the kernel makes a file system read-only: see dmesg.",
      });
    }
    if (kind === "tmpfs" || kind === "ramfs") {
      return warning(`the data directory is in memory (${where}): everything is lost after a restart`, {
        advice: "Choose a directory on a disk with --data-dir, unless this is only a test.",
      });
    }
    if (kind === "overlay") {
      return warning(`the data directory is in the container itself (${where}): it is deleted with the container`, {
        advice: "Mount a volume there (docker: -v transcribe:/var/lib/transcribe).",
      });
    }
    const runtime = mountOf(existingPart(settings.storage.runtime_dir || paths.root), mounts);
    if (!runtime?.options.includes("noexec")) return ok(where);
    return warning(`${runtime.mountPoint} is mounted noexec: the compiled program can't run its parts from there`, {
      advice: "Set storage.runtime_dir to a directory from which programs may be run.",
    });
  },
};

const leftovers: Check = {
  id: "data.leftovers",
  title: "Left-over files",
  explanation:
    "An upload or an export that a crash or a power failure interrupted leaves its file in `incoming`. The server removes these files when it starts; until then they take disk space.",
  run({ data, paths, server }) {
    if (data !== "present" || !existsSync(paths.incoming)) return skipped("there is no directory with such files");
    if (server !== null) return skipped("the running server removed such files at its start, and may receive uploads");
    const sizes = withFilesIn(paths.incoming, (found) => found.map(({ sizeBytes }) => sizeBytes)) ?? [];
    if (sizes.length === 0) return ok("none");
    const files = `${count(sizes.length, "file")} of interrupted uploads`;
    return warning(`${files}, ${size(sizes.reduce((sum, bytes) => sum + bytes, 0))}`, {
      advice: "The server's next start removes them; so does `transcribe doctor --fix`.",
      repair: {
        what: `Remove ${files}`,
        apply: () => {
          // While this process holds the lock, no server can start and accept uploads.
          const unlock = lockFile(paths.lockPath);
          if (unlock === null) throw new Error("a server uses the data directory");
          try {
            withFilesIn(paths.incoming, (found) => {
              for (const { path } of found) unlinkSync(path);
            });
          } finally {
            unlock();
          }
        },
      },
    });
  },
};

export const dataChecks = [directory, permissions, fileSystem, leftovers];
