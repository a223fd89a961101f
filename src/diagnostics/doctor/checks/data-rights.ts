import { basename } from "node:path";
import type { DataPaths } from "../../../storage/index.ts";
import { count } from "../../../text/index.ts";
import { type Check, type Finding, ok, skipped, warning } from "../check.ts";
import { type DataEntry, withDataEntries } from "../data-entries.ts";

export const dataRights: Check = {
  id: "data.rights",
  title: "Rights in it",
  explanation:
    "Recordings, transcripts and keys lie in the data directory, so nobody but its owner may read there, and everything in it must belong to that owner: an earlier version's command that was run as root, or a copy made by root, may have left files that the server can't open.",
  run({ data, paths, machine }): Finding {
    if (data !== "there") return skipped("there is no data directory to look into");
    const { uid, gid, open, foreign } = withDataEntries(paths, faultsOf);
    if (open.length === 0 && foreign.length === 0) return ok("only its owner can read it");
    const opened = count(open.length, "entry", "entries");
    const faults = [
      ...(open.length > 0 ? [`others may read ${opened}`] : []),
      ...(foreign.length > 0 ? [`${count(foreign.length, "entry", "entries")} of another owner`] : []),
    ];
    const isOwner = machine.userId === uid;
    const advice = [
      ...(open.length > 0
        ? [isOwner ? mendingAdvice : "Run `transcribe doctor --fix` as root or as the directory's owner."]
        : []),
      ...(foreign.length > 0 ? [givingAdvice(foreign, uid, gid)] : []),
    ];
    return warning(`${faults.join(", ")} in ${paths.root}`, {
      detail: [...new Set([...open, ...foreign])].slice(0, mostShown).map(describe),
      advice: advice.join(" "),
      ...(isOwner && open.length > 0
        ? { mending: { what: `In ${paths.root}, close ${opened} to others`, apply: () => close(paths) } }
        : {}),
    });
  },
};

const mostShown = 8;
const mendingAdvice = "`transcribe doctor --fix` closes what is open.";

/**
 * Returns advice to change the owner by hand. `--fix` never does it as root: a user could move one of root's files into
 * the data directory to become its owner.
 */
function givingAdvice(foreign: readonly DataEntry[], userId: number, groupId: number): string {
  const paths = foreign.slice(0, mostShown).map(({ path }) => `'${path.replaceAll("'", "'\\''")}'`);
  return `Look at what is of another owner and, if it belongs there, give it away: sudo chown -h ${userId}:${groupId} ${paths.join(" ")}`;
}

function close(paths: DataPaths): void {
  withDataEntries(paths, (entries) => {
    const { uid, open } = faultsOf(entries);
    for (const entry of open) if (entry.stats.uid === uid) entry.close();
  });
}

interface Faults {
  /** Owner of the data directory itself. */
  readonly uid: number;
  readonly gid: number;
  /** Entries with permissions for the group or for other users. */
  readonly open: readonly DataEntry[];
  /** Entries whose owner is not the owner of the directory. */
  readonly foreign: readonly DataEntry[];
}

/**
 * Finds entries with wrong permissions or a wrong owner.
 * @param entries entries of the data directory; the first is the directory itself
 */
function faultsOf([root, ...entries]: readonly DataEntry[]): Faults {
  if (root === undefined) throw new RangeError("a data directory is an entry of its own");
  const { uid, gid, mode } = root.stats;
  // If the directory itself is closed to others, the mode of a file in it does not matter. Keys are an exception, since
  // they are copied and moved.
  const isOpen = (mode & 0o077) !== 0;
  const open = [root, ...entries].filter(
    ({ path, stats }) => hasRights(stats) && (stats.mode & 0o077) !== 0 && (isOpen || isKey(path)),
  );
  return { uid, gid, open, foreign: entries.filter(({ stats }) => stats.uid !== uid) };
}

function isKey(path: string): boolean {
  return /(?:^|[-_.])key$|\.pem$/.test(basename(path));
}

/**
 * Returns whether the permissions of an entry matter. Links have none of their own; sockets and pipes do not belong to
 * this program.
 */
function hasRights(stats: DataEntry["stats"]): boolean {
  return stats.isFile() || stats.isDirectory();
}

function describe({ path, stats }: DataEntry): string {
  return `${path}: owner ${stats.uid}, rights ${(stats.mode & 0o777).toString(8).padStart(3, "0")}`;
}
