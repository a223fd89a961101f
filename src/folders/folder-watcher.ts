import { setTimeout as sleep } from "node:timers/promises";
import { type Account, getAccount } from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";
import { accountTrouble } from "../intake/index.ts";
import { codeOf } from "../text/index.ts";
import { ClosedPlaces, type OwnPlace } from "./closed-places.ts";
import { Delays } from "./delays.ts";
import { FileProcesses } from "./file-processes.ts";
import { FolderFiles } from "./folder-files.ts";
import { FolderReports } from "./folder-reports.ts";
import { type VisitServices, visitFolder } from "./folder-visit.ts";
import { type Folder, listFolders } from "./folders.ts";
import { type Hindrance, HindranceError, hindranceOf, isLimit, mayConcernOneFile } from "./hindrances.ts";
import { removeMarker } from "./marker.ts";
import { OpenDirectory } from "./open-directory.ts";
import { SeenFiles } from "./seen-files.ts";

interface WatcherOptions extends Omit<VisitServices, "files" | "fileSystemOf" | "closedPlaces"> {
  /** Places of the program, where no folder is visited. */
  readonly own: () => readonly OwnPlace[];
  readonly settings: () => Settings["folders"];
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
  /** The processes that access the folders; its own by default. */
  readonly processes?: FileProcesses;
}

/** A folder as far as it is in memory. */
interface Watched {
  readonly path: string;
  readonly seen: SeenFiles;
  readonly delays: Delays;
  /** Aborted when the folder is removed. */
  readonly removal: AbortController;
  /** The visit in progress. */
  visit: Promise<void> | null;
  progressAt: number;
  /** Number of visits in succession that met trouble. */
  troubles: number;
  /** Time of the next visit. */
  dueAt: number;
}

/** The folders as metrics show them. */
export interface FolderOverview {
  readonly folders: number;
  readonly waiting: number;
  /** Number of folders for each hindrance that is present. */
  readonly hindered: ReadonlyMap<Hindrance, number>;
  /** Numbers of files since the server was started. */
  readonly done: number;
  readonly failed: number;
}

/** Maximum wait before the next visit to a folder in trouble. */
const MAX_PAUSE_MILLISECONDS = 60_000;
/** Time without progress of a visit after which its folder counts as silent. Generating a long PDF takes a minute. */
const SILENT_MILLISECONDS = 5 * 60_000;
/** Maximum wait for visits when the server stops: a file system that does not answer must not delay it. */
const STOP_MILLISECONDS = 5000;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/**
 * Watches the folders of the database: visits each one periodically, and stores what it saw. Folders are listed anew
 * each time, so that it notices commands. Processes access the folders, so that a file system that does not answer delays
 * no other folder, and nothing else in this process.
 */
export class FolderWatcher {
  readonly #options: WatcherOptions;
  readonly #files: FolderFiles;
  readonly #reports: FolderReports;
  readonly #processes: FileProcesses;
  readonly #watched = new Map<string, Watched>();
  /** Paths of folders that were removed, whose visits and markers are not yet. Added again, they wait for that. */
  readonly #leaving = new Set<string>();
  readonly #stopping = new AbortController();
  readonly #ended = { done: 0, failed: 0 };
  /** The places where no folder is visited, as they were when the last round of visits began. */
  #closed: ClosedPlaces | null = null;
  #rounds = 0;
  #loop: Promise<void> | null = null;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#files = new FolderFiles(options.store, options.now);
    this.#reports = new FolderReports({ ...options, files: this.#files });
    this.#processes = options.processes ?? new FileProcesses();
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Ends all visits, each after its current step. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const visits = [...this.#watched.values()].map(({ visit }) => visit);
    await Promise.race([Promise.all([this.#loop, ...visits]), sleep(STOP_MILLISECONDS, null, { ref: false })]);
    this.#processes.stop();
  }

  /** Returns the state of all folders. */
  overview(): FolderOverview {
    const hindered = new Map<Hindrance, number>();
    let waiting = 0;
    for (const reported of this.#reports.all()) {
      const { hindrance } = reported;
      waiting += reported.waiting;
      if (hindrance !== null) hindered.set(hindrance, (hindered.get(hindrance) ?? 0) + 1);
    }
    return { folders: this.#watched.size, waiting, hindered, ...this.#ended };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { settings, log } = this.#options;
    while (!signal.aborted) {
      try {
        this.#visitAll();
      } catch (error) {
        // If the database can't be read now, the next round reads it.
        log.error({ event: "folder.not_listed", code: codeOf(error) });
      }
      await sleep(settings().scan_seconds * SECOND, null, { signal }).catch(() => {});
    }
  }

  #visitAll(): void {
    const { store, clock, log, own } = this.#options;
    const folders = listFolders(store);
    this.#closed = folders.length === 0 ? null : new ClosedPlaces(own());
    const ids = new Set(folders.map(({ id }) => id));
    for (const [id, watched] of this.#watched) if (!ids.has(id)) void this.#leave(id, watched);
    const paths = folders.flatMap(({ path, target }) => (target === null ? [path] : [path, target]));
    this.#processes.retain([...paths, ...this.#leaving]);
    // Folders of one account compete for its places, and the first visit is the first to take one.
    this.#rounds += 1;
    const first = this.#rounds % Math.max(1, folders.length);
    for (const folder of [...folders.slice(first), ...folders.slice(0, first)]) {
      if (this.#leaving.has(folder.path)) continue;
      const watched = this.#watched.get(folder.id) ?? this.#watch(folder);
      if (watched.visit !== null) {
        if (clock() - watched.progressAt > SILENT_MILLISECONDS) this.#reports.reportBlind(folder, "silent");
      } else if (clock() >= watched.dueAt) {
        watched.progressAt = clock();
        watched.visit = this.#visit(folder, watched)
          .catch((error: unknown) => log.error({ event: "folder.not_reported", folderId: folder.id, err: error }))
          .finally(() => {
            watched.visit = null;
          });
      }
    }
  }

  /** Ends the work on a folder that was removed. If that was with its account, removes its marker. */
  async #leave(id: string, { path, removal, visit }: Watched): Promise<void> {
    this.#watched.delete(id);
    this.#reports.delete(id);
    this.#leaving.add(path);
    removal.abort();
    await visit;
    try {
      await using directory = await OpenDirectory.open(path, this.#processes.at(path));
      await removeMarker(directory, id);
    } catch {
      // The folder may be unmounted. Adding it again then reports the marker.
    } finally {
      this.#leaving.delete(path);
    }
  }

  #watch(folder: Folder): Watched {
    const { clock } = this.#options;
    const own = { seen: new SeenFiles(clock), delays: new Delays(clock), removal: new AbortController() };
    const watched = { ...own, path: folder.path, visit: null, progressAt: 0, troubles: 0, dueAt: 0 };
    this.#watched.set(folder.id, watched);
    return watched;
  }

  async #visit(folder: Folder, watched: Watched): Promise<void> {
    const { settings, clock } = this.#options;
    const signal = AbortSignal.any([this.#stopping.signal, watched.removal.signal]);
    const { settle_seconds, incomplete_minutes } = settings();
    try {
      const sight = await visitFolder(
        {
          ...this.#options,
          files: this.#files,
          fileSystemOf: (path) => this.#processes.at(path),
          closedPlaces: () => this.#closed ?? new ClosedPlaces(this.#options.own()),
        },
        {
          folder,
          account: this.#activeAccount(folder),
          seen: watched.seen,
          delays: watched.delays,
          patience: { settleMilliseconds: settle_seconds * SECOND, doubtMilliseconds: incomplete_minutes * MINUTE },
          signal,
          onProgress: () => {
            watched.progressAt = clock();
          },
          onEnd: (outcome) => {
            this.#ended[outcome] += 1;
          },
        },
      );
      if (!signal.aborted) this.#reports.report(folder, sight);
    } catch (error) {
      if (signal.aborted) return;
      const cause = error instanceof HindranceError ? error.cause : error;
      this.#reports.reportBlind(folder, hindranceOf(error), cause);
    }
    watched.troubles = mayCostMuch(this.#reports.hindranceOf(folder.id)) ? watched.troubles + 1 : 0;
    const pause =
      watched.troubles === 0 ? 0 : settings().scan_seconds * SECOND * 2 ** Math.min(10, watched.troubles - 1);
    watched.dueAt = clock() + Math.min(pause, MAX_PAUSE_MILLISECONDS);
  }

  /** @throws {HindranceError} when the account may not create recordings */
  #activeAccount({ accountId }: Folder): Account {
    const { store, now } = this.#options;
    const account = getAccount(store, accountId);
    if (account === null || accountTrouble(account, now()) !== null) throw new HindranceError("account");
    return account;
  }
}

/** Returns whether a visit repeats work, such as an export, only to meet the same hindrance again. */
function mayCostMuch(hindrance: Hindrance | null): boolean {
  // Files with a hindrance of their own have their own delays. Without a standby, a visit ends before any work.
  return hindrance !== null && hindrance !== "standby" && !mayConcernOneFile(hindrance) && !isLimit(hindrance);
}
