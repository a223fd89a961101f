import { mkdirSync, readdirSync, readFileSync, realpathSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { StandbyGate } from "../../harness/standby-gate.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { changeAccount, createAccount, findAccount } from "../../src/accounts/index.ts";
import { loadSettings, type Settings } from "../../src/config/index.ts";
import { openDatabase, type Store } from "../../src/database/index.ts";
import { DiskSpace } from "../../src/disk/index.ts";
import { type ExportFormat, ExportMaker } from "../../src/exports/index.ts";
import { ClosedPlaces, type OwnPlace } from "../../src/folders/closed-places.ts";
import { Delays } from "../../src/folders/delays.ts";
import { FolderFiles } from "../../src/folders/folder-files.ts";
import { type Sight, type VisitServices, visitFolder } from "../../src/folders/folder-visit.ts";
import {
  type AddedFolder,
  addFolder,
  type Folder,
  FolderWatcher,
  listFolders,
  removeFolder,
} from "../../src/folders/index.ts";
import { SeenFiles } from "../../src/folders/seen-files.ts";
import { RecordingIntake } from "../../src/intake/index.ts";
import { Library } from "../../src/library/index.ts";
import type { probeRecording } from "../../src/media/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { packSegment, type Segment } from "../../src/segments/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { type AccountLimits, Usage } from "../../src/usage/index.ts";
import { ownFileSystem } from "./own-file-system.ts";

const MINUTE = 60_000;
const patience = { settleMilliseconds: 15_000, doubtMilliseconds: 5 * MINUTE };
const languages = [{ code: "en", name: "English", modelCode: "en" }];
const operator = { actor: "operator", now: 0 };

const ownProcesses = { at: () => ownFileSystem, stop() {} };

interface BenchOptions {
  readonly formats?: readonly ExportFormat[];
  readonly target?: string | null;
  readonly isTranslated?: boolean;
  /** Directory of the bench, perhaps of an earlier one, whose folder and database are used again; a new one by default. */
  readonly root?: string;
}

interface AddOptions extends Omit<BenchOptions, "root"> {
  readonly confirmedFiles?: number;
  /** Milliseconds since the epoch; 0, the default, is more than an hour ago. */
  readonly addedAt?: number;
}

/**
 * A watched folder with the real database, library, intake and exports. There is no engine: a test completes the
 * recordings. Files whose content begins with "audio" are recordings. Time passes only when a test says so.
 */
export class FolderBench implements Disposable {
  readonly #temporary: ReturnType<typeof temporaryDirectory> | null;
  readonly root: string;
  /** The watched folder. */
  readonly path: string;
  readonly dataDirectory: DataDirectory;
  readonly store: Store;
  readonly recordings: Recordings;
  readonly library: Library;
  readonly usage: Usage;
  readonly intake: RecordingIntake;
  readonly log: string[] = [];
  limits: Settings["limits"] = loadSettings({ file: undefined, environment: {}, flags: {} }).limits;
  /** Milliseconds since the epoch; visits use it as their clock, too. */
  time = Date.now();
  /** Bytes that are free on the server's disk; null: as many as there are. */
  freeBytes: number | null = null;
  /** Whether reads of transcripts are recorded. A test may switch it on. */
  auditsReads = false;
  /** Why the speech model does not translate. A test may set it. */
  translationRefusal: string | null = null;
  readonly standby = new StandbyGate();
  /** Called before each part of a file is read. */
  onProgress: () => void = () => {};
  /** The services of visits. A test may replace some. */
  services: VisitServices;
  readonly #seen: SeenFiles;
  readonly #delays: Delays;

  constructor({ root }: Pick<BenchOptions, "root"> = {}) {
    this.#temporary = root === undefined ? temporaryDirectory() : null;
    this.root = realpathSync(root ?? this.#temporary?.path ?? "");
    this.path = join(this.root, "in");
    mkdirSync(this.path, { recursive: true });
    mkdirSync(join(this.root, "data"), { recursive: true, mode: 0o700 });
    this.dataDirectory = new DataDirectory(join(this.root, "data"));
    this.store = openDatabase(this.dataDirectory.databasePath);
    const { store, dataDirectory } = this;
    const now = () => this.time;
    const limits = () => this.limits;
    const log = pino({ base: null }, { write: (line) => void this.log.push(line) });
    const recordings = new Recordings(store, now);
    this.recordings = recordings;
    dataDirectory.cleanUp((ids) => recordings.open.areOpen(ids));
    this.usage = new Usage(store);
    const { usage } = this;
    this.library = new Library({
      ...{ store, recordings, dataDirectory, usage, now },
      auditsReads: () => this.auditsReads,
    });
    const { library } = this;
    const statfs = (path: string) => {
      const disk = statfsSync(path);
      return this.freeBytes === null ? disk : Object.assign(disk, { bsize: 1, bavail: this.freeBytes, blocks: 1e12 });
    };
    const diskSpace = new DiskSpace(dataDirectory.root, () => 0, statfs);
    const exports = new ExportMaker({ dataDirectory, diskSpace });
    const speechModel = () => ({ id: "whisper-base", languages });
    this.intake = new RecordingIntake({
      ...{ recordings, library, usage, limits, now, diskSpace, probe },
      queue: { add() {} },
      refusal: () => null,
    });
    this.services = {
      ...{ store, library, exports, dataDirectory, diskSpace, limits, speechModel, log, now },
      files: new FolderFiles(store, now),
      translationRefusal: () => this.translationRefusal,
      fileSystemOf: () => ownFileSystem,
      closedPlaces: () => new ClosedPlaces(this.own),
      intake: this.intake,
      changes: this.standby,
    };
    this.#seen = new SeenFiles(now);
    this.#delays = new Delays(now);
  }

  /** Creates the account `acme`, and watches the folder for it. */
  static async create({
    root,
    formats = ["srt", "json"],
    target = null,
    isTranslated,
  }: BenchOptions = {}): Promise<FolderBench> {
    const bench = new FolderBench(root === undefined ? {} : { root });
    createAccount(bench.store, "acme", operator);
    const to = target === null ? null : join(bench.root, target);
    if (to !== null) mkdirSync(to);
    await bench.add(bench.path, { formats, target: to, ...(isTranslated === undefined ? {} : { isTranslated }) });
    return bench;
  }

  /** Watches a folder for the account, or changes one. */
  add(
    path: string,
    { formats = ["srt"], target = null, isTranslated, confirmedFiles, addedAt = 0 }: AddOptions = {},
  ): Promise<AddedFolder> {
    const account = findAccount(this.store, "acme");
    if (account === null) throw new Error("there is no account");
    const folder = { account, workspace: null, path, target, formats, language: null, isTranslated };
    return addFolder(this.store, this.own, { ...folder, confirmedFiles }, { ...operator, now: addedAt }, ownProcesses);
  }

  /** The places of the server, which no folder may be at. */
  get own(): OwnPlace[] {
    return [{ path: this.dataDirectory.root, what: "the server's data directory", isFile: false }];
  }

  remove(path = this.path): Promise<string | null> {
    return removeFolder(this.store, path, operator, ownProcesses);
  }

  get folder(): Folder {
    const [folder] = listFolders(this.store);
    if (folder === undefined) throw new Error("no folder is watched");
    return folder;
  }

  get files(): FolderFiles {
    return this.services.files;
  }

  setLimits(limits: AccountLimits): void {
    const account = findAccount(this.store, "acme");
    if (account !== null) changeAccount(this.store, account, operator, { limits });
  }

  /** Starts to watch the folders, with visits every few milliseconds and files that settle at once. */
  watch(options: Partial<ConstructorParameters<typeof FolderWatcher>[0]> = {}): FolderWatcher {
    const settings = { scan_seconds: 0.01, settle_seconds: 0, incomplete_minutes: 0 };
    const watcher = new FolderWatcher({
      ...{ ...this.services, own: () => this.own, settings: () => settings, clock: () => performance.now() },
      ...options,
    });
    watcher.start();
    return watcher;
  }

  /** Writes a file into the folder. */
  put(name: string, content: string | Buffer): void {
    writeFileSync(join(this.path, name), content);
  }

  /** Visits the folder once. */
  visit(): Promise<Sight> {
    const account = findAccount(this.store, "acme");
    if (account === null) throw new Error("there is no account");
    return visitFolder(this.services, {
      ...{ folder: this.folder, account, seen: this.#seen, delays: this.#delays, patience },
      signal: new AbortController().signal,
      onProgress: () => this.onProgress(),
      onEnd: () => {},
    });
  }

  /** Visits the folder, lets the files settle, and visits it again. */
  async visitSettled(): Promise<Sight> {
    await this.visit();
    this.time += patience.settleMilliseconds;
    return await this.visit();
  }

  /** Completes all open recordings with a transcript that contains their audio's content. */
  async complete(): Promise<void> {
    const { processing, queued } = this.recordings.open.list();
    for (const { id } of [...processing, ...queued]) {
      const text = readFileSync(this.dataDirectory.localAudio.pathOf(id), "utf8").slice(0, 40);
      const words = [{ text: ` ${text}`, startSeconds: 0, endSeconds: 1, probability: 0.9 }];
      const segment: Segment = { index: 0, startSeconds: 0, endSeconds: 1, speaker: 0, text, words };
      this.recordings.claim(id);
      if (this.recordings.get(id)?.isTranslated === true) {
        this.recordings.rows.addTranslation(id, [packSegment({ ...segment, text: `translated ${text}` })]);
      }
      this.recordings.complete(id, [segment]);
    }
  }

  /** Lets time pass, and completes recordings, until nothing is left to do. */
  async finish(): Promise<void> {
    for (let visits = 0; visits < 50; visits++) {
      const { waiting } = await this.visit();
      if (waiting === 0 && this.files.open(this.folder.id).length === 0) return;
      this.time += patience.doubtMilliseconds;
      await this.complete();
    }
    throw new Error("the folder is not finished after 50 visits");
  }

  /** Returns the names of all recordings, oldest first. */
  recordingNames(): (string | null)[] {
    return this.recordings
      .list({}, 1000)
      .map(({ sourceName }) => sourceName)
      .reverse();
  }

  /** Returns the paths of all files in the folder, except its marker. */
  entries(path = this.path): string[] {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && entry.name !== ".transcribe-folder")
      .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
      .sort();
  }

  read(path: string): string {
    return readFileSync(join(this.path, path), "utf8");
  }

  [Symbol.dispose](): void {
    this.store.$client.close();
    this.#temporary?.[Symbol.dispose]();
  }
}

/** Waits until a condition is true. @throws {Error} after two minutes */
export async function until(isTrue: () => boolean): Promise<void> {
  for (const giveUpAt = performance.now() + 120_000; !isTrue(); await Bun.sleep(5)) {
    if (performance.now() > giveUpAt) throw new Error(`the condition is still false: ${isTrue}`);
  }
}

async function probe(path: string): ReturnType<typeof probeRecording> {
  const isRecording = (await Bun.file(path).slice(0, 5).text()) === "audio";
  if (!isRecording) return { ok: false, reason: "The file is not an audio or video recording that can be read." };
  const tracks = [{ index: 0, channels: 1, channelLayout: "mono" }] as const;
  return { ok: true, durationSeconds: 1, containerSeconds: 1, durationIsEstimate: false, tracks, trackCount: 1 };
}
