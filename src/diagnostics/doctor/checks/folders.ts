import type { Store } from "../../../database/index.ts";
import { type Folder, hindranceTexts, isLimit, listFolders, listOpenFiles } from "../../../folders/index.ts";
import { count } from "../../../text/index.ts";
import { type Check, type Finding, ok, problem, skipped, warning } from "../check.ts";

/** Age of the last visit from which a running server does not visit the folder any more. */
const STALE_MILLISECONDS = 10 * 60_000;
/** Age of a limit from which it delays files more than an account's daily quota explains. */
const LONG_MILLISECONDS = 2 * 86_400_000;

const watched: Check = {
  id: "folders.watched",
  title: "Watched folders",
  explanation:
    "Whether the server takes the files of its watched folders and writes the results, as of its last visit. A folder may be unmounted, full or closed to the server; its files wait until that has ended.",
  run({ database, server, machine }): Finding {
    if (database === null || database instanceof Error) return skipped("there is no readable database");
    const folders = readFolders(database);
    if (folders === null) return skipped("the database is of an earlier version");
    if (folders.length === 0) return skipped("no folder is watched");
    const now = machine.now();
    const faults = folders.flatMap((folder) => faultOf(folder, now, server !== null));
    const inProgress = listOpenFiles(database).length;
    const waiting = folders.reduce((sum, folder) => sum + folder.waiting, 0);
    const incomplete = folders.reduce((sum, folder) => sum + folder.incomplete.length, 0);
    const ofThose = incomplete === 0 ? "" : ` (${incomplete} of which seem incomplete)`;
    const summary = `${count(folders.length, "folder")}, ${waiting} waiting${ofThose} and ${inProgress} in progress`;
    if (faults.length === 0) return ok(summary);
    const finding = {
      detail: faults.map(({ path, meaning }) => `${path}: ${meaning}`),
      advice: [...new Set(faults.map(({ advice }) => advice))].join(" "),
    };
    const delayed = `${count(faults.length, "watched folder waits", "watched folders wait")}; ${summary}`;
    return faults.some(({ isProblem }) => isProblem) ? problem(delayed, finding) : warning(delayed, finding);
  },
};

interface Fault {
  readonly path: string;
  readonly meaning: string;
  readonly advice: string;
  readonly isProblem: boolean;
}

/** Returns null if the database has no table of folders. */
function readFolders(database: Store): Folder[] | null {
  try {
    return listFolders(database);
  } catch {
    return null;
  }
}

function faultOf({ path, hindrance, hinderedSince, seenAt }: Folder, now: number, isRunning: boolean): Fault[] {
  if (hindrance !== null) {
    const { meaning, advice } = hindranceTexts[hindrance];
    if (!isLimit(hindrance)) return [{ path, meaning, advice: advice ?? "", isProblem: true }];
    if (now - (hinderedSince ?? now) < LONG_MILLISECONDS) return [];
    return [{ path, meaning, advice: "Raise the account's limits: transcribe accounts limits.", isProblem: false }];
  }
  if (!isRunning || seenAt === null || now - seenAt < STALE_MILLISECONDS) return [];
  const advice = "Look at the log for events of folders, and restart the server.";
  return [{ path, meaning: "the server has not visited it for ten minutes", advice, isProblem: true }];
}

export const folderChecks = [watched];
