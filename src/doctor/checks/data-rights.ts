import { basename } from "node:path";
import type { DataPaths } from "../../storage/index.ts";
import { count } from "../../wording/index.ts";
import { type Check, type Finding, ok, skipped, warning } from "../check.ts";
import { type DataEntry, withDataEntries } from "../data-entries.ts";

export const dataRights: Check = {
  id: "data.rights",
  title: "Rights in it",
  explanation:
    "Recordings, transcripts and keys lie in the data directory, so nobody but its owner may read there, and everything in it must belong to that owner: a command that was run as root may have left files that the server can't open.",
  run({ data, paths, machine }): Finding {
    if (data !== "there") return skipped("there is no data directory to look into");
    const { uid, open, foreign } = withDataEntries(paths, faultsOf);
    if (open.length === 0 && foreign.length === 0) return ok("only its owner can read it");
    const isRoot = machine.userId === 0;
    const maySet = isRoot || machine.userId === uid;
    const opened = count(open.length, "entry", "entries");
    const owned = count(foreign.length, "entry", "entries");
    const faults = [
      ...(open.length > 0 ? [`others may read ${opened}`] : []),
      ...(foreign.length > 0 ? [`${owned} of another owner`] : []),
    ];
    const orders = [
      ...(open.length > 0 ? [`close ${opened} to others`] : []),
      ...(foreign.length > 0 && isRoot ? [`give ${owned} to the directory's owner`] : []),
    ];
    return warning(`${faults.join(", ")} in ${paths.root}`, {
      detail: [...new Set([...open, ...foreign])].slice(0, 8).map(describe),
      advice: maySet
        ? `\`transcribe doctor --fix\` mends it${foreign.length > 0 && !isRoot ? "; the owner can only be set by root" : ""}.`
        : "Run `transcribe doctor --fix` as root or as the directory's owner.",
      ...(maySet && orders.length > 0
        ? { mending: { what: `In ${paths.root}, ${orders.join(" and ")}`, apply: () => mend(paths, isRoot) } }
        : {}),
    });
  },
};

function mend(paths: DataPaths, isRoot: boolean): void {
  withDataEntries(paths, (entries) => {
    const { uid, gid, open, foreign } = faultsOf(entries);
    for (const entry of open) entry.close();
    if (isRoot) for (const entry of foreign) entry.give(uid, gid);
  });
}

interface Faults {
  /** Those of the directory itself. */
  readonly uid: number;
  readonly gid: number;
  /** What others may read. */
  readonly open: readonly DataEntry[];
  /** What belongs to another than the directory does. */
  readonly foreign: readonly DataEntry[];
}

/** @param entries the directory itself first */
function faultsOf([root, ...entries]: readonly DataEntry[]): Faults {
  if (root === undefined) throw new RangeError("a data directory is an entry of its own");
  const { uid, gid, mode } = root.stats;
  // Behind a closed door it doesn't matter what a file allows, save for keys, which are copied and moved about.
  const isOpen = (mode & 0o077) !== 0;
  const open = [root, ...entries].filter(
    ({ path, stats }) => hasRights(stats) && (stats.mode & 0o077) !== 0 && (isOpen || isKey(path)),
  );
  return { uid, gid, open, foreign: entries.filter(({ stats }) => stats.uid !== uid) };
}

function isKey(path: string): boolean {
  return /(?:^|[-_.])key$|\.pem$/.test(basename(path));
}

/** Links have no rights of their own; sockets and pipes are not ours. */
function hasRights(stats: DataEntry["stats"]): boolean {
  return stats.isFile() || stats.isDirectory();
}

function describe({ path, stats }: DataEntry): string {
  return `${path}: owner ${stats.uid}, rights ${(stats.mode & 0o777).toString(8).padStart(3, "0")}`;
}
