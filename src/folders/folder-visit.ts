import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Account } from "../accounts/index.ts";
import type { ClosedPlaces } from "./closed-places.ts";
import type { Delays } from "./delays.ts";
import { type DeliverServices, type Delivery, deliverFile } from "./deliver-file.ts";
import type { Entries, FileSystem } from "./file-calls.ts";
import { mayBeInvalid } from "./file-names.ts";
import type { FolderFile } from "./folder-files.ts";
import type { Folder } from "./folders.ts";
import { type Hindrance, HindranceError, isLimit, mayConcernOneFile, workingIn } from "./hindrances.ts";
import { readMarker } from "./marker.ts";
import { isSameFile, OpenDirectory } from "./open-directory.ts";
import type { IncompleteFile, Patience, SeenFiles } from "./seen-files.ts";
import { type TakeServices, takeFile } from "./take-file.ts";

const DAY = 86_400_000;

export type VisitServices = TakeServices &
  DeliverServices & {
    /** Returns the file system of a path. @throws {HindranceError} `silent` while it does not answer */
    readonly fileSystemOf: (path: string) => FileSystem;
    /** Returns the places that no folder may be at, as they are now. */
    readonly closedPlaces: () => ClosedPlaces;
  };

/** One visit to a folder. */
interface Visit extends Pick<Delivery, "onEnd"> {
  readonly folder: Folder;
  readonly account: Account;
  /** The files that earlier visits saw. */
  readonly seen: SeenFiles;
  /** The files that were taken and met a hindrance of their own, by the ids of their rows. */
  readonly delays: Delays;
  readonly patience: Patience;
  readonly signal: AbortSignal;
  readonly onProgress: () => void;
}

/** The state of a folder that a visit found. */
export interface Sight {
  /** Number of files that are neither taken nor ignored. */
  readonly waiting: number;
  /** The waiting files that seem to be incomplete. */
  readonly incomplete: readonly IncompleteFile[];
  /** Number of entries that are not read. */
  readonly unread: number;
  /** Why files wait that could have been taken; null if there is no reason but time. */
  readonly hindrance: Hindrance | null;
  /** The error behind the hindrance, for the log. */
  readonly cause?: unknown;
}

/**
 * Visits a folder once: continues the work on files that were taken, and takes those that have settled.
 * @throws {HindranceError} when the folder, its target or the server is in trouble
 * @throws the signal's reason after an abort
 */
export async function visitFolder(services: VisitServices, visit: Visit): Promise<Sight> {
  const { folder, delays, signal, onProgress } = visit;
  // Nothing can be acknowledged, so no file is read or moved either.
  if (services.changes.refusal() !== null) throw new HindranceError("standby");
  const { target: targetPath } = folder;
  const closed = services.closedPlaces();
  // An earlier version accepted every directory, and a mount may have changed what a path leads to.
  const open = (place: "folder" | "target", path: string) =>
    workingIn(place, async () => {
      const files = services.fileSystemOf(path);
      if ((await closed.reasonAgainstDirectory(path, files)) !== null) throw new HindranceError("closed");
      return await OpenDirectory.open(path, files);
    });
  if (targetPath !== null && closed.reasonAgainst(targetPath) !== null) throw new HindranceError("closed");
  await using directory = await open("folder", folder.path);
  const marker = await workingIn("folder", () => readMarker(directory));
  if (marker !== folder.id) throw new HindranceError("unmarked");
  await using other = targetPath === null ? null : await open("target", targetPath);
  const target = other ?? directory;
  let cause: unknown;
  const taken = services.files.open(folder.id);
  delays.retain(new Set(taken.map(({ id }) => id)));
  for (const file of taken) {
    signal.throwIfAborted();
    if (delays.isWaiting(file.id)) continue;
    try {
      await deliverFile(services, { ...visit, file, directory, target });
      delays.delete(file.id);
    } catch (error) {
      if (!(error instanceof HindranceError && mayConcernOneFile(error.hindrance))) throw error;
      delays.add(file.id, error.hindrance);
      cause = error.cause;
    }
    onProgress();
  }
  const sight = await takeFiles(services, visit, directory);
  const { hindrance } = delays;
  return hindrance === null ? sight : { ...sight, hindrance, cause };
}

async function takeFiles(services: VisitServices, visit: Visit, directory: OpenDirectory): Promise<Sight> {
  const { seen, patience, signal, onProgress } = visit;
  const { names, unread } = await lookAround(services, visit, directory);
  let waiting = names.length;
  let met: HindranceError | null = null;
  for (const { facts, ...settled } of seen.settled(patience)) {
    // A refusal waits for nothing but the database, and there may be 500.
    await yieldToEventLoop();
    signal.throwIfAborted();
    try {
      const outcome = await takeFile(services, { ...visit, directory, facts, ...settled });
      onProgress();
      if (outcome === "denied") seen.defer(facts.name, "denied");
      else if (outcome === "taken") {
        seen.forget(facts.name);
        waiting -= 1;
      } else if (outcome !== "changing") {
        if ("doubt" in outcome) seen.suspect(facts.name, outcome.doubt);
        else if ("heldMilliseconds" in outcome) seen.hold(facts.name, outcome.heldMilliseconds);
        else seen.deferForSpace(facts, outcome.neededBytes);
      }
    } catch (error) {
      if (!(error instanceof HindranceError)) throw error;
      met = error;
      // The other files wait for the same limit, but a smaller one may still fit on the server's disk.
      if (!mayConcernOneFile(error.hindrance) && !/^server_/.test(error.hindrance)) break;
      seen.defer(facts.name, error.hindrance);
    }
  }
  // Trouble that somebody must end is shown rather than a limit.
  const hasTrouble = met !== null && !isLimit(met.hindrance);
  const hindrance = hasTrouble ? met?.hindrance : (seen.hindrance ?? met?.hindrance);
  return { waiting, incomplete: seen.incomplete(patience), unread, hindrance: hindrance ?? null, cause: met?.cause };
}

/** Describes the files that may be taken. Follows those of earlier visits that somebody renamed. */
async function lookAround(
  { files, now }: VisitServices,
  { folder, seen, signal, onProgress }: Visit,
  directory: OpenDirectory,
): Promise<{ readonly names: readonly string[]; readonly unread: number }> {
  const { entries, excess } = await workingIn("folder", () => directory.entries());
  const taken = files.open(folder.id).filter((file) => file.state !== "postponed" || !isDue(file, now()));
  const { missing, known } = await findMissing(taken, entries, directory);
  const others = entries.filter(({ name }) => name !== "done" && name !== "failed");
  const candidates = others.flatMap(({ name, isDirectory }) => (isDirectory ? [] : [name]));
  const watched = new Set(seen.choose(candidates));
  // With a missing file, any other name may be its new one.
  const isSearched = seen.isNewSearch(candidates, missing);
  const examined = candidates.filter(
    (name) => isSearched || watched.has(name) || known.has(name) || mayBeInvalid(name),
  );
  const described = await workingIn("folder", () => directory.describeAll(examined, onProgress));
  signal.throwIfAborted();
  const names = new Set(candidates);
  let unread = others.length - candidates.length + excess;
  for (const name of examined) {
    const facts = described.get(name);
    if (facts === undefined) {
      if (mayBeInvalid(name)) unread += 1;
    } else {
      const renamed = missing.find((file) => file.inode === facts.inode && isSameFile(file, facts));
      if (renamed !== undefined) {
        files.follow(renamed, facts);
        missing.splice(missing.indexOf(renamed), 1);
      } else if (!taken.some((file) => file.name === name && isSameFile(file, facts))) {
        if (watched.has(name)) seen.see(facts);
        continue;
      }
    }
    seen.forget(name);
    names.delete(name);
  }
  return { names: [...names], unread };
}

/**
 * Returns the files whose names are gone, or belong to other files: a program renamed them and gave their names to new
 * ones. Returns also the names of all files that were taken.
 */
async function findMissing(
  taken: readonly FolderFile[],
  entries: Entries["entries"],
  directory: OpenDirectory,
): Promise<{ readonly missing: FolderFile[]; readonly known: ReadonlySet<string> }> {
  const present = new Set(entries.map(({ name }) => name));
  const known = new Set(taken.flatMap(({ name }) => (present.has(name) ? [name] : [])));
  const described = await workingIn("folder", () => directory.describeAll([...known]));
  const missing = taken.filter((file) => {
    const facts = described.get(file.name);
    // Without stable inodes, an unchanged file has another one; a changed one is the same file.
    return facts === undefined || (facts.inode !== file.inode && !isSameFile(facts, file));
  });
  return { missing, known };
}

/** Returns whether a postponed file is to be taken again. No file waits for longer than a day, unless the clock went back. */
function isDue({ retryAt }: FolderFile, now: number): boolean {
  return retryAt === null || retryAt <= now || retryAt > now + DAY;
}
