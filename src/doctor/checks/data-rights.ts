import { chmodSync, lchownSync, lstatSync, readdirSync, type Stats } from "node:fs";
import { basename, join } from "node:path";
import type { DataPaths } from "../../storage/index.ts";
import { type Check, ok, skipped, warning } from "../check.ts";
import { count } from "../words.ts";

interface Entry {
  readonly path: string;
  readonly stats: Stats;
}

export const dataRights: Check = {
  id: "data.rights",
  title: "Rights in it",
  explanation:
    "Recordings, transcripts and keys lie in the data directory, so nobody but its owner may read there, and everything in it must belong to that owner: a command that was run as root may have left files that the server can't open.",
  run({ data, paths, machine }) {
    if (data !== "there") return skipped("there is no data directory to look into");
    const { uid, gid, mode } = lstatSync(paths.root);
    const entries = entriesOf(paths);
    // Behind a closed door it doesn't matter what a file allows, save for keys, which are copied and moved about.
    const isOpen = (mode & 0o077) !== 0;
    const open = entries.filter(
      ({ path, stats }) => isPrivate(stats) && (stats.mode & 0o077) !== 0 && (isOpen || isKey(path)),
    );
    const foreign = entries.filter(({ stats }) => stats.uid !== uid);
    if (open.length === 0 && foreign.length === 0) return ok("only its owner can read it");
    const mayOwn = machine.userId === 0;
    const maySet = mayOwn || machine.userId === uid;
    const faults = [
      ...(open.length > 0 ? [`others may read ${count(open.length, "entry", "entries")}`] : []),
      ...(foreign.length > 0 ? [`${count(foreign.length, "entry", "entries")} of another owner`] : []),
    ];
    const mend = () => {
      for (const { path, stats } of open) chmodSync(path, stats.mode & 0o700);
      if (mayOwn) for (const { path } of foreign) lchownSync(path, uid, gid);
    };
    const what = `Take the rights of others from ${open.length}, give ${mayOwn ? foreign.length : 0} to the owner`;
    return warning(`${faults.join(", ")} in ${paths.root}`, {
      detail: [...new Set([...open, ...foreign])].slice(0, 8).map(({ path, stats }) => describe(path, stats)),
      advice: maySet
        ? `\`transcribe doctor --fix\` mends it${foreign.length > 0 && !mayOwn ? "; the owner can only be set by root" : ""}.`
        : "Run `transcribe doctor --fix` as root or as the directory's owner.",
      ...(maySet && (open.length > 0 || mayOwn) ? { mending: { what, apply: mend } } : {}),
    });
  },
};

/** The directory, what lies in it, and what lies in its own directories; the recordings' files are as many as recordings. */
function entriesOf(paths: DataPaths): Entry[] {
  const top = [paths.root, ...childrenOf(paths.root)];
  const all = [...top, ...[paths.state, paths.incoming, paths.uploads, paths.work].flatMap(childrenOf)];
  return all.flatMap((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ path, stats }];
  });
}

function childrenOf(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    return [];
  }
}

function isKey(path: string): boolean {
  return /(?:^|[-_.])key$|\.pem$/.test(basename(path));
}

/** Links have no rights of their own; sockets and pipes are not ours. */
function isPrivate(stats: Stats): boolean {
  return stats.isFile() || stats.isDirectory();
}

function describe(path: string, stats: Stats): string {
  return `${path}: owner ${stats.uid}, rights ${(stats.mode & 0o777).toString(8).padStart(3, "0")}`;
}
