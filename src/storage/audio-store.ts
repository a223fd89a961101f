import { lstat, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory } from "../files/index.ts";
import { codeOf } from "../text/index.ts";
import { isRecordingId } from "./recording-files.ts";

/** A recording's audio as a local file, for as long as it is needed. */
export interface LocalAudio extends AsyncDisposable {
  readonly path: string;
  /** Disk space that the file takes here; 0 if it is elsewhere. */
  readonly diskBytes: number;
}

/**
 * The audio of recordings as it was sent, by their ids. Every method refuses an id that is not a UUID with a RangeError,
 * because its path could lead elsewhere. `test/storage/audio-store.ts` describes what each implementation promises.
 */
export interface AudioStore {
  /**
   * Resolves when `put` of a complete file delays nothing else: at once, or when a standby has received most of the file.
   * Other creates may come first meanwhile.
   */
  prepare(path: string): Promise<void>;
  /** Moves a local file into the store, which replaces an earlier one. It is durable when this resolves. */
  put(id: string, path: string): Promise<void>;
  /** Returns the audio as a local file; null if there is none. */
  open(id: string): Promise<LocalAudio | null>;
  has(id: string): Promise<boolean>;
  /** Removes the audio, if there is any. A local file that is in use stays readable. */
  remove(id: string): Promise<void>;
  /** Returns the ids of all recordings with audio, in any order. */
  list(): Promise<string[]>;
  /** Makes earlier removals durable. */
  sync(): Promise<void>;
}

/** Copies the audio of a directory elsewhere. */
interface AudioWatcher {
  /** Called with the id of each recording whose audio was stored, before `put` resolves, or removed. */
  changed(id: string): void;
  /** Resolves when a file may be stored. It never fails. */
  prepared(path: string): Promise<void>;
}

/** Audio in a directory on this machine, one file for each recording. */
export class LocalAudioStore implements AudioStore {
  readonly #directory: string;
  #watcher: AudioWatcher | null = null;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Returns the path of a recording's audio, whether it exists or not. @throws {RangeError} */
  pathOf(id: string): string {
    if (!isRecordingId(id)) throw new RangeError("a recording's audio is named by its id, a UUID; this is none");
    return join(this.#directory, id);
  }

  /** Sets the watcher, which replaces an earlier one. It does not learn of audio that other processes remove. */
  watch(watcher: AudioWatcher): void {
    this.#watcher = watcher;
  }

  async prepare(path: string): Promise<void> {
    await this.#watcher?.prepared(path);
  }

  async put(id: string, path: string): Promise<void> {
    const target = this.pathOf(id);
    await rename(path, target);
    try {
      await this.sync();
      this.#watcher?.changed(id);
    } catch (error) {
      await rm(target, { force: true });
      throw error;
    }
  }

  async open(id: string): Promise<LocalAudio | null> {
    const path = this.pathOf(id);
    // A link leads to a file that takes no space here.
    const file = await lstat(path).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return null;
      throw error;
    });
    if (file === null) return null;
    return { path, diskBytes: file.size, async [Symbol.asyncDispose]() {} };
  }

  async has(id: string): Promise<boolean> {
    const path = this.pathOf(id);
    return (await stat(path).catch(() => null)) !== null;
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { force: true });
    this.#watcher?.changed(id);
  }

  async list(): Promise<string[]> {
    return (await readdir(this.#directory)).filter(isRecordingId);
  }

  async sync(): Promise<void> {
    await syncDirectory(this.#directory);
  }
}
